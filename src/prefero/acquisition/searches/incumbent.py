"""The best question that a search has found so far."""

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import EQUAL, exceeds, first_largest
from prefero.questions import Question


class NothingLeftError(ValueError):
    """Every question about a pool is excluded."""

    def __init__(self) -> None:
        super().__init__("every question about this pool is excluded: nothing is left to ask")


class Incumbent:
    """The best question so far.

    Another question takes its place only if it is better by more than the tolerance. So the result does not
    depend on which of the others a search happens to score: rounded bounds decide that.

    Args:
        tolerance: A fraction of the value.
    """

    def __init__(self, tolerance: float = EQUAL) -> None:
        self.tolerance, self.value = tolerance, -np.inf
        self.items: tuple[int, ...] = ()

    @property
    def threshold(self) -> float:
        """Questions up to this value are not better by more than the tolerance."""
        return self.value * (1.0 + self.tolerance) if self.value > 0.0 else self.value

    def offer(self, items: Indices, scores: Array) -> None:
        """Keep the best of some questions, (n, k), if it is better; of equal ones, the first."""
        best = first_largest(scores)
        if exceeds(float(scores[best]), self.value, self.tolerance):
            self.value, self.items = float(scores[best]), tuple(items[best].tolist())

    def question(self, unit: str, gap: float = np.nan) -> Question:
        """The best question, with its trajectories in ascending order, and how much better another may be."""
        if not self.items:
            raise NothingLeftError
        return Question(*sorted(self.items), value=self.value, unit=unit, optimality_gap=gap)
