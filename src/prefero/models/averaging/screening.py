"""Which candidates are worth fitting to very many answers, found with the first of them.

    stage      a number of answers: 64, 160, 400, ..., each two and a half times the one before
    deficit    how far the log weight of a candidate is behind the best

At each stage the candidates that are left are fitted roughly to the first answers. One that is far behind
is left out of all later stages. What is left depends on the answers alone.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar

import numpy as np

from prefero._support.parallel import map_parallel

FIRST, GROWTH = 64, 2.5  # answers of the first stage, and how many times more each further one has
BEHIND = 15.0  # a deficit at which a candidate is left out: the best is three million times as probable

Key = TypeVar("Key")
LogWeight = Callable[[Key, int], float]  # of a candidate, given so many of the first answers


def stages(answers: int) -> Iterator[int]:
    """The stages below a number of answers."""
    stage = FIRST
    while stage < answers:
        yield stage
        stage = int(GROWTH * stage)


class Screening(Generic[Key]):
    """Remembers what every stage found, since the first answers do not change."""

    def __init__(self) -> None:
        self.found: dict[int, dict[Key, float]] = {}  # deficits by stage, of the candidates that were left

    def copy(self) -> "Screening[Key]":
        """One that forgets and learns by itself; what a stage found stays as it is."""
        other: Screening[Key] = Screening()
        other.found = dict(self.found)
        return other

    def left(self, keys: Sequence[Key], answers: int, log_weight: LogWeight[Key]) -> list[Key]:
        """The candidates that are worth fitting to so many answers."""
        for stage in stages(answers):
            if stage not in self.found:
                self.found[stage] = self._deficits(keys, stage, log_weight)
            keys = [key for key in keys if self.found[stage].get(key, 0.0) < BEHIND]
        return list(keys)

    def _deficits(self, keys: Sequence[Key], stage: int, log_weight: LogWeight[Key]) -> dict[Key, float]:
        values = np.array(map_parallel(lambda key: log_weight(key, stage), keys))
        return dict(zip(keys, (values.max() - values).tolist(), strict=True))
