"""The learned reward: call it, ask how sure it is, find its best trajectory, keep it in a file.

A reward file is JSON: the features and their scaling, the answers, each part of the belief with its kernel,
noise, margin and sites, and what the model says about itself. The sites are what inference found, so loading
computes the same posterior again without iterating anything, and needs only NumPy and SciPy.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero import kernels
from prefero._support.arrays import Array, Indices
from prefero._support.files import write_whole
from prefero.models.inference import posterior_from_sites
from prefero.models.likelihood import Probit
from prefero.models.linear import LinearPosterior
from prefero.models.mixture import MixturePosterior
from prefero.models.posterior import Distribution, Posterior, predict
from prefero.pools.pool import Pool
from prefero.questions import Comparisons
from prefero.trajectories.features import Scaling, same_rows

FORMAT, VERSION = "prefero reward", 1


class RewardFileError(ValueError):
    """A file is not a reward that this version can use."""


@dataclass(frozen=True)
class Best:
    """The trajectory that maximises the expected reward."""

    index: int
    mean: float
    std: float


@dataclass(frozen=True, eq=False, repr=False)
class Reward:
    """What a person wants, as a function of raw features."""

    scaling: Scaling
    belief: Distribution
    diagnostics: dict[str, Any] = field(default_factory=dict)

    def __call__(self, features: npt.ArrayLike) -> Array:
        """The expected reward of each row of features, shape (M,)."""
        return self.belief.marginals(self.scaling(features))[0]

    def __repr__(self) -> str:
        return f"Reward(of {', '.join(self.scaling.names)}: {self.describe()})"

    def predict(
        self, features: npt.ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> Array | tuple[Array, Array]:
        """The expected reward (M,), with its standard deviation (M,) or covariance (M, M)."""
        return predict(self.belief, self.scaling(features), return_std, return_cov)

    def predict_proba(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
        """P(a preferred to b), row by row."""
        first, second = self.scaling(a), self.scaling(b)
        same_rows(first, second)
        return self.belief.probability(first, second)

    def best(self, pool: Pool) -> Best:
        """The pool's best trajectory, with the uncertainty of its reward."""
        mean, variance = self.belief.marginals(self._scaled(pool))
        index = int(np.argmax(mean))
        return Best(index, float(mean[index]), float(np.sqrt(variance[index])))

    def rank(self, pool: Pool) -> Indices:
        """The pool's trajectories, best first."""
        return np.argsort(-self.belief.marginals(self._scaled(pool))[0], kind="stable")

    def describe(self) -> str:
        """What the reward looks like, in words."""
        if isinstance(self.belief, MixturePosterior):
            return self.belief.describe()
        return f"the reward was learned by {self.diagnostics.get('model', 'a model')}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the reward to a JSON file, whole or not at all."""
        write_whole(Path(path), self.to_json())

    def to_json(self) -> str:
        """The content of the reward's file."""
        document = {
            "format": FORMAT,
            "version": VERSION,
            "features": self.scaling.to_json(),
            **_belief_to_json(self.belief),
            "diagnostics": self.diagnostics,
        }
        return json.dumps(document, indent=1, allow_nan=False) + "\n"

    def check_names(self, names: tuple[str, ...], of: str) -> None:
        """Raise an error unless `names` are the features of this reward; `of` says what has those names."""
        if names != self.scaling.names:
            raise ValueError(
                f"this reward is about {', '.join(self.scaling.names)}, but {of} has {', '.join(names)}"
            )

    def _scaled(self, pool: Pool) -> Array:
        self.check_names(pool.names, "the pool")
        return self.scaling(pool.features)


def load_reward(path: str | os.PathLike[str], names: Sequence[str] | None = None) -> Reward:
    """Read a reward file; with `names`, refuse one that is about other features."""
    place = Path(path)
    try:
        document = json.loads(place.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise RewardFileError(
            f"{place} is damaged or no reward file ({error}): save the reward again, or restore the file"
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise RewardFileError(f"{place} is not a reward file: wanted JSON with format {FORMAT!r}")
    if document.get("version") != VERSION:
        raise RewardFileError(
            f"{place} is a reward file of version {document.get('version')}, and this Prefero reads version "
            f"{VERSION}: upgrade with  pip install --upgrade prefero"
        )
    try:
        scaling, belief = Scaling.from_json(document["features"]), _belief_from_json(document)
        reward = Reward(scaling, belief, document["diagnostics"])
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise RewardFileError(f"{place} is damaged: {type(error).__name__} {error}") from error
    if names is not None and tuple(names) != reward.scaling.names:
        raise RewardFileError(
            f"{place} is about {', '.join(reward.scaling.names)}, but wanted {', '.join(names)}"
        )
    return reward


def _belief_to_json(belief: Distribution) -> dict[str, Any]:
    if isinstance(belief, LinearPosterior):
        answering = {"noise": belief.probit.noise, "margin": belief.probit.margin}
        size = belief.effective_sample_size
        return {"weights": belief.weights.tolist(), "effective_sample_size": size, **answering}
    parts = [(w, p) for w, p in belief.components if isinstance(p, Posterior)]
    data = parts[0][1].data
    answers = {"winners": data.winners.tolist(), "losers": data.losers.tolist(), "tied": data.tied.tolist()}
    structures = belief.structures if isinstance(belief, MixturePosterior) else None
    return {
        "answers": answers,
        "parts": [{"weight": weight, **_part_to_json(part)} for weight, part in parts],
        "structures": structures,
        "log_evidence": belief.log_evidence,
    }


def _part_to_json(part: Posterior) -> dict[str, Any]:
    precision, shift = part.sites
    return {
        "kernel": kernels.to_json(part.kernel),
        "noise": part.probit.noise,
        "margin": part.probit.margin,
        "precision": precision.tolist(),
        "shift": shift.tolist(),
        "log_evidence": part.log_evidence,
    }


def _belief_from_json(document: dict[str, Any]) -> Distribution:
    if "weights" in document:
        probit = Probit(document["noise"], document["margin"])
        weights = np.array(document["weights"], dtype=float)
        if weights.ndim != 2 or weights.shape[1] != len(document["features"]["names"]):
            raise ValueError("the weights are not of these features")
        return LinearPosterior(weights, probit, document["effective_sample_size"])
    answers, features = document["answers"], len(document["features"]["names"])
    data = Comparisons(
        np.array(answers["winners"], dtype=float).reshape(-1, features),
        np.array(answers["losers"], dtype=float).reshape(-1, features),
        np.array(answers["tied"], dtype=bool),
    )
    parts = tuple((float(part["weight"]), _part_from_json(part, data)) for part in document["parts"])
    if not parts or not np.isclose(sum(weight for weight, _ in parts), 1.0):
        raise ValueError("the weights of the parts do not add up to 1")
    if document["structures"] is None:
        return parts[0][1]
    return MixturePosterior(parts, document["structures"], document["log_evidence"])


def _part_from_json(part: dict[str, Any], data: Comparisons) -> Posterior:
    sites = np.array(part["precision"], dtype=float), np.array(part["shift"], dtype=float)
    if not len(data) == len(data.losers) == len(data.tied) == len(sites[0]) == len(sites[1]):
        raise ValueError("the answers and the sites are not of one number")
    if not all(np.isfinite(v).all() for v in (data.winners, data.losers, *sites)) or np.any(sites[0] < 0):
        raise ValueError("the answers or the sites are not finite")
    probit = Probit(part["noise"], part["margin"])
    return posterior_from_sites(kernels.from_json(part["kernel"]), data, probit, sites, part["log_evidence"])
