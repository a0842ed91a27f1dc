"""Expectation propagation against exact integrals and a long Markov chain, and checks of these references."""

import numpy as np
import pytest

import reference
from models.answer_problems import PAPER, joined, posterior, problem, repeated
from prefero._support.arrays import Array
from prefero.models.algebra.linalg import pivoted_cholesky
from prefero.models.inference.attempts import expectation_propagation
from prefero.models.inference.solution import ConvergenceError, WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.gaussian import (
    Posterior,
    covariance_of_differences,
    covariance_with_differences,
)
from prefero.questions import Comparisons


def assert_moments(found: Posterior, data: Comparisons, x: Array, moments: reference.Moments) -> None:
    C = covariance_of_differences(found.kernel, data)
    across, prior = (
        covariance_with_differences(found.kernel, x, data.winners, data.losers),
        found.kernel(x, x),
    )
    mean, covariance = reference.predict_from_differences(across, prior, C, moments.mean, moments.covariance)
    np.testing.assert_allclose(found(x)[0], mean, atol=1e-6)
    np.testing.assert_allclose(found(x)[1], covariance, atol=1e-6)
    assert found.log_evidence == pytest.approx(moments.log_evidence, abs=1e-6)


@pytest.mark.parametrize(
    ("tied", "margin"), [(False, 0.0), (False, 0.4), (True, 0.1), (True, 0.4), (True, 3.0)]
)
@pytest.mark.parametrize("noise", [0.03, 0.3, 3.0])
def test_ep_is_exact_for_one_answer(noise: float, tied: bool, margin: float) -> None:
    data, x = problem(4, choices=1 - tied, ties=int(tied))
    variance = float(covariance_of_differences(PAPER, data)[0, 0])
    moments = reference.exact_moments_of_one(variance, tied, noise, margin)
    assert_moments(posterior(PAPER, data, Probit(noise, margin), "ep"), data, x, moments)


@pytest.mark.parametrize("noise", [0.01, 0.3, 20.0])
def test_the_first_answer_is_as_likely_as_a_coin_toss(noise: float) -> None:
    found = posterior(PAPER, problem(4, choices=1).data, Probit(noise), "ep")
    assert found.log_evidence == pytest.approx(np.log(0.5), abs=1e-9)


@pytest.mark.parametrize(("ties", "margin"), [(0, 0.0), (1, 0.3), (2, 0.3)])
@pytest.mark.parametrize("noise", [0.2, 0.5, 2.0])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ep_is_near_the_exact_posterior_of_two_answers(
    seed: int, noise: float, ties: int, margin: float
) -> None:
    data, _ = problem(seed, choices=2 - ties, ties=ties)
    C = covariance_of_differences(PAPER, data)
    exact = reference.exact_moments_of_two(C, data.tied, noise, margin)
    found = posterior(PAPER, data, Probit(noise, margin), "ep")
    mean, variance = found.difference(data.winners, data.losers)
    sd = np.sqrt(np.diag(exact.covariance))
    np.testing.assert_allclose((mean - exact.mean) / sd, 0.0, atol=0.01)
    np.testing.assert_allclose(variance, sd**2, rtol=0.03)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.01)


@pytest.mark.parametrize(("ties", "margin"), [(0, 0.0), (3, 0.2)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_ep_agrees_with_a_long_markov_chain(seed: int, ties: int, margin: float) -> None:
    noise, (data, x) = 0.3, problem(seed, choices=8 - ties, ties=ties)
    found, C = posterior(PAPER, data, Probit(noise, margin), "ep"), covariance_of_differences(PAPER, data)
    rng = np.random.default_rng(seed)
    samples = reference.sample_differences(
        C, data.tied, noise, rng, margin=margin, chains=400, steps=150, burn=50
    )
    a, b = x[[0, 0, 1, 2]], x[[1, 2, 3, 4]]
    across = covariance_with_differences(PAPER, a, data.winners, data.losers) - covariance_with_differences(
        PAPER, b, data.winners, data.losers
    )
    prior = PAPER.diagonal(a) + PAPER.diagonal(b) - 2 * PAPER(a, b).diagonal()
    judge = reference.predict_from_samples(samples, C, across, prior, noise, margin)
    mean, variance = found.difference(a, b)
    np.testing.assert_allclose(found.probability(a, b), judge.probability, atol=0.01)
    np.testing.assert_allclose(mean, judge.mean, atol=0.02)
    np.testing.assert_allclose(variance, judge.variance, rtol=0.05)


def test_the_markov_chain_agrees_with_quadrature() -> None:
    data, _ = problem(5, choices=1, ties=1)
    C, rng = covariance_of_differences(PAPER, data), np.random.default_rng(0)
    exact = reference.exact_moments_of_two(C, data.tied, 0.2, 0.3)
    samples = reference.sample_differences(C, data.tied, 0.2, rng, margin=0.3, steps=100, burn=50)
    np.testing.assert_allclose(samples.mean(axis=0), exact.mean, atol=0.02)
    np.testing.assert_allclose(np.cov(samples.T), exact.covariance, atol=0.02)


def test_the_two_integrals_agree_where_one_answer_says_nothing_of_the_other() -> None:
    one = [reference.exact_moments_of_one(v, tied, 0.5, 0.3) for v, tied in ((0.7, False), (2.0, True))]
    two = reference.exact_moments_of_two(np.diag([0.7, 2.0]), np.array([False, True]), 0.5, 0.3)
    np.testing.assert_allclose(two.mean, [m.mean[0] for m in one], atol=1e-9)
    np.testing.assert_allclose(two.covariance, np.diag([m.covariance[0, 0] for m in one]), atol=1e-9)
    assert two.log_evidence == pytest.approx(sum(m.log_evidence for m in one), abs=1e-9)


def test_ep_of_contradictions_equals_the_exact_posterior_of_the_one_difference() -> None:
    data, noise = joined(repeated("left", 3), repeated("right", 2)), 0.5
    variance = float(covariance_of_differences(PAPER, data)[0, 0])
    u = np.linspace(-10, 10, 20001)
    d = np.sqrt(variance) * u
    up, down = (reference.answer_probability(s * d, np.zeros(1, dtype=bool), noise) for s in (1, -1))
    weight = np.exp(-0.5 * u**2) * up**3 * down**2
    mean = np.sum(weight * d) / weight.sum()
    found = posterior(PAPER, data, Probit(noise), "ep").difference(data.winners[:1], data.losers[:1])
    assert found[0][0] == pytest.approx(mean, abs=1e-3)
    assert found[1][0] == pytest.approx(np.sum(weight * (d - mean) ** 2) / weight.sum(), rel=1e-2)


def test_ep_that_does_not_converge_says_how_far_it_came() -> None:
    data, _ = problem(13, choices=10)
    basis = pivoted_cholesky(covariance_of_differences(PAPER, data), 0.1).basis
    with pytest.raises(ConvergenceError, match=r"after 2 sweeps .* off by .* standard deviations"):
        expectation_propagation(basis, layout_of(data), Probit(0.1), WarmStart.zeros(10), 1e-9, most=2)
