"""Structures: what is on the grid, and what those that are sought find and pay."""

from itertools import combinations
from math import comb, exp, log

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.kernels import Anchored, Kernel, Linear, Quadratic, Selected
from prefero.models.inference import infer
from prefero.models.likelihood import Probit
from prefero.models.mixture import BeliefFitter
from prefero.models.structures import (
    FEW,
    FEW_SHARE,
    GRID,
    MANY,
    MOST,
    SOUGHT,
    UNEVEN,
    Given,
    kernels_of,
    members,
    seek_few,
)
from prefero.questions import Comparisons


def answers(features: int, likes: dict[int, float], count: int = 40, seed: int = 0) -> Comparisons:
    """Random questions, answered by somebody to whom a few features matter."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, count, features))
    weights = np.zeros(features)
    weights[list(likes)] = list(likes.values())
    left = ((a - b) @ weights > 0)[:, None]
    return Comparisons(np.where(left, a, b), np.where(left, b, a), np.zeros(count, dtype=bool))


def given(features: int, noise: float | None = None) -> Given:
    return Given(features, noise, None, "ep", lambda kernel: kernel)


def chosen(kernel: Kernel) -> tuple[int, ...]:
    assert isinstance(kernel, Anchored)
    assert isinstance(kernel.kernel, Selected)
    return kernel.kernel.columns


@pytest.mark.parametrize("features", [1, 2, 5, 64])
def test_the_prior_weights_of_the_grid_add_up_to_one(features: int) -> None:
    assert sum(exp(member.log_prior) for member in members(features)) == pytest.approx(1.0)


@pytest.mark.parametrize("features", [1, 4, 64])
@pytest.mark.parametrize("structure", GRID)
def test_a_typical_trajectory_has_a_reward_of_about_unit_size(structure: str, features: int) -> None:
    x = np.random.default_rng(0).standard_normal((4000, features))
    for kernel, _ in kernels_of(structure, features):
        assert np.mean(kernel.diagonal(x)) == pytest.approx(1.0, abs=0.35)


def test_milestones_are_half_as_many_answers_more() -> None:
    uneven, few = SOUGHT
    assert [uneven.milestone(n) for n in (0, 19, 20, 29, 30, 44, 45, 200)] == [0, 0, 20, 20, 30, 30, 45, 150]
    assert [few.milestone(n) for n in (9, 10, 14, 15, 22)] == [0, 10, 10, 15, 22]


# --- few features -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("likes", [{3: 1.0}, {7: 1.0, 2: -1.0}, {0: 1.0, 11: -1.0, 5: 1.0}])
def test_the_features_that_matter_are_found_among_twelve(likes: dict[int, float]) -> None:
    found = seek_few(given(12), answers(12, likes, count=60), 0.0)
    assert {member.structure for member in found} == {FEW}
    assert [set(chosen(member.kernel)) for member in found] == [set(likes)] * len(found)


def test_the_pair_that_is_found_is_the_best_of_all_pairs() -> None:
    """Every pair is tried, where the search adds one feature after the other."""
    data = answers(9, {1: 1.0, 6: 0.8}, count=60)

    def height(columns: tuple[int, ...]) -> float:
        few = Comparisons(data.winners[:, columns], data.losers[:, columns], data.tied)
        kernel = (1 / 7) * (Linear() + Quadratic())  # of unit variance, for two features
        return infer(Anchored(kernel, (0.0, 0.0)), few, Probit(0.1))[1].log_evidence

    best = max(combinations(range(9), 2), key=height)
    assert set(best) == {1, 6} == set(chosen(seek_few(given(9), data, 0.0)[0].kernel))


def test_a_choice_pays_for_all_those_that_could_have_been_made() -> None:
    """Whatever is chosen, all choices together weigh no more than the structure may."""
    found = seek_few(given(12), answers(12, {7: 1.0, 2: -1.0}, count=60), 0.0)
    weight = sum(exp(member.log_prior) for member in found)
    assert log(weight) == pytest.approx(log(FEW_SHARE) - log(MOST * comb(12, 2)))


def test_a_noise_that_is_known_is_kept() -> None:
    found = seek_few(given(8, noise=0.7), answers(8, {0: 1.0}, count=12), 0.0)
    assert {member.noise for member in found} == {0.7}


def test_with_few_features_nothing_is_sought_among_them() -> None:
    data = answers(MANY - 1, {0: 1.0})
    assert FEW not in BeliefFitter(MANY - 1).fit(data).structures
    assert FEW in BeliefFitter(MANY).fit(answers(MANY, {0: 1.0})).structures


def test_without_learning_nothing_is_sought() -> None:
    structures = BeliefFitter(MANY, sought=False).fit(answers(MANY, {0: 1.0})).structures
    assert FEW not in structures
    assert UNEVEN not in structures


def where(features: int) -> tuple[Array, Array]:
    a, b = np.random.default_rng(5).standard_normal((2, 300, features))
    return a, b


def test_a_reward_of_two_features_among_forty_is_foretold_better_than_by_the_grid() -> None:
    likes = {4: 1.0, 30: -1.0}
    data, (a, b) = answers(40, likes, count=40), where(40)
    right = a[:, 4] - a[:, 30] > b[:, 4] - b[:, 30]

    def accuracy(sought: bool) -> float:
        belief = BeliefFitter(40, sought=sought).fit(data)
        return float(np.mean((belief.probability(a, b) > 0.5) == right))

    assert accuracy(sought=True) > 0.9
    assert accuracy(sought=True) > accuracy(sought=False) + 0.1


def test_a_reward_of_all_features_is_not_mistaken_for_one_of_a_few() -> None:
    likes = {i: (-1.0) ** i for i in range(12)}
    belief = BeliefFitter(12).fit(answers(12, likes, count=120))
    assert belief.structures[FEW] < 0.05


def test_the_belief_depends_on_the_answers_alone() -> None:
    """Formed answer by answer, over several milestones, or at once."""
    data, (a, b) = answers(10, {2: 1.0, 9: 1.0}, count=24), where(10)
    fitter = BeliefFitter(10)
    for count in range(1, len(data) + 1):
        step_by_step = fitter.fit(data[:count])
    at_once = BeliefFitter(10).fit(data)
    np.testing.assert_allclose(step_by_step.probability(a, b), at_once.probability(a, b), atol=2e-3)
    assert step_by_step.structures == pytest.approx(at_once.structures, abs=2e-3)
