"""Test sets: all pairs with their true answers, and marks against sums by hand."""

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import Pool, sample_diverse
from prefero._support.arrays import Array
from prefero.simulation.test_sets import TestSet


def rows(count: int, columns: int = 2, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((count, columns))


def first_column(x: Array) -> Array:
    return x[:, 0]


def pairs_of(differences: Any) -> TestSet:
    return TestSet(np.zeros((2, 1)), np.zeros((len(differences), 2), dtype=np.intp), np.array(differences))


@pytest.mark.parametrize("count", [2, 3, 9])
def test_all_pairs_are_asked_once_with_the_true_difference(count: int) -> None:
    features = rows(count)
    truth = features @ np.array([1.0, -2.0])
    test_set = TestSet.of(features, truth)
    assert list(map(tuple, test_set.pairs.tolist())) == list(combinations(range(count), 2))
    for (i, j), difference in zip(test_set.pairs, test_set.differences, strict=True):
        assert difference == truth[i] - truth[j]


def test_sides_are_the_features_of_the_pairs() -> None:
    test_set = TestSet.of(rows(4), rows(4)[:, 0])
    left, right = test_set.sides
    assert left.shape == right.shape == (6, 2)
    for row, (i, j) in enumerate(test_set.pairs):
        np.testing.assert_array_equal(left[row], test_set.features[i])
        np.testing.assert_array_equal(right[row], test_set.features[j])


def closest(features: Array) -> float:
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(features, 2))


def test_a_diverse_test_set_is_of_candidates_that_are_far_apart() -> None:
    candidates = Pool(rows(300) * [1.0, 1000.0])
    test_set = TestSet.diverse(candidates, first_column, 20, seed=4)
    assert test_set.features.shape == (20, 2)
    assert set(map(tuple, test_set.features.tolist())) <= set(map(tuple, candidates.features.tolist()))
    random = candidates.scaled[np.random.default_rng(0).choice(300, 20, replace=False)]
    assert closest(candidates.scaling(test_set.features)) > 3 * closest(random)
    np.testing.assert_allclose(
        test_set.differences,
        test_set.features[test_set.pairs[:, 0], 0] - test_set.features[test_set.pairs[:, 1], 0],
    )


def test_the_seed_decides_a_diverse_test_set() -> None:
    candidates = Pool(rows(100))
    first, again, other = (TestSet.diverse(candidates, first_column, 8, seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.features, again.features)
    assert not np.array_equal(first.features, other.features)
    chosen = candidates.features[sample_diverse(candidates.scaled, 8, seed=1)]
    np.testing.assert_array_equal(first.features, chosen)


def test_more_trajectories_than_candidates_are_refused() -> None:
    with pytest.raises(ValueError, match="between 1 and 5"):
        TestSet.diverse(Pool(rows(5)), first_column, 6)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0.001, 0.999), st.sampled_from([-2.0, -0.1, 0.1, 3.0])), min_size=1))
def test_the_log_likelihood_is_the_mean_over_the_true_answers(answers: list[tuple[float, float]]) -> None:
    wanted = sum(math.log(p if d > 0 else 1 - p) for p, d in answers) / len(answers)
    probability, differences = (np.array(column) for column in zip(*answers, strict=True))
    assert pairs_of(differences).log_likelihood(probability) == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_a_tie_in_truth_counts_both_ways() -> None:
    found = pairs_of([0.0]).log_likelihood(np.array([0.2]))
    assert found == pytest.approx(0.5 * (math.log(0.2) + math.log(0.8)))


def test_a_coin_has_the_log_likelihood_of_a_coin() -> None:
    assert pairs_of([1.0, -3.0, 2.0]).log_likelihood(np.full(3, 0.5)) == pytest.approx(math.log(0.5))


def test_certainty_is_not_infinitely_right_or_wrong() -> None:
    sure = np.array([1.0, 0.0])
    assert pairs_of([1.0, -1.0]).log_likelihood(sure) == pytest.approx(0.0, abs=1e-12)
    assert -1000 < pairs_of([-1.0, 1.0]).log_likelihood(sure) < -30


def test_a_wrong_certainty_costs_the_same_either_way_round() -> None:
    """The order in which a pair is named means nothing."""
    one = pairs_of([1.0]).log_likelihood(np.array([0.0]))
    other = pairs_of([-1.0]).log_likelihood(np.array([1.0]))
    assert one == pytest.approx(other, rel=0.01)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.floats(0.0, 1.0), st.sampled_from([-2.0, 0.1])), min_size=1))
def test_accuracy_counts_what_is_right_and_half_of_what_is_open(answers: list[tuple[float, float]]) -> None:
    marks = [0.5 if p == 0.5 else float((p > 0.5) == (d > 0)) for p, d in answers]
    probability, differences = (np.array(column) for column in zip(*answers, strict=True))
    assert pairs_of(differences).accuracy(probability) == pytest.approx(sum(marks) / len(marks))
