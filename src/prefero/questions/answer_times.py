"""How long answers take: what a person needs for each kind of question.

    usual seconds    of a kind: time to watch each trajectory, and to decide for each bit of the answer
    pace             of a person: their median time, in multiples of the usual one of the kind

A person's time for a kind is between the usual one at their pace and the median of their own answers of that
kind, the nearer to the median the more of them there are.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from prefero.questions.answer import Answer
from prefero.questions.answer_kinds import Kind, choices_of, items_of

WATCHING = 2.0  # seconds for one trajectory
DECIDING = 2.0  # seconds for one bit of the answer
PRIOR_ANSWERS = 3.0  # as many answers the usual time counts


def usual_seconds(kind: Kind) -> float:
    """What an answer of this kind usually takes."""
    return WATCHING * items_of(kind) + DECIDING * float(np.log2(len(choices_of(kind, ties=False))))


@dataclass(frozen=True)
class AnswerTimes:
    """A person's times: seconds of each answer, by kind."""

    seconds: dict[Kind, list[float]] = field(default_factory=dict)

    @classmethod
    def of(cls, answers: Iterable[Answer]) -> "AnswerTimes":
        """Of those answers whose time is known."""
        found: dict[Kind, list[float]] = {}
        for answer in answers:
            if answer.seconds is not None:
                found.setdefault(answer.question.kind, []).append(answer.seconds)
        return cls(found)

    @property
    def pace(self) -> float:
        """How much slower than usual the person is, whatever the kind."""
        logs = [
            np.log(one / usual_seconds(kind)) for kind, seconds in self.seconds.items() for one in seconds
        ]
        return _between(0.0, logs)

    def expected(self, kind: Kind) -> float:
        """The seconds that the person's next answer of this kind will probably take."""
        return _between(np.log(self.pace * usual_seconds(kind)), np.log(self.seconds.get(kind, [])))


def _between(usual: float, own: Iterable[float]) -> float:
    """Between what is usual and the median of one's own, both as logarithms; as a number of its own."""
    logs = np.fromiter(own, dtype=float)
    weight = len(logs) / (len(logs) + PRIOR_ANSWERS)
    return float(np.exp((1.0 - weight) * usual + weight * (np.median(logs) if len(logs) else 0.0)))
