"""Pools: what they keep, and what they refuse."""

from typing import Any

import numpy as np
import pytest

from prefero import Pool
from prefero.arrays import Array


def normal(rows: int = 8, columns: int = 2) -> Array:
    return np.random.default_rng(0).standard_normal((rows, columns))


def test_a_pool_keeps_features_names_and_scaled_features() -> None:
    features = normal() * 100.0
    pool = Pool(features, names=["speed", "distance"])
    assert len(pool) == 8
    assert pool.names == ("speed", "distance")
    np.testing.assert_array_equal(pool.features, features)
    np.testing.assert_allclose(pool.scaled, (features - features.mean(0)) / features.std(0))


def test_a_pool_is_not_changed_by_what_happens_to_the_array_it_was_made_from() -> None:
    features = normal()
    pool = Pool(features)
    features[:] = 0.0
    assert np.all(pool.features.std(axis=0) > 0.1)


@pytest.mark.parametrize("array", ["features", "scaled"])
def test_a_pool_cannot_be_written_to(array: str) -> None:
    with pytest.raises(ValueError, match="read-only"):
        getattr(Pool(normal()), array)[0, 0] = 1.0


@pytest.mark.parametrize("rows", [0, 1])
def test_a_pool_needs_two_trajectories(rows: int) -> None:
    with pytest.raises(ValueError, match=f"at least two trajectories to compare, but has {rows}: add more"):
        Pool(normal(rows))


def test_a_pool_of_two_is_enough() -> None:
    np.testing.assert_allclose(np.abs(Pool(normal(2)).scaled), 1.0)


@pytest.mark.parametrize(
    ("features", "names", "message"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], ["a", "b"], "row 0 has nan in column 'b'"),
        ([[1.0, 2.0], [-np.inf, 3.0]], None, "row 1 has -inf in column 0"),
        ([1.0, 2.0], None, r"use features\[:, None\]"),
        ([[1.0, 5.0], [2.0, 5.0]], ["a", "b"], "feature 'b' is 5 for every trajectory"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a", "a"], "must differ from each other"),
        ([[1.0, 5.0], [2.0, 6.0]], ["a"], "there are 2 features, but 1 names"),
    ],
)
def test_bad_features_and_names_are_refused(features: Any, names: list[str] | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool(features, names)


@pytest.mark.parametrize("index", [-1, 8, 1000])
def test_an_index_out_of_range_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match=f"the pool has trajectories 0 to 7, but this is {index}"):
        Pool(normal()).check_index(index)


@pytest.mark.parametrize("index", [0, 7, np.int64(3)])
def test_an_index_of_the_pool_is_accepted(index: int) -> None:
    shown = Pool(normal())
    shown.check_index(index)
    assert shown.features[index].shape == (2,)
