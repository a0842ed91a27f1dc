"""Summaries of runs: how many questions are needed, with bootstrap intervals.

curves   (R, N)   one row a run, one column a question
"""

from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array

DRAWS = 2000  # of the bootstrap


class Interval(NamedTuple):
    """A value, and where it lies with 95 %."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{_count(self.value)} ({_count(self.low)} to {_count(self.high)})"


def _count(number: float) -> str:
    return f"{number:.0f}" if np.isfinite(number) else "more"


def questions_to_reach(curve: Array, goal: float) -> float:
    """The first question after which a curve has reached the goal; infinity if it does not."""
    reached = np.flatnonzero(curve >= goal)
    return float(reached[0] + 1) if len(reached) else np.inf


def questions_needed(curves: Array, goal: float, seed: int = 0) -> Interval:
    """Questions until the mean of the runs reaches the goal, with a bootstrap over the runs."""
    rng = np.random.default_rng(seed)
    means = (curves[rng.integers(len(curves), size=len(curves))].mean(axis=0) for _ in range(DRAWS))
    drawn = np.sort([questions_to_reach(mean, goal) for mean in means])
    low, high = drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS)]
    return Interval(questions_to_reach(curves.mean(axis=0), goal), float(low), float(high))
