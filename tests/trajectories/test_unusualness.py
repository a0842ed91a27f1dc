"""Unusualness: robust distances against a plain restatement, and what must not make a trajectory unusual."""

from statistics import NormalDist, median

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.trajectories.unusualness import robust_deviations, unusualness

NAMES = ["a", "b", "c", "d", "e", "f"]


def usual(seed: int = 0, rows: int = 80, columns: int = 4) -> Array:
    return np.random.default_rng(seed).normal(size=(rows, columns))


def one_deviation(value: float, others: list[float]) -> float:
    """By the quartile on the side of the value, of sorted numbers."""
    center = median(others)
    side = sorted((other - center) * (1 if value > center else -1) for other in others)
    place = 0.75 * (len(side) - 1)
    low = int(place)
    quartile = side[low] + (place - low) * (side[low + 1] - side[low])
    return (value - center) / quartile * NormalDist().inv_cdf(0.75)


def test_deviations_are_by_the_quartile_on_the_same_side() -> None:
    features = np.exp(usual(columns=1))  # skewed
    expected = [one_deviation(value, features[:, 0].tolist()) for value in features[:, 0]]
    np.testing.assert_allclose(robust_deviations(features)[:, 0], expected)


def test_the_unit_is_a_standard_deviation_for_normal_features() -> None:
    assert robust_deviations(usual(rows=20_000)).std() == pytest.approx(1.0, abs=0.03)


def test_units_and_offsets_of_features_do_not_matter() -> None:
    features = usual()
    moved = features * [1e-6, 1.0, 1e6, 3.0] + [0.0, 5.0, -1e3, 2.0]
    np.testing.assert_allclose(unusualness(moved).values, unusualness(features).values, rtol=1e-6)


def test_several_outliers_do_not_hide_each_other() -> None:
    features = usual()
    features[:14, 2] += 12.0  # a sixth of all
    found = unusualness(features)
    assert set(found.order[:14].tolist()) == set(range(14))
    assert found.reason(3, NAMES).startswith("c ")
    assert found.reason(3, NAMES).endswith("times the usual deviation above the others")


def test_a_value_that_is_usual_alone_may_be_unusual_beside_the_others() -> None:
    rng = np.random.default_rng(1)
    length = rng.normal(size=100)
    features = np.column_stack([length, length + 0.05 * rng.normal(size=100), rng.normal(size=100)])
    features[5, :2] = [-1.0, 1.0]
    found = unusualness(features)
    assert found.order[0] == 5
    assert "what its other features suggest" in found.reason(5, NAMES)
    assert np.abs(robust_deviations(features)[5]).max() < 2.0


def test_constant_and_discrete_features_are_no_reason_but_a_rare_value_is() -> None:
    features = np.column_stack(
        [np.ones(60), np.tile([0.0, 1.0], 30), np.zeros(60), usual(rows=60, columns=2)]
    )
    features[7, 2] = 1.0  # alone among zeros
    found = unusualness(features)
    assert found.order[0] == 7
    assert found.columns[7] == 2
    assert np.isfinite(found.values).all()
    assert not robust_deviations(features)[:, 0].any()


def test_where_nothing_varies_nothing_is_unusual() -> None:
    found = unusualness(np.full((5, 2), 3.7))
    assert not found.values.any()
    assert found.reason(0, NAMES) == ""


def test_skew_alone_makes_few_trajectories_clearly_unusual() -> None:
    features = np.column_stack([np.exp(usual(3, 400, 1)), usual(4, 400, 3)])
    assert (unusualness(features).values > 6.0).sum() < 400 * 0.06


def test_more_features_than_trajectories_are_no_problem() -> None:
    features = usual(rows=12, columns=40)
    features[3, 17] = 50.0
    found = unusualness(features)
    assert found.order[0] == 3
    assert found.columns[3] == 17
