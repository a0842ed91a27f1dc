"""Questions and answers, and the comparisons that a model learns from.

Question       trajectories of a pool, by index, shown side by side; a pair has a left and a right one
Answer         a question with what the person said to it, one of `CHOICES`
Comparisons    the answers as features: who won, who lost, and which were "about equal"

A question may have more than two trajectories; the answers that Prefero learns from so far are about pairs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices

if TYPE_CHECKING:
    from prefero.trajectories.features import Scaling

Choice = Literal["left", "right", "equal"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
Names = npt.NDArray[np.str_]


@dataclass(frozen=True, init=False, repr=False)
class Question:
    """Which of these trajectories is the best?

    Args:
        *items: Indices of two or more different trajectories, in the order in which they are shown.
        value: Of the acquisition function when the question was chosen; nan if it was not.
        unit: Of the value: "bits" of mutual information, "utility", or of an own function its own.
        number: A learner numbers its questions, so that the same trajectories may be asked about again.
    """

    items: tuple[int, ...]
    value: float = field(compare=False)
    unit: str = field(compare=False)
    number: int

    def __init__(self, *items: int, value: float = float("nan"), unit: str = "bits", number: int = 0) -> None:
        indices = tuple(_index(item) for item in items)
        if len(indices) < 2:
            raise ValueError(f"a question needs two trajectories or more, but has {len(indices)}")
        again = [item for place, item in enumerate(indices) if item in indices[:place]]
        if again:
            raise ValueError(
                f"trajectory {again[0]} cannot be compared with itself: a question needs different ones"
            )
        for name, given in (("items", indices), ("value", value), ("unit", unit), ("number", number)):
            object.__setattr__(self, name, given)

    def __repr__(self) -> str:
        items = ", ".join(map(str, self.items))
        return f"Question({items}, value={self.value!r}, unit={self.unit!r}, number={self.number!r})"

    @property
    def left(self) -> int:
        """The first trajectory of a pair."""
        return self._pair("left")[0]

    @property
    def right(self) -> int:
        """The second trajectory of a pair."""
        return self._pair("right")[1]

    def numbered(self, number: int) -> "Question":
        """The same question with another number."""
        return Question(*self.items, value=self.value, unit=self.unit, number=number)

    def _pair(self, side: str) -> tuple[int, ...]:
        if len(self.items) != 2:
            raise ValueError(
                f"only a question about two trajectories has a {side} one, but this one has "
                f"{len(self.items)}: use its items"
            )
        return self.items


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(
            f"a trajectory is named by its index, a whole number from 0 on, but this is {value!r}"
        )
    return int(value)


@dataclass(frozen=True)
class Answer:
    """What a person said to a question about two trajectories.

    Args:
        question: The question.
        choice: "left", "right" or "equal".
        person: Who said it; "" where only one person answers.
    """

    question: Question
    choice: Choice
    person: str = ""

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            *others, last = map(repr, CHOICES)
            raise ValueError(
                f"an answer is {', '.join(others)} or {last}, but this is {self.choice!r}: "
                "to leave a question unanswered, skip it"
            )
        if len(self.question.items) != 2:
            raise ValueError(
                f"{self.choice!r} answers a question about two trajectories, but this one has "
                f"{len(self.question.items)}"
            )

    @property
    def pair(self) -> tuple[int, int]:
        """Winner and loser; for "equal", left and right."""
        q = self.question
        return (q.right, q.left) if self.choice == "right" else (q.left, q.right)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What was answered, as features.

    Args:
        winners: Features of the preferred trajectory (either one, where they were equal), (N, d).
        losers: Features of the other, (N, d).
        tied: Whether the person found them about equal, (N,).
        scaling: How these features were scaled, so that a model knows its units; None if they were not.
        people: Who answered, (N,) names; None where only one person answers.
    """

    winners: Array
    losers: Array
    tied: Flags
    scaling: "Scaling | None" = None
    people: Names | None = None

    def __len__(self) -> int:
        return len(self.winners)

    def __getitem__(self, which: slice | Indices) -> Self:
        """Some of the comparisons."""
        people = None if self.people is None else self.people[which]
        return replace(
            self,
            winners=self.winners[which],
            losers=self.losers[which],
            tied=self.tied[which],
            people=people,
        )

    @property
    def has_ties(self) -> bool:
        """Whether any answer was "about equal"."""
        return bool(self.tied.any())

    @property
    def has_people(self) -> bool:
        """Whether several people have answered."""
        return (
            self.people is not None and len(self.people) > 0 and bool(np.any(self.people != self.people[0]))
        )

    @classmethod
    def none(cls, features: int, scaling: "Scaling | None" = None) -> Self:
        """Before the first answer.

        Args:
            features: How many features there are.
            scaling: Of the features.

        Returns:
            No comparisons.
        """
        return cls(np.empty((0, features)), np.empty((0, features)), np.empty(0, dtype=bool), scaling)

    @classmethod
    def of(
        cls,
        items: Array,
        pairs: npt.ArrayLike,
        ties: npt.ArrayLike | None = None,
        people: Sequence[object] | npt.NDArray[Any] | None = None,
    ) -> Self:
        """Comparisons of rows of features.

        Args:
            items: The features, (M, d).
            pairs: For each answer the index of the winner, then of the loser, (N, 2).
            ties: Pairs that were answered "about equal", (T, 2).
            people: Who gave each answer, of `pairs` and then of `ties`: names or numbers, (N + T,).

        Returns:
            The comparisons.
        """
        chosen = pair_indices(pairs, len(items), "pairs")
        tied = pair_indices([] if ties is None else ties, len(items), "ties")
        both = np.concatenate([chosen, tied])
        who = None if people is None else _names(people, len(both))
        return cls(items[both[:, 0]], items[both[:, 1]], np.arange(len(both)) >= len(chosen), people=who)

    @classmethod
    def from_answers(cls, items: Array, answers: Sequence[Answer], scaling: "Scaling | None" = None) -> Self:
        """Comparisons of rows of features, in the order of the answers.

        Args:
            items: The features, (M, d).
            answers: About these rows.
            scaling: How the features were scaled.

        Returns:
            The comparisons.
        """
        pairs = np.array([answer.pair for answer in answers], dtype=np.intp).reshape(-1, 2)
        tied = np.array([answer.choice == "equal" for answer in answers], dtype=bool)
        people = _names([answer.person for answer in answers], len(answers))
        who = people if any(answer.person for answer in answers) else None
        return cls(items[pairs[:, 0]], items[pairs[:, 1]], tied, scaling, who)


def _names(people: Sequence[object] | npt.NDArray[Any], count: int) -> Names:
    """The people's names as an array, after checking that there is one for each answer."""
    names = np.array([str(one) for one in people], dtype=np.str_)
    if len(names) != count:
        raise ValueError(
            f"people must name who gave each answer, but there are {len(names)} names for {count} answers"
        )
    return names


def pair_indices(pairs: npt.ArrayLike, count: int, name: str) -> Indices:
    """`pairs` as an (N, 2) array of indices into `count` items, or an error that says what is wrong."""
    given = np.asarray(pairs)
    if given.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be an (N, 2) array of item indices, but has shape {given.shape} and "
            f"type {given.dtype}: each row is one answer, winner first"
        )
    indices = given.astype(np.intp)
    outside = np.flatnonzero(((indices < 0) | (indices >= count)).any(axis=1))
    if len(outside):
        row = int(outside[0])
        raise ValueError(
            f"{name} must point at items 0 to {count - 1}, but row {row} is {indices[row].tolist()}"
        )
    same = np.flatnonzero(indices[:, 0] == indices[:, 1])
    if len(same):
        row = int(same[0])
        raise ValueError(
            f"row {row} of {name} compares item {indices[row, 0]} with itself: drop that row, it says nothing"
        )
    return indices
