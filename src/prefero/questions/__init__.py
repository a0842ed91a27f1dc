"""Questions and answers, and the comparisons that a model learns from.

Question       trajectories of a pool, by index, shown side by side; a pair has a left and a right one
Answer         a question with what the person said to it, a choice of its kind (`answer_kinds.py`)
Comparisons    the answers as features: rows of two trajectories, the first preferred or "about equal"
AnswerRows     which rows are one answer, and of which kind, where not all answers are pairs

An answer about k trajectories is k - 1 rows: the best before each other one, each before the worst, or in a
ranking each before the next.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices
from prefero.questions.answer_kinds import (
    CHOICES,
    Form,
    Kind,
    PairChoice,
    canonical,
    default_kind,
    form_of,
    items_of,
    ranking_of,
    ranking_word,
    ties_in,
)

if TYPE_CHECKING:
    from prefero.trajectories.features import Scaling

__all__ = ["CHOICES", "Answer", "Choice", "Comparisons", "Question"]

Choice = PairChoice
Names = npt.NDArray[np.str_]
FORMS: tuple[Form, ...] = ("pair", "strength", "best", "worst", "rank")  # as numbers in `AnswerRows.form`
SLIGHTLY, MUCH = 1, 2  # in `AnswerRows.strength`


@dataclass(frozen=True, init=False, repr=False)
class Question:
    """Which of these trajectories is the best?

    Args:
        *items: Indices of two or more different trajectories, in the order in which they are shown.
        value: Of the acquisition function when the question was chosen; nan if it was not.
        unit: Of the value: "bits" of mutual information, "utility", or of an own function its own.
        number: A learner numbers its questions, so that the same trajectories may be asked about again.
        kind: Of the answer that is wanted. None means a pair, or of more trajectories the best.
        optimality_gap: How much better another question about the pool may be, as a share of the value: 0 if
            the search was exact, 0.005 if none is better by more than 0.5 %, and nan if nothing is known.
    """

    items: tuple[int, ...]
    value: float = field(compare=False)
    unit: str = field(compare=False)
    number: int
    kind: Kind
    optimality_gap: float = field(compare=False)

    def __init__(
        self,
        *items: int,
        value: float = float("nan"),
        unit: str = "bits",
        number: int = 0,
        kind: Kind | None = None,
        optimality_gap: float = float("nan"),
    ) -> None:
        indices = tuple(_index(item) for item in items)
        if len(indices) < 2:
            raise ValueError(f"a question needs two trajectories or more, but has {len(indices)}")
        again = [item for place, item in enumerate(indices) if item in indices[:place]]
        if again:
            raise ValueError(
                f"trajectory {again[0]} cannot be compared with itself: a question needs different ones"
            )
        kind = default_kind(len(indices)) if kind is None else kind
        if items_of(kind) != len(indices):
            raise ValueError(f"{kind!r} asks about {items_of(kind)} trajectories, not {len(indices)}")
        given = {"items": indices, "value": value, "unit": unit, "number": number, "kind": kind}
        for name, one in (given | {"optimality_gap": optimality_gap}).items():
            object.__setattr__(self, name, one)

    def __repr__(self) -> str:
        items, kind = ", ".join(map(str, self.items)), f", kind={self.kind!r}" * (self.kind != "pair")
        return f"Question({items}, value={self.value!r}, unit={self.unit!r}, number={self.number!r}{kind})"

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
        return Question(
            *self.items,
            value=self.value,
            unit=self.unit,
            number=number,
            kind=self.kind,
            optimality_gap=self.optimality_gap,
        )

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


class Row(NamedTuple):
    """A part of an answer: two trajectories of which the first is preferred, or "about equal"."""

    winner: int
    loser: int
    tied: bool = False
    strength: int = 0  # SLIGHTLY, MUCH, or 0 where it was not asked


@dataclass(frozen=True)
class Answer:
    """What a person said to a question.

    Args:
        question: The question.
        choice: One of the choices of its kind: for a pair "left", "right" or "equal"; for others see
            `prefero.questions.answer_kinds`.
        person: Who said it; "" where only one person answers.
    """

    question: Question
    choice: str
    person: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "choice", canonical(self.question.kind, self.choice))

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
        return cls(Question(*items, kind=_kind("best-of", items)), _place(items, best))

    @classmethod
    def worst_of(cls, items: Sequence[int], worst: int) -> Self:
        """One trajectory is the worst of several.

        Args:
            items: All of them, by index.
            worst: The worst.

        Returns:
            The answer.
        """
        return cls(Question(*items, kind=_kind("worst-of", items)), _place(items, worst))

    @classmethod
    def ranking(cls, groups: Sequence[int | Sequence[int]]) -> Self:
        """Several trajectories from the best to the worst.

        Args:
            groups: Indices; those that are about equal together, such as `[5, (3, 9)]`.

        Returns:
            The answer.
        """
        together = [tuple(group) if isinstance(group, Sequence) else (group,) for group in groups]
        items = [item for group in together for item in group]
        places = tuple(tuple(items.index(item) for item in group) for group in together)
        return cls(Question(*items, kind=_kind("rank", items)), ranking_word(places))

    @property
    def pair(self) -> tuple[int, int]:
        """Winner and loser of a pair; for "equal", left and right."""
        q = self.question
        return (q.right, q.left) if self.choice.startswith("right") else (q.left, q.right)

    @property
    def tied(self) -> bool:
        """Whether the person found some of the trajectories about equal."""
        return ties_in(self.choice)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The answer as pairs, in which the first is preferred or equal."""
        q, form = self.question, form_of(self.question.kind)
        if form in ("pair", "strength"):
            strength = {"slightly": SLIGHTLY, "much": MUCH}.get(self.choice.partition("-")[2], 0)
            return (Row(*self.pair, self.tied, strength),)
        if form == "rank":
            return _ranked_rows(q.items, ranking_of(self.choice))
        chosen = q.items[int(self.choice) - 1]
        others = [item for item in q.items if item != chosen]
        return tuple(Row(chosen, item) if form == "best" else Row(item, chosen) for item in others)


def _kind(form: str, items: Sequence[int]) -> Kind:
    kind: Kind = f"{form}-{len(items)}"  # type: ignore[assignment]
    items_of(kind)  # an error unless there is such a kind
    return kind


def _place(items: Sequence[int], item: int) -> str:
    if item not in items:
        raise ValueError(f"{item} is none of the trajectories that were compared, {list(items)}")
    return str(list(items).index(item) + 1)


def _ranked_rows(items: Sequence[int], groups: tuple[tuple[int, ...], ...]) -> tuple[Row, ...]:
    """Each trajectory before the next one; within a group the two are tied."""
    ranks = [(items[place], rank) for rank, group in enumerate(groups) for place in group]
    return tuple(Row(a, b, rank == next_rank) for (a, rank), (b, next_rank) in pairwise(ranks))


class AnswerRows(NamedTuple):
    """How rows make up answers, where these are not all plain pairs.

    Args:
        answer: The number of the answer that each row belongs to, ascending, (N,).
        form: Its form, as a place in `FORMS`, (N,).
        strength: `SLIGHTLY`, `MUCH`, or 0 where the strength was not asked, (N,).
    """

    answer: Indices
    form: Indices
    strength: Indices

    def some(self, which: "slice | Indices") -> "AnswerRows":
        """Some of the rows."""
        return AnswerRows(self.answer[which], self.form[which], self.strength[which])


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What was answered, as features.

    Args:
        winners: Features of the preferred trajectory (either one, where they were equal), (N, d).
        losers: Features of the other, (N, d).
        tied: Whether the person found them about equal, (N,).
        scaling: How these features were scaled, so that a model knows its units; None if they were not.
        people: Who answered, (N,) names; None where only one person answers.
        rows: Which rows are one answer, and of which kind; None: each row is an answer about a pair.
    """

    winners: Array
    losers: Array
    tied: Flags
    scaling: "Scaling | None" = None
    people: Names | None = None
    rows: AnswerRows | None = None

    def __len__(self) -> int:
        return len(self.winners)

    def __getitem__(self, which: slice | Indices) -> Self:
        """Some of the rows."""
        return replace(
            self,
            winners=self.winners[which],
            losers=self.losers[which],
            tied=self.tied[which],
            people=None if self.people is None else self.people[which],
            rows=None if self.rows is None else self.rows.some(which),
        )

    @property
    def n_answers(self) -> int:
        """How many answers the rows are."""
        return len(self) if self.rows is None else len(np.unique(self.rows.answer))

    def first(self, answers: int) -> Self:
        """The rows of the first answers."""
        if self.rows is None:
            return self[:answers]
        known = np.unique(self.rows.answer)
        return (
            self if answers >= len(known) else self[: int(np.searchsorted(self.rows.answer, known[answers]))]
        )

    @property
    def has_ties(self) -> bool:
        """Whether any answer was "about equal"."""
        return bool(self.tied.any())

    @property
    def has_strengths(self) -> bool:
        """Whether any answer says by how much one is better."""
        return self.rows is not None and bool(self.rows.strength.any())

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
        rows = [row for answer in answers for row in answer.rows]
        pairs = np.array([(row.winner, row.loser) for row in rows], dtype=np.intp).reshape(-1, 2)
        tied = np.array([row.tied for row in rows], dtype=bool)
        people = [answer.person for answer in answers for _ in answer.rows]
        who = _names(people, len(rows)) if any(people) else None
        return cls(items[pairs[:, 0]], items[pairs[:, 1]], tied, scaling, who, _answer_rows(answers))


def _names(people: Sequence[object] | npt.NDArray[Any], count: int) -> Names:
    """The people's names as an array, after checking that there is one for each answer."""
    names = np.array([str(one) for one in people], dtype=np.str_)
    if len(names) != count:
        raise ValueError(
            f"people must name who gave each answer, but there are {len(names)} names for {count} answers"
        )
    return names


def comparisons_of(
    items: Array,
    pairs: npt.ArrayLike,
    ties: npt.ArrayLike | None,
    people: Sequence[object] | npt.NDArray[Any] | None,
    answers: Sequence[Answer],
) -> Comparisons:
    """Comparisons of rows of features: pairs, ties, and answers of any kind after them.

    Args:
        items: The features, (M, d).
        pairs: For each answer the index of the winner, then of the loser, (N, 2).
        ties: Pairs that were answered "about equal", (T, 2).
        people: Who gave the answers of `pairs` and `ties`.
        answers: Further answers, which name their person themselves.

    Returns:
        The comparisons.
    """
    if not len(answers):
        return Comparisons.of(items, pairs, ties, people)
    if people is not None:
        raise ValueError("people name who answered pairs and ties: give each of `answers` its own person")
    chosen = pair_indices(pairs, len(items), "pairs")
    tied = pair_indices([] if ties is None else ties, len(items), "ties")
    plain = [Answer(Question(*pair), "left") for pair in chosen.tolist()]
    plain += [Answer(Question(*pair), "equal") for pair in tied.tolist()]
    largest = max(item for answer in answers for item in answer.question.items)
    if largest >= len(items):
        raise ValueError(f"answers must be about items 0 to {len(items) - 1}, but one is about {largest}")
    return Comparisons.from_answers(items, [*plain, *answers])


def _answer_rows(answers: Sequence[Answer]) -> AnswerRows | None:
    """Which rows belong together; None for plain pairs."""
    forms = [FORMS.index(form_of(answer.question.kind)) for answer in answers]
    if not any(forms):
        return None
    lengths = [len(answer.rows) for answer in answers]
    strengths = [row.strength for answer in answers for row in answer.rows]
    number, form = np.repeat(np.arange(len(answers)), lengths), np.repeat(forms, lengths)
    return AnswerRows(number, form, np.array(strengths, dtype=np.intp))


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
