"""A good pair by a search that does not look at every pair, for functions that take long to score.

The search estimates the pairs of a sample and scores the most promising of them. Then it keeps one trajectory
of the best pair and exchanges the other for every trajectory in turn, a few times. In a small pool this finds
nearly always the maximum (docs/results/searches.md says how often).

In a large pool the search considers some of the trajectories first. Then it exchanges each trajectory of the
best pair for every one of the whole pool, or of a very large pool for random ones. It works on few of them at
a time, and so needs little memory.
"""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import exceeds, first_largest, largest_first
from prefero._support.parallel import chunks_of, map_parallel
from prefero.acquisition.base import Scorer, random_items
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.searches.incumbent import Incumbent
from prefero.questions import Question

FIRST_LOOK = 64  # trajectories whose pairs are all estimated first
ESTIMATED_EQUAL = 1e-4  # of the largest: estimates in single precision differ by less where they are equal
SCORED = 48  # questions that are scored after an estimate of many
SCORED_EXCHANGES = 24  # the same, where one trajectory is kept
EXCHANGES = 4  # times that one trajectory of the best pair is exchanged
EXCHANGED = 20_000  # trajectories that it is exchanged for, of a larger pool
WHOLE_EXCHANGES = 2  # times that it is exchanged for all of these
TOGETHER = 4096  # trajectories whose questions are estimated together


def exchange_search(scorer: Scorer, size: int, excluded: Excluded, rng: np.random.Generator) -> Question:
    """A good pair of a pool of this size."""
    considered = scorer.considered(size, rng)
    question = ExchangeSearch(scorer, considered, excluded, rng).run()
    if len(considered) == size:
        return question
    return WholeExchange(scorer, random_items(size, EXCHANGED, rng), excluded).improved(question)


class ExchangeSearch:
    """The best pair of a sample, of which one trajectory at a time is exchanged for the others."""

    def __init__(
        self, scorer: Scorer, considered: Indices, excluded: Excluded, rng: np.random.Generator
    ) -> None:
        self.scorer, self.considered = scorer.about(considered), considered
        self.excluded, self.rng = excluded, rng
        self.best = Incumbent()

    def run(self) -> Question:
        """The question found."""
        self.look_at(self.sample())
        if not self.best.items:  # the sample has only excluded pairs
            self.look_at(self.considered[np.column_stack(np.triu_indices(len(self.considered), 1))])
        kept = set[int]()
        for exchange in range(EXCHANGES if self.best.items else 0):
            item = self.best.items[exchange % 2]
            if item not in kept:  # otherwise the same questions would be scored again
                self.look_at(pairs_with(item, self.considered), SCORED_EXCHANGES)
            kept.add(item)
        return self.best.question(self.scorer.unit)

    def sample(self) -> Indices:
        """All pairs of some trajectories: half of them of the highest priority, half of them random."""
        size = min(FIRST_LOOK, len(self.considered))
        first = largest_first(self.scorer.priority(self.considered), size // 2)
        others = np.setdiff1d(np.arange(len(self.considered)), first)
        chosen = np.concatenate([first, self.rng.permutation(others)[: size - size // 2]])
        pairs: Indices = self.considered[chosen[np.column_stack(np.triu_indices(size, 1))]]
        return pairs

    def look_at(self, pairs: Indices, scored: int = SCORED) -> None:
        """Estimate pairs, and score the most promising ones, so many."""
        pairs = pairs[self.excluded.free(pairs)]
        if not len(pairs):
            return
        pairs = pairs[largest_first(self.scorer.estimates(pairs), scored, ESTIMATED_EQUAL)]
        self.best.offer(pairs, self.scorer.scores(pairs))


@dataclass(frozen=True, eq=False)
class WholeExchange:
    """Exchanges a trajectory of a pair for others of the whole pool.

    Args:
        scorer: Of pairs.
        others: The trajectories that come into question.
        excluded: Pairs that are not asked.
    """

    scorer: Scorer
    others: Indices
    excluded: Excluded

    def improved(self, question: Question) -> Question:
        """The question, or a better one with other trajectories."""
        for exchange in range(WHOLE_EXCHANGES):
            question = self._exchanged(question, question.items[exchange % 2])
        return question

    def _exchanged(self, question: Question, kept: int) -> Question:
        """With one trajectory kept, the best other one."""
        some = [self.others[rows] for rows in chunks_of(len(self.others), TOGETHER)]
        found = map_parallel(lambda others: self._promising(kept, others), some)
        estimates, pairs = (np.concatenate(each) for each in zip(*found, strict=True))
        if not len(pairs):
            return question
        pairs = pairs[largest_first(estimates, SCORED, ESTIMATED_EQUAL)]
        scores = self._prepared(pairs).scores(pairs)
        best = first_largest(scores)
        if not exceeds(scores[best], question.value):
            return question
        return Question(*sorted(pairs[best].tolist()), value=float(scores[best]), unit=question.unit)

    def _promising(self, kept: int, others: Indices) -> tuple[Array, Indices]:
        """The best estimates of pairs with one trajectory kept, and these pairs."""
        pairs = pairs_with(kept, others)
        pairs = pairs[self.excluded.free(pairs)]
        estimates = self._prepared(pairs).estimates(pairs) if len(pairs) else np.empty(0)
        top = largest_first(estimates, SCORED, ESTIMATED_EQUAL)
        return estimates[top], pairs[top]

    def _prepared(self, pairs: Indices) -> Scorer:
        return self.scorer.about(np.append(pairs[:, 1], pairs[0, 0]))


def pairs_with(kept: int, others: Indices) -> Indices:
    """All pairs of this trajectory and another one, (n, 2)."""
    others = others[others != kept]
    return np.column_stack([np.full(len(others), kept), others])
