"""Features: what is refused and in which words, scaling, and diverse subsets against their definition."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.trajectories.features import Scaling, feature_matrix


def normal(rows: int = 40, columns: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


# --- feature_matrix ---------------------------------------------------------------------------------------


def test_whole_numbers_and_lists_become_floats() -> None:
    matrix = feature_matrix([[1, 2], [3, 4]])
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_with_its_place_and_a_way_out(value: float) -> None:
    features = normal(5, 2)
    features[3, 1] = value
    with pytest.raises(ValueError, match=rf"row 3 has {value} in column 'speed'"):
        feature_matrix(features, ["distance", "speed"])


def test_without_names_a_bad_column_is_told_by_its_number() -> None:
    with pytest.raises(ValueError, match="row 0 has nan in column 1"):
        feature_matrix([[0.0, np.nan], [np.nan, 1.0]])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\): .*features\[:, None\]"),
        (3.0, r"have shape \(\)"),
        (np.zeros((2, 2, 2)), r"have shape \(2, 2, 2\)"),
        (np.zeros((4, 0)), r"have shape \(4, 0\)"),
        ([["a", "b"]], "features must be numbers"),
        ([[1.0, 2.0], [3.0]], "features must be numbers"),
        ([[None, {}]], "features must be numbers"),
    ],
)
def test_what_is_not_a_matrix_of_numbers_is_refused(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        feature_matrix(features)


@pytest.mark.parametrize("names", [["a"], ["a", "b", "c"], []])
def test_names_must_be_as_many_as_features(names: list[str]) -> None:
    with pytest.raises(ValueError, match=rf"2 features, .*{len(names)} names"):
        feature_matrix(normal(3, 2), names)


# --- scaling ----------------------------------------------------------------------------------------------


def test_scaled_features_have_mean_zero_and_deviation_one() -> None:
    features = normal() * [1e-3, 1.0, 1e6] + [5.0, -2.0, 1e7]
    scaled = Scaling.of(features)(features)
    np.testing.assert_allclose(scaled.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(scaled.std(axis=0), 1.0, rtol=1e-9)


@settings(max_examples=50)
@given(st.integers(0, 1000), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_scaling_forgets_units(seed: int, unit: float, offset: float) -> None:
    features = normal(seed=seed)
    moved = unit * features + offset
    np.testing.assert_allclose(Scaling.of(moved)(moved), Scaling.of(features)(features), atol=1e-7)


def test_a_scaling_applies_to_other_trajectories_in_the_units_of_the_first() -> None:
    scaling = Scaling.of(np.array([[0.0], [10.0]]), ["metres"])
    assert scaling([[5.0], [20.0]]).tolist() == [[0.0], [3.0]]


def test_features_without_names_are_numbered() -> None:
    assert Scaling.of(normal(4, 2)).names == ("feature 0", "feature 1")


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, -1e9, 1e-200])
def test_a_constant_feature_is_refused_by_name(value: float) -> None:
    features = normal(7, 2)
    features[:, 1] = value
    with pytest.raises(ValueError, match=re.escape(f"feature 'b' is {value:g} for every trajectory, so no")):
        Scaling.of(features, ["a", "b"])


def test_a_feature_that_varies_little_in_large_units_is_kept() -> None:
    scaling = Scaling.of(np.array([[1e6], [1e6 + 1.0]]))
    np.testing.assert_allclose(scaling([[1e6]]), [[-1.0]])


def test_equal_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must differ .*\['a', 'a'\]"):
        Scaling.of(normal(4, 2), ["a", "a"])


@pytest.mark.parametrize("columns", [1, 3])
def test_a_scaling_refuses_other_features(columns: int) -> None:
    scaling = Scaling.of(normal(4, 2), ["speed", "distance"])
    with pytest.raises(ValueError, match=rf"wanted 2 features \(speed, distance\), .*{columns}"):
        scaling(normal(4, columns))


def test_a_scaling_survives_a_file() -> None:
    scaling = Scaling.of(normal(), ["a", "b", "c"])
    assert Scaling.from_json(json.loads(json.dumps(scaling.to_json()))) == scaling


@settings(max_examples=50)
@given(st.integers(0, 1000), st.floats(1e-3, 1e3), st.floats(-1e3, 1e3))
def test_scaled_features_come_back_in_their_units(seed: int, unit: float, offset: float) -> None:
    features = unit * normal(seed=seed) + offset
    scaling = Scaling.of(features)
    np.testing.assert_allclose(
        scaling.inverse(scaling(features)), features, rtol=1e-12, atol=1e-12 * abs(offset)
    )


def test_one_row_comes_back_too() -> None:
    scaling = Scaling.of(np.array([[0.0], [10.0]]), ["metres"])
    assert scaling.inverse(np.array([[3.0]])).tolist() == [[20.0]]
