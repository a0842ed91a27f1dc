"""Choices between equals: what rounding changes does not change them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.ordering import EQUAL, exceeds, first_largest, first_largest_of_rows, largest_first

LEVELS = st.lists(st.integers(1, 4), min_size=1, max_size=30)  # few, so that many values are equal


def rounded_otherwise(levels: list[int], seed: int, size: float = 1.0) -> np.ndarray:
    """The levels as another machine computes them: each off by a little of its own."""
    return size * (np.array(levels) + 1e-10 * np.random.default_rng(seed).standard_normal(len(levels)))


@given(LEVELS, st.integers(0, 5), st.sampled_from([1e-9, 1.0, 1e9]))
def test_the_first_of_the_largest_is_chosen_on_every_machine(
    levels: list[int], seed: int, size: float
) -> None:
    assert first_largest(rounded_otherwise(levels, seed, size)) == levels.index(max(levels))


@given(LEVELS, st.integers(0, 5), st.one_of(st.none(), st.integers(1, 30)))
def test_equals_keep_their_order(levels: list[int], seed: int, count: int | None) -> None:
    wanted = sorted(range(len(levels)), key=lambda place: (-levels[place], place))[:count]
    assert largest_first(rounded_otherwise(levels, seed), count).tolist() == wanted


@given(st.lists(st.tuples(*[st.integers(1, 4)] * 4), min_size=1, max_size=8), st.integers(0, 5))
def test_each_row_has_its_own_largest(rows: list[tuple[int, ...]], seed: int) -> None:
    flat = rounded_otherwise([level for row in rows for level in row], seed)
    wanted = [row.index(max(row)) for row in rows]
    assert first_largest_of_rows(flat.reshape(len(rows), -1)).tolist() == wanted


def test_what_is_not_finite_comes_last() -> None:
    values = np.array([-np.inf, 1.0, 2.0, -np.inf])
    assert largest_first(values).tolist() == [2, 1, 0, 3]
    assert first_largest(values) == 2
    assert first_largest(np.full(3, -np.inf)) == 0
    assert largest_first(np.zeros(3), 2).tolist() == [0, 1]
    assert largest_first(np.empty(0)).tolist() == []


@pytest.mark.parametrize("other", [-3.0, 1e-12, 7.0])
def test_a_value_exceeds_another_by_more_than_rounding(other: float) -> None:
    assert not exceeds(other + 0.5 * EQUAL * abs(other), other)
    assert exceeds(other + 2.0 * EQUAL * abs(other), other)
    assert exceeds(other, -np.inf)
    assert not exceeds(-np.inf, -np.inf)
