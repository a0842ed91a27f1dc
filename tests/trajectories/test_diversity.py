"""Poisson-disk sampling: the radius is kept, no further row fits, large sets are thinned like small ones."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.trajectories.diversity import diverse_best, sample_diverse


def normal(rows: int = 40, columns: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((rows, columns))


def distances(x: Array, y: Array) -> Array:
    return np.array([[np.sqrt(np.sum((p - q) ** 2)) for q in y] for p in x]).reshape(len(x), len(y))


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
        ({}, "a count or a radius"),
        ({"count": 3, "radius": 1.0}, "a count or a radius"),
        ({"count": 0}, "between 1 and 9"),
        ({"count": 10}, "between 1 and 9"),
        ({"radius": -1.0}, "radius must be .*-1.0"),
        ({"radius": np.nan}, "radius must be .*nan"),
    ],
)
def test_what_cannot_be_sampled_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sample_diverse(normal(9), **options)


def test_a_diverse_subset_is_not_taken_of_bad_features() -> None:
    with pytest.raises(ValueError, match="features must be finite"):
        sample_diverse([[np.nan]], 1)


def test_the_best_are_different_ones() -> None:
    """Two clusters of good rows: the plain best nine are in one, the diverse ones in both."""
    rng = np.random.default_rng(3)
    features = np.concatenate([rng.normal(0, 0.1, (100, 2)), rng.normal(3, 0.1, (20, 2)), normal(280, 2) - 9])
    scores = np.concatenate([np.full(100, 9.0), np.full(20, 8.0), np.zeros(280)]) + rng.random(400)
    chosen = diverse_best(features, scores, 9)
    assert chosen[0] == np.argmax(scores)
    assert np.all(np.diff(scores[chosen]) < 0)
    top = np.argsort(-scores)[:40]
    assert set(chosen.tolist()) <= set(top.tolist())
    apart = distances(features[chosen], features[chosen]) + np.diag(np.full(9, np.inf))
    plain = distances(features[top[:9]], features[top[:9]]) + np.diag(np.full(9, np.inf))
    assert apart.min() > 2 * plain.min()
    far = diverse_best(features, np.where(np.arange(400) < 120, 9.0, 0.0) + 0.1 * rng.random(400), 9)
    assert {0, 1} == {int(index >= 100) for index in far}


def test_of_few_rows_all_are_the_best() -> None:
    features, scores = normal(4), np.array([1.0, 3.0, 2.0, 0.0])
    assert diverse_best(features, scores, 9).tolist() == [1, 2, 0, 3]


def test_the_same_row_twice_is_shown_once_if_others_are_there() -> None:
    features = np.repeat(normal(10), 2, axis=0)
    chosen = diverse_best(features, np.arange(20.0), 8)
    assert len({index // 2 for index in chosen.tolist()}) == 8
