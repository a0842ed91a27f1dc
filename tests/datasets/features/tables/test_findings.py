"""Findings about features: each is found where it was put, and not in ordinary variation."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import stats

from prefero._support.arrays import Array
from prefero.datasets.features.tables.diagnostics import diagnose
from prefero.datasets.features.tables.findings import clusters, find, moments
from prefero.trajectories import Categories

RNG = np.random.default_rng(0)
GROUPS = np.concatenate([RNG.normal(0, 0.1, 60), RNG.normal(3, 0.1, 20), RNG.normal(9, 0.1, 20)])


@pytest.mark.parametrize(
    ("values", "kinds"),
    [
        (RNG.normal(size=300), []),
        (RNG.uniform(size=300), []),
        (RNG.standard_t(2.5, size=400), ["heavy tails"]),
        (RNG.exponential(size=300), ["skewed"]),
        (-RNG.exponential(size=300), ["skewed"]),
        (GROUPS, ["clusters"]),
        (RNG.integers(1, 5, 300).astype(float), ["few values"]),
        (RNG.integers(0, 2, 300).astype(float), []),  # yes and no: the same as a category
        (RNG.choice([0.1, 0.25, 0.7], 300), []),
        (np.full(300, 3.0), []),
    ],
)
def test_a_finding_is_made_where_it_is_due(values: Array, kinds: list[str]) -> None:
    found = find(values[:, None], ["force"])
    assert [one.kind for one in found] == kinds
    assert all("force" in one.message for one in found)


def test_the_numbers_in_a_message_are_those_of_scipy() -> None:
    values = RNG.standard_t(3, size=500)
    largest, skewness, kurtosis = moments(values)
    np.testing.assert_allclose(skewness, stats.skew(values))
    np.testing.assert_allclose(kurtosis, stats.kurtosis(values, fisher=False))
    np.testing.assert_allclose(largest, np.abs(stats.zscore(values)).max())


def test_clusters_are_the_groups_that_were_drawn_and_rare_in_one_group() -> None:
    assert [len(group) for group in clusters(GROUPS)] == [60, 20, 20]
    np.testing.assert_array_equal(np.concatenate(clusters(GROUPS)), np.sort(GROUPS))
    draws: list[Any] = [RNG.normal, RNG.uniform, RNG.exponential, partial(RNG.standard_t, 3)]
    split = [
        len(clusters(draw(size=size))) > 1 for draw in draws for size in (12, 30, 200) for _ in range(100)
    ]
    assert np.mean(split) < 0.01


def test_a_category_is_one_finding_and_its_levels_are_no_problem_of_each_other() -> None:
    one = Categories("surface", ("grass", "mud", "sand"))
    values = ["grass"] * 99 + ["sand"] * 99 + ["mud"] * 2
    features = np.column_stack([RNG.normal(size=200), one.encode(values)])
    names = ("speed", *one.names)
    assert diagnose(features, names, categories=(one,)) == []
    assert [d.kind for d in diagnose(features, names)] == ["correlated"]
    (found,) = find(features, names, (one,))
    assert (found.kind, found.names) == ("categories", ("surface",))
    assert "grass (99), mud (2), sand (99)" in found.message
    assert "Few trajectories have mud" in found.message
