"""The answers of many people as arrays: those with about as many answers are computed together."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Flags, Indices

LARGEST_BLOCK = 2**22  # numbers in the (K, P, n, n) arrays of a block


@dataclass(frozen=True, eq=False)
class Block:
    """People with at most n answers each.

    Args:
        people: Their numbers, (P,).
        rows: Their answers, (P, n); -1 for a missing one.
        A: The differences of basis functions, (P, n, r); zeros for a missing answer.
        tied: Whether the answer was "about equal", (P, n).
        extra: Prior variances of the differences that the basis functions leave out, (P, n).
    """

    people: Indices
    rows: Indices
    A: Array
    tied: Flags
    extra: Array

    @property
    def given(self) -> Flags:
        """Whether there is such an answer, (P, n)."""
        return self.rows >= 0


def blocks_of(A: Array, tied: Flags, people: Indices, levels: int, extra: Array | None = None) -> list[Block]:
    """The answers of people, by their numbers from 0 on, in blocks; people without answers are in none."""
    extra, count = np.zeros(len(A)) if extra is None else extra, int(people.max(initial=-1)) + 1
    order = np.argsort(people, kind="stable")
    starts = np.searchsorted(people[order], np.arange(count + 1))
    numbers = np.diff(starts)
    widths = np.array([_width(n) for n in range(int(numbers.max(initial=0)) + 1)])[numbers]
    found = []
    for width in np.unique(widths[widths > 0]).tolist():
        members = np.flatnonzero(widths == width)
        most = max(1, LARGEST_BLOCK // (levels * width**2))
        for start in range(0, len(members), most):
            some = members[start : start + most]
            place = np.arange(width)
            rows = np.where(place < numbers[some, None], starts[some, None] + place, -1)
            rows = np.where(rows >= 0, order[rows], -1)
            given = rows >= 0
            differences = np.where(given[..., None], A[rows], 0.0)
            found.append(
                Block(some, rows, differences, tied[rows] & given, np.where(given, extra[rows], 0.0))
            )
    return found


def _width(answers: int) -> int:
    """Answers are padded to 1, 2, 3, 4, 6, 8, 12, 16, 24, ... of them."""
    if answers <= 4:
        return answers
    power: int = 1 << ((answers - 1).bit_length() - 1)
    return 3 * power // 2 if answers <= 3 * power // 2 else 2 * power
