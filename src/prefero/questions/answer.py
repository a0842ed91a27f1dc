"""Answer: a question with what the person said to it.

An answer about k trajectories has k - 1 rows, differences of rewards that it is about: the best and each
other one, each other one and the worst, or in a ranking each one and the next. An answer that says what is
acceptable is about one more, the bar.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite
from typing import Self

from prefero.questions.answer_kinds import kind_named
from prefero.questions.kinds.base import AnswerKind, ComparedPair, Constraint
from prefero.questions.kinds.rank import ranking_word
from prefero.questions.question import Question

# where answers come from, besides people who were asked
LABELS = "labels"  # a dataset that had them
DEMONSTRATION = "demonstration"  # what somebody showed is better than what else there is
CORRECTION = "correction"  # what a person did is better than what a policy did in the same place
DIRECTION = "direction"  # more of a feature is better, or less
SCORE = "score"  # the same of a feature that was made to say how good trajectories are
JUDGE = "judge"  # a model that judges as another person would; its answers have its name
REASON = "reason"  # the feature for which a person gave an answer
SOURCES = ("", LABELS, DEMONSTRATION, CORRECTION, DIRECTION, SCORE, JUDGE, REASON)
STATEMENTS = (DIRECTION, SCORE, REASON)  # about features, which are right or wrong as a whole


@dataclass(frozen=True)
class Answer:
    """What a person said to a question.

    Args:
        question: The question.
        choice: One of the choices of its kind: for a pair "left", "right" or "equal"; for others see
            `prefero.questions.answer_kinds`.
        person: Who said it; "" where only one person answers.
        seconds: How long it took; None where that is not known.
        source: Where it comes from: "" is a person who was asked, LABELS a dataset that had it, CORRECTION
            a person who took over. Answers of another source have a noise of their own.
        because: The feature that the person named as the reason; "" if none was named.
    """

    question: Question
    choice: str
    person: str = ""
    seconds: float | None = None
    source: str = ""
    because: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "choice", self.kind.canonical(self.choice))
        object.__setattr__(self, "seconds", _checked_seconds(self.seconds))
        if self.source not in SOURCES:
            raise ValueError(f"an answer's source is one of {SOURCES}, but this is {self.source!r}")
        if self.because and self.chosen_pair is None:
            raise ValueError(
                f"a reason is for one of two trajectories, but the answer {self.choice!r} to a "
                f"{self.question.kind!r} question prefers none: leave because={self.because!r} out"
            )

    @classmethod
    def preferred(cls, winner: int, loser: int, strength: str | None = None) -> Self:
        """One trajectory is better than another one.

        Args:
            winner: The better one, by its index.
            loser: The other one.
            strength: "slightly" or "much", if the person was asked.

        Returns:
            The answer.
        """
        if strength is None:
            return cls(Question(winner, loser), "left")
        return cls(Question(winner, loser, kind="strength"), f"left-{strength}")

    @classmethod
    def best_of(cls, items: Sequence[int], best: int) -> Self:
        """One trajectory is the best of several.

        Args:
            items: All of them, by index.
            best: The best.

        Returns:
            The answer.
        """
        return cls(Question(*items, kind=f"best-of-{len(items)}"), _place(items, best))

    @classmethod
    def worst_of(cls, items: Sequence[int], worst: int) -> Self:
        """One trajectory is the worst of several.

        Args:
            items: All of them, by index.
            worst: The worst.

        Returns:
            The answer.
        """
        return cls(Question(*items, kind=f"worst-of-{len(items)}"), _place(items, worst))

    @classmethod
    def ranking(cls, tiers: Sequence[int | Sequence[int]]) -> Self:
        """Several trajectories from the best to the worst.

        Args:
            tiers: Indices; those that are about equal together, such as `[5, (3, 9)]`.

        Returns:
            The answer.
        """
        together = [tuple(tier) if isinstance(tier, Sequence) else (tier,) for tier in tiers]
        items = [item for tier in together for item in tier]
        places = tuple(tuple(items.index(item) for item in tier) for tier in together)
        return cls(Question(*items, kind=f"rank-{len(items)}"), ranking_word(places))

    @classmethod
    def label(cls, item: int, choice: str | int | bool, levels: int = 2) -> Self:
        """How good one trajectory is.

        Args:
            item: Its index.
            choice: True or "pass", False or "fail"; of more than two levels the level, from 1.
            levels: How many there are.

        Returns:
            The answer.
        """
        if levels == 2:
            word = choice if isinstance(choice, str) else "pass" if choice else "fail"
            return cls(Question(item, kind="success"), word)
        return cls(Question(item, kind=f"rate-{levels}"), str(choice))

    @property
    def kind(self) -> AnswerKind:
        """What was asked, with the words for it."""
        return kind_named(self.question.kind)

    @property
    def pair(self) -> tuple[int, int]:
        """Winner and loser of a pair; for "equal", left and right."""
        q = self.question
        return (q.right, q.left) if self.kind.chosen(self.choice) == 1 else (q.left, q.right)

    @property
    def chosen_pair(self) -> tuple[int, int] | None:
        """The better and the worse one, if it prefers one of two trajectories."""
        if len(self.question.items) != 2 or [pair.choice != "equal" for pair in self.pairs] != [True]:
            return None
        (pair,) = self.pairs
        return (pair.left, pair.right) if pair.choice == "left" else (pair.right, pair.left)

    @property
    def tied(self) -> bool:
        """Whether the person found some of the trajectories about equal."""
        return self.kind.is_tied(self.choice)

    @cached_property
    def rows(self) -> tuple[Constraint, ...]:
        """The differences that the answer is about, with what it says of them."""
        return tuple(row.of(self.question.items) for row in self.kind.rows(self.choice))

    @property
    def pairs(self) -> list[ComparedPair]:
        """What the answer says about pairs, without their strength: for exports and pictures."""
        return self.kind.pairs(self.question.items, self.choice)


def _checked_seconds(seconds: float | None) -> float | None:
    if seconds is None:
        return None
    if isinstance(seconds, bool) or not (isfinite(seconds) and seconds > 0):
        raise ValueError(
            f"seconds must be a positive number, or None where the time is not known, but is {seconds!r}"
        )
    return float(seconds)


def _place(items: Sequence[int], item: int) -> str:
    if item not in items:
        raise ValueError(f"{item} is none of the trajectories that were compared, {list(items)}")
    return str(list(items).index(item) + 1)
