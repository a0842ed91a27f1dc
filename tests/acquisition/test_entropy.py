"""The entropy of an answer as a sum of Gaussians, against the entropy itself and against quadrature."""

import numpy as np
import pytest

import question_reference
from prefero.acquisition.entropy import GaussianSum, entropy_of_answers, entropy_of_probabilities
from prefero.models.likelihood.probit import Probit

MARGINS = [0.0, 0.01, 0.2, 1.0, 3.0, 10.0]  # in units of the scale
SCALE = float(np.sqrt(2.0) * 0.4)


@pytest.mark.parametrize("margin", MARGINS)
def test_where_the_difference_is_known_it_is_the_entropy_of_the_answer(margin: float) -> None:
    x = np.linspace(-margin - 9.0, margin + 9.0, 201)
    found = entropy_of_answers(Probit(0.4, margin * SCALE)).expectation(x, np.zeros_like(x))
    expected = [
        question_reference.entropy_bits(question_reference.answer_probabilities(float(v), margin)) for v in x
    ]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize(("gap", "variance"), [(0.0, 0.3), (0.7, 0.01), (-1.5, 2.0), (3.0, 50.0)])
def test_the_expectation_is_that_of_quadrature(margin: float, gap: float, variance: float) -> None:
    gaussians = entropy_of_answers(Probit(0.4, margin * SCALE))
    found = gaussians.expectation(np.array([gap / SCALE]), np.array([variance / SCALE**2]))[0]
    expected = question_reference.expected_entropy(gap, variance, 0.4, margin * SCALE)
    assert found == pytest.approx(expected, abs=1e-6)


def test_the_expectation_of_one_gaussian_is_that_of_sampling() -> None:
    one = GaussianSum((0.7,), (0.5,), (1.3,))
    x = np.random.default_rng(0).normal(-0.4, 1.1, 400_000)
    sampled = float(np.mean(0.7 * np.exp(-((x - 0.5) ** 2) / 2.6)))
    assert one.expectation(np.array([-0.4]), np.array([1.21]))[0] == pytest.approx(sampled, abs=2e-3)


def test_entropy_of_probabilities() -> None:
    first, second = np.array([1.0, 0.5, 1 / 3, 0.25, 0.0]), np.array([0.0, 0.5, 1 / 3, 0.25, 0.0])
    found = entropy_of_probabilities(first, second)
    np.testing.assert_allclose(found, [0.0, 1.0, np.log2(3.0), 1.5, 0.0], atol=1e-12)
