"""The exact maximum of an acquisition function over all pairs of a pool.

    x               (M, d)    features of the pool, in the units that the posterior was fitted to
    components      K         the Gaussians that make up the posterior, with their weights
    mean, std       (M,)      of the rewards, for each component
    gap_variance              Var[f(x_i) - f(x_j)]

`best_question` looks at every pair, a tile of the M x M square at a time, and never keeps more than a few
tiles. Most pairs are ruled out by a bound that is cheaper than their score: first whole tiles, since
gap_variance <= (std_i + std_j)^2; then, under a mixture of known rewards, pairs by two moments of the whole
mixture; then single pairs by an upper bound. What is left is scored, so the result is exact.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like_indices, namespace_of, one_thread, to_numpy
from prefero._support.ordering import EQUAL, exceeds, largest_first
from prefero.acquisition.base import (
    AcquisitionFunction,
    AnyAcquisitionFunction,
    Component,
    HasBoxBound,
    HasMomentBound,
    HasUpperBound,
    HasVarianceBound,
    MomentLimits,
    PairMoments,
    PoolAcquisitionFunction,
    acquisition_named,
)
from prefero.acquisition.group_search import GroupSearch
from prefero.acquisition.incumbent import Incumbent
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.projection import WHOLE, Projection, projections
from prefero.models.linear import ZeroKernel
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.trajectories.features import feature_matrix

DEFAULT = "mutual-information"
MUTUAL_INFORMATION = MutualInformation()
SPARSE = 0.03  # a share of a tile's pairs whose scores are cheaper than the whole tile's upper bound
TOLERANCE = 0.005  # of the value: how much better another question about a large pool may be
LARGE_POOL = 2000  # trajectories: smaller pools are searched exactly
TILE_SIZE = {"cpu": 256, "gpu": 8192}
FIRST_LOOK = 48  # trajectories whose pairs are scored first


def score_all(
    belief: Distribution, x: AnyArray, acquisition: AcquisitionFunction = MUTUAL_INFORMATION
) -> AnyArray:
    """The value of every question about a pool, shape (M, M)."""
    xp, tiles = namespace_of(x), [view.pairs(WHOLE, WHOLE) for view in projections(belief, x)]
    scores = acquisition.score(
        [replace(pairs, gap_variance=xp.clip(pairs.gap_variance, min=0.0)) for pairs in tiles]
    )
    return xp.broadcast_to(scores, (x.shape[0], x.shape[0]))


def score_question(
    belief: Distribution, pool: Pool, left: int, right: int, acquisition: AnyAcquisitionFunction
) -> float:
    """The value of one question about a pool."""
    if isinstance(acquisition, PoolAcquisitionFunction):
        return float(acquisition.score_questions(belief, pool, np.array([[left, right]]))[0])
    return float(score_all(belief, pool.features_for(belief)[[left, right]], acquisition)[0, 1])


@one_thread
def best_question(
    belief: Distribution,
    pool: Pool | AnyArray,
    *,
    acquisition: AnyAcquisitionFunction | str = DEFAULT,
    exclude: Iterable[tuple[int, int]] = (),
    tile: int | None = None,
    tolerance: float = TOLERANCE,
) -> Question:
    """The best of all M (M - 1) / 2 questions about a pool.

    The question's `optimality_gap` says whether it is the best exactly, or how much better another may be. It
    is exact for pools of up to 2000 trajectories, and for one Gaussian. Of equally good pairs, the one with
    the smallest indices is chosen then.

    Args:
        belief: The posterior over rewards.
        pool: A `Pool` gives its features in the units that the belief was fitted with, scaled or raw. An
            array (M, d) is taken to be in these units already; its library and device decide where the work
            is done: NumPy here, torch on a GPU.
        acquisition: What is best: "mutual-information", "predictive-information", "best-information",
            "expected-utility", "knowledge-gradient", "thompson-duel", another registered name, or an
            `AcquisitionFunction` of your own. A `PoolAcquisitionFunction` searches by itself, and may find a
            good question instead of the best.
        exclude: Pairs that are not asked.
        tile: How many rows are worked on at once; None chooses.
        tolerance: A share of the value by which another question about a large pool may be better under a
            mixture; with 0 the search is exact, and takes longer.

    Returns:
        The question, with its value and unit.
    """
    if not hasattr(belief, "components"):
        raise TypeError(
            f"wanted a belief about rewards, as model.posterior_ or learner.belief(), but got {belief!r}"
        )
    x, excluded = _features_of(belief, pool), list(exclude)
    _check(x.shape[0], excluded, tile)
    function = acquisition_named(acquisition)
    if isinstance(function, PoolAcquisitionFunction):
        return function.best_question(belief, pool if isinstance(pool, Pool) else to_numpy(x), excluded)
    if tolerance > 0.0 and tile is None and x.shape[0] > LARGE_POOL:
        incumbent = Incumbent(belief, to_numpy(x), function, excluded, tolerance)
        question = _within_tolerance(incumbent, x)
        if question is not None:
            return question
    size = tile or TILE_SIZE["cpu" if isinstance(x, np.ndarray) else "gpu"]
    search = _Search(belief, x, function, excluded)
    search.look_at_a_sample()
    for rows, columns in _tiles(x.shape[0], size):
        search.look_at(rows, columns)
    return search.question()


def _within_tolerance(incumbent: Incumbent, x: AnyArray) -> Question | None:
    """The best question about a large pool within a tolerance; None where the exact search is as fast."""
    function, components = (
        incumbent.acquisition,
        [Component(w, p.probit) for w, p in incumbent.belief.components],
    )
    bounded = isinstance(function, HasBoxBound) and function.can_bound(components)
    known = any(isinstance(part.kernel, ZeroKernel) for _, part in incumbent.belief.components)
    if not bounded or known or len(components) == 1:
        return None
    return GroupSearch(incumbent, x).run()


def _features_of(belief: Distribution, pool: Any) -> AnyArray:
    if isinstance(pool, Pool):
        return pool.features_for(belief)
    return feature_matrix(pool) if isinstance(pool, list | np.ndarray) else pool


def _check(count: int, excluded: list[tuple[int, int]], tile: int | None) -> None:
    if count < 2:
        raise ValueError(f"a question needs two trajectories, but the pool has {count}")
    if not all(0 <= i < count for pair in excluded for i in pair):
        raise ValueError(f"excluded pairs must be of trajectories 0 to {count - 1}, but are {excluded}")
    if tile is not None and tile < 1:
        raise ValueError(f"tile must be 1 or more, but is {tile}")


def _tiles(count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of the count x count square in tiles."""
    starts = range(0, count, size)
    return (
        (slice(i, min(i + size, count)), slice(j, min(j + size, count)))
        for i in starts
        for j in starts
        if j >= i
    )


@dataclass(frozen=True, eq=False)
class MixtureMoments:
    """Mean and covariance of f / scale under a mixture of many rewards, each of them known."""

    mean: AnyArray
    centered: AnyArray  # (M, K) covariances are centered_i . centered_j
    variance: AnyArray

    @classmethod
    def of(cls, views: list[Projection]) -> "MixtureMoments | None":
        """None where some component is uncertain: there these moments are no cheaper than the rest."""
        if not all(view.is_certain for view in views):
            return None
        xp, components = namespace_of(views[0].x), [view.component for view in views]
        x = xp.stack([view.mean / view.component.probit.scale for view in views], axis=1)
        mean = sum(component.weight * x[:, k] for k, component in enumerate(components))
        roots = xp.stack([0.0 * mean + component.weight**0.5 for component in components], axis=1)
        centered = (x - mean[:, None]) * roots
        return cls(mean, centered, xp.sum(centered * centered, axis=1))

    def within(self, rows: slice, columns: slice, limits: MomentLimits) -> AnyArray:
        """Which pairs of a tile keep the limits."""
        variance = -2.0 * (self.centered[rows, :] @ self.centered[columns, :].T)
        variance += self.variance[rows, None]
        variance += self.variance[None, columns]
        gap = self.mean[rows, None] - self.mean[None, columns]
        return (variance >= limits.least_variance) & (gap * gap <= limits.farthest * (1.0 + variance))


class _Search:
    """The best pair so far. The pool is walked from the most uncertain trajectory to the least."""

    def __init__(
        self, belief: Distribution, x: AnyArray, acquisition: AcquisitionFunction, exclude: Any
    ) -> None:
        self.acquisition, self.xp = acquisition, namespace_of(x)
        views = projections(belief, x)
        self.components = [view.component for view in views]
        weighted = [view.component.weight * to_numpy(view.variance) for view in views]
        self.order = largest_first(np.sum(weighted, axis=0))
        self.views = [view.taken(like_indices(self.order, x)) for view in views]
        self.std = np.sqrt(to_numpy(self.views[0].variance))
        place = np.argsort(self.order, kind="stable")
        self.excluded = {(int(min(place[i], place[j])), int(max(place[i], place[j]))) for i, j in exclude}
        self.value, self.pair = -np.inf, (-1, -1)
        self.moments = MixtureMoments.of(self.views) if self._moment_limits() else None

    def look_at_a_sample(self) -> None:
        """A first good value, from pairs all over the pool, so that most others need no closer look."""
        sample = slice(0, None, max(len(self.order) // FIRST_LOOK, 1))
        self.look_at(sample, sample)

    def look_at(self, rows: slice, columns: slice) -> None:
        """Score the pairs of a tile, unless none of them can be the best."""
        least = self._least_variance()
        if float(self.std[rows].max() + self.std[columns].max()) ** 2 < least:
            return
        candidates = self._within_moments(rows, columns)
        if candidates is not None and not self.xp.any(candidates):
            return
        tile = [view.pairs(rows, columns) for view in self.views]
        if least > 0.0:
            candidates = tile[0].gap_variance >= least
        elif candidates is None or self._are_many(candidates):
            candidates = self._within_upper_bound(tile)
        i, j = self._places(candidates, rows, columns)
        if i.shape[0]:
            scores = self.acquisition.score([self._picked(pairs, i, j) for pairs in tile])
            at = np.arange(len(self.order))
            scores = np.broadcast_to(to_numpy(scores), i.shape)
            self._remember(scores, at[rows][to_numpy(i)], at[columns][to_numpy(j)])

    @property
    def _floor(self) -> float:
        """Values down to this one are equal to the best so far."""
        return self.value - EQUAL * abs(self.value) if np.isfinite(self.value) else self.value

    def _least_variance(self) -> float:
        if not isinstance(self.acquisition, HasVarianceBound):
            return 0.0
        return self.acquisition.least_variance(self.components, self._floor)

    def _moment_limits(self) -> MomentLimits | None:
        if not isinstance(self.acquisition, HasMomentBound):
            return None
        return self.acquisition.moment_limits(self.components, self._floor)

    def _within_moments(self, rows: slice, columns: slice) -> AnyArray | None:
        """Which pairs of a tile may be the best by the moments of the mixture; None if that is unknown."""
        limits = self._moment_limits() if self.moments else None
        return self.moments.within(rows, columns, limits) if self.moments and limits else None

    def _within_upper_bound(self, tile: list[PairMoments]) -> AnyArray:
        """Which pairs of a tile may be the best by their upper bounds; all, if there are none."""
        shape = (tile[0].left.shape[0], tile[0].right.shape[1])
        if not isinstance(self.acquisition, HasUpperBound):
            return self.xp.ones(shape, dtype=self.xp.bool, device=tile[0].left.device)
        bound = self.acquisition.upper_bound(tile)
        return self.xp.broadcast_to(bound, shape) >= self._floor

    def _are_many(self, candidates: AnyArray) -> bool:
        found = int(self.xp.count_nonzero(candidates))
        return bool(found > SPARSE * candidates.shape[0] * candidates.shape[1])

    def _picked(self, pairs: PairMoments, i: AnyArray, j: AnyArray) -> PairMoments:
        """Some pairs of a tile, in one dimension."""
        take, variance = self.xp.take, pairs.gap_variance
        if variance.shape == (1, 1):
            variance = variance[0, :]
        else:
            flat = i * variance.shape[1] + j
            variance = self.xp.clip(take(self.xp.reshape(variance, (-1,)), flat), min=0.0)
        return replace(
            pairs, left=take(pairs.left[:, 0], i), right=take(pairs.right[0, :], j), gap_variance=variance
        )

    def _places(self, candidates: AnyArray, rows: slice, columns: slice) -> tuple[AnyArray, AnyArray]:
        """Where in the tile the candidates are; each pair once, and no excluded one."""
        at = range(len(self.order))
        if self.excluded:
            inside = {p: n for n, p in enumerate(at[rows])}, {p: n for n, p in enumerate(at[columns])}
            for p, q in self.excluded:
                if p in inside[0] and q in inside[1]:
                    candidates[inside[0][p], inside[1][q]] = False
        i, j = self.xp.nonzero(candidates)
        if rows == columns:
            above = i < j
            i, j = i[above], j[above]
        return i, j

    def _remember(self, scores: Array, rows: Indices, columns: Indices) -> None:
        """Keep the best; of pairs that are equally good, the one with the smallest indices."""
        top = float(scores.max())
        if not np.isfinite(top):
            raise ValueError("the value of a question is not finite: are the pool's features finite?")
        if exceeds(self.value, top):
            return
        is_new, self.value = exceeds(top, self.value), max(top, self.value)
        best = np.flatnonzero(scores >= self._floor)
        a, b = self.order[rows[best]], self.order[columns[best]]
        found = min(zip(np.minimum(a, b).tolist(), np.maximum(a, b).tolist(), strict=True))
        self.pair = found if is_new else min(self.pair, found)

    def question(self) -> Question:
        """The best pair found."""
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        return Question(*self.pair, value=self.value, unit=self.acquisition.unit, optimality_gap=0.0)
