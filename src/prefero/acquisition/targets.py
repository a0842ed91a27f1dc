"""Target questions: what the learned reward should predict well.

By default they are pairs of the pool itself: one half random pairs, and one half pairs of a diverse subset,
so that rare kinds of trajectories count too. Other targets make sense when the reward will be used elsewhere:
on another pool, on some trajectories of this one, or on certain pairs.

    points   (P, d)   features of the trajectories in the targets, in the units of the posterior
    pairs    (T, 2)   the target questions, by index of these points
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices
from prefero._support.pairs import mixed_pairs
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool

Region = Callable[[Array], Flags]
TargetSource = Pool | Region | npt.ArrayLike
COUNT = 100  # target questions
MOST_POINTS = 20_000  # of a larger pool, so many random trajectories stand for all


@dataclass(frozen=True, eq=False)
class TargetQuestions:
    """Pairs of points for which the answers should be predicted."""

    points: Array
    pairs: Indices

    @classmethod
    def of(cls, points: Array, pairs: Indices) -> "TargetQuestions":
        """Without the points that are in no pair."""
        used = np.unique(pairs)
        return cls(points[used], np.searchsorted(used, pairs))


def draw_targets(
    source: TargetSource | None, belief: Distribution, pool: Pool | Array, rng: np.random.Generator
) -> TargetQuestions:
    """Target questions for a belief and a pool."""
    raw, points = (pool.features, pool.features_for(belief)) if isinstance(pool, Pool) else (pool, pool)
    if source is None:
        return _pairs_of(points, rng)
    if isinstance(source, Pool):
        return _pairs_of(source.features_for(belief), rng)
    if callable(source):
        return _pairs_of(points[_inside(source, raw)], rng)
    return TargetQuestions.of(points, _checked_pairs(source, len(points)))


def _pairs_of(points: Array, rng: np.random.Generator) -> TargetQuestions:
    """One half random pairs, one half pairs of a diverse subset."""
    if len(points) < 2:
        raise ValueError(f"target questions need two trajectories or more, but there are {len(points)}")
    if len(points) > MOST_POINTS:
        points = points[rng.choice(len(points), MOST_POINTS, replace=False)]
    return TargetQuestions.of(points, mixed_pairs(points, COUNT, rng))


def _inside(region: Region, raw: Array) -> Flags:
    """Which trajectories the region has."""
    inside = np.asarray(region(raw))
    if inside.shape != (len(raw),) or inside.dtype != bool:
        raise ValueError(
            f"a region takes the features, shape {raw.shape}, and returns {len(raw)} times True or False, "
            f"but it returned an array of {inside.dtype} with shape {inside.shape}"
        )
    return inside


def _checked_pairs(given: npt.ArrayLike, size: int) -> Indices:
    pairs = np.asarray(given)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or not len(pairs) or not np.issubdtype(pairs.dtype, np.integer):
        raise ValueError(
            "targets are another Pool, a function of features, or pairs of trajectory indices with shape "
            f"(T, 2), but are {given!r}"
        )
    if pairs.min() < 0 or pairs.max() >= size or np.any(pairs[:, 0] == pairs[:, 1]):
        raise ValueError(f"target pairs must be of two different trajectories from 0 to {size - 1}")
    return pairs
