"""Answers that do not fit to the others, perhaps slips."""

from collections.abc import Sequence
from dataclasses import dataclass

from prefero._support.arrays import Array
from prefero.questions import Answer

SURPRISING = 0.25  # an answer that is less probable than this, given all others, may be a slip


@dataclass(frozen=True)
class Surprise:
    """An answer, and how probable the model finds it given all other answers.

    Args:
        answer: The answer.
        probability: How probable the model finds it.
    """

    answer: Answer
    probability: float


def surprises_among(answers: Sequence[Answer], probabilities: Array) -> list[Surprise]:
    """The improbable answers, the most improbable first.

    Args:
        answers: The answers, N of them.
        probabilities: Of each one given all others, (N,).

    Returns:
        The surprises.
    """
    pairs = zip(answers, probabilities, strict=True)
    found = [Surprise(answer, float(chance)) for answer, chance in pairs if chance < SURPRISING]
    return sorted(found, key=lambda surprise: surprise.probability)
