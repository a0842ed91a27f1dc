"""Thompson duels: two draws from the posterior, and the best trajectory of each against the other.

A trajectory is asked about as often as it may be the best, so the questions explore by themselves: they need
no search, and no measure of what an answer is worth. If the two draws have the same best trajectory, a
further one is drawn (Sui, Zhuang, Burdick & Yue, 2017).
"""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import ClassVar

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import Scorer, features_of, generator
from prefero.acquisition.functions.expected_utility import utility_scorer
from prefero.acquisition.plausible_best import draw_best
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind

DRAWS = 60  # after which, if all have the same best trajectory, the opponent is a random one


@dataclass(frozen=True)
class ThompsonDuel:
    """The best trajectories of two draws from the posterior (Thompson sampling): finds the best one."""

    unit: ClassVar[str] = "duel"

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs by a duel, sets by EUBO."""
        x = features_of(belief, pool)
        return _DuelScorer(belief, x) if kind == "pair" else utility_scorer(belief, x, kind)


class _DuelScorer(Scorer):
    """1 for the duel that is drawn, and 0 for all other questions."""

    unit = "duel"

    def __init__(self, belief: Distribution, x: Array) -> None:
        self.belief, self.x = belief, x

    def scores(self, items: Indices) -> Array:
        """Of pairs."""
        drawn = np.sort(items, axis=1) == sorted(next(self.proposals()))
        return np.asarray(drawn.all(axis=1), dtype=float)

    @cached_property
    def _drawn(self) -> tuple[list[int], np.random.Generator]:
        """The best trajectories of all draws, and what draws further ones."""
        rng = generator(self.belief, len(self.x))
        return draw_best(self.belief, self.x, DRAWS, rng).best.tolist(), rng

    def proposals(self) -> Iterator[tuple[int, ...]]:
        """The first draw against all others in turn, then the second, and so on; then random pairs."""
        best, rng = deepcopy(self._drawn)
        yield from (pair for pair in combinations(best, 2) if pair[0] != pair[1])
        while True:
            yield tuple(rng.choice(len(self.x), 2, replace=False).tolist())
