"""Posteriors after a few answers of a simulated user, for tests of what is computed from them."""

from functools import cache

import numpy as np

from prefero._support.arrays import Array
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons


def answers_about(x: Array, truth: Array, count: int, seed: int = 0, noise: float = 0.1) -> Comparisons:
    """Answers to random pairs of the rows of x by a user with these true rewards."""
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(len(x), 2, replace=False) for _ in range(count)], dtype=int).reshape(-1, 2)
    seen = truth[pairs[:, 0]] - truth[pairs[:, 1]] + np.sqrt(2) * noise * rng.standard_normal(count)
    pairs[seen < 0] = pairs[seen < 0, ::-1]
    return Comparisons.of(x, pairs)


def pool(rows: int = 60, features: int = 2) -> Array:
    return np.random.default_rng(1).standard_normal((rows, features))


@cache
def taught_mixture(count: int = 12) -> tuple[MixturePosterior, Comparisons]:
    """The default posterior of a reward that has a best value of the first feature."""
    x = pool()
    data = answers_about(x, 0.4 * x[:, 1] - (x[:, 0] - 0.3) ** 2, count)
    return MixtureFitter(Reference.normal(2)).fit(data), data
