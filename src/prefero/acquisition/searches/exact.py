"""The exact maximum of an acquisition function over all pairs of a pool, given the moments of the pairs.

    x               (M, d)    features of the pool, in the units that the posterior was fitted to
    components      K         the Gaussians that make up the posterior, with their weights
    mean, std       (M,)      of the rewards, for each component
    gap_variance              Var[f(x_i) - f(x_j)]

The search looks at every pair, a tile of the M x M square at a time, and never keeps more than a few tiles.
Most pairs are ruled out by a bound that is cheaper than their score: first whole tiles, since
gap_variance <= (std_i + std_j)^2, then single pairs. What is left is scored, so the result is exact.
"""

from dataclasses import replace

import numpy as np

from prefero._support.arrays import AnyArray, Array, like_indices, namespace_of, to_numpy
from prefero._support.ordering import EQUAL, exceeds, largest_first
from prefero.acquisition.base import AcquisitionFunction, PairMoments, Scorer
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.projection import projections, tiles_of
from prefero.acquisition.searches.incumbent import Incumbent
from prefero.models.posterior.gaussian import Distribution
from prefero.questions import Question

TILE_SIZE = {"cpu": 256, "gpu": 8192}
FIRST_LOOK = 48  # trajectories whose pairs are scored first


def exact_search(
    scorer: Scorer,
    function: AcquisitionFunction,
    belief: Distribution,
    x: AnyArray,
    excluded: Excluded,
    tile: int | None,
) -> Question:
    """The best pair; of equally good ones, that with the smallest indices.

    Args:
        scorer: Of pairs.
        function: Of their moments, by which it scores.
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief; its library and device do the work.
        excluded: Pairs that are not asked.
        tile: How many rows are worked on at once; None chooses.

    Returns:
        The question.
    """
    search = _ExactSearch(function, belief, x, excluded)
    search.look_at_a_sample()
    side = tile or TILE_SIZE["cpu" if isinstance(x, np.ndarray) else "gpu"]
    for rows, columns in tiles_of(x.shape[0], side):
        search.look_at(rows, columns)
    items = search.best.question(function.unit).items
    value = scorer.value(items)  # equally good pairs differ by a little
    return Question(*items, value=value, unit=function.unit, optimality_gap=0.0)


class _ExactSearch:
    """Walks the pool from the most uncertain trajectory to the least."""

    def __init__(
        self, function: AcquisitionFunction, belief: Distribution, x: AnyArray, excluded: Excluded
    ) -> None:
        self.function, self.excluded, self.xp = function, excluded, namespace_of(x)
        views = projections(belief, x)
        self.components = [view.component for view in views]
        weighted = [view.component.weight * to_numpy(view.variance) for view in views]
        self.order = largest_first(np.sum(weighted, axis=0))
        self.views = [view.taken(like_indices(self.order, x)) for view in views]
        self.std = np.sqrt(to_numpy(self.views[0].variance))
        self.best = Incumbent()

    def look_at_a_sample(self) -> None:
        """A first good value, from pairs all over the pool, so that most others need no closer look."""
        sample = slice(0, None, max(len(self.order) // FIRST_LOOK, 1))
        self.look_at(sample, sample)

    def look_at(self, rows: slice, columns: slice) -> None:
        """Score the pairs of a tile, unless none of them can be the best."""
        least = self._least_variance()
        if float(self.std[rows].max() + self.std[columns].max()) ** 2 < least:
            return
        tile = [view.pairs(rows, columns) for view in self.views]
        candidates = tile[0].gap_variance >= least if least > 0.0 else self._within_upper_bound(tile)
        i, j = self.xp.nonzero(candidates)
        if rows == columns:
            i, j = i[i < j], j[i < j]
        items = np.column_stack([self.order[rows][to_numpy(i)], self.order[columns][to_numpy(j)]])
        free = self.excluded.free(items)
        if not free.all():
            kept = like_indices(np.flatnonzero(free), self.views[0].x)
            i, j, items = self.xp.take(i, kept), self.xp.take(j, kept), items[free]
        if len(items):
            scores = self.function.score([self._picked(pairs, i, j) for pairs in tile])
            self._remember(np.broadcast_to(to_numpy(scores), len(items)), np.sort(items, axis=1))

    @property
    def _floor(self) -> float:
        """Values down to this one are equal to the best so far."""
        value = self.best.value
        return value - EQUAL * abs(value) if np.isfinite(value) else value

    def _least_variance(self) -> float:
        bound = getattr(self.function, "least_variance", None)
        return bound(self.components, self._floor) if bound else 0.0

    def _within_upper_bound(self, tile: list[PairMoments]) -> AnyArray:
        """Which pairs of a tile may be the best by their upper bounds; all, if there are none."""
        shape = (tile[0].left.shape[0], tile[0].right.shape[1])
        bound = getattr(self.function, "upper_bound", None)
        if bound is None:
            return self.xp.ones(shape, dtype=self.xp.bool, device=tile[0].left.device)
        return self.xp.broadcast_to(bound(tile), shape) >= self._floor

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

    def _remember(self, scores: Array, items: Array) -> None:
        """Keep the best; of pairs that are equally good, the one with the smallest indices."""
        best, top = self.best, float(scores.max())
        if not np.isfinite(top):
            raise ValueError("the value of a question is not finite: are the pool's features finite?")
        if exceeds(best.value, top):
            return
        is_new, best.value = exceeds(top, best.value), max(top, best.value)
        found = min(map(tuple, items[scores >= self._floor].tolist()))
        best.items = found if is_new else min(best.items, found)
