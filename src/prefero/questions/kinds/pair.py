"""Answers about two trajectories: which is better, and perhaps by how much."""

from collections.abc import Sequence
from typing import ClassVar, get_args

from prefero.questions.kinds.base import (
    ANYWHERE,
    MARGIN,
    STRONG,
    AnswerKind,
    ComparedPair,
    Constraint,
    PairChoice,
    Region,
)

CHOICES: tuple[PairChoice, ...] = get_args(PairChoice)


class Pair(AnswerKind):
    """Which of two is better: "left", "right" or, where ties are allowed, "equal"."""

    request = "Say which one you like better."
    bounds: ClassVar[dict[str, tuple[int, int]]] = {"": (MARGIN, ANYWHERE)}  # by how much

    @property
    def choices(self) -> tuple[str, ...]:
        """A side, or "equal"."""
        return CHOICES

    def regions(self, choice: str) -> tuple[Region, ...]:
        """How much better the preferred one is; "equal": neither is, by the margin."""
        side, _, strength = choice.partition("-")
        if side == "equal":
            return ((Constraint(0, 1, -MARGIN, MARGIN),),)
        sides = (0, 1) if side == "left" else (1, 0)
        return ((Constraint(*sides, *self.bounds[strength]),),)

    def pairs(self, items: Sequence[int], choice: str) -> list[ComparedPair]:
        """The pair as it was shown."""
        side: PairChoice = next(side for side in CHOICES if choice.startswith(side))
        left, right = items
        return [ComparedPair(left, right, side)]

    def chosen(self, choice: str) -> int | None:
        """The better one."""
        return None if self.is_tied(choice) else int(choice.startswith("right"))


class Strength(Pair):
    """Which of two is better, and by how much: "left-much", "left-slightly", "equal", ..."""

    request = "Say which one you like better, and by how much."
    bounds: ClassVar = {"slightly": (MARGIN, STRONG), "much": (STRONG, ANYWHERE)}

    @property
    def choices(self) -> tuple[str, ...]:
        """A side and a strength, or "equal"."""
        return "left-much", "left-slightly", "equal", "right-slightly", "right-much"
