"""Standardized rewards: against joint samples, and without any trace of the anchor."""

import numpy as np
import pytest

from models.taught import pool, taught_mixture
from prefero.kernels import RBF, Anchored
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.posterior.standardized import StandardizedRewards, reference_of


def test_means_and_deviations_are_those_of_samples() -> None:
    belief, _ = taught_mixture()
    reference, x = pool(), np.array([[0.0, 0.0], [2.0, -1.0], [0.3, 1.5]])
    drawn = belief.sample(np.concatenate([x, reference]), 20_000, np.random.default_rng(0))
    above = drawn - drawn[:, 3:].mean(axis=1, keepdims=True)
    unit = np.sqrt(np.mean(above[:, 3:] ** 2))
    rewards = StandardizedRewards(belief, reference)
    mean, std = rewards(x)
    assert rewards.unit == pytest.approx(unit, rel=0.02)
    np.testing.assert_allclose(mean, above[:, :3].mean(axis=0) / unit, atol=0.04)
    np.testing.assert_allclose(std, above[:, :3].std(axis=0) / unit, rtol=0.04)


def test_over_the_pool_means_and_variances_add_up_to_one() -> None:
    belief, _ = taught_mixture()
    mean, std = StandardizedRewards(belief, pool())(pool())
    assert np.mean(mean**2 + std**2) == pytest.approx(1.0)
    assert np.mean(mean) == pytest.approx(0.0, abs=1e-9)


def test_the_anchor_makes_no_difference() -> None:
    """A reward that is 0 here or there is the same reward; its plain deviation vanishes at the anchor."""
    _, data = taught_mixture()
    found = []
    for anchor in [(0.0, 0.0), (1.0, -2.0)]:
        belief = infer(Anchored(RBF(0.3), anchor), data, Probit(0.1), "ep").posterior
        assert belief.marginals(np.array([anchor]))[1] == pytest.approx(0.0, abs=1e-9)
        found.append(StandardizedRewards(belief, pool())(np.array([[0.0, 0.0], [1.0, -2.0]])))
    np.testing.assert_allclose(found[0], found[1], atol=1e-6)
    assert np.min(found[0][1]) > 0.1


def test_samples_of_weights_can_be_standardized_too() -> None:
    _, data = taught_mixture()
    belief = LinearPreference(noise=0.2, draws=25).fit_comparisons(data).posterior_
    assert isinstance(belief, LinearPosterior)
    rewards = belief.weights @ pool().T
    above = rewards - rewards.mean(axis=1, keepdims=True)
    mean, std = StandardizedRewards(belief, pool())(pool())
    unit = np.sqrt(np.mean(above**2))
    np.testing.assert_allclose(mean, above.mean(axis=0) / unit)
    np.testing.assert_allclose(std, above.std(axis=0) / unit, atol=1e-9)


def test_a_large_pool_is_represented_by_some_always_the_same() -> None:
    x = np.arange(2000.0).reshape(1000, 2)
    some = reference_of(x)
    assert len(some) == 300
    assert {tuple(row) for row in some} <= {tuple(row) for row in x}
    np.testing.assert_array_equal(some, reference_of(x))
    assert reference_of(x[:10]) is not None
    np.testing.assert_array_equal(reference_of(x[:10]), x[:10])
