"""Diagnostic about features: each trouble is found where it was put, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.datasets.features.tables.diagnostics import Diagnostic, diagnose, heavy_tailed, redundant

ROWS = 400


def normal(columns: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(ROWS, columns))


def kinds(found: list[Diagnostic]) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.kind, one.names) for one in found]


def test_good_features_have_no_problems() -> None:
    assert diagnose(normal(), ["a", "b", "c"], np.full(ROWS, 50)) == []


def test_a_constant_is_found_however_large_it_is() -> None:
    features = normal()
    features[:, 1] = 1e8 + 1e-4 * features[:, 1]
    found = diagnose(features, ["a", "b", "c"])
    assert kinds(found) == [("constant", ("b",))]
    assert redundant(found) == {"b"}


@pytest.mark.parametrize(("size", "shift"), [(1.0, 0.0), (-3.0, 2.0), (1e-3, 1e3)])
def test_a_duplicate_in_other_units_is_found_and_the_second_is_redundant(size: float, shift: float) -> None:
    features = normal()
    features[:, 2] = size * features[:, 0] + shift
    found = diagnose(features, ["a", "b", "c"])
    assert kinds(found) == [("duplicate", ("a", "c"))]
    assert redundant(found) == {"c"}
    assert "c is a in other units" in found[0].message


def test_of_three_duplicates_one_stays() -> None:
    features = np.repeat(normal(1), 3, axis=1)
    assert redundant(diagnose(features, ["a", "b", "c"])) == {"b", "c"}


@given(st.floats(0.0, 0.5), st.integers(0, 5))
def test_correlation_is_reported_above_98_hundredths_only(share: float, seed: int) -> None:
    features = normal(2, seed)
    features[:, 1] = features[:, 0] + share * features[:, 1]
    judge = abs(float(np.corrcoef(features[:, 0], features[:, 1])[0, 1]))
    found = [one.kind for one in diagnose(features, ["a", "b"])]
    assert found == ([] if judge <= 0.98 else ["correlated"] if judge < 1 - 1e-9 else ["duplicate"])


@pytest.mark.parametrize(
    ("values", "far"),
    [
        (np.random.default_rng(0).normal(size=ROWS), False),
        (np.random.default_rng(0).uniform(size=ROWS), False),
        (np.random.default_rng(0).exponential(size=ROWS), False),
        (np.random.default_rng(0).lognormal(0, 2, size=ROWS), True),
        (np.random.default_rng(0).standard_cauchy(size=ROWS), True),
        (np.where(np.arange(ROWS) < 8, 1.0, 0.0), False),  # a rare kind has no tails
        (np.r_[np.random.default_rng(0).normal(size=ROWS - 1), 1e4], True),
    ],
)
def test_heavy_tails_are_told_from_ordinary_variation(values: Array, far: bool) -> None:
    assert heavy_tailed(values) is far
    found = diagnose(np.column_stack([values, normal(1, seed=9)]), ["a", "b"])
    assert kinds(found) == ([("heavy-tailed", ("a",))] if far else [])
    logarithm = float(values.min()) > 0  # of other numbers there is none
    assert all(("--log-transform 'a'" in one.message) == logarithm for one in found)
    assert all("remove the outliers" in one.message for one in found)


def test_unequal_lengths_are_reported_with_the_features_that_grow() -> None:
    lengths = np.full(ROWS, 100)
    names = ["control effort", "mean x", "path length"]
    assert diagnose(normal(), names, lengths) == []
    lengths[3] = 180
    (one,) = diagnose(normal(), names, lengths)
    assert (one.kind, one.names) == ("unequal-length", ("control effort", "path length"))
    assert "100 to 180 steps" in one.message
    assert "--window" in one.message
    assert diagnose(normal(), ["mean x", "jerk", "mean y"], lengths) == []


def test_a_user_feature_that_grows_with_the_length_is_found() -> None:
    lengths = np.random.default_rng(1).integers(50, 150, ROWS)
    features = normal()
    features[:, 1] = 3.0 * lengths + features[:, 1]
    (one,) = diagnose(features, ["a", "mine", "c"], lengths)
    assert (one.kind, one.names) == ("unequal-length", ("mine",))


@pytest.mark.parametrize(
    ("grows", "advised"),
    [
        ("mine", "mean, min, max, final, jerk"),
        ("max x", "mean, min, final, jerk"),
        ("log(jerk)", "mean, min, max, final"),
        ("log dimensionless jerk", "mean, min, max, final, jerk"),
    ],
)
def test_a_feature_that_is_blamed_is_not_recommended(grows: str, advised: str) -> None:
    lengths = np.random.default_rng(1).integers(50, 150, ROWS)
    features = normal()
    features[:, 1] += 3.0 * lengths
    (one,) = diagnose(features, ["a", grows, "c"], lengths)
    assert one.names == (grows,)
    assert one.message.endswith(f"(--window), or use features that do not: {advised}")


def test_where_all_are_blamed_windows_are_left() -> None:
    lengths = np.random.default_rng(1).integers(50, 150, ROWS)
    names = ["mean x", "min x", "max x", "final x", "jerk"]
    features = 3.0 * lengths[:, None] + normal(5)
    (one,) = [one for one in diagnose(features, names, lengths) if one.kind == "unequal-length"]
    assert one.message.endswith("(--window)")


def test_two_trajectories_are_no_evidence_of_correlation() -> None:
    assert diagnose(np.array([[0.0, 1.0], [1.0, 3.0]]), ["a", "b"]) == []
