"""A question about several trajectories: from a good pair, by adding and exchanging trajectories.

The scorer's estimates decide while the search adds and exchanges, and its scores among the best sets found.
"""

from collections.abc import Sequence

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import exceeds, first_largest, largest_first
from prefero.acquisition.base import Scorer
from prefero.acquisition.excluded import Excluded

CONSIDERED = 100  # trajectories that may be added: of a larger pool random ones, always with the pair
SHORTLIST = 6  # sets that are scored
EXCHANGES = 2  # times that every trajectory of the set is exchanged, if that helps
Items = tuple[int, ...]


def best_set(
    scorer: Scorer, pair: Items, count: int, size: int, excluded: Excluded, rng: np.random.Generator
) -> Items:
    """A good set of so many trajectories.

    Args:
        scorer: Of sets of up to so many trajectories.
        pair: The trajectories to begin with.
        count: How many trajectories the set has.
        size: Of the pool.
        excluded: Sets that are not asked.
        rng: Chooses the trajectories that may be added.

    Returns:
        The set, as indices of the pool.
    """
    others = rng.permutation(np.setdiff1d(np.arange(size), pair))[: CONSIDERED - 2]
    return _SetSearch(scorer, np.concatenate([np.array(pair), others]), excluded).run(count)


class _SetSearch:
    def __init__(self, scorer: Scorer, considered: Indices, excluded: Excluded) -> None:
        self.scorer, self.excluded = scorer.about(considered), excluded
        self.considered: list[int] = considered.tolist()

    def run(self, count: int) -> Items:
        items: Items = tuple(self.considered[:2])
        while len(items) < count:
            items = self._best([(*items, other) for other in self._others(items)])[0]
        ranked = [items]
        for _ in range(EXCHANGES):
            exchanged = self._best([new for at in range(count) for new in self._exchanged(items, at)])
            ranked = [*exchanged, *ranked]
            if not exceeds(*self._estimates([exchanged[0], items])):
                break
            items = exchanged[0]
        shortlist = list(dict.fromkeys([items, *ranked]))[:SHORTLIST]
        return shortlist[first_largest(self._allowed(shortlist, self.scorer.scores(np.array(shortlist))))]

    def _others(self, items: Items) -> list[int]:
        return [other for other in self.considered if other not in items]

    def _exchanged(self, items: Items, at: int) -> list[Items]:
        """The same set with another trajectory in one place."""
        return [(*items[:at], other, *items[at + 1 :]) for other in self._others(items)] + [items]

    def _best(self, sets: Sequence[Items]) -> list[Items]:
        """The best few of some sets, the best first."""
        return [sets[i] for i in largest_first(self._estimates(sets), SHORTLIST)]

    def _estimates(self, sets: Sequence[Items]) -> Array:
        return self._allowed(sets, self.scorer.estimates(np.array(sets)))

    def _allowed(self, sets: Sequence[Items], values: Array) -> Array:
        """The values, and less than any for excluded sets."""
        return np.where(self.excluded.free(np.array(sets)), values, -np.inf)
