"""The best question that a search has found so far.

Another question takes its place only if it is better by more than the tolerance. So the result does not
depend on which of the others a search happens to score: rounded bounds decide that.
"""

from collections.abc import Iterable

import numpy as np

from prefero._support.arrays import Array, Indices, to_numpy
from prefero._support.ordering import first_largest
from prefero._support.parallel import blocks_of, map_parallel
from prefero.acquisition.base import AcquisitionFunction
from prefero.acquisition.projection import moments_of, projections
from prefero.models.posterior import Distribution
from prefero.questions import Question

SCORED = 4096  # questions that are scored together


class Incumbent:
    """The best question so far; others matter only if they are better by more than the tolerance.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        acquisition: What makes a question good.
        exclude: Pairs that are not asked.
        tolerance: A share of the value.
    """

    def __init__(
        self,
        belief: Distribution,
        x: Array,
        acquisition: AcquisitionFunction,
        exclude: Iterable[tuple[int, int]],
        tolerance: float,
    ) -> None:
        self.belief, self.x, self.acquisition, self.tolerance = belief, x, acquisition, tolerance
        self.excluded = {(min(pair), max(pair)) for pair in exclude}
        self.value, self.pair = -np.inf, (-1, -1)

    @property
    def threshold(self) -> float:
        """Questions up to this value are not better by more than the tolerance."""
        return self.value * (1.0 + self.tolerance) if self.value > 0.0 else self.value

    def score(self, questions: Indices) -> None:
        """Score questions, and keep the best if it is better."""
        questions = questions[questions[:, 0] != questions[:, 1]]
        if self.excluded:
            free = [(min(q), max(q)) not in self.excluded for q in questions.tolist()]
            questions = questions[free]
        if not len(questions):
            return
        questions = np.unique(
            np.sort(questions, axis=1), axis=0
        )  # of equal ones, that with the smallest indices
        blocks = [questions[b] for b in blocks_of(len(questions), SCORED)]
        scores = np.concatenate(map_parallel(self._scores, blocks))
        best = first_largest(scores)
        if scores[best] > self.threshold:
            self.value, self.pair = float(scores[best]), (int(questions[best, 0]), int(questions[best, 1]))

    def _scores(self, questions: Indices) -> Array:
        used, places = np.unique(questions, return_inverse=True)
        views = projections(self.belief, self.x[used])
        scores = self.acquisition.score(moments_of(views, places.reshape(questions.shape)))
        return np.broadcast_to(to_numpy(scores), len(questions))

    def question(self, gap: float) -> Question:
        """The best question, and how much better another may be."""
        if self.pair[0] < 0:
            raise ValueError("every question about this pool is excluded: nothing is left to ask")
        return Question(*self.pair, value=self.value, unit=self.acquisition.unit, optimality_gap=gap)
