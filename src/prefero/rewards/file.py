"""The JSON file of a reward: features, how they are computed and scaled, and the components of the posterior.

Each component has what predicting needs: kernel, noise, margins, lapse rate, cut points of ratings, and the
numbers of `prefero.rewards.compact`, from which `alpha` and `whitener` of `prefero.models.posterior.gaussian`
are computed. So loading needs only NumPy and SciPy. There are no answers in the file, and no code.

    posterior  `points` and `components`, as `prefero.rewards.packing` makes one text of them
    points     (m, d)   the features that the components refer to by their places: `points` and `others`.
                        The place -1 is the bar, what is just acceptable: it has no features

Many numbers are rounded as far as predictions stay the same: the coarsest of `ROUNDINGS` is taken with which
means and standard deviations of each component change by at most `TOLERANCE` of its standard deviation, at
the points and at random ones. If none is fine enough, and where there are few numbers, alpha, whitener and
points are written to the last bit.

The linear baseline has samples of its weights in place of components.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from prefero import kernels
from prefero._support.arrays import Array, Indices
from prefero._support.json_documents import read_document
from prefero._support.plugins import PluginError, UnknownNameError
from prefero.kernels import Kernel
from prefero.kernels.bar import knows_bar
from prefero.models.likelihood.cut_points import cuts_of
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPosterior
from prefero.models.posterior.bar import has_bar
from prefero.models.posterior.gaussian import Distribution, Posterior, variance_of_differences
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions.answer import SOURCES
from prefero.questions.comparisons import bar_features
from prefero.questions.kinds.base import BAR, LEVELS, TYPICAL_CUT_POINTS
from prefero.rewards.compact import arrays_of, compact
from prefero.rewards.packing import Numbers, pack, unpack
from prefero.trajectories.feature_spec import FeatureSpec, spec_from_json, spec_to_json
from prefero.trajectories.features import Scaling

FORMAT, VERSION = "prefero reward", 4
REMEDY = "give a file that Reward.save wrote, or save the reward again"
ROUNDING = 1e-9
EXPLAINED = 1.001  # of a prior variance: nothing explains more
ROUNDINGS = ("int16", "float32")  # of points and roots, from the coarsest
SMALL = 5_000  # numbers of points and arrays: so few are not rounded
TOLERANCE = 5e-4  # of a standard deviation
RANDOM_POINTS = 64  # at which what is written has to predict the same, besides the points themselves
MANY = 8  # so many numbers of a kernel are an array

Weighted = tuple[tuple[float, Posterior], ...]  # the components of a mixture


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
    lines = (f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


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
            f"{path} has a kernel of another package: {error}. Install that package, or register its kernel"
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
    if has_bar(belief):
        x = np.concatenate([x, bar_features(belief.n_features)])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        mean, variance = belief.marginals(x)
    if not (np.isfinite(mean).all() and np.isfinite(variance).all() and (variance >= 0).all()):
        raise ValueError("its numbers make no sense: it predicts rewards that are not finite")


def _posterior_to_json(posterior: Distribution) -> dict[str, Any]:
    if isinstance(posterior, LinearPosterior):
        return _linear_to_json(posterior)
    return {
        "answers": _gaussians(posterior)[0][1].answers,
        "structures": posterior.structures if isinstance(posterior, MixturePosterior) else None,
        "log_evidence": posterior.log_evidence,
        "posterior": _packed(posterior),
    }


def _packed(posterior: Distribution) -> str:
    """The shortest text of a posterior that predicts the same."""
    weighted = _gaussians(posterior)
    points, places = _shared_points([component for _, component in weighted])
    scaling = posterior.scaling
    assert scaling is not None
    numbers = points.size + sum(one.alpha.size + one.whitener.size for _, one in weighted)
    for rounding in ROUNDINGS if numbers > SMALL else ():
        try:
            text = pack(_rounded(weighted, points, places, rounding))
            written = _components_from_json(unpack(text), weighted[0][1].answers, scaling)
        except (LinAlgError, ValueError):  # the numbers need more digits
            continue
        if _predict_alike(weighted, written, points):
            return text
    return pack(_exact(weighted, points, places))


def _gaussians(posterior: Distribution) -> Weighted:
    return tuple((weight, one) for weight, one in posterior.components if isinstance(one, Posterior))


def _shared_points(components: Sequence[Posterior]) -> tuple[Array, list[Indices]]:
    """The points of all components, each once and without the bar, and their places in each component."""
    both = [np.concatenate([component.points, component.others]) for component in components]
    rows, found = np.unique(np.concatenate(both), axis=0, return_inverse=True)
    points = rows[np.isfinite(rows[:, 0])]
    places = np.where(found.ravel() < len(points), found.ravel(), BAR)  # the bar, infinite, is the last row
    return points, np.split(places, np.cumsum([len(some) for some in both])[:-1])


def _predict_alike(given: Weighted, written: Weighted, points: Array) -> bool:
    """Whether the components that were written predict as those that were given."""
    x = np.random.default_rng(0).standard_normal((RANDOM_POINTS, points.shape[1]))
    x = np.concatenate([points, x])
    if any(knows_bar(one.kernel) for _, one in given):
        x = np.concatenate([x, bar_features(points.shape[1])])
    both = zip(given, written, strict=True)
    return all(_alike(one.marginals(x), other.marginals(x)) for (_, one), (_, other) in both)


def _alike(right: tuple[Array, Array], rounded: tuple[Array, Array]) -> bool:
    (mean, std), (rounded_mean, rounded_std) = ((m, np.sqrt(v)) for m, v in (right, rounded))
    most = TOLERANCE * std + ROUNDING
    return bool(np.all(np.abs(mean - rounded_mean) <= most) and np.all(np.abs(std - rounded_std) <= most))


def _rounded(weighted: Weighted, points: Array, places: Sequence[Indices], rounding: str) -> dict[str, Any]:
    components = [
        {"weight": weight, **_component_to_json(one, some, "float32"), **compact(one, rounding)._asdict()}
        for (weight, one), some in zip(weighted, places, strict=True)
    ]
    return {"points": Numbers(points, rounding), "components": components}


def _exact(weighted: Weighted, points: Array, places: Sequence[Indices]) -> dict[str, Any]:
    components = [
        {
            "weight": weight,
            **_component_to_json(one, some, "float64"),
            "alpha": Numbers(one.alpha),
            "whitener": Numbers(one.whitener),
        }
        for (weight, one), some in zip(weighted, places, strict=True)
    ]
    return {"points": Numbers(points), "components": components}


def _component_to_json(component: Posterior, places: Indices, rounding: str) -> dict[str, Any]:
    points, others = places.reshape(2, -1)
    return {
        "kernel": _arrays_in(kernels.to_json(component.kernel), lambda array: Numbers(array, rounding)),
        **asdict(component.probit),
        "points": points.tolist(),
        "others": others.tolist(),
        "log_evidence": component.log_evidence,
    }


def _arrays_in(kernel: dict[str, Any], written: Callable[[Array], Numbers]) -> dict[str, Any]:
    """A kernel's values, with arrays in place of many numbers."""

    def value(given: Any) -> Any:
        if isinstance(given, dict):
            return _arrays_in(given, written)
        array = np.array(given) if isinstance(given, tuple) else np.empty(0)
        return written(array) if array.size > MANY and array.dtype == float else given

    return {name: value(given) for name, given in kernel.items()}


def _lists_in(kernel: Any) -> Any:
    """A kernel's values, with lists in place of arrays."""
    if isinstance(kernel, dict):
        return {name: _lists_in(value) for name, value in kernel.items()}
    return kernel.tolist() if isinstance(kernel, np.ndarray) else kernel


def _linear_to_json(posterior: LinearPosterior) -> dict[str, Any]:
    return {
        "weights": posterior.weights.tolist(),
        "effective_sample_size": posterior.effective_sample_size,
        **asdict(posterior.probit),
    }


def _posterior_from_json(document: dict[str, Any]) -> Distribution:
    scaling = Scaling.from_json(document["features"])
    if "weights" in document:
        return _linear_from_json(document, scaling)
    answers = document["answers"]
    if not isinstance(answers, int):
        raise ValueError(f"the number of answers is {answers!r}")
    components = _components_from_json(unpack(document["posterior"]), answers, scaling)
    weights = [weight for weight, _ in components]
    if not weights or not all(0 < weight <= 1 for weight in weights) or not np.isclose(sum(weights), 1.0):
        raise ValueError(f"the weights of the components are positive and add up to 1, but are {weights}")
    if document["structures"] is None:
        return components[0][1]
    return MixturePosterior(components, _structures(document), _finite(document["log_evidence"]))


def _components_from_json(document: dict[str, Any], answers: int, scaling: Scaling) -> Weighted:
    points = document["points"]
    if points.ndim != 2 or points.shape[1] != len(scaling.names):
        raise ValueError("the points are not of these features")
    return tuple(
        (float(values["weight"]), _component_from_json(values, points, answers, scaling))
        for values in document["components"]
    )


def _component_from_json(values: dict[str, Any], points: Array, answers: int, scaling: Scaling) -> Posterior:
    kernel = kernels.from_json(_lists_in(values["kernel"]))
    first, second = (_rows(points, values[name], kernel) for name in ("points", "others"))
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        alpha, whitener = _learned(values, kernel, first, second)
        if not (len(first) == len(second) == len(whitener) and alpha.shape == first.shape[:1]):
            raise ValueError("the points and the arrays of a component are not of one number")
        log_evidence = _finite(values["log_evidence"])
        component = Posterior(
            kernel, _probit(values), first, second, alpha, whitener, log_evidence, answers, scaling
        )
        learned = component.project(first)[1] - component.project(second)[1]
        explained, prior = np.sum(learned**2, axis=1), variance_of_differences(kernel, first, second)
    if np.any(explained > EXPLAINED * prior + ROUNDING):
        raise ValueError("its numbers make no sense: more is explained than there was to explain")
    return component


def _learned(values: dict[str, Any], kernel: Kernel, points: Array, others: Array) -> tuple[Array, Array]:
    """`alpha` and `whitener`, as they are or computed again."""
    if "alpha" in values:
        return values["alpha"], values["whitener"]
    if len(points) != len(others):
        raise ValueError("a component has not as many points as others")
    try:
        return arrays_of(kernel, points, others, *(values[name] for name in ("mean", "precision", "root")))
    except LinAlgError as error:
        raise ValueError(f"its numbers make no sense: {error}") from error


def _rows(points: Array, given: Any, kernel: Kernel) -> Array:
    """The features at places, (r, d), where those of the bar are infinite."""
    places = np.array(given, dtype=np.intp)
    if np.any(places < (BAR if knows_bar(kernel) else 0)):
        raise ValueError("a place of a point is negative")
    return np.where((places == BAR)[:, None], np.inf, points[np.maximum(places, 0)])


def _probit(values: dict[str, Any]) -> Probit:
    cut_points = tuple(map(_finite, values["cut_points"]))
    levels = [cut_points[cuts_of(count)] for count in LEVELS]
    if len(cut_points) != len(TYPICAL_CUT_POINTS) or not all(list(cuts) == sorted(cuts) for cuts in levels):
        raise ValueError(f"the cut points of ratings are not {cut_points}")
    source_noise = tuple(map(_finite, values["source_noise"]))
    if not 0 < len(source_noise) <= len(SOURCES) or min(source_noise) <= 0:
        raise ValueError(f"the noises of the sources of answers are not {source_noise}")
    source_noise += (1.0,) * (len(SOURCES) - len(source_noise))  # of sources that came later
    return Probit(
        values["noise"], values["margin"], values["lapse"], values["strong_margin"], cut_points, source_noise
    )


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
    weights = np.array(document["weights"], dtype=float)
    if weights.ndim != 2 or not len(weights) or weights.shape[1] != len(scaling.names):
        raise ValueError("the weights are not of these features")
    if not np.isfinite(weights).all():
        raise ValueError("the weights are not finite")
    return LinearPosterior(weights, _probit(document), _finite(document["effective_sample_size"]), scaling)
