"""A good question by a search that need not look at every pair, for functions that are dear to score.

    considered   (M,)     indices of the trajectories that questions are about: of a large pool, a part
    place                 index of a trajectory among those that are considered

The pairs of a sample are estimated, and the most promising of them are scored. Then one side of the best
question is kept and the other exchanged for every trajectory in turn, a few times. Of a small pool this
finds nearly always the maximum (docs/results/searches.md says how often).

Of a large pool, a random part is considered first. Then each side is exchanged for every trajectory of the
whole pool, or of a very large one for those of a larger random part, in blocks that need little memory.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from prefero._support.arrays import Array, Flags, Indices, one_thread
from prefero._support.ordering import exceeds, first_largest, largest_first
from prefero._support.parallel import blocks_of, map_parallel
from prefero.acquisition.base import PairMoments
from prefero.acquisition.projection import picked_moments
from prefero.acquisition.runners_up import offer_runners_up
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question

FIRST_LOOK = 64  # trajectories whose pairs are all estimated first
ESTIMATED_EQUAL = 1e-4  # of the largest: estimates in single precision differ by less where they are equal
SCORED = 48  # questions that are scored after an estimate of many
EXCHANGES = 4  # times that one side of the best question is exchanged
LARGE_POOL = 2000  # trajectories: of a larger pool, so many are considered first
EXCHANGED = 20_000  # trajectories that a side is exchanged for, of a larger pool
WHOLE_EXCHANGES = 2  # times that one side is exchanged for all of these
BLOCK = 4096  # trajectories whose questions are estimated together


class Scorer(Protocol):
    """What the search needs of an acquisition function, prepared for a pool."""

    @property
    def considered(self) -> Indices:
        """Indices in the pool of the trajectories that are considered."""

    @property
    def priority(self) -> Array:
        """Which of them to look at first: those where this is largest."""

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
        self.scored: list[tuple[Indices, Array]] = []  # pairs of places, and their values

    def run(self, unit: str) -> Question:
        """The question found, as indices of the pool."""
        self._look_at(self._sample())
        if self.pair[0] < 0:  # the sample has only excluded pairs
            self._look_at(np.column_stack(np.triu_indices(len(self.scorer.considered), 1)))
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        looked_at = set[int]()
        for exchange in range(EXCHANGES):
            kept = self.pair[exchange % 2]
            if kept not in looked_at:  # otherwise the same questions would be scored again
                self._look_at(self._with_one_side(kept))
            looked_at.add(kept)
        a, b = (int(self.scorer.considered[place]) for place in self.pair)
        question = Question(min(a, b), max(a, b), value=float(self.value), unit=unit)
        offer_runners_up(question, [(self.scorer.considered[places], s) for places, s in self.scored])
        return question

    def _sample(self) -> Indices:
        """All pairs of some trajectories: half of them of the highest priority, half of them random."""
        size = min(FIRST_LOOK, len(self.scorer.considered))
        first = largest_first(self.scorer.priority, size // 2)
        others = np.setdiff1d(np.arange(len(self.scorer.considered)), first)
        chosen = np.concatenate([first, self.rng.permutation(others)[: size - size // 2]])
        one, other = np.triu_indices(size, 1)
        return np.column_stack([chosen[one], chosen[other]])

    def _with_one_side(self, kept: int) -> Indices:
        """All pairs with this trajectory."""
        others = np.delete(np.arange(len(self.scorer.considered)), kept)
        return np.column_stack([np.full(len(others), kept), others])

    def _look_at(self, places: Indices) -> None:
        places = places[self._are_free(places)]
        if not len(places):
            return
        moments = self.scorer.moments(places)
        promising = largest_first(self.scorer.estimates(moments, places), SCORED, ESTIMATED_EQUAL)
        places = places[promising]
        scores = self.scorer.scores(picked_moments(moments, promising), places)
        self.scored.append((places, scores))
        best = first_largest(scores)
        if exceeds(scores[best], self.value):
            self.value, self.pair = float(scores[best]), (int(places[best, 0]), int(places[best, 1]))

    def _are_free(self, places: Indices) -> Flags:
        return are_free(self.scorer.considered[places], self.excluded)


@dataclass(frozen=True, eq=False)
class _WholeExchange:
    """Exchanges a side of a question for trajectories of the whole pool."""

    scorers: Callable[[Indices], Scorer]
    others: Indices  # the trajectories that come into question
    excluded: set[tuple[int, int]]

    def improved(self, question: Question) -> Question:
        """The question, or a better one with other trajectories."""
        for exchange in range(WHOLE_EXCHANGES):
            question = self._exchanged(question, question.items[exchange % 2])
        return question

    def _exchanged(self, question: Question, kept: int) -> Question:
        """With one side kept, the best other side."""
        others = self.others[self.others != kept]
        blocks = [others[b] for b in blocks_of(len(others), BLOCK)]
        found = map_parallel(lambda block: self._promising(kept, block), blocks)
        estimates, places = (np.concatenate(part) for part in zip(*found, strict=True))
        others = places[largest_first(estimates, SCORED, ESTIMATED_EQUAL)]
        if not len(others):
            return question
        scorer, pairs = self._questions(kept, others)
        scores = scorer.scores(scorer.moments(pairs), pairs)
        best = first_largest(scores)
        if not exceeds(scores[best], question.value):
            return question
        pair = sorted((kept, int(others[best])))
        return Question(*pair, value=float(scores[best]), unit=question.unit)

    def _promising(self, kept: int, block: Indices) -> tuple[Array, Indices]:
        """The best estimates of questions with one side kept, and their other sides."""
        block = block[are_free(np.column_stack([np.full(len(block), kept), block]), self.excluded)]
        scorer, pairs = self._questions(kept, block)
        estimates = scorer.estimates(scorer.moments(pairs), pairs) if len(block) else np.empty(0)
        top = largest_first(estimates, SCORED, ESTIMATED_EQUAL)
        return estimates[top], block[top]

    def _questions(self, kept: int, others: Indices) -> tuple[Scorer, Indices]:
        """A scorer of these trajectories, and the places of the questions there."""
        scorer = self.scorers(np.append(others, kept))
        return scorer, np.column_stack([np.full(len(others), len(others)), np.arange(len(others))])


class SearchedAcquisition(ABC):
    """A `PoolAcquisitionFunction` that this search maximizes; a subclass makes the scorer."""

    unit: ClassVar[str]

    @abstractmethod
    def _scorers(self, belief: Distribution, pool: Pool | Array) -> Callable[[Indices], Scorer]:
        """What makes scorers of questions about some trajectories of a pool."""

    @abstractmethod
    def _considered(self, belief: Distribution, x: Array, rng: np.random.Generator) -> Indices:
        """The trajectories of the pool x, (M, d), that questions are about: of a large pool, a part."""

    @one_thread
    def score_questions(self, belief: Distribution, pool: Pool | Array, questions: Indices) -> Array:
        """The value of each question, (Q,); the questions are pairs of trajectory indices, (Q, 2)."""
        scorer = self._scorers(belief, pool)(np.unique(questions))
        places = np.searchsorted(scorer.considered, questions)
        return scorer.scores(scorer.moments(places), places)

    @one_thread
    def best_question(
        self, belief: Distribution, pool: Pool | Array, exclude: Iterable[tuple[int, int]] = ()
    ) -> Question:
        """The best question that the search finds."""
        x = features_of(belief, pool)
        rng = generator(belief, len(x))
        scorers, considered = self._scorers(belief, pool), self._considered(belief, x, rng)
        search = ExchangeSearch(scorers(considered), exclude, rng)
        question = search.run(self.unit)
        if len(considered) == len(x):
            return question
        others = random_part(len(x), rng, EXCHANGED)
        return _WholeExchange(scorers, others, search.excluded).improved(question)


def random_part(size: int, rng: np.random.Generator, most: int | None = None) -> Indices:
    """All trajectories of a pool; of a large one, random ones."""
    most = most or LARGE_POOL
    if size <= most:
        return np.arange(size)
    return np.sort(rng.choice(size, most, replace=False))


def are_free(pairs: Indices, excluded: set[tuple[int, int]]) -> Flags:
    """Which pairs (Q, 2) are not excluded, in either order."""
    taken = np.array(sorted(excluded), dtype=np.intp).reshape(-1, 2)
    size = 1 + max(int(pairs.max(initial=0)), int(taken.max(initial=0)))
    return ~np.isin(pairs.min(axis=1) * size + pairs.max(axis=1), taken[:, 0] * size + taken[:, 1])


def features_of(belief: Distribution, pool: Pool | Array) -> Array:
    """The features of a pool in the units of a belief."""
    return pool.features_for(belief) if isinstance(pool, Pool) else pool


def generator(belief: Distribution, size: int) -> np.random.Generator:
    """The same for the same answers about the same pool, and another after every answer."""
    answers = getattr(belief.components[0][1], "data", ())
    return np.random.default_rng([size, len(answers)])
