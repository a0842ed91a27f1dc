"""Searches of large pools within a tolerance, against brute force over pools that are small enough for it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.acquisition import branch_and_bound, pool_search
from prefero.acquisition.base import Box, Component, PairMoments
from prefero.acquisition.branch_and_bound import BranchAndBound
from prefero.acquisition.coarse_search import CoarseSearch, suffices
from prefero.acquisition.incumbent import Incumbent
from prefero.acquisition.mutual_information import MutualInformation, mutual_information
from prefero.acquisition.pool_search import best_question, score_all
from prefero.acquisition.pool_tree import PoolTree
from prefero.models.likelihood import Probit
from prefero.models.mixture import MixturePosterior
from prefero.models.mixture_fitter import MixtureFitter
from prefero.models.reference import Reference
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


def brute_force(mixture: MixturePosterior, x: Array) -> float:
    return float(np.triu(score_all(mixture, x), 1).max())


@given(
    st.lists(
        st.tuples(st.floats(-9, 9), st.floats(0, 6), st.floats(0, 12), st.floats(0, 5)),
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
        gap, std = low + places[2 * k] * width, least + places[2 * k + 1] * more
        pairs.append(
            PairMoments(person.weight, person.probit, np.array([gap]), np.zeros(1), np.array([std**2]))
        )
    assert BITS.box_bound(boxes)[0] >= mutual_information(pairs)[0] - 1e-9


def test_the_tree_bounds_every_difference() -> None:
    mixture, x = belief(), pool(100)
    tree = PoolTree.of(mixture, x)
    assert sorted(tree.order.tolist()) == list(range(100))
    assert len(tree.levels[-1].starts) == 100
    for place, (_, part) in enumerate(mixture.components):
        mean, covariance = part(x[tree.order])
        std = np.sqrt(
            np.maximum(covariance.diagonal()[:, None] + covariance.diagonal() - 2 * covariance, 0.0)
        )
        std /= part.probit.scale
        for level in tree.levels:
            groups, group = (
                level.components[place],
                np.repeat(np.arange(len(level.starts)), level.ends - level.starts),
            )
            apart = np.linalg.norm(groups.center[group][:, None] - groups.center[group][None], axis=2)
            reach = groups.radius[group][:, None] + groups.radius[group]
            assert np.all(std <= apart + reach + 1e-6)
            assert np.all(std >= apart - reach - 1e-6)
            assert np.all(mean / part.probit.scale <= groups.high[group] + 1e-9)
            assert np.all(mean / part.probit.scale >= groups.low[group] - 1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_branch_and_bound_finds_the_best_question_within_the_tolerance(seed: int) -> None:
    mixture, x = belief(5 + 5 * seed, seed), pool(seed=seed)
    found = BranchAndBound(Incumbent(mixture, x, BITS, [], 0.005)).run()
    assert found.optimality_gap == 0.005
    assert brute_force(mixture, x) <= found.value * 1.005
    assert found.value == pytest.approx(score_all(mixture, x)[found.left, found.right], abs=1e-9)


def test_what_is_given_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(branch_and_bound.MOST_PAIRS, "cpu", 300)
    mixture, x = belief(), pool()
    search = BranchAndBound(Incumbent(mixture, x, BITS, [], 1e-4))
    found = search.run()
    assert np.isfinite(search.given_up)
    assert found.optimality_gap > 1e-4
    assert brute_force(mixture, x) <= found.value * (1.0 + found.optimality_gap)


@pytest.mark.parametrize("seed", range(3))
def test_the_coarse_search_finds_the_best_question_within_the_tolerance(seed: int) -> None:
    mixture, x = belief(5 + 5 * seed, seed), pool(300, seed=seed)
    incumbent = Incumbent(mixture, x, BITS, [], 0.005)
    assert suffices(incumbent)
    assert brute_force(mixture, x) <= CoarseSearch(incumbent, x).run().value * 1.005


def test_excluded_questions_are_not_found() -> None:
    mixture, x = belief(), pool(100)
    first = best_question(mixture, x)
    excluded = [(first.right, first.left)]
    for search in (
        BranchAndBound(Incumbent(mixture, x, BITS, excluded, 0.005)),
        CoarseSearch(Incumbent(mixture, x, BITS, excluded, 0.005), x),
    ):
        assert search.run().items != first.items


def test_single_precision_does_not_suffice_for_rewards_far_larger_than_the_noise() -> None:
    assert not suffices(Incumbent(belief(), 1e4 * pool(), BITS, [], 0.005))


def test_large_pools_are_searched_within_the_tolerance_and_small_ones_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    mixture, x = belief(), pool()
    exact = best_question(mixture, x)
    assert exact.optimality_gap == 0.0
    monkeypatch.setattr(pool_search, "LARGE_POOL", 100)
    assert best_question(mixture, x).optimality_gap == 0.005
    monkeypatch.setitem(pool_search.BRANCHED, "cpu", 100)
    assert best_question(mixture, x).optimality_gap == 0.005
    assert best_question(mixture, x, tolerance=0.0) == exact


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
def test_the_bounds_can_be_computed_by_another_array_library(library: str) -> None:
    xp = pytest.importorskip(library)
    mixture, x = belief(), pool(80)
    here = BranchAndBound(Incumbent(mixture, x, BITS, [], 0.005)).run()
    there = BranchAndBound(Incumbent(mixture, x, BITS, [], 0.005), xp.empty(0, dtype=xp.float64)).run()
    assert there.value == pytest.approx(here.value, rel=0.005)
    coarse = CoarseSearch(Incumbent(mixture, x, BITS, [], 0.005), xp.asarray(x)).run()
    assert coarse.value == pytest.approx(here.value, rel=0.005)
