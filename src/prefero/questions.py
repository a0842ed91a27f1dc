"""Questions and answers, and the comparisons that a model learns from.

Question       two trajectories of a pool, by index, shown left and right
Answer         a question with what the person said: "left", "right" or "equal"
Comparisons    the answers as features: who won, who lost, and which were "about equal"
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Self, get_args

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices

Choice = Literal["left", "right", "equal"]
CHOICES: tuple[str, ...] = get_args(Choice)


@dataclass(frozen=True)
class Question:
    """Which of two trajectories is better? `bits` is what the answer was expected to tell."""

    left: int
    right: int
    bits: float = field(default=float("nan"), compare=False)
    number: int = 0  # a learner numbers its questions, so that the same pair may be asked again

    def __post_init__(self) -> None:
        for side in ("left", "right"):
            object.__setattr__(self, side, _index(getattr(self, side)))
        if self.left == self.right:
            raise ValueError(
                f"trajectory {self.left} cannot be compared with itself: a question needs two different ones"
            )


def _index(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
        raise ValueError(
            f"a trajectory is named by its index, a whole number from 0 on, but this is {value!r}"
        )
    return int(value)


@dataclass(frozen=True)
class Answer:
    """What a person said to a question."""

    question: Question
    choice: Choice

    def __post_init__(self) -> None:
        if self.choice not in CHOICES:
            raise ValueError(
                f"an answer is 'left', 'right' or 'equal', but this is {self.choice!r}: "
                "to leave a question unanswered, skip it"
            )

    @property
    def pair(self) -> tuple[int, int]:
        """Winner and loser; for "equal", left and right."""
        q = self.question
        return (q.right, q.left) if self.choice == "right" else (q.left, q.right)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What was answered, as features.

    winners   (N, d)   features of the preferred trajectory (either one, where they were equal)
    losers    (N, d)   features of the other
    tied      (N,)     whether the person found them about equal
    """

    winners: Array
    losers: Array
    tied: Flags

    def __len__(self) -> int:
        return len(self.winners)

    def __getitem__(self, which: slice | Indices) -> Self:
        """Some of the comparisons."""
        return replace(self, winners=self.winners[which], losers=self.losers[which], tied=self.tied[which])

    @property
    def has_ties(self) -> bool:
        """Whether any answer was "about equal"."""
        return bool(self.tied.any())

    @classmethod
    def none(cls, features: int) -> Self:
        """Before the first answer."""
        return cls(np.empty((0, features)), np.empty((0, features)), np.empty(0, dtype=bool))

    @classmethod
    def of(cls, items: Array, pairs: npt.ArrayLike, ties: npt.ArrayLike | None = None) -> Self:
        """Comparisons of rows of `items`: `pairs` (N, 2) are winner and loser, `ties` (T, 2) about equal."""
        chosen = pair_indices(pairs, len(items), "pairs")
        tied = pair_indices([] if ties is None else ties, len(items), "ties")
        both = np.concatenate([chosen, tied])
        return cls(items[both[:, 0]], items[both[:, 1]], np.arange(len(both)) >= len(chosen))

    @classmethod
    def from_answers(cls, items: Array, answers: Sequence[Answer]) -> Self:
        """Comparisons of rows of `items`, in the order of the answers."""
        pairs = np.array([answer.pair for answer in answers], dtype=np.intp).reshape(-1, 2)
        tied = np.array([answer.choice == "equal" for answer in answers], dtype=bool)
        return cls(items[pairs[:, 0]], items[pairs[:, 1]], tied)


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
