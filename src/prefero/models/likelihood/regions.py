"""What answers say about impressions, as arrays: regions of the differences that the answers are about.

    rows          an answer about k places has q = k - 1 rows, differences d of rewards
    D             (q, k)   row i is +1 at the better trajectory of row i of an answer, and -1 at the worse one
    noise         of the rows: noise^2 R, with R = D D'
    region        a set of impressions: low < A (d + noise of the rows) < high, with c constraints, A (c, q)
    bounds        low and high are bounds of `prefero.questions.kinds.base`

What a choice says is written with its kind (`AnswerKind.regions`). Most choices are one region; a ranking
with ties is several disjoint ones.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.questions.answer_kinds import PAIR, choices_of, kind_named
from prefero.questions.kinds.base import AnswerKind, Region, bound_values


def bounds_of(probit: Probit) -> Array:
    """The values of the bounds, at their own numbers."""
    return bound_values(probit.margin, probit.strong_margin, np.array(probit.cut_points))


def differences(region: Region, places: int) -> Array:
    """The differences of a region's constraints, from the impressions at all places, (c, k)."""
    D = np.zeros((len(region), places))
    for row, constraint in enumerate(region):
        D[row, [constraint.better, constraint.worse]] = 1.0, -1.0
    return D


class ChoiceRegions(NamedTuple):
    """What a choice says of its rows, in m regions.

    Args:
        noise: R, (q, q).
        A: (m, c, q).
        low: (m, c).
        high: (m, c).
        answers: How many choices the kind has without ties, and with them, (2,).
    """

    noise: Array
    A: Array
    low: Indices
    high: Indices
    answers: Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and constraints, q and c."""
        return self.A.shape[2], self.A.shape[1]


@lru_cache(maxsize=4096)
def choice_regions(kind: AnswerKind, choice: str) -> ChoiceRegions:
    """What a choice says."""
    D, regions = differences(kind.rows(choice), kind.places), kind.regions(choice)
    A = [differences(region, kind.places) @ np.linalg.pinv(D) for region in regions]
    low, high = (np.array([[one[at] for one in region] for region in regions]) for at in (2, 3))
    answers = [len(choices_of(kind.name, ties)) for ties in (False, True)]
    # each constraint is a path along the rows, so that A has only -1, 0 and 1
    return ChoiceRegions(D @ D.T, np.rint(A), low, high, np.array(answers, dtype=float))


@dataclass(frozen=True, eq=False)
class AnswerBatch:
    """All answers with the same number of rows, and of constraints in each region.

    Args:
        rows: Of each answer, (B, q).
        noise: R of each answer, (B, q, q).
        owner: The answer of each region, (P,).
        A: Of each region, (P, c, q).
        low: Of each region, (P, c).
        high: Likewise, (P, c).
        members: The regions of each answer, (B, m); -1 where it has fewer than m.
        answers: How many answers were possible without ties, and with them, (B, 2).
        source: The number of each answer's source, (B,).
        lapse: The probability that each answer is at random; NaN if it is that of the model, (B,).
    """

    rows: Indices
    noise: Array
    owner: Indices
    A: Array
    low: Indices
    high: Indices
    members: Indices
    answers: Array
    source: Indices
    lapse: Array

    @property
    def is_interval(self) -> bool:
        """Whether every answer says that one difference lies between two bounds."""
        return self.A.shape[1:] == (1, 1) and self.convex

    @property
    def convex(self) -> bool:
        """Whether every answer is one region, so that its likelihood is log-concave."""
        return bool(self.members.shape[1] == 1)

    def some(self, which: Indices) -> "AnswerBatch":
        """Some of the answers, (B',), which may be there several times."""
        members = self.members[which]
        exists = members >= 0
        regions, counts = members[exists], exists.sum(axis=1)
        numbered = np.where(exists, np.cumsum(exists).reshape(exists.shape) - 1, -1)
        return AnswerBatch(
            self.rows[which],
            self.noise[which],
            np.repeat(np.arange(len(which)), counts),
            self.A[regions],
            self.low[regions],
            self.high[regions],
            numbered,
            self.answers[which],
            self.source[which],
            self.lapse[which],
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """The answers in batches, and their places.

    Args:
        batches: By the number of rows and of constraints.
        numbers: Of each batch: which of all answers they are.
        rows: How many rows there are in all.
    """

    batches: tuple[AnswerBatch, ...]
    numbers: tuple[Indices, ...]
    rows: int

    @property
    def n_answers(self) -> int:
        """How many answers there are."""
        return sum(len(numbers) for numbers in self.numbers)

    @property
    def width(self) -> int:
        """The most rows that an answer has."""
        return max((batch.rows.shape[1] for batch in self.batches), default=1)

    @property
    def convex(self) -> bool:
        """Whether all likelihoods are log-concave, if nobody lapses."""
        return all(batch.convex for batch in self.batches)


@lru_cache(maxsize=8)
def layout_of(data: Comparisons) -> Layout:
    """The regions of all answers; plain pairs are answers of one row."""
    if data.rows is None:
        return pairs_layout(data.tied, data.source_numbers, data.known_lapses)
    starts = np.flatnonzero(np.diff(data.rows.answer, prepend=-1))
    first = data.rows.some(starts)
    words = list(zip(first.kind.tolist(), first.choice.tolist(), strict=True))
    number = {word: number for number, word in enumerate(dict.fromkeys(words))}
    choices = [choice_regions(kind_named(kind), choice) for kind, choice in number]
    said = np.array([number[word] for word in words], dtype=np.intp)
    batches, numbers = [], []
    for q, c in sorted({choice.shape for choice in choices}):
        fits = np.array([choice.shape == (q, c) for choice in choices])
        which, place = np.flatnonzero(fits[said]), np.cumsum(fits) - 1
        fitting = [choice for choice in choices if choice.shape == (q, c)]
        rows = starts[which, None] + np.arange(q)
        source, lapse = data.source_numbers[starts[which]], data.known_lapses[starts[which]]
        batches.append(_batch(rows, fitting, place[said[which]], source, lapse))
        numbers.append(which)
    return Layout(tuple(batches), tuple(numbers), len(data))


def pairs_layout(tied: Flags, source: Indices | None = None, lapse: Array | None = None) -> Layout:
    """Plain pairs, of which these are "about equal", (N,), from these sources and with these lapses, (N,)."""
    choices = [choice_regions(kind_named(PAIR), choice) for choice in ("left", "equal")]
    rows = np.arange(len(tied))
    source = np.zeros_like(rows) if source is None else source
    lapse = np.full(len(rows), np.nan) if lapse is None else lapse
    batch = _batch(rows[:, None], choices, tied.astype(np.intp), source, lapse)
    return Layout((batch,), (rows,), len(tied))


def _batch(
    rows: Indices, choices: list[ChoiceRegions], said: Indices, source: Indices, lapse: Array
) -> AnswerBatch:
    """The batch of answers with these rows, (B, q), each of which is one of these choices, (B,)."""
    sizes = np.array([len(choice.A) for choice in choices])
    counts, starts = sizes[said], (np.cumsum(sizes) - sizes)[said]
    owner, ends = np.repeat(np.arange(len(rows)), counts), np.cumsum(counts)
    places = np.arange(counts.max(initial=1))
    members = np.where(places < counts[:, None], (ends - counts)[:, None] + places, -1)
    regions = np.arange(len(owner)) + np.repeat(starts - (ends - counts), counts)
    A, low, high = (np.concatenate([choice[at] for choice in choices])[regions] for at in (1, 2, 3))
    noise, answers = (np.array([choice[at] for choice in choices])[said] for at in (0, 4))
    answers = np.where(np.isnan(lapse)[:, None], answers, answers[:, :1])  # a statement is never a tie
    return AnswerBatch(rows, noise, owner, A, low, high, members, answers, source, lapse)
