"""A good question by a search that need not look at every pair, for functions that are dear to score.

    place        index of a trajectory among those that are considered

The pairs of a sample are estimated, and the most promising of them are scored. Then one side of the best
question is kept and the other exchanged for every trajectory in turn, a few times. Of a small pool this
finds nearly always the maximum (`python -m benchmarks.predictive_search` measures how often).
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments
from prefero.questions import Question

FIRST_LOOK = 64  # trajectories whose pairs are all estimated first
SCORED = 48  # questions that are scored after an estimate of many
EXCHANGES = 4  # times that one side of the best question is exchanged


class Scorer(Protocol):
    """What the search needs of an acquisition function, prepared for a pool."""

    @property
    def considered(self) -> Indices:
        """Indices in the pool of the trajectories that are considered."""

    @property
    def uncertainty(self) -> Array:
        """How uncertain the reward of each of them is."""

    def moments(self, places: Indices) -> list[PairMoments]:
        """Means and variances of questions, pairs of places (Q, 2), under every component."""

    def estimates(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """Cheap estimates of the scores."""

    def scores(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """The values of the questions."""


class ExchangeSearch:
    """A good question: the best of a sample, of which one side at a time is exchanged."""

    def __init__(self, scorer: Scorer, exclude: Iterable[tuple[int, int]], rng: np.random.Generator) -> None:
        self.scorer, self.rng = scorer, rng
        self.excluded = {(min(pair), max(pair)) for pair in exclude}
        self.value, self.pair = -np.inf, (-1, -1)

    def run(self, unit: str) -> Question:
        """The question found, as indices of the pool."""
        self._look_at(self._sample())
        if self.pair[0] < 0:  # the sample has only excluded pairs
            self._look_at(np.column_stack(np.triu_indices(len(self.scorer.considered), 1)))
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        for exchange in range(EXCHANGES):
            self._look_at(self._with_one_side(self.pair[exchange % 2]))
        a, b = (int(self.scorer.considered[place]) for place in self.pair)
        return Question(min(a, b), max(a, b), value=float(self.value), unit=unit)

    def _sample(self) -> Indices:
        """All pairs of some trajectories: half of them the most uncertain, half of them random."""
        order = np.argsort(-self.scorer.uncertainty, kind="stable")
        size = min(FIRST_LOOK, len(order))
        uncertain, others = np.split(order, [size // 2])
        chosen = np.concatenate([uncertain, self.rng.permutation(others)[: size - size // 2]])
        first, second = np.triu_indices(size, 1)
        return np.column_stack([chosen[first], chosen[second]])

    def _with_one_side(self, kept: int) -> Indices:
        """All pairs with this trajectory."""
        others = np.delete(np.arange(len(self.scorer.considered)), kept)
        return np.column_stack([np.full(len(others), kept), others])

    def _look_at(self, places: Indices) -> None:
        places = places[[not self._is_excluded(a, b) for a, b in places]] if self.excluded else places
        if not len(places):
            return
        estimates = self.scorer.estimates(self.scorer.moments(places), places)
        places = places[np.argsort(-estimates, kind="stable")[:SCORED]]
        scores = self.scorer.scores(self.scorer.moments(places), places)
        best = int(np.argmax(scores))
        if scores[best] > self.value:
            self.value, self.pair = float(scores[best]), (int(places[best, 0]), int(places[best, 1]))

    def _is_excluded(self, a: int, b: int) -> bool:
        pair = int(self.scorer.considered[a]), int(self.scorer.considered[b])
        return (min(pair), max(pair)) in self.excluded
