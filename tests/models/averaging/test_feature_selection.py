"""Which of many features matter: compared with brute force over all sets, and with exact integrals."""

from itertools import combinations
from math import factorial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from prefero._support.arrays import Array
from prefero.kernels import Linear, Scaled, Selected
from prefero.models.averaging.feature_selection import (
    FeatureSelection,
    _fit,
    feature_relevance,
    log_priors,
    place_priors,
    term_relevance,
)
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.searched_structures import MANY_SPARSE_WEIGHT, search_relevant
from prefero.models.averaging.structures import MANY, MANY_GRID, RANK, Margins, ModelSettings, kernel_grid
from prefero.models.averaging.thresholds import Thresholds
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons


def differences(count: int, features: int, weights: dict[int, float], seed: int = 0) -> Array:
    """From the preferred to the other of random pairs, for somebody to whom a few features matter."""
    rng = np.random.default_rng(seed)
    drawn = rng.standard_normal((count, features)) - rng.standard_normal((count, features))
    sign = np.sign(sum(weight * drawn[:, j] for j, weight in weights.items()) + 0.0)
    return drawn * np.where(sign == 0, 1.0, sign)[:, None]


def as_comparisons(D: Array) -> Comparisons:
    """Of opposite features, whose squares say nothing."""
    return Comparisons(D / 2, -D / 2, np.zeros(len(D), dtype=bool))


def thresholds(features: int) -> Thresholds:
    return Reference.normal(features).thresholds


def of_features(found: FeatureSelection, features: int) -> Array:
    """The relevance of each feature, with its thresholds."""
    return found.smooth + np.bincount(thresholds(features).columns, found.steps, minlength=features)


@pytest.mark.parametrize("columns", [(2,), (0, 3), (1, 2, 4)])
def test_the_evidence_of_a_set_is_that_of_a_linear_gaussian_process(columns: tuple[int, ...]) -> None:
    """Newton's method here is in the space of weights, and there in that of answers."""
    D = differences(15, 5, {0: 1.0, 3: -0.5})
    kernel = Selected(Scaled(Linear(), 1 / len(columns)), columns)
    other = infer(kernel, as_comparisons(D), Probit(0.4), "laplace").solution.log_evidence
    assert _fit(D[None][:, :, list(columns)], 0.4).evidence[0] == pytest.approx(other, abs=1e-6)


def test_the_evidence_of_a_single_feature_is_close_to_the_integral() -> None:
    D = differences(12, 3, {1: 1.0})
    for j in range(3):
        integral = quad(
            lambda w, j=j: np.exp(log_ndtr(w * D[:, j] / (np.sqrt(2) * 0.5)).sum()) * norm.pdf(w), -9, 9
        )
        assert _fit(D[None][:, :, [j]], 0.5).evidence[0] == pytest.approx(np.log(integral[0]), abs=0.2)


def test_relevances_are_those_of_all_sets_by_brute_force() -> None:
    """With five features the search reaches every set."""
    D, noise = differences(20, 5, {1: 1.0, 4: -0.7}), 0.3
    chances = 1 / (np.arange(5) + 3)
    chances /= chances.sum()
    logs, relevances = [], []
    for size in range(1, 6):
        for columns in combinations(range(5), size):
            kernel = Selected(Scaled(Linear(), 1 / size), columns)
            evidence = infer(kernel, as_comparisons(D), Probit(noise), "laplace").solution.log_evidence
            prior = factorial(size) * np.prod(chances[list(columns)]) / 2**size
            logs.append(evidence + np.log(prior))
            relevances.append(np.isin(np.arange(5), columns) / size)
    weights = np.exp(np.array(logs) - np.logaddexp.reduce(logs))
    found = term_relevance(D, chances, {noise: 1.0})
    assert found.relevance == pytest.approx(weights @ np.array(relevances), abs=1e-4)
    assert found.log_evidence == pytest.approx(np.logaddexp.reduce(logs), abs=1e-4)


def test_before_any_answer_only_the_place_of_a_feature_counts() -> None:
    found = term_relevance(np.zeros((0, 40)), place_priors(40), {0.1: 1.0})
    assert found.relevance.sum() == pytest.approx(1.0)
    assert np.all(np.diff(found.relevance) < 0)
    assert found.log_evidence < 0  # larger sets were not tried
    assert np.diff(log_priors([(0,), (39,)], np.log(place_priors(40))))[0] < 0


def test_two_features_among_three_hundred_are_found() -> None:
    D = differences(60, 300, {17: 1.0, 230: -1.0})
    found = feature_relevance(D / 2, -D / 2, {0.1: 0.7, 0.5: 0.3}, thresholds(300))
    assert set(np.argsort(-found.smooth)[:2]) == {17, 230}
    assert of_features(found, 300)[[17, 230]].sum() > 0.9


def test_a_feature_that_has_a_best_value_is_found_by_its_square() -> None:
    """Its answers say nothing about a linear reward."""
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((2, 40, 60))
    better = (a[:, 7] ** 2 < b[:, 7] ** 2)[:, None]
    found = feature_relevance(np.where(better, a, b), np.where(better, b, a), {0.1: 1.0}, thresholds(60))
    assert of_features(found, 60).sum() == pytest.approx(1.0)
    assert of_features(found, 60)[7] > 0.8


def settings(features: int) -> ModelSettings:
    return ModelSettings(Reference.normal(features), None, None, "ep")


def test_the_search_is_paid_for() -> None:
    """Prior times evidence of a kernel that the answers chose is at most what all sets together have."""
    D = differences(10, 100, {3: 1.0})
    found = search_relevant(settings(100), as_comparisons(D), Margins())
    total = np.logaddexp.reduce([one.log_prior for one in found])
    assert total < np.log(MANY_SPARSE_WEIGHT) - 2.0
    nothing = search_relevant(settings(100), as_comparisons(D[:0]), Margins())
    assert np.logaddexp.reduce([one.log_prior for one in nothing]) <= np.log(MANY_SPARSE_WEIGHT) + 1e-9


def test_ties_are_no_evidence_about_features() -> None:
    D = differences(12, 30, {3: 1.0})
    tied = Comparisons(D / 2, -D / 2, np.arange(12) >= 8)
    some = search_relevant(settings(30), as_comparisons(D[:8]), Margins())
    assert [one.kernel for one in search_relevant(settings(30), tied, Margins())] == [
        one.kernel for one in some
    ]


def test_a_few_features_have_the_old_grid_and_many_another_one() -> None:
    data = as_comparisons(differences(3, MANY, {0: 1.0}))
    assert "low-rank" not in MixtureFitter(Reference.normal(MANY)).fit(data).structures
    many = as_comparisons(differences(3, MANY + 1, {0: 1.0}))
    found = set(MixtureFitter(Reference.normal(MANY + 1)).fit(many).structures)
    assert {one for one in found if "warped" not in one} == {*MANY_GRID, "sparse"}


def test_twenty_answers_about_one_of_two_hundred_features_say_more_than_chance() -> None:
    rng, right = np.random.default_rng(3), []
    for seed in range(2):
        D = differences(20, 200, {5: 1.0}, seed)
        a, b = rng.standard_normal((2, 300, 200))
        belief = MixtureFitter(Reference.normal(200)).fit(as_comparisons(D))
        right.append(np.mean((belief.probability(a, b) > 0.5) == (a[:, 5] > b[:, 5])))
    assert np.mean(right) > 0.8


def test_a_low_rank_reward_depends_on_the_directions_in_which_the_pool_varies() -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, RANK)) @ rng.standard_normal((RANK, 30)) + rng.standard_normal((200, 30))
    reference = Reference.of(rows)
    vectors = np.linalg.eigh(np.cov(reference.rows, rowvar=False))[1]
    minor, major = vectors[:, : 30 - RANK], vectors[:, 30 - RANK :]
    x = reference.rows[:5]
    for kernel, _ in kernel_grid("low-rank", reference):
        aside = x + rng.standard_normal((5, 30 - RANK)) @ minor.T
        assert np.allclose(kernel(x, x), kernel(x, aside))
        assert not np.allclose(kernel(x, x), kernel(x, x + major[:, -1]))
        assert reference.varies(kernel) == pytest.approx(1.0)
