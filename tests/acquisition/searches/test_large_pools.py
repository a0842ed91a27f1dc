"""Searches of large pools within a tolerance, against brute force over pools that are small enough for it."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acquisition.searched_pools import learned, score_all
from kernels.periodic_kernel import Periodic
from prefero._support.arrays import Array, to_numpy
from prefero.acquisition.base import Box, Component, PairMoments
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.functions.mutual_information import MutualInformation, mutual_information
from prefero.acquisition.projection import Projection, projections
from prefero.acquisition.scorers import MomentScorer
from prefero.acquisition.searches import large_pools
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.searches.clusters import PoolClusters, similar_rows
from prefero.acquisition.searches.large_pools import ClusterSearch
from prefero.acquisition.searches.single_precision import SinglePrecision
from prefero.kernels import RBF, Matern
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons

BITS = MutualInformation()


def belief(answers: int = 8, seed: int = 0) -> MixturePosterior:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, answers, 2))
    won = (a[:, 0] + a[:, 1] ** 2 > b[:, 0] + b[:, 1] ** 2)[:, None]
    data = Comparisons(np.where(won, a, b), np.where(won, b, a), np.zeros(answers, dtype=bool))
    return MixtureFitter(Reference.normal(2), searched=False).fit(data)


def pool(count: int = 150, seed: int = 3) -> Array:
    return np.random.default_rng(seed).standard_normal((count, 2))


def search_of(mixture: Any, x: Any, tolerance: float = 0.005, excluded: Any = ()) -> ClusterSearch:
    scorer = MomentScorer(BITS, mixture, to_numpy(x))
    return ClusterSearch(tolerance, scorer, BITS, mixture, x, Excluded(excluded))


def brute_force(mixture: Distribution, x: Array) -> float:
    return float(np.triu(score_all(mixture, x, MutualInformation()), 1).max())


def scaled_variances(component: Any, x: Array) -> Array:
    """V_ij by the covariance matrix."""
    covariance = component(x)[1]
    diagonal = covariance.diagonal()
    return np.asarray((diagonal[:, None] + diagonal - 2.0 * covariance) / component.probit.scale**2)


@given(
    st.lists(
        st.tuples(st.floats(-9, 9), st.floats(0, 6), st.floats(0, 99), st.floats(0, 40)),
        min_size=2,
        max_size=3,
    ),
    st.sampled_from([0.0, 0.1]),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
)
@settings(max_examples=150, deadline=None)
def test_no_question_in_a_box_exceeds_its_bound(
    ranges: list[tuple[float, float, float, float]], lapse: float, places: list[float]
) -> None:
    boxes, pairs = [], []
    for k, (low, width, least, more) in enumerate(ranges):
        person = Component(1.0 / len(ranges), Probit(0.5**0.5, 0.0, lapse))  # the scale is 1
        boxes.append(Box(person, *(np.array([v]) for v in (low, low + width, least, least + more))))
        gap, variance = low + places[2 * k] * width, least + places[2 * k + 1] * more
        pairs.append(
            PairMoments(person.weight, person.probit, np.array([gap]), np.zeros(1), np.array([variance]))
        )
    value = mutual_information(pairs)[0]
    for known in range(len(pairs) + 1):  # of some components the question itself, of the others its box
        of_questions, of_boxes = map(BITS.question_terms, pairs[:known]), map(BITS.box_terms, boxes[known:])
        questions = [sum(same) for same in zip(*of_questions, strict=True)] if known else [0.0, 0.0]
        rest = [sum(same) for same in zip(*of_boxes, strict=True)]
        assert BITS.bound_of_sums(questions, rest)[0] >= value - 1e-9


@pytest.mark.parametrize(
    "kernel", [Matern((0.7, 1.5)), Periodic(1.3), RBF(0.8) + Periodic(1.3)], ids=["terms", "none", "some"]
)
def test_variances_in_single_precision_are_those_of_the_posterior(kernel: Any) -> None:
    x, component = pool(20), learned(1, kernel, Probit(0.4))
    prepared = SinglePrecision.of(Projection.of(1.0, component, x))
    V = prepared.variances(prepared.left, prepared.right)
    np.testing.assert_allclose(V, scaled_variances(component, x), atol=2 * prepared.rounding)
    order = np.array([1, 3])
    stacked = prepared.variances(prepared.left.stacked(5, order), prepared.right.stacked(5, order[::-1]))
    np.testing.assert_allclose(stacked, [V[5:10, 15:20], V[15:20, 5:10]], atol=2 * prepared.rounding)


def test_rewards_far_larger_than_the_noise_are_looked_at_in_double_precision() -> None:
    component = learned(1, RBF(0.8), Probit(0.4))
    kinds = [
        SinglePrecision.of(Projection.of(1.0, component, x)).left.mean.dtype for x in (pool(), 1e6 * pool())
    ]
    assert kinds == [np.float32, np.float64]


@pytest.mark.parametrize("count", [1, 4, 16])
def test_clusters_hold_every_row_and_are_alike(count: int) -> None:
    rows = pool(101)
    clusters = similar_rows(rows, count)
    assert clusters.shape == (count, -(-101 // count))
    assert set(clusters.ravel().tolist()) == set(range(101))
    inside = np.mean([rows[cluster].var(axis=0).sum() for cluster in clusters])
    assert inside < 2.0 * rows.var(axis=0).sum() / count**0.5


def test_boxes_hold_every_question_between_two_clusters() -> None:
    mixture, x = belief(), pool(100)
    clusters = PoolClusters.of(mixture, projections(mixture, x), 16)
    members = clusters.members
    for (_, component), one in zip(mixture.components, clusters.components, strict=True):
        box = one.box(slice(2, 9), slice(5, 16))
        mean, V = component(x)[0] / component.probit.scale, scaled_variances(component, x)
        for a, b in np.ndindex(7, 11):
            first, second = np.ix_(members[2 + a], members[5 + b])
            gap = mean[first] - mean[second]
            assert box.low[a, b] <= gap.min() + 1e-5
            assert box.high[a, b] >= gap.max() - 1e-5
            assert box.least[a, b] <= V[first, second].min()
            assert box.most[a, b] >= V[first, second].max()


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_the_best_question_within_the_tolerance(seed: int) -> None:
    mixture, x = belief(5 + 5 * seed, seed), pool(300, seed=seed)
    found = search_of(mixture, x, 0.005).run()
    assert found.optimality_gap == 0.005
    assert brute_force(mixture, x) <= found.value * 1.005
    assert found.value == pytest.approx(
        score_all(mixture, x, MutualInformation())[found.left, found.right], abs=1e-9
    )


def test_what_is_given_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    few = replace(large_pools.SIZES["cpu"], questions=300)
    monkeypatch.setitem(large_pools.SIZES, "cpu", few)
    monkeypatch.setattr(large_pools, "EXCHANGES", 0)
    monkeypatch.setattr(large_pools, "FIRST_LOOK", 10)
    mixture, x = belief(), pool()
    search = search_of(mixture, x, 1e-4)
    found = search.run()
    assert np.isfinite(search.given_up)
    assert found.optimality_gap > 1e-4
    assert brute_force(mixture, x) <= found.value * (1.0 + found.optimality_gap)


def test_excluded_questions_are_not_found() -> None:
    mixture, x = belief(), pool(100)
    first = best_question(mixture, x)
    excluded = [(first.right, first.left)]
    found = search_of(mixture, x, 0.005, excluded).run()
    assert found.items != first.items


def test_large_pools_are_searched_within_the_tolerance_and_small_ones_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixture, x = belief(), pool()
    best = best_question(mixture, x)
    assert best.optimality_gap == 0.0
    monkeypatch.setattr("prefero.acquisition.base.LARGE_POOL", 100)
    assert best_question(mixture, x).optimality_gap == 0.005
    assert best_question(mixture, x, tolerance=0.0) == best


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_the_bounds_can_be_computed_by_another_array_library(library: str) -> None:
    xp = pytest.importorskip(library)
    mixture, x = belief(), pool(200)
    here = search_of(mixture, x, 0.005).run()
    there = search_of(mixture, xp.asarray(x), 0.005).run()
    assert there.value == pytest.approx(here.value, rel=0.005)
