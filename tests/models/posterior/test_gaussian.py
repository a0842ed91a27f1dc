"""The posterior: marginals, differences, samples and probabilities agree with its mean and covariance."""

import numpy as np
import pytest

import reference
from models.answer_problems import (
    PAPER,
    both_inferences,
    every_kernel,
    from_sites,
    posterior,
    problem,
)
from prefero.kernels import Kernel, Linear
from prefero.models.inference.infer import Inference, infer
from prefero.models.likelihood.probit import Probit


@both_inferences
@every_kernel
def test_marginals_differences_and_projections_agree_with_the_full_covariance(
    kernel: Kernel, inference: Inference
) -> None:
    data, x = problem(11, choices=12)
    found = posterior(kernel, data, Probit(0.3), inference)
    mean, covariance = found(x)
    np.testing.assert_allclose(covariance, covariance.T, atol=1e-12)
    np.testing.assert_allclose(found.marginals(x)[0], mean, atol=1e-12)
    np.testing.assert_allclose(found.marginals(x)[1], covariance.diagonal(), atol=1e-10)
    gap, gap_variance = found.difference(x[:2], x[2:4])
    contrast = np.array([[1, 0, -1, 0, 0], [0, 1, 0, -1, 0]])
    np.testing.assert_allclose(gap, contrast @ mean, atol=1e-12)
    np.testing.assert_allclose(gap_variance, (contrast @ covariance @ contrast.T).diagonal(), atol=1e-10)
    _, learned = found.project(x)
    np.testing.assert_allclose(kernel(x, x) - learned @ learned.T, covariance, atol=1e-10)
    assert found.components == ((1.0, found),)


def test_marginals_of_very_many_trajectories_are_computed_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    data, x = problem(11, choices=12)
    found = posterior(PAPER, data, Probit(0.3), "ep")
    mean, covariance = found(x)
    monkeypatch.setattr("prefero.models.posterior.gaussian.ROWS", 2)
    at_once = found.project
    monkeypatch.setattr(type(found), "project", lambda _, rows: at_once(rows) if len(rows) <= 2 else None)
    in_blocks = found.marginals(x)
    np.testing.assert_allclose(in_blocks[0], mean, atol=1e-12)
    np.testing.assert_allclose(in_blocks[1], covariance.diagonal(), atol=1e-10)


def test_probability_is_that_of_the_person_averaged_over_the_posterior() -> None:
    data, x = problem(11, choices=12)
    found = posterior(PAPER, data, Probit(0.3, 0.2), "ep")
    draws = found.sample(x, 200_000, np.random.default_rng(0))
    judge = reference.answer_probability(draws[:, 0] - draws[:, 1], np.zeros(1, dtype=bool), 0.3, 0.2).mean()
    assert found.probability(x[:1], x[1:2])[0] == pytest.approx(judge, abs=0.005)


def test_samples_have_the_mean_and_covariance_of_the_posterior() -> None:
    data, x = problem(11, choices=12)
    found = posterior(PAPER, data, Probit(0.3), "ep")
    draws = found.sample(x, 100_000, np.random.default_rng(1))
    np.testing.assert_allclose(draws.mean(axis=0), found(x)[0], atol=0.02)
    np.testing.assert_allclose(np.cov(draws.T), found(x)[1], atol=0.02)


@both_inferences
@every_kernel
def test_it_is_what_the_sites_say(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(11, choices=12, ties=3)
    fit = infer(kernel, data, Probit(0.3, 0.2), inference)
    for found, wanted in zip(fit.posterior(x), from_sites(fit, x), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


@both_inferences
def test_many_rows_are_compared_in_blocks(inference: Inference) -> None:
    data, _ = problem(11, choices=12)
    found, x = (
        posterior(PAPER, data, Probit(0.3), inference),
        np.random.default_rng(2).standard_normal((300, 2)),
    )
    gap, gap_variance = found.difference(x[:150], x[150:])
    mean, covariance = found(x)
    at = np.arange(150)
    np.testing.assert_allclose(gap, mean[:150] - mean[150:], atol=1e-12)
    full = covariance[at, at] + covariance[at + 150, at + 150] - 2 * covariance[at, at + 150]
    np.testing.assert_allclose(gap_variance, full, atol=1e-10)


def test_a_linear_reward_costs_as_much_as_it_has_features() -> None:
    data, _ = problem(12, choices=40)
    assert posterior(Linear(), data, Probit(0.3), "ep").alpha.shape == (2,)
