"""What one person was asked and said, from first to last, and where that leaves them.

    questions   as they were asked
    told        what was said to them: an answer, a skip, or that an answer is taken back or back in force
    live        the answers in force, in the order in which they came
    basis       the last of `told`, which the next question rests on; 0 before the first

A log is a value made of rows that are never edited. Whoever reads the same rows comes to the same state.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

from prefero.questions import Answer, Choice, Question

Said = Literal["left", "right", "equal", "skip", "undo", "delete", "restore"]
ANSWERS = ("left", "right", "equal")


@dataclass(frozen=True)
class Asked:
    """A question, as it was shown."""

    id: int
    number: int
    basis: int
    slot: int
    method: str
    left: int
    right: int
    bits: float | None
    accuracy: float | None
    at: str

    @property
    def question(self) -> Question:
        """For a learner."""
        value = float("nan") if self.bits is None else self.bits
        return Question(self.left, self.right, value=value, number=self.number)


@dataclass(frozen=True)
class Told:
    """What was said to a question."""

    id: int
    question: int
    turn: int
    said: Said
    key: str
    seconds: float | None
    at: str


@dataclass(frozen=True)
class Step:
    """What a participant did beside answering."""

    id: int
    stage: str
    item: str
    data: Mapping[str, Any]
    key: str
    at: str


class Live(NamedTuple):
    """An answer in force."""

    asked: Asked
    told: Told

    @property
    def answer(self) -> Answer:
        """For a learner."""
        choice: Choice = self.told.said  # type: ignore[assignment]
        return Answer(self.asked.question, choice)


@dataclass(frozen=True)
class Log:
    """All rows of one person."""

    questions: tuple[Asked, ...] = ()
    told: tuple[Told, ...] = ()
    steps: tuple[Step, ...] = field(default=())

    @cached_property
    def by_id(self) -> dict[int, Asked]:
        """Questions by their ids."""
        return {asked.id: asked for asked in self.questions}

    @cached_property
    def turns(self) -> dict[int, list[Told]]:
        """What was said to each question, in order."""
        turns: dict[int, list[Told]] = {}
        for told in self.told:
            turns.setdefault(told.question, []).append(told)
        return turns

    @cached_property
    def live(self) -> tuple[Live, ...]:
        """The answers in force, in the order in which they came."""
        found = [
            (answer, self.by_id[question])
            for question, turns in self.turns.items()
            for answer in [_in_force(turns)]
            if answer is not None
        ]
        return tuple(Live(asked, told) for told, asked in sorted(found, key=lambda pair: pair[0].id))

    @cached_property
    def skipped(self) -> tuple[Asked, ...]:
        """Questions that the person would rather not answer."""
        return tuple(self.by_id[q] for q, turns in self.turns.items() if turns[-1].said == "skip")

    @cached_property
    def deleted(self) -> dict[int, Told]:
        """Answers that were deleted, by question: what may be restored."""
        gone = {q: turns for q, turns in self.turns.items() if turns[-1].said == "delete"}
        return {q: _last_answer(turns) for q, turns in gone.items()}

    @property
    def basis(self) -> int:
        """What the next question rests on."""
        return self.told[-1].id if self.told else 0

    @cached_property
    def open(self) -> Asked | None:
        """The question that waits for an answer, if it was asked already."""
        if self.told and self.told[-1].said == "undo":
            return self.by_id[self.told[-1].question]
        return next((asked for asked in reversed(self.questions) if asked.basis == self.basis), None)

    @property
    def number(self) -> int:
        """The next question's."""
        return len(self.questions) + 1

    def turn(self, question: int) -> int:
        """How much was said to a question."""
        return len(self.turns.get(question, ()))

    def step(self, stage: str, item: str = "") -> Step | None:
        """What was done at a stage, if it was."""
        return next((step for step in self.steps if (step.stage, step.item) == (stage, item)), None)

    def imagine(self, question: Asked, said: Said) -> "Log":
        """As if this had been said."""
        told = Told(self.basis + 1, question.id, self.turn(question.id), said, "", None, "")
        return replace(self, told=(*self.told, told))


def _last_answer(turns: list[Told]) -> Told:
    return next(told for told in reversed(turns) if told.said in ANSWERS)


def _in_force(turns: list[Told]) -> Told | None:
    """The answer that counts: the last thing said is an answer, or that it is restored."""
    if turns[-1].said in ANSWERS:
        return turns[-1]
    return _last_answer(turns) if turns[-1].said == "restore" else None
