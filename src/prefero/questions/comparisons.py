"""Comparisons: answers as features, which a model learns from.

Comparisons    rows of two trajectories, the first preferred or "about equal"
AnswerRows     which rows are one answer, and to what, where not all answers are pairs
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices
from prefero.questions.answer import JUDGE, LABELS, SCORE, SOURCES, STATEMENTS, Answer
from prefero.questions.answer_kinds import PAIR, kind_named
from prefero.questions.kinds.base import BAR, STRONG
from prefero.questions.kinds.label import Rate, levels_of
from prefero.questions.question import Question

if TYPE_CHECKING:
    from prefero.trajectories.features import Scaling

Names = npt.NDArray[np.str_]
WORD = np.dtype("U32")  # a kind or a choice


class AnswerRows(NamedTuple):
    """How rows make up answers, where these are not all plain pairs.

    Args:
        answer: The number of the answer that each row belongs to, ascending, (N,).
        kind: Its kind, (N,).
        choice: What was chosen, (N,).
    """

    answer: Indices
    kind: Names
    choice: Names

    @classmethod
    def of(cls, answer: npt.ArrayLike, kind: npt.ArrayLike, choice: npt.ArrayLike) -> Self:
        """Of words of one size, so that equal rows have equal bytes."""
        return cls(np.asarray(answer, dtype=np.intp), np.asarray(kind, WORD), np.asarray(choice, WORD))

    def some(self, which: "slice | Indices") -> "AnswerRows":
        """Some of the rows."""
        return AnswerRows(self.answer[which], self.kind[which], self.choice[which])

    def before(self, others: "AnswerRows") -> "AnswerRows":
        """These rows, and then others, whose answers have larger numbers."""
        first = int(self.answer.max(initial=-1)) + 1
        answer = np.concatenate([self.answer, first + others.answer])
        return AnswerRows(
            answer,
            np.concatenate([self.kind, others.kind]),
            np.concatenate([self.choice, others.choice]),
        )

    @property
    def said(self) -> set[tuple[str, str]]:
        """The kinds and choices that there are."""
        return set(zip(self.kind.tolist(), self.choice.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class Comparisons:
    """What was answered, as features.

    Args:
        winners: Features of the preferred trajectory (either one, where they were equal), (N, d). Those of
            the bar, with which labels compare a trajectory, are infinite.
        losers: Features of the other, (N, d).
        tied: Whether the person found them about equal, (N,).
        scaling: How these features were scaled, so that a model knows its units; None if they were not.
        people: Who answered, (N,) names; None where only one person answers.
        rows: Which rows are one answer, and of which kind; None: each row is an answer about a pair.
        sources: The number of each row's source among `prefero.questions.answer.SOURCES`, (N,); None: people
            who were asked.
        lapses: The probability that a row is at random, where that is known, and NaN elsewhere, (N,); None:
            it is known of none.
    """

    winners: Array
    losers: Array
    tied: Flags
    scaling: "Scaling | None" = None
    people: Names | None = None
    rows: AnswerRows | None = None
    sources: Indices | None = None
    lapses: Array | None = None

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
            sources=None if self.sources is None else self.sources[which],
            lapses=None if self.lapses is None else self.lapses[which],
        )

    @property
    def answer_numbers(self) -> Indices:
        """The number of the answer that each row belongs to, ascending, (N,)."""
        return np.arange(len(self)) if self.rows is None else self.rows.answer

    @property
    def n_answers(self) -> int:
        """How many answers the rows are."""
        return len(self) if self.rows is None else len(np.unique(self.rows.answer))

    def joined(self, other: Self) -> Self:
        """These answers, and then others about features with the same scaling."""
        people = None
        if self.people is not None and other.people is not None:
            people = np.concatenate([self.people, other.people])
        rows = None
        if self.rows is not None or other.rows is not None:
            rows = self._kinds().before(other._kinds())
        sources = None
        if self.sources is not None or other.sources is not None:
            sources = np.concatenate([one.source_numbers for one in (self, other)])
        lapses = None
        if self.lapses is not None or other.lapses is not None:
            lapses = np.concatenate([one.known_lapses for one in (self, other)])
        return replace(
            self,
            winners=np.concatenate([self.winners, other.winners]),
            losers=np.concatenate([self.losers, other.losers]),
            tied=np.concatenate([self.tied, other.tied]),
            people=people,
            rows=rows,
            sources=sources,
            lapses=lapses,
        )

    def _kinds(self) -> AnswerRows:
        """Which rows are one answer, and of which kind, also of plain pairs."""
        if self.rows is not None:
            return self.rows
        return AnswerRows.of(
            self.answer_numbers, np.full(len(self), PAIR), np.where(self.tied, "equal", "left")
        )

    def first(self, answers: int) -> Self:
        """The rows of the first answers."""
        if self.rows is None:
            return self[:answers]
        known = np.unique(self.rows.answer)
        return (
            self if answers >= len(known) else self[: int(np.searchsorted(self.rows.answer, known[answers]))]
        )

    def tobytes(self) -> bytes:
        """All that the answers say, to see whether they are the same as others.

        It begins with whether they are all plain pairs, since their sites have another shape than those of
        other answers, also if there are none.
        """
        parts = (
            self.winners,
            self.losers,
            self.tied,
            *(self.rows or ()),
            self.source_numbers,
            self.known_lapses,
        )
        return b"".join([bytes([self.rows is None]), *(part.tobytes() for part in parts)])

    @property
    def source_numbers(self) -> Indices:
        """The number of each row's source, (N,)."""
        return np.zeros(len(self), dtype=np.intp) if self.sources is None else self.sources

    @property
    def known_lapses(self) -> Array:
        """The probability that each row is at random; NaN where it is not known, (N,)."""
        return np.full(len(self), np.nan) if self.lapses is None else self.lapses

    def from_source(self, *names: str) -> Flags:
        """Which rows come from one of these sources, (N,)."""
        return np.isin(self.source_numbers, [SOURCES.index(name) for name in names])

    @property
    def known_before(self) -> Flags:
        """Which rows were known before anybody was asked, (N,)."""
        return np.asarray(self.source_numbers > 0)

    @property
    def n_labels(self) -> int:
        """How many answers are labels that a dataset had."""
        return 0 if self.sources is None else len(np.unique(self.answer_numbers[self.from_source(LABELS)]))

    @property
    def scores(self) -> tuple[int, ...]:
        """The columns of features that were made to say how good trajectories are."""
        said = self[np.flatnonzero(self.from_source(SCORE))] if self.sources is not None else self[:0]
        return tuple(np.flatnonzero(np.any(said.winners != said.losers, axis=0)).tolist())

    @property
    def has_ties(self) -> bool:
        """Whether any answer was "about equal"."""
        return bool(self.tied.any())

    @property
    def has_strengths(self) -> bool:
        """Whether any answer says by how much one is better."""
        return self.rows is not None and any(map(_uses_strong_margin, self.rows.said))

    @property
    def has_ratings(self) -> bool:
        """Whether any answer is a level between cut points."""
        return bool(self.rated_levels)

    @property
    def rated_levels(self) -> tuple[int, ...]:
        """The numbers of levels of the ratings that there are, such as (5,)."""
        kinds = () if self.rows is None else set(self.rows.kind.tolist())
        asked = [kind_named(kind) for kind in kinds]
        return tuple(sorted(kind.levels for kind in asked if isinstance(kind, Rate)))

    @property
    def about_bar(self) -> Flags:
        """Which rows compare a trajectory with the bar, (N,)."""
        return np.isinf(self.winners[:, 0]) | np.isinf(self.losers[:, 0])

    @property
    def has_bar(self) -> bool:
        """Whether any answer says what is acceptable."""
        return self.rows is not None and bool(self.about_bar.any())

    def as_pairs(self) -> Self:
        """What is said about two trajectories, as plain pairs without ties; labels of different levels too.

        Statements about features are left out: a wrong one would not be given up.

        Each label is in one pair at most: the lower half of the labels of a kind meets the upper half.
        """
        compared = self[np.flatnonzero(~self.tied & ~self.about_bar & ~self.from_source(*STATEMENTS))]
        winners, losers = [compared.winners], [compared.losers]
        for rows, levels in self._labels():
            order = np.argsort(levels, kind="stable")
            low, high = order[: len(order) // 2], order[len(order) - len(order) // 2 :]
            differ = levels[low] < levels[high]
            winners.append(self._labelled[rows[high[differ]]])
            losers.append(self._labelled[rows[low[differ]]])
        first, second = np.concatenate(winners), np.concatenate(losers)
        return type(self)(first, second, np.zeros(len(first), dtype=bool), self.scaling)

    def _labels(self) -> Iterator[tuple[Indices, Indices]]:
        """The rows of the labels of each kind, and their levels."""
        if self.rows is None:
            return
        for name in np.unique(self.rows.kind).tolist():
            kind = kind_named(name)
            if levels_of(kind):
                rows = np.flatnonzero(self.rows.kind == name)
                yield (
                    rows,
                    np.array([kind.choices.index(choice) for choice in self.rows.choice[rows].tolist()]),
                )

    @property
    def _labelled(self) -> Array:
        """The trajectory of each row that compares one with the bar, (N, d)."""
        return np.where(np.isinf(self.winners), self.losers, self.winners)

    @property
    def has_people(self) -> bool:
        """Whether several people have answered, or a judge, who is never the person that is learned of."""
        if self.people is None or not len(self.people):
            return False
        return bool(np.any(self.people != self.people[0])) or bool(self.from_source(JUDGE).any())

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
        tied_rows = np.arange(len(both)) >= len(chosen)
        return cls(items[both[:, 0]], items[both[:, 1]], tied_rows, people=who)

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
        pairs = np.array([(row.better, row.worse) for row in rows], dtype=np.intp).reshape(-1, 2)
        if np.any(pairs == BAR):
            items = np.concatenate([items, bar_features(items.shape[1])])  # BAR is the index of the last row
        tied = np.array([row.tied for row in rows], dtype=bool)
        people = [answer.person for answer in answers for _ in answer.rows]
        who = _names(people, len(rows)) if any(people) else None
        sources = [SOURCES.index(answer.source) for answer in answers for _ in answer.rows]
        return cls(
            items[pairs[:, 0]],
            items[pairs[:, 1]],
            tied,
            scaling,
            who,
            _answer_rows(answers),
            np.array(sources, dtype=np.intp) if any(sources) else None,
        )


def bar_features(features: int) -> Array:
    """The row that stands for the bar, which has no features: infinite ones, (1, d)."""
    return np.full((1, features), np.inf)


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
    if all(answer.question.kind == PAIR for answer in answers):
        return None
    lengths = [len(answer.rows) for answer in answers]
    said = np.arange(len(answers)), [a.question.kind for a in answers], [a.choice for a in answers]
    return AnswerRows.of(*(np.repeat(part, lengths) for part in said))


def _uses_strong_margin(said: tuple[str, str]) -> bool:
    """Whether a choice says by how much one is better."""
    kind, choice = said
    return any(STRONG in map(abs, one[2:]) for region in kind_named(kind).regions(choice) for one in region)


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
