"""The answers of many people as arrays: those with about as many answers are computed together."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.likelihood.regions import AnswerBatch, Layout

LARGEST_BATCH = 2**22  # numbers in the (K, P, n, n) arrays of a batch


@dataclass(frozen=True, eq=False)
class PeopleAnswers:
    """Answers of the people of a batch that have the same number of rows.

    Args:
        numbers: Which of all answers they are, (P, b); -1 for a missing one.
        places: The rows of each answer among the person's, (b, q).
        batch: What they say, person after person, (P b,); anything for a missing one.
    """

    numbers: Indices
    places: Indices
    batch: AnswerBatch

    @property
    def given(self) -> Flags:
        """Whether there is such an answer, (P b,)."""
        return np.asarray(self.numbers.ravel() >= 0)


@dataclass(frozen=True, eq=False)
class PeopleBatch:
    """People with at most n rows each.

    Args:
        people: Their numbers, (P,).
        A: The differences of basis functions, (P, n, r); zeros for a missing row.
        extra: Prior variances of the differences that the basis functions leave out, (P, n).
        answers: By their number of rows.
    """

    people: Indices
    A: Array
    extra: Array
    answers: tuple[PeopleAnswers, ...]


def batches_of(
    A: Array, layout: Layout, people: Indices, response_models: int, extra: Array | None = None
) -> list[PeopleBatch]:
    """The answers of people, in batches; people without answers are in none.

    Args:
        A: The differences of basis functions, (N, r).
        layout: The answers.
        people: The number of the person of each row, from 0 on, (N,).
        response_models: How many there are.
        extra: Prior variances of the rows that the basis functions leave out, (N,).

    Returns:
        The batches.
    """
    extra, count = np.zeros(len(A)) if extra is None else extra, int(people.max(initial=-1)) + 1
    each = [_of_people(people[batch.rows[:, 0]], count) for batch in layout.batches]
    widths = np.stack([_widths(starts) for _, starts in each], axis=1)  # (people, batches)
    rows = widths @ np.array([batch.rows.shape[1] for batch in layout.batches])
    found = []
    for shape in np.unique(widths[rows > 0], axis=0):
        members = np.flatnonzero((widths == shape).all(axis=1))
        most = max(1, LARGEST_BATCH // (response_models * int(rows[members[0]]) ** 2))
        some = (members[start : start + most] for start in range(0, len(members), most))
        found += [_batch(A, extra, layout, each, one, shape.tolist()) for one in some]
    return found


def _batch(
    A: Array,
    extra: Array,
    layout: Layout,
    each: Sequence[tuple[Indices, Indices]],
    members: Indices,
    shape: Sequence[int],
) -> PeopleBatch:
    """Of people who have, of each batch of answers, at most as many as `shape` says."""
    rows, answers, end = [], [], 0
    for batch, numbers, (order, starts), width in zip(
        layout.batches, layout.numbers, each, shape, strict=True
    ):
        if not width:
            continue
        place = starts[members][:, None] + np.arange(width)
        own = np.where(place < starts[members + 1][:, None], order[np.minimum(place, len(order) - 1)], -1)
        q = batch.rows.shape[1]
        places = end + np.arange(width * q).reshape(width, q)
        rows.append(np.where(own[:, :, None] >= 0, batch.rows[own], -1).reshape(len(members), -1))
        numbered = np.where(own >= 0, numbers[own], -1)
        answers.append(PeopleAnswers(numbered, places, batch.some(np.maximum(own, 0).ravel())))
        end += width * q
    all_rows = np.concatenate(rows, axis=1)
    given = all_rows >= 0
    return PeopleBatch(
        members,
        np.where(given[..., None], A[all_rows], 0.0),
        np.where(given, extra[all_rows], 0.0),
        tuple(answers),
    )


def _of_people(people: Indices, count: int) -> tuple[Indices, Indices]:
    """Answers in the order of their people, and where each person's begin, (count + 1,)."""
    order = np.argsort(people, kind="stable")
    return order, np.searchsorted(people[order], np.arange(count + 1))


def _widths(starts: Indices) -> Indices:
    """To how many answers each person's are padded."""
    numbers = np.diff(starts)
    return np.array([_width(n) for n in range(int(numbers.max(initial=0)) + 1)])[numbers]


def _width(answers: int) -> int:
    """Answers are padded to 1, 2, 3, 4, 6, 8, 12, 16, 24, ... of them."""
    if answers <= 4:
        return answers
    power: int = 1 << ((answers - 1).bit_length() - 1)
    return 3 * power // 2 if answers <= 3 * power // 2 else 2 * power
