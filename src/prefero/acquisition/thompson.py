"""Thompson duels: two draws from the posterior, and the best trajectory of each against the other.

A trajectory is asked about as often as it may be the best, so the questions explore by themselves: they need
no search, and no measure of what an answer is worth. If the two draws have the same best trajectory, a
further one is drawn (Sui, Zhuang, Burdick & Yue, 2017).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero.acquisition.exchange_search import features_of, generator
from prefero.acquisition.plausible_best import draw_best
from prefero.acquisition.random_question import random_question
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question

DRAWS = 60  # after which, if all have the same best trajectory, the opponent is a random one


@dataclass(frozen=True)
class ThompsonDuel:
    """The best trajectories of two draws from the posterior (Thompson sampling): finds the best one."""

    unit: ClassVar[str] = "duel"

    @one_thread
    def score_questions(self, belief: Distribution, pool: Pool | Array, questions: Indices) -> Array:
        """1 for the duel that is drawn, and 0 for all other questions, (Q,)."""
        drawn = self.best_question(belief, pool).items
        return np.array([float(sorted(question) == sorted(drawn)) for question in questions.tolist()])

    @one_thread
    def best_question(
        self, belief: Distribution, pool: Pool | Array, exclude: Iterable[tuple[int, int]] = ()
    ) -> Question:
        """The first duel that is not excluded."""
        x, excluded = features_of(belief, pool), {(min(pair), max(pair)) for pair in exclude}
        rng = generator(belief, len(x))
        duels = _duels(draw_best(belief, x, DRAWS, rng).best)
        free = [pair for pair in duels if pair not in excluded]
        if not free:
            free = [_sorted(random_question(len(x), rng, excluded).items)]
        return Question(*free[0], value=float(free[0] in (duels or free)[:1]), unit=self.unit)


def _duels(best: Indices) -> list[tuple[int, int]]:
    """The first draw against all others in turn, then the second, and so on; no trajectory against itself."""
    return [_sorted(pair) for pair in combinations(best.tolist(), 2) if pair[0] != pair[1]]


def _sorted(pair: tuple[int, ...]) -> tuple[int, int]:
    return min(pair), max(pair)
