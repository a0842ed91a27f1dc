"""Draws from a posterior: their moments and intervals are those of the posterior."""

import numpy as np
import pytest
from scipy.stats import norm

from models.taught import taught_mixture
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.posterior.draws import draw_rewards, interval

x = np.random.default_rng(3).standard_normal((6, 2))


def test_weighted_draws_have_the_moments_of_the_mixture() -> None:
    belief, _ = taught_mixture()
    draws = draw_rewards(belief, x, count=40_000)
    mean, covariance = belief(x)
    assert draws.weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(draws.weights @ draws.rewards, mean, atol=0.03)
    centered = draws.rewards - mean
    found = centered.T @ (draws.weights[:, None] * centered)
    np.testing.assert_allclose(found, covariance, rtol=0.02, atol=0.06)
    assert draws.weights @ draws.noise == pytest.approx(belief.probit.noise)


@pytest.mark.rounding
def test_a_sample_of_known_rewards_is_drawn_once_each() -> None:
    _, data = taught_mixture()
    belief = LinearPreference(noise=0.2, draws=25).fit_comparisons(data).posterior_
    assert isinstance(belief, LinearPosterior)
    draws = draw_rewards(belief, x)
    np.testing.assert_allclose(draws.rewards, belief.weights @ x.T)
    np.testing.assert_allclose(draws.weights, 1 / len(belief.weights))


def test_the_interval_of_weighted_values_is_that_of_their_distribution() -> None:
    """Draws of a wide normal, weighted to a narrow one: importance sampling."""
    values = np.random.default_rng(0).normal(0.0, 2.0, 60_000)
    weights = norm.pdf(values) / norm.pdf(values, scale=2.0)
    np.testing.assert_allclose(interval(values, weights / weights.sum()), norm.interval(0.9), atol=0.03)
    assert interval(values, weights / weights.sum(), 0.0)[0] == pytest.approx(0.0, abs=0.02)
    assert interval(np.array([2.0]), np.array([1.0])) == (2.0, 2.0)
