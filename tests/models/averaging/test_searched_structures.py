"""ARD and sparse structures: when they are searched for, what is found, and what it costs in prior weight."""

from itertools import combinations
from math import comb, exp, log

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.kernels import Anchored, Kernel, Linear, Quadratic, Scaled, Selected
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.searched_structures import (
    MAX_SELECTED,
    SEARCHED,
    SPARSE_FEATURES,
    SPARSE_WEIGHT,
    search_sparse,
)
from prefero.models.averaging.structures import Margins, ModelSettings
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons


def answers(features: int, likes: dict[int, float], count: int = 40, seed: int = 0) -> Comparisons:
    """Random questions, answered by somebody to whom a few features matter."""
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, count, features))
    weights = np.zeros(features)
    weights[list(likes)] = list(likes.values())
    left = ((a - b) @ weights > 0)[:, None]
    return Comparisons(np.where(left, a, b), np.where(left, b, a), np.zeros(count, dtype=bool))


def given(features: int, noise: float | None = None) -> ModelSettings:
    return ModelSettings(Reference.normal(features), noise, None, "ep")


def chosen(kernel: Kernel) -> tuple[int, ...]:
    """Of an anchored kernel, scaled to vary by 1, of some features."""
    assert isinstance(kernel, Anchored)
    assert isinstance(kernel.kernel, Scaled)
    assert isinstance(kernel.kernel.kernel, Selected)
    return kernel.kernel.kernel.columns


def test_milestones_are_half_as_many_answers_more() -> None:
    ard, sparse, threshold, among_many = SEARCHED
    found = [ard.milestone(n) for n in (0, 19, 20, 29, 30, 44, 45, 200)]
    assert found == [None, None, 20, 20, 30, 30, 45, 150]
    assert [sparse.milestone(n) for n in (9, 10, 14, 15, 22)] == [None, 10, 10, 15, 22]
    assert [threshold.milestone(n) for n in (4, 5, 6, 40, 41)] == [None, 5, 6, 40, 40]
    assert [among_many.milestone(n) for n in (0, 1, 2, 39, 40, 41, 42)] == [0, 1, 2, 39, 40, 40, 42]


@pytest.mark.parametrize("likes", [{3: 1.0}, {7: 1.0, 2: -1.0}, {0: 1.0, 11: -1.0, 5: 1.0}])
def test_the_features_that_matter_are_found_among_twelve(likes: dict[int, float]) -> None:
    found = search_sparse(given(12), answers(12, likes, count=60), Margins())
    assert {candidate.structure for candidate in found} == {"sparse"}
    assert [set(chosen(candidate.kernel)) for candidate in found] == [set(likes)] * len(found)


def test_the_pair_that_is_found_is_the_best_of_all_pairs() -> None:
    """Every pair is tried, where the search adds one feature after the other."""
    data = answers(9, {1: 1.0, 6: 0.8}, count=60)

    def log_evidence(columns: tuple[int, ...]) -> float:
        few = Comparisons(data.winners[:, columns], data.losers[:, columns], data.tied)
        kernel = (1 / 7) * (Linear() + Quadratic())  # of unit variance, for two features
        return infer(Anchored(kernel, (0.0, 0.0)), few, Probit(0.1)).solution.log_evidence

    best = max(combinations(range(9), 2), key=log_evidence)
    assert set(best) == {1, 6} == set(chosen(search_sparse(given(9), data, Margins())[0].kernel))


def test_a_choice_pays_for_all_those_that_could_have_been_made() -> None:
    """Whatever is chosen, all choices together weigh no more than the structure may."""
    found = search_sparse(given(12), answers(12, {7: 1.0, 2: -1.0}, count=60), Margins())
    weight = sum(exp(candidate.log_prior) for candidate in found)
    assert log(weight) == pytest.approx(log(SPARSE_WEIGHT) - log(MAX_SELECTED * comb(12, 2)))


def test_a_noise_that_is_known_is_kept() -> None:
    found = search_sparse(given(8, noise=0.7), answers(8, {0: 1.0}, count=12), Margins())
    assert {candidate.noise for candidate in found} == {0.7}


def structures(features: int, searched: bool = True) -> set[str]:
    fitter = MixtureFitter(Reference.normal(features), searched=searched)
    return set(fitter.fit(answers(features, {0: 1.0})).structures)


def test_with_few_features_nothing_is_searched_among_them() -> None:
    assert "sparse" not in structures(SPARSE_FEATURES - 1)
    assert "sparse" in structures(SPARSE_FEATURES)


def test_without_learning_nothing_is_searched() -> None:
    assert not structures(SPARSE_FEATURES, searched=False) & {"sparse", "ard"}


def where(features: int) -> tuple[Array, Array]:
    a, b = np.random.default_rng(5).standard_normal((2, 300, features))
    return a, b


def test_a_reward_of_two_features_among_forty_is_predicted_better_than_by_the_grid() -> None:
    likes = {4: 1.0, 30: -1.0}
    data, (a, b) = answers(40, likes, count=40), where(40)
    right = a[:, 4] - a[:, 30] > b[:, 4] - b[:, 30]

    def accuracy(searched: bool) -> float:
        belief = MixtureFitter(Reference.normal(40), searched=searched).fit(data)
        return float(np.mean((belief.probability(a, b) > 0.5) == right))

    searched = accuracy(searched=True)
    assert searched > 0.9
    assert searched > accuracy(searched=False) + 0.1


def test_a_reward_of_all_features_is_not_mistaken_for_one_of_a_few() -> None:
    likes = {i: (-1.0) ** i for i in range(12)}
    belief = MixtureFitter(Reference.normal(12)).fit(answers(12, likes, count=120))
    assert belief.structures["sparse"] < 0.05


def test_the_mixture_depends_on_the_answers_alone() -> None:
    """Formed answer by answer, over several milestones, or at once."""
    data, (a, b) = answers(10, {2: 1.0, 9: 1.0}, count=24), where(10)
    fitter = MixtureFitter(Reference.normal(10))
    for count in range(1, len(data) + 1):
        step_by_step = fitter.fit(data[:count])
    at_once = MixtureFitter(Reference.normal(10)).fit(data)
    np.testing.assert_allclose(step_by_step.probability(a, b), at_once.probability(a, b), atol=2e-3)
    assert step_by_step.structures == pytest.approx(at_once.structures, abs=2e-3)
