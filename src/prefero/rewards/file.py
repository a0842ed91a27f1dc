"""The JSON file of a reward: features, how they are computed and scaled, answers, and the components.

Each component has its kernel, noise, margin, lapse rate, log evidence and sites. The sites are what inference
found, so that loading computes the same posterior again without iterating, and needs only NumPy and SciPy. No
code is stored.

The reward of one of many people, or of their group, has means and precisions at points in place of answers.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from prefero import kernels
from prefero._support.arrays import Indices
from prefero._support.json_documents import read_document
from prefero._support.plugins import PluginError, UnknownNameError
from prefero.models.inference.infer import posterior_from_sites
from prefero.models.inference.low_rank import LowRank
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPosterior
from prefero.models.people.posterior import PersonPosterior
from prefero.models.posterior.gaussian import Distribution, Posterior
from prefero.models.posterior.mixture import MixturePosterior
from prefero.models.posterior.summarized import points_as_data, summarized
from prefero.questions.answer_kinds import kind_named
from prefero.questions.comparisons import AnswerRows, Comparisons
from prefero.trajectories.feature_spec import FeatureSpec, spec_from_json, spec_to_json
from prefero.trajectories.features import Scaling

FORMAT, VERSION = "prefero reward", 1
REMEDY = "give a file that Reward.save wrote, or save the reward again"
ROUNDING = 1e-9


class RewardFileError(ValueError):
    """A file is not a reward that this version can use."""


class RewardParts(NamedTuple):
    """What a reward consists of, and what its file keeps."""

    belief: Distribution  # with the scaling of its features
    diagnostics: dict[str, Any]
    feature_spec: FeatureSpec | None = None  # how the features are computed, where that is known


def to_json(parts: RewardParts) -> str:
    """The content of a reward's file."""
    scaling = parts.belief.scaling
    assert scaling is not None
    document = {
        "format": FORMAT,
        "version": VERSION,
        "features": scaling.to_json(),
        "feature_spec": spec_to_json(parts.feature_spec),
        **_posterior_to_json(parts.belief),
        "diagnostics": parts.diagnostics,
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def read(path: Path) -> RewardParts:
    """What a reward's file says, or an error that says what is wrong with the file."""
    document = read_document(path, "reward", FORMAT, VERSION, RewardFileError, REMEDY)
    try:
        belief = _posterior_from_json(document)
        _check_predictions(belief)
        spec = spec_from_json(document.get("feature_spec"))
        return RewardParts(belief, _object(document["diagnostics"]), spec)
    except (UnknownNameError, PluginError) as error:
        raise RewardFileError(
            f"{path} needs something of another package: {error}. Install that package, or register it"
        ) from error
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, ArithmeticError) as error:
        raise RewardFileError(f"{path} is damaged: {type(error).__name__} {error}") from error
    except RecursionError as error:
        raise RewardFileError(f"{path} is damaged: its kernels are nested too deeply") from error


def _object(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"wanted a JSON object, but this is {value!r}")
    return value


def _check_predictions(belief: Distribution) -> None:
    """An error unless it predicts finite rewards: numbers can fit each other, and still make no sense."""
    x = np.vstack([np.zeros(belief.n_features), np.eye(belief.n_features), -3 * np.eye(belief.n_features)])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        mean, variance = belief.marginals(x)
    if not (np.isfinite(mean).all() and np.isfinite(variance).all() and (variance >= 0).all()):
        raise ValueError("its numbers make no sense: it predicts rewards that are not finite")


def _posterior_to_json(posterior: Distribution) -> dict[str, Any]:
    if isinstance(posterior, LinearPosterior):
        return _linear_to_json(posterior)
    if isinstance(posterior, PersonPosterior):
        return _person_to_json(posterior)
    components = [(w, p) for w, p in posterior.components if isinstance(p, Posterior)]
    data = components[0][1].data
    answers = {"winners": data.winners.tolist(), "losers": data.losers.tolist(), "tied": data.tied.tolist()}
    if data.rows is not None:  # how rows make up answers that are not all plain pairs
        answers["rows"] = {name: values.tolist() for name, values in data.rows._asdict().items()}
    return {
        "answers": answers,
        "components": [{"weight": weight, **_component_to_json(part)} for weight, part in components],
        "structures": posterior.structures if isinstance(posterior, MixturePosterior) else None,
        "log_evidence": posterior.log_evidence,
    }


def _person_to_json(posterior: PersonPosterior) -> dict[str, Any]:
    """Means and covariances at some points: the answers that they come from are those of all people."""
    return {
        "given": posterior.answers,
        "summaries": [{"weight": weight, **_summary_to_json(part)} for weight, part in posterior.components],
        "structures": posterior.structures,
        "log_evidence": posterior.log_evidence,
    }


def _summary_to_json(part: Posterior) -> dict[str, Any]:
    return {
        "kernel": kernels.to_json(part.kernel),
        **_probit_to_json(part.probit),
        "points": part.data.winners.tolist(),
        "anchor": part.data.losers[:1].tolist(),
        "mean": part.u_mean.tolist(),
        "precision_factor": part.factor.tolist(),
        "log_evidence": part.log_evidence,
    }


def _probit_to_json(probit: Probit) -> dict[str, float]:
    return {"noise": probit.noise, "margin": probit.margin, "lapse": probit.lapse}


def _linear_to_json(posterior: LinearPosterior) -> dict[str, Any]:
    return {
        "weights": posterior.weights.tolist(),
        "effective_sample_size": posterior.effective_sample_size,
        "noise": posterior.probit.noise,
        "margin": posterior.probit.margin,
        "lapse": posterior.probit.lapse,
    }


def _component_to_json(component: Posterior) -> dict[str, Any]:
    precision, shift = component.sites
    return {
        "kernel": kernels.to_json(component.kernel),
        "noise": component.probit.noise,
        "margin": component.probit.margin,
        "lapse": component.probit.lapse,
        "strong_margin": component.probit.strong_margin,
        "precision": precision.tolist(),
        "shift": shift.tolist(),
        "log_evidence": component.log_evidence,
        "pivots": component.cholesky.pivots.tolist() if isinstance(component.cholesky, LowRank) else None,
    }


def _posterior_from_json(document: dict[str, Any]) -> Distribution:
    scaling = Scaling.from_json(document["features"])
    if "weights" in document:
        return _linear_from_json(document, scaling)
    if "summaries" in document:
        return _person_from_json(document, scaling)
    answers, features = document["answers"], len(scaling.names)
    data = Comparisons(
        np.array(answers["winners"], dtype=float).reshape(-1, features),
        np.array(answers["losers"], dtype=float).reshape(-1, features),
        np.array(answers["tied"], dtype=bool),
        scaling,
        rows=_rows_from_json(answers.get("rows"), len(answers["tied"])),
    )
    components = tuple(
        (float(values["weight"]), _component_from_json(values, data)) for values in document["components"]
    )
    _check_weights(components)
    if document["structures"] is None:
        return components[0][1]
    return MixturePosterior(components, _structures(document), _finite(document["log_evidence"]))


def _check_weights(components: Sequence[tuple[float, Posterior]]) -> None:
    weights = [weight for weight, _ in components]
    if not weights or not all(0 < weight <= 1 for weight in weights) or not np.isclose(sum(weights), 1.0):
        raise ValueError(f"the weights of the components are positive and add up to 1, but are {weights}")


def _person_from_json(document: dict[str, Any], scaling: Scaling) -> PersonPosterior:
    components = tuple(
        (float(values["weight"]), _summary_from_json(values, scaling)) for values in document["summaries"]
    )
    _check_weights(components)
    log_evidence, given = _finite(document["log_evidence"]), int(document["given"])
    return PersonPosterior(components, _structures(document), log_evidence, given)


def _summary_from_json(values: dict[str, Any], scaling: Scaling) -> Posterior:
    features = len(scaling.names)
    points = np.array(values["points"], dtype=float).reshape(-1, features)
    anchor = np.array(values["anchor"], dtype=float).reshape(-1, features)
    mean, factor = (np.array(values[name], dtype=float) for name in ("mean", "precision_factor"))
    if factor.shape != (len(points), len(points)) or mean.shape != (len(points),):
        raise ValueError("the points, the mean and the precision are not of one number")
    if not all(np.isfinite(v).all() for v in (points, anchor, mean, factor)):
        raise ValueError("the points, the mean or the precision are not finite")
    probit = Probit(values["noise"], values["margin"], values["lapse"])
    kernel, log_evidence = kernels.from_json(values["kernel"]), _finite(values["log_evidence"])
    data = points_as_data(points, anchor[0] if len(anchor) else np.zeros(features), scaling)
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        root = np.linalg.cholesky(kernel(points, points) + ROUNDING * np.eye(len(points)))
        return summarized(kernel, data, root, mean, factor, probit, log_evidence)


def _structures(document: dict[str, Any]) -> dict[str, float]:
    found = {str(name): _finite(weight) for name, weight in _object(document["structures"]).items()}
    if not all(0 <= weight <= 1 + ROUNDING for weight in found.values()):
        raise ValueError(f"the probabilities of the structures are not {found}")
    return found


def _finite(value: Any) -> float:
    """A number as JSON has it."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError(f"wanted a finite number, but this is {value!r}")
    return value


def _linear_from_json(document: dict[str, Any], scaling: Scaling) -> LinearPosterior:
    probit = Probit(document["noise"], document["margin"], document["lapse"])
    weights = np.array(document["weights"], dtype=float)
    if weights.ndim != 2 or not len(weights) or weights.shape[1] != len(scaling.names):
        raise ValueError("the weights are not of these features")
    if not np.isfinite(weights).all():
        raise ValueError("the weights are not finite")
    return LinearPosterior(weights, probit, _finite(document["effective_sample_size"]), scaling)


def _rows_from_json(values: dict[str, list[Any]] | None, count: int) -> AnswerRows | None:
    if values is None:
        return None
    rows = AnswerRows.of(*(values[name] for name in AnswerRows._fields))
    if any(len(part) != count for part in rows) or np.any(np.diff(rows.answer) < 0):
        raise ValueError("the rows of answers are not in their order, or not of one number")
    first, counts = np.unique(rows.answer, return_index=True, return_counts=True)[1:]
    of_answers = rows.some(first)
    for kind, choice, found in zip(of_answers.kind, of_answers.choice, counts, strict=True):
        asked = kind_named(str(kind))
        if len(asked.rows(asked.canonical(str(choice)))) != found:
            raise ValueError(f"an answer of the kind {kind!r} has {found} rows")
    return rows


def _component_from_json(values: dict[str, Any], data: Comparisons) -> Posterior:
    sites = np.array(values["precision"], dtype=float), np.array(values["shift"], dtype=float)
    if not len(data) == len(data.losers) == len(data.tied) == len(sites[0]) == len(sites[1]):
        raise ValueError("the answers and the sites are not of one number")
    if sites[0].ndim != 1 and (sites[0].ndim != 2 or data.rows is None):
        raise ValueError("the sites are not of these answers")
    if not all(np.isfinite(v).all() for v in (data.winners, data.losers, *sites)):
        raise ValueError("the answers or the sites are not finite")
    kernel = kernels.from_json(values["kernel"])
    probit = Probit(values["noise"], values["margin"], values["lapse"], values["strong_margin"])
    if data.rows is None and not probit.lapse and np.any(sites[0] < 0):
        raise ValueError("without lapses the precision of a site is not negative")
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        return posterior_from_sites(
            kernel, data, probit, sites, _finite(values["log_evidence"]), _pivots(values["pivots"], len(data))
        )


def _pivots(given: Any, answers: int) -> Indices | None:
    """The pivots of a basis of bounded rank; None where nothing is neglected."""
    if given is None:
        return None
    pivots = np.array(given)
    different = pivots.dtype.kind == "i" and pivots.ndim == 1 and len(np.unique(pivots)) == len(pivots)
    if not different or pivots.min(initial=0) < 0 or pivots.max(initial=0) >= answers:
        raise ValueError("the pivots are not different answers")
    return pivots.astype(np.intp)
