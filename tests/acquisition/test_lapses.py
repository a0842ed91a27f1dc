"""Questions for people who lapse: entropy, bits and bounds against quadrature and against every pair."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr

import question_reference
from acquisition.mixtures import mixtures
from acquisition.searched_pools import KERNELS, Mixture, best_of_scores, learned, pool, score_all, scored_by
from acquisition.searches.test_continuous import answers, assert_gradients
from prefero._support.arrays import Array
from prefero.acquisition import MutualInformation, PredictiveInformation
from prefero.acquisition.base import Component, PairMoments
from prefero.acquisition.entropy import entropy_bound, entropy_of_answers
from prefero.acquisition.functions.mutual_information import information_gain
from prefero.acquisition.searches.best_question import best_question
from prefero.kernels import RBF, Linear
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPosterior
from question_reference import NODES, WEIGHTS

LAPSES = (1e-4, 0.02, 0.1, 0.3)
MARGINS = (0.0, 0.2, 1.0, 3.0, 10.0)  # in units of the scale
SCALE = float(np.sqrt(2.0) * 0.4)
BOUND = MutualInformation()

# --- the entropy ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("lapse", LAPSES)
def test_the_entropy_is_that_of_the_answer(lapse: float, margin: float) -> None:
    x = np.linspace(-margin - 9.0, margin + 9.0, 201)
    gaussians = entropy_of_answers(Probit(0.4, margin * SCALE, lapse))
    expected = [
        question_reference.entropy_bits(question_reference.answer_probabilities(float(v), margin, lapse))
        for v in x
    ]
    np.testing.assert_allclose(gaussians.expectation(x, np.zeros_like(x)), expected, atol=2e-6)
    found = gaussians.expectation(np.array([1.3 / SCALE]), np.array([0.8 / SCALE**2]))[0]
    judge = question_reference.expected_entropy(1.3, 0.8, 0.4, margin * SCALE, lapse)
    assert found == pytest.approx(judge, abs=2e-6)


@pytest.mark.parametrize("lapse", [0.0, *LAPSES, 0.9])
def test_the_gaussian_below_the_entropy_is_below_it(lapse: float) -> None:
    x = np.linspace(0.0, 12.0, 1201)
    constant, variance = entropy_bound(lapse)
    entropy = [
        question_reference.entropy_bits(question_reference.answer_probabilities(float(v), 0.0, lapse))
        for v in x
    ]
    assert (constant + (1 - constant) * np.exp(-0.5 * x**2 / variance) <= np.array(entropy) + 1e-9).all()


# --- bits and their bounds --------------------------------------------------------------------------------


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_bits_under_a_mixture_equal_quadrature(margin: float) -> None:
    rows = [
        (0.5, 0.4, 0.6, 0.3, margin, 0.0),
        (0.3, -0.2, 1.5, 0.5, margin, 0.05),
        (0.2, 2.0, 0.1, 0.1, margin, 0.2),
    ]
    pairs = [
        PairMoments(w, Probit(noise, m, lapse), np.array([gap]), np.zeros(1), np.array([gap_variance]))
        for w, gap, gap_variance, noise, m, lapse in rows
    ]
    assert BOUND.score(pairs)[0] == pytest.approx(question_reference.mixture_quadrature_bits(rows), abs=5e-6)


def test_information_gain_with_lapses_equals_quadrature() -> None:
    mean, cov = np.array([0.3, -0.5, 1.0]), np.array([[1.0, 0.2, 0.1], [0.2, 0.5, 0.0], [0.1, 0.0, 2.0]])
    bits = information_gain(mean, cov, 0.3, lapse=0.08)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        row = (1.0, mean[i] - mean[j], cov[i, i] + cov[j, j] - 2 * cov[i, j], 0.3, 0.0, 0.08)
        assert bits[i, j] == pytest.approx(question_reference.mixture_quadrature_bits([row]), abs=5e-6)


@settings(max_examples=50)
@given(at=mixtures((0.0,), (0.0, 0.01, 0.1, 0.5)))
def test_no_question_brings_more_than_the_upper_bound(at: list[PairMoments]) -> None:
    assert (BOUND.upper_bound(at) >= BOUND.score(at)).all()


@settings(max_examples=50)
@given(at=mixtures((0.1, 4.0), (0.0, 0.01, 0.1, 0.5)))
def test_no_question_with_three_answers_brings_more_than_the_upper_bound(at: list[PairMoments]) -> None:
    assert (BOUND.upper_bound(at) >= BOUND.score(at)).all()


@settings(max_examples=50)
@given(
    value=st.floats(1e-3, 0.999),
    lapse=st.sampled_from(LAPSES),
    gap=st.floats(0, 5),
    fraction=st.floats(0, 0.999),
)
def test_below_the_least_variance_no_question_reaches_the_value(
    value: float, lapse: float, gap: float, fraction: float
) -> None:
    probit = Probit(0.7, 0.0, lapse)
    least = BOUND.least_variance([Component(1.0, probit)], value)
    variance = min(fraction * least, 1e12)
    at = [PairMoments(1.0, probit, np.array([0.0, gap]), np.zeros(2), np.full(2, variance))]
    assert (BOUND.score(at) < value).all()


# --- searches ---------------------------------------------------------------------------------------------


def mixed(margin: float = 0.0) -> Any:
    probits = (Probit(0.2, margin, 0.1), Probit(0.5, margin, 0.02), Probit(0.1, margin))
    posteriors = [learned(3, KERNELS[k], probit) for k, probit in enumerate(probits)]
    return Mixture(list(zip((0.5, 0.3, 0.2), posteriors, strict=True)))


@pytest.mark.parametrize("margin", [0.0, 0.3])
@pytest.mark.parametrize("one", [True, False], ids=["one component", "a mixture"])
def test_the_best_question_is_the_best_of_all_scores(one: bool, margin: float) -> None:
    belief = mixed(margin).components[0][1] if one else mixed(margin)
    x = pool(7, 40)
    scores = score_all(belief, x, MutualInformation())
    for tile in (7, None):
        question = best_question(belief, x, tile=tile)
        assert (question.left, question.right) == best_of_scores(scores)


def test_the_best_question_about_known_rewards_is_the_best_of_all_scores() -> None:
    weights = np.random.default_rng(0).standard_normal((20, 2))
    belief = LinearPosterior(weights, Probit(0.2, 0.0, 0.1), 20.0)
    x = pool(8, 40)
    question = best_question(belief, x, tile=7)
    assert (question.left, question.right) == best_of_scores(score_all(belief, x, MutualInformation()))


@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_gradients_over_feature_space(margin: float) -> None:
    data = answers(6, 2 if margin else 0)
    assert_gradients(infer(0.5 * Linear() + RBF(theta=0.6), data, Probit(0.3, margin, 0.1)).posterior)


# --- predictive information -------------------------------------------------------------------------------


def table_by_quadrature(component: Any, question: Array, target: Array) -> Array:
    """P(answer, preference of the target), (3, 2), by integrals over the difference of the target."""
    mean, cov = component(np.concatenate([question, target]))
    D = np.array([[1.0, -1, 0, 0], [0, 0, 1, -1]])
    m, V = D @ mean, D @ cov @ D.T
    sd, table = np.sqrt(V[1, 1]), np.zeros((3, 2))
    margin, lapse = component.probit.margin, component.probit.lapse
    for column, sign in enumerate((1.0, -1.0)):
        far = max(sign * m[1] + 12 * sd, 0.0)
        t = sign * 0.5 * far * (1 + NODES)
        density = 0.5 * far * WEIGHTS * np.exp(-0.5 * ((t - m[1]) / sd) ** 2) / (np.sqrt(2 * np.pi) * sd)
        center = m[0] + V[0, 1] / V[1, 1] * (t - m[1])
        root = np.sqrt(2 * component.probit.noise**2 + max(V[0, 0] - V[0, 1] ** 2 / V[1, 1], 0.0))
        first, second = (ndtr((s * center - margin) / root) for s in (1.0, -1.0))
        chances = (1 / 3, 1 / 3, 1 / 3) if margin else (1 / 2, 1 / 2, 0.0)
        meant = (first, second, 1 - first - second)
        table[:, column] = [
            density @ ((1 - lapse) * p + lapse * s) for p, s in zip(meant, chances, strict=True)
        ]
    return table


@pytest.mark.parametrize("margin", [0.0, 0.3])
def test_predictive_information_is_that_of_quadrature(margin: float) -> None:
    belief, x = mixed(margin), pool(9, 30)
    targets, question = np.array([[3, 4], [5, 20], [7, 1]]), np.array([[9, 12]])
    score = scored_by(PredictiveInformation(targets, mutual_information_weight=0.0), belief, x, question)
    judged = []
    for target in targets:
        table = sum(w * table_by_quadrature(p, x[question[0]], x[target]) for w, p in belief.components)
        there = table > 1e-14
        judged.append(np.sum(table[there] * np.log2((table / np.outer(table.sum(1), table.sum(0)))[there])))
    assert score[0] == pytest.approx(np.mean(judged), abs=1e-8)
    assert best_question(belief, x, acquisition=PredictiveInformation()).value > 0


@settings(max_examples=20)
@given(lapse=st.floats(0.0, 0.9))
def test_lapses_only_take_information(lapse: float) -> None:
    mean, cov = np.array([0.3, -0.5]), np.array([[1.0, 0.2], [0.2, 0.5]])
    careful, careless = information_gain(mean, cov, 0.3), information_gain(mean, cov, 0.3, lapse=lapse)
    assert careless[0, 1] <= (1.0 - lapse) * careful[0, 1] + 5e-6
