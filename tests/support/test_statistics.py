"""Paired tests and standard errors, against enumeration and the textbook."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from prefero._support.statistics import paired_test, standard_error

# --- paired tests -----------------------------------------------------------------------------------------


def enumerated(first: npt.ArrayLike, second: npt.ArrayLike) -> float:
    """Wilcoxon's p by every way to give signs to the ranks; differences of 0 are left out, ties share."""
    difference = np.asarray(first) - np.asarray(second)
    difference = difference[difference != 0]
    size = np.abs(difference)
    ranks = np.array([np.sum(size < s) + (np.sum(size == s) + 1) / 2 for s in size])
    seen = ranks[difference > 0].sum()
    sums = np.array([np.dot(ranks, signs) for signs in product((0, 1), repeat=len(ranks))])
    return float(min(1.0, 2 * min(np.mean(sums >= seen), np.mean(sums <= seen))))


distinct = st.lists(st.integers(-60, 60).filter(bool), min_size=1, max_size=9, unique_by=abs)


@settings(max_examples=40)
@given(distinct)
def test_the_p_value_is_that_of_all_signs_of_the_ranks(differences: list[int]) -> None:
    first = np.arange(len(differences), dtype=float)
    assert paired_test(first + differences, first) == pytest.approx(enumerated(differences, 0))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_ties_and_equal_pairs_are_no_trouble(pairs: list[tuple[int, int]]) -> None:
    first, second = np.array(pairs, dtype=float).T
    wanted = 1.0 if np.array_equal(first, second) else enumerated(first, second)
    assert paired_test(first, second) == pytest.approx(wanted)
    assert paired_test(second, first) == pytest.approx(wanted)


@pytest.mark.parametrize("people", [5, 10])
def test_shares_of_five_questions_are_tested_like_their_numerators(people: int) -> None:
    """0.8 - 0.6 and 1.0 - 0.8 are the same difference, whatever the floating point says."""
    for first, second in np.random.default_rng(people).integers(6, size=(60 // people, 2, people)):
        assert paired_test(first / 5, second / 5) == pytest.approx(paired_test(first, second))


def test_the_test_is_scipys() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random(20), rng.random(20) + 0.2
    assert paired_test(first, second) == pytest.approx(stats.wilcoxon(first, second).pvalue)


def test_five_runs_that_all_agree_are_the_least_p_there_is() -> None:
    first = np.array([0.9, 0.91, 0.93, 0.96, 1.0])
    assert paired_test(first, np.full(5, 0.5)) == pytest.approx(2 / 2**5)


@pytest.mark.parametrize("values", [[0.7], [0.1, 0.9, 0.4]])
def test_equal_values_have_a_p_of_1(values: list[float]) -> None:
    assert paired_test(np.array(values), np.array(values)) == 1.0


def test_one_pair_says_nothing() -> None:
    assert paired_test(np.array([0.9]), np.array([0.1])) == 1.0


# --- standard errors --------------------------------------------------------------------------------------


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=20))
def test_the_standard_error_is_the_textbooks(values: list[float]) -> None:
    n, mean = len(values), sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / (n - 1)
    assert standard_error(np.array(values)) == pytest.approx((variance / n) ** 0.5, abs=1e-9)


def test_one_value_has_no_standard_error() -> None:
    assert np.isnan(standard_error(np.array([3.0])))
