"""Small pools and beliefs to search, and the best question by looking at every score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from prefero._support.arrays import AnyArray, Array, namespace_of
from prefero.acquisition.base import AcquisitionFunction, AnyAcquisitionFunction
from prefero.acquisition.functions.expected_utility import ExpectedUtility
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.projection import WHOLE, projections
from prefero.acquisition.scorers import score_questions
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Distribution
from prefero.questions import Comparisons
from prefero.questions.answer_kinds import Kind

KERNELS: list[Kernel] = [
    Anchored(RBF(theta=0.8), (0.0, 0.0), mode="condition"),
    Anchored(2.0 * Matern(lengthscale=(0.7, 1.5)), (0.0, 0.0)),
    Linear() + 0.5 * Quadratic(),
]
SAME = 1e-10
TILES = [7, 16, None]
FUNCTIONS = {
    "exact": MutualInformation(),
    "houlsby": MutualInformation("houlsby"),
    "paper": MutualInformation("paper"),
    "utility": ExpectedUtility(),
}
every_function = pytest.mark.parametrize("acquisition", FUNCTIONS.values(), ids=FUNCTIONS.keys())
every_tile = pytest.mark.parametrize("tile", TILES)


@dataclass(frozen=True)
class Mixture:
    """Several posteriors with their weights: all of a belief that the search may look at."""

    components: Sequence[tuple[float, Any]]


def scored_by(
    function: AnyAcquisitionFunction, belief: Any, x: Any, items: Any, kind: Kind = "pair"
) -> Array:
    """The values of questions by an acquisition function."""
    return score_questions(belief, x, items, acquisition=function, kind=kind)


def score_all(belief: Distribution, x: AnyArray, acquisition: AcquisitionFunction) -> AnyArray:
    """The value of every question about a pool, shape (M, M)."""
    xp, tiles = namespace_of(x), [view.pairs(WHOLE, WHOLE) for view in projections(belief, x)]
    scores = acquisition.score(
        [replace(pairs, gap_variance=xp.clip(pairs.gap_variance, min=0.0)) for pairs in tiles]
    )
    return xp.broadcast_to(scores, (x.shape[0], x.shape[0]))


def pool(seed: int, count: int) -> Array:
    return np.random.default_rng(seed).standard_normal((count, 2))


def learned(seed: int, kernel: Kernel, probit: Probit, answers: int = 6) -> Any:
    """A posterior after a few answers about other trajectories: by itself a mixture of one."""
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((10, 2))
    pairs = np.array([rng.choice(10, 2, replace=False) for _ in range(answers)]).reshape(-1, 2)
    return infer(kernel, Comparisons.of(items, pairs), probit).posterior


def belief_of(seed: int, components: int, margin: float = 0.0) -> Any:
    weights = np.random.default_rng(seed).dirichlet(np.ones(components)) if components > 1 else np.ones(1)
    noises = (0.2, 0.5, 0.1)
    posteriors = [
        learned(seed, KERNELS[(seed + k) % 3], Probit(noises[k], margin)) for k in range(components)
    ]
    return Mixture([(float(w), p) for w, p in zip(weights, posteriors, strict=True)])


def best_of_scores(scores: Array, exclude: Sequence[tuple[int, int]] = ()) -> tuple[int, int]:
    """The pair with the smallest indices among those whose score is the largest."""
    allowed = np.triu(np.ones(scores.shape, dtype=bool), k=1)
    for i, j in exclude:
        allowed[min(i, j), max(i, j)] = False
    values = np.where(allowed, scores, -np.inf)
    row, column = np.argwhere(values >= values.max() - SAME)[0]
    return int(row), int(column)
