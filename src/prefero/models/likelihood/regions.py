"""What answers say about impressions: intervals for differences, in one or several alternative orders.

    impression    the reward of a trajectory plus noise N(0, noise^2), drawn anew each time that it is shown
    rows          an answer about k trajectories has q = k - 1 rows, differences d of rewards
    noise         of the rows: noise^2 R, with R = D D' and row i of D +1 at its winner and -1 at its loser
    region        a set of impressions: low < A (d + noise of the rows) < high, with A (q, q)
    bounds        low and high are places in (-infinity, -margin, 0, margin, strong margin, infinity)

Most answers are one region. A ranking with ties is several disjoint ones, one for each order of the tied
trajectories: a person sorts the impressions, and calls neighbours equal that differ by less than the margin.
So each outcome of the impressions leads to exactly one answer.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import factorial
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons
from prefero.questions.answer import MUCH, SLIGHTLY
from prefero.questions.answer_kinds import FORMS, weak_orders
from prefero.questions.comparisons import AnswerRows

NOWHERE, BELOW, ZERO, MARGIN, STRONG, ANYWHERE = range(6)  # places in `bounds_of`


def bounds_of(probit: Probit) -> Array:
    """The values that `low` and `high` of a region can have, (6,)."""
    return np.array([-np.inf, -probit.margin, 0.0, probit.margin, probit.strong_margin, np.inf])


class Region(NamedTuple):
    """One set of linear constraints on the rows of an answer."""

    A: Array  # (q, q)
    low: tuple[int, ...]
    high: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Group:
    """All answers with the same number of rows.

    Args:
        rows: Of each answer, (B, q).
        noise: R of each answer, (B, q, q).
        owner: The answer of each region, (P,).
        A: Of each region, (P, q, q).
        low: Of each region, places in `bounds_of`, (P, q).
        high: Likewise, (P, q).
        members: The regions of each answer, (B, m); -1 where it has fewer than m.
        answers: How many answers were possible without ties, and with them, (B, 2).
    """

    rows: Indices
    noise: Array
    owner: Indices
    A: Array
    low: Indices
    high: Indices
    members: Indices
    answers: Array

    @property
    def convex(self) -> bool:
        """Whether every answer is one region, so that its likelihood is log-concave."""
        return bool(self.members.shape[1] == 1)

    def some(self, which: Indices) -> "Group":
        """Some of the answers, (B',), which may be there several times."""
        members = self.members[which]
        exists = members >= 0
        regions, counts = members[exists], exists.sum(axis=1)
        numbered = np.where(exists, np.cumsum(exists).reshape(exists.shape) - 1, -1)
        return Group(
            self.rows[which],
            self.noise[which],
            np.repeat(np.arange(len(which)), counts),
            self.A[regions],
            self.low[regions],
            self.high[regions],
            numbered,
            self.answers[which],
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """The answers in groups, and their places.

    Args:
        groups: By the number of rows.
        numbers: Of each group: which of all answers they are.
        rows: How many rows there are in all.
    """

    groups: tuple[Group, ...]
    numbers: tuple[Indices, ...]
    rows: int

    @property
    def n_answers(self) -> int:
        """How many answers there are."""
        return sum(len(numbers) for numbers in self.numbers)

    @property
    def width(self) -> int:
        """The most rows that an answer has."""
        return max((group.rows.shape[1] for group in self.groups), default=1)

    @property
    def convex(self) -> bool:
        """Whether all likelihoods are log-concave, if nobody lapses."""
        return all(group.convex for group in self.groups)


@lru_cache(maxsize=8)
def layout_of(data: Comparisons) -> Layout:
    """The regions of all answers; plain pairs are answers of one row."""
    if data.rows is None:
        return pairs_layout(data.tied)
    answer = data.rows.answer
    starts = np.flatnonzero(np.diff(answer, prepend=-1))
    sizes = np.diff(np.append(starts, len(answer)))
    groups, numbers = [], []
    for size in np.unique(sizes).tolist():
        which = np.flatnonzero(sizes == size)
        rows = starts[which]
        if size == 1:
            groups.append(_interval_group(rows, data.tied[rows], data.rows.some(rows)))
        else:
            groups.append(_group(data, rows[:, None] + np.arange(size)))
        numbers.append(which)
    return Layout(tuple(groups), tuple(numbers), len(data))


def pairs_layout(tied: Flags) -> Layout:
    """Plain pairs, of which these are "about equal", (N,)."""
    rows, nothing = np.arange(len(tied)), np.zeros(len(tied), dtype=np.intp)
    return Layout((_interval_group(rows, tied, AnswerRows(rows, nothing, nothing)),), (rows,), len(tied))


def _interval_group(rows: Indices, tied: Flags, kinds: AnswerRows) -> Group:
    """The group of answers with one row each, (B,): there may be very many of them."""
    strength, count = kinds.strength, len(rows)
    low, high = np.where(tied, BELOW, MARGIN), np.where(tied, MARGIN, ANYWHERE)
    low, high = np.where(strength == MUCH, STRONG, low), np.where(strength == SLIGHTLY, STRONG, high)
    answers = np.array([possible_answers(one, 2) for one in FORMS], dtype=float)
    one, each = np.ones((count, 1, 1)), np.arange(count)
    return Group(
        rows[:, None], 2.0 * one, each, one, low[:, None], high[:, None], each[:, None], answers[kinds.form]
    )


def _group(data: Comparisons, rows: Indices) -> Group:
    """The group of answers with these rows, (B, q)."""
    keys = [_key(data, one) for one in rows]
    kinds = {key: _regions(*key) for key in set(keys)}
    regions = [kinds[key] for key in keys]
    counts = np.array([len(some) for some in regions])
    ends = np.cumsum(counts)
    places = np.arange(counts.max(initial=1))
    members = np.where(places < counts[:, None], (ends - counts)[:, None] + places, -1)
    flat = [region for some in regions for region in some]
    return Group(
        rows,
        np.array([row_noise(key[0], len(key[1])) for key in keys]),
        np.repeat(np.arange(len(rows)), counts),
        np.array([region.A for region in flat]),
        np.array([region.low for region in flat], dtype=np.intp),
        np.array([region.high for region in flat], dtype=np.intp),
        members,
        np.array([possible_answers(key[0], len(key[1]) + 1) for key in keys], dtype=float),
    )


def _key(data: Comparisons, rows: Indices) -> tuple[str, tuple[bool, ...]]:
    """All that an answer's regions depend on: its form, and which rows are tied."""
    assert data.rows is not None
    return FORMS[data.rows.form[rows[0]]], tuple(bool(tied) for tied in data.tied[rows])


def _regions(form: str, tied: tuple[bool, ...]) -> list[Region]:
    """The regions of an answer."""
    count = len(tied)
    if form in ("best", "worst"):
        return [Region(np.eye(count), (ZERO,) * count, (ANYWHERE,) * count)]
    lows = tuple(ZERO if one else MARGIN for one in tied)
    highs = tuple(MARGIN if one else ANYWHERE for one in tied)
    return [Region(_reordered(order), lows, highs) for order in _orders(tied)]


def _orders(tied: tuple[bool, ...]) -> list[tuple[int, ...]]:
    """All orders of trajectories in which only tied ones change places."""
    ends = [0, *(place + 1 for place, one in enumerate(tied) if not one), len(tied) + 1]
    groups = [range(a, b) for a, b in pairwise(ends)]
    return [tuple(i for part in parts for i in part) for parts in product(*map(permutations, groups))]


def _reordered(order: tuple[int, ...]) -> Array:
    """The differences of neighbours in an order, from those of the rows, (q, q)."""
    below = -np.tri(len(order), len(order) - 1, -1)  # the reward of each, if that of the first is 0
    reordered: Array = below[list(order[:-1])] - below[list(order[1:])]
    return reordered


def row_noise(form: str, rows: int) -> Array:
    """R, the covariance of the noise of an answer's rows for a noise of 1, (q, q)."""
    if form in ("best", "worst"):  # all rows share one trajectory
        return np.eye(rows) + 1.0
    return 2.0 * np.eye(rows) - np.eye(rows, k=1) - np.eye(rows, k=-1)  # each shares one with the next


def possible_answers(form: str, items: int) -> tuple[int, int]:
    """How many answers there are without ties, and with them."""
    if form in ("best", "worst"):
        return items, items
    if form == "strength":
        return 4, 5
    return factorial(items), len(weak_orders(items))
