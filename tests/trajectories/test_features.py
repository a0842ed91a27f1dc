"""Features: what is refused and in which words, scaling, and diverse subsets against their definition."""

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.trajectories.features import Scaling, feature_matrix, sample_diverse


def normal(rows: int = 40, columns: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def distances(x: Array, y: Array) -> Array:
    return np.array([[np.sqrt(np.sum((p - q) ** 2)) for q in y] for p in x]).reshape(len(x), len(y))


# --- feature_matrix ---------------------------------------------------------------------------------------


def test_whole_numbers_and_lists_become_floats() -> None:
    matrix = feature_matrix([[1, 2], [3, 4]])
    assert matrix.dtype == np.float64
    assert matrix.tolist() == [[1.0, 2.0], [3.0, 4.0]]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_is_named_with_its_place_and_a_way_out(value: float) -> None:
    features = normal(5, 2)
    features[3, 1] = value
    with pytest.raises(ValueError, match=rf"row 3 has {value} in column 'speed': drop that trajectory or"):
        feature_matrix(features, ["distance", "speed"])


def test_without_names_a_bad_column_is_told_by_its_number() -> None:
    with pytest.raises(ValueError, match="row 0 has nan in column 1"):
        feature_matrix([[0.0, np.nan], [np.nan, 1.0]])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ([1.0, 2.0], r"shape \(2,\): for a single feature, use features\[:, None\]"),
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
    with pytest.raises(ValueError, match=rf"there are 2 features, but {len(names)} names"):
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
    with pytest.raises(ValueError, match=r"must differ from each other, but are \['a', 'a'\]"):
        Scaling.of(normal(4, 2), ["a", "a"])


@pytest.mark.parametrize("columns", [1, 3])
def test_a_scaling_refuses_other_features(columns: int) -> None:
    scaling = Scaling.of(normal(4, 2), ["speed", "distance"])
    with pytest.raises(ValueError, match=rf"wanted 2 features \(speed, distance\), but got {columns}"):
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
        scaling.back(scaling(features)), features, rtol=1e-12, atol=1e-12 * abs(offset)
    )


def test_one_row_comes_back_too() -> None:
    scaling = Scaling.of(np.array([[0.0], [10.0]]), ["metres"])
    assert scaling.back(np.array([[3.0]])).tolist() == [[20.0]]


# --- diverse subsets --------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(st.integers(1, 40), st.integers(1, 3), st.floats(0.0, 4.0), st.integers(0, 100))
def test_chosen_rows_keep_the_radius_and_no_further_row_could(
    rows: int, columns: int, radius: float, seed: int
) -> None:
    features = normal(rows, columns, seed)
    chosen = sample_diverse(features, radius=radius, seed=seed)
    apart = distances(features[chosen], features[chosen]) + np.diag(np.full(len(chosen), np.inf))
    assert np.all(apart >= radius * (1 - 1e-12))
    rest = np.setdiff1d(np.arange(rows), chosen)
    assert np.all(distances(features[rest], features[chosen]).min(axis=1) <= radius * (1 + 1e-12))


@settings(max_examples=60)
@given(st.data())
def test_as_many_rows_are_chosen_as_were_asked_for_and_no_row_twice(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 40))
    count = data.draw(st.integers(1, rows))
    features = np.round(normal(rows, 2, seed=rows), data.draw(st.integers(0, 3)))  # with equal rows, too
    chosen = sample_diverse(features, count, seed=count)
    assert len(set(chosen.tolist())) == len(chosen) == count


def closest(rows: Array) -> float:
    return float((distances(rows, rows) + np.diag(np.full(len(rows), np.inf))).min())


def test_a_count_is_spread_wider_than_chance_spreads_it() -> None:
    features = normal(200, 2)
    random = np.random.default_rng(1).choice(200, 20, replace=False)
    assert closest(features[sample_diverse(features, 20)]) > 3 * closest(features[random])


def test_the_seed_decides_the_choice() -> None:
    features = normal(60)
    again = [sample_diverse(features, 10, seed=4).tolist() for _ in range(2)]
    assert again[0] == again[1] != sample_diverse(features, 10, seed=5).tolist()


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_a_large_set_is_thinned_as_a_small_one_is(offset: float) -> None:
    """Row after row, each kept unless one that is kept already is nearer than the radius."""
    features = normal(9500) + offset
    kept: list[int] = []
    for row in np.random.default_rng(3).permutation(len(features)):
        if not kept or np.linalg.norm(features[kept] - features[row], axis=1).min() >= 0.31:
            kept.append(int(row))
    assert sample_diverse(features, radius=0.31, seed=3).tolist() == kept


def test_of_a_large_set_as_many_are_taken_as_are_wanted() -> None:
    features = normal(6000)
    chosen = sample_diverse(features, 300, seed=1)
    assert len(set(chosen.tolist())) == 300
    random = np.random.default_rng(0).choice(len(features), 300, replace=False)
    assert closest(features[chosen]) > 5 * closest(features[random])


def test_a_radius_of_zero_keeps_every_row_and_a_huge_one_keeps_one() -> None:
    assert sorted(sample_diverse(normal(9), radius=0.0).tolist()) == list(range(9))
    assert len(sample_diverse(normal(9), radius=1e6)) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either a count or a radius"),
        ({"count": 3, "radius": 1.0}, "give either a count or a radius"),
        ({"count": 0}, "count must be between 1 and 9"),
        ({"count": 10}, "count must be between 1 and 9"),
        ({"radius": -1.0}, "the radius must be 0 or more, but is -1.0"),
        ({"radius": np.nan}, "the radius must be 0 or more, but is nan"),
    ],
)
def test_what_cannot_be_sampled_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_diverse(normal(9), **options)


def test_a_diverse_subset_is_not_taken_of_bad_features() -> None:
    with pytest.raises(ValueError, match="features must be finite"):
        sample_diverse([[np.nan]], 1)
