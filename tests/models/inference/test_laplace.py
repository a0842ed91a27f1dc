"""Laplace's method against the paper's 2N x 2N formulas."""

import numpy as np
import pytest

import reference
from models.answer_problems import ANCHOR, PAPER, every_kernel, posterior, problem
from prefero._support.arrays import Array
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import pivoted_cholesky
from prefero.models.inference.laplace import laplace
from prefero.models.inference.solution import ConvergenceError, WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.gaussian import covariance_of_differences


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
@every_kernel
def test_laplace_equals_the_naive_formulas(kernel: Kernel, noise: float) -> None:
    data, x = problem(1, choices=15)
    judge = reference.naive_laplace(kernel, data.winners, data.losers, data.tied, noise)
    found = posterior(kernel, data, Probit(noise), "laplace")
    for here, there in zip(found(x), judge(x), strict=True):
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-6)
    assert found.log_evidence == pytest.approx(judge.log_evidence, abs=1e-6)


@pytest.mark.parametrize("noise", [0.1, 0.3, 1.0])
def test_laplace_equals_the_paper_written_out_by_hand(noise: float) -> None:
    def by_hand(x: Array, y: Array) -> Array:
        return reference.conditioned_rbf(x, y, theta=1.0, anchor=np.array(ANCHOR))

    data, x = problem(2, choices=20)
    judge = reference.naive_laplace(by_hand, data.winners, data.losers, data.tied, noise)
    found = posterior(PAPER, data, Probit(noise), "laplace")
    for here, there in zip(found(x), judge(x), strict=True):
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-6)


@pytest.mark.parametrize("margin", [0.05, 0.3, 1.0])
@every_kernel
def test_laplace_with_ties_equals_the_naive_formulas(kernel: Kernel, margin: float) -> None:
    data, x = problem(3, choices=8, ties=6)
    judge = reference.naive_laplace(kernel, data.winners, data.losers, data.tied, 0.3, margin)
    found = posterior(kernel, data, Probit(0.3, margin), "laplace")
    for here, there in zip(found(x), judge(x), strict=True):
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-6)
    assert found.log_evidence == pytest.approx(judge.log_evidence, abs=1e-6)


@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_the_evidence_of_laplace_is_near_that_of_one_answer(noise: float) -> None:
    data, _ = problem(4, choices=0, ties=1)
    variance = float(covariance_of_differences(PAPER, data)[0, 0])
    exact = reference.exact_moments_of_one(variance, True, noise, 0.5).log_evidence
    found = posterior(PAPER, data, Probit(noise, 0.5), "laplace").log_evidence
    assert found == pytest.approx(exact, abs=0.05)
    one = posterior(PAPER, problem(4, choices=1).data, Probit(noise), "laplace").log_evidence
    assert one == pytest.approx(np.log(0.5), abs=0.15)


def test_laplace_that_does_not_converge_says_how_far_it_came() -> None:
    data, _ = problem(13, choices=10)
    basis = pivoted_cholesky(covariance_of_differences(PAPER, data), 0.1).basis
    message = r"Laplace's method did not converge in 2 Newton steps: the last one still moved by .* noise"
    with pytest.raises(ConvergenceError, match=message):
        laplace(basis, layout_of(data), Probit(0.1), WarmStart.zeros(10), 1e-12, limit=2)
