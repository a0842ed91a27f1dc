"""Inference: warm starts, symmetries, hard cases and errors, for EP and Laplace alike."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.answer_problems import (
    ANCHOR,
    PAPER,
    InferenceCase,
    assert_same,
    both_inferences,
    check_inference,
    every_kernel,
    joined,
    posterior,
    problem,
    problems,
    reordered,
    repeated,
    swapped,
)
from prefero.kernels import RBF, Anchored, Kernel
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.solution import Solution, WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

# --- symmetries -------------------------------------------------------------------------------------------


@both_inferences
@every_kernel
def test_a_warm_start_ends_where_a_cold_one_does(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(6, choices=15, ties=5)
    probit, early = Probit(0.2, 0.3), reordered(data, range(18))
    before = infer(kernel, early, probit, inference, tolerance=1e-9).solution
    cold = infer(kernel, data, probit, inference, tolerance=1e-9).posterior
    warm = infer(
        kernel, data, probit, inference, WarmStart.from_solution(before, len(data)), tolerance=1e-9
    ).posterior
    assert_same(warm, cold, x, 1e-7)


@both_inferences
def test_a_warm_start_at_the_end_needs_one_step(inference: Inference) -> None:
    data, _ = problem(6, choices=15)
    ended = infer(PAPER, data, Probit(0.2), inference).solution
    again = infer(
        PAPER, data, Probit(0.2), inference, WarmStart.from_solution(ended, len(data)), tolerance=1e-5
    ).solution
    assert again.iterations == 1


@both_inferences
def test_a_start_from_more_answers_serves_after_an_undo(inference: Inference) -> None:
    data, x = problem(6, choices=15)
    probit, fewer = Probit(0.2), reordered(data, range(14))
    ended = infer(PAPER, data, probit, inference).solution
    warm = infer(
        PAPER, fewer, probit, inference, WarmStart.from_solution(ended, 14), tolerance=1e-9
    ).posterior
    assert_same(warm, infer(PAPER, fewer, probit, inference, tolerance=1e-9).posterior, x, 1e-7)


@both_inferences
def test_a_misleading_start_does_no_harm(inference: Inference) -> None:
    data, x = problem(6, choices=15)
    wild = WarmStart(np.full(15, 1e8), np.full(15, -1e8))
    warm = infer(PAPER, data, Probit(0.2), inference, wild, tolerance=1e-9).posterior
    assert_same(warm, infer(PAPER, data, Probit(0.2), inference, tolerance=1e-9).posterior, x, 1e-6)


@both_inferences
@every_kernel
def test_swapping_every_answer_negates_the_mean_and_keeps_the_covariance(
    kernel: Kernel, inference: Inference
) -> None:
    data, x = problem(7, choices=12, ties=4)
    (mean, covariance), (other_mean, other_covariance) = (
        infer(kernel, d, Probit(0.3, 0.2), inference, tolerance=1e-9).posterior(x)
        for d in (data, swapped(data))
    )
    np.testing.assert_allclose(other_mean, -mean, atol=1e-7)
    np.testing.assert_allclose(other_covariance, covariance, atol=1e-7)


@both_inferences
@every_kernel
def test_the_order_of_answers_does_not_matter(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(8, choices=12, ties=4)
    other = reordered(data, np.random.default_rng(0).permutation(16).tolist())
    first, second = (
        infer(kernel, d, Probit(0.3, 0.2), inference, tolerance=1e-9).posterior for d in (data, other)
    )
    assert_same(first, second, x, 1e-7)


@both_inferences
def test_the_anchor_is_known(inference: Inference) -> None:
    found = posterior(PAPER, problem(9, choices=10).data, Probit(0.2), inference)
    mean, covariance = found(np.array([ANCHOR]))
    assert mean[0] == pytest.approx(0.0, abs=1e-9)
    assert covariance[0, 0] == pytest.approx(0.0, abs=1e-9)


@both_inferences
def test_the_choice_of_a_subtracted_anchor_changes_no_difference(inference: Inference) -> None:
    data, x = problem(9, choices=10)
    first, second = (
        posterior(Anchored(RBF(), anchor), data, Probit(0.2), inference).difference(x[:2], x[2:4])
        for anchor in (ANCHOR, (2.0, 1.0))
    )
    np.testing.assert_allclose(first, second, atol=1e-6)


@both_inferences
def test_a_tie_is_the_same_both_ways_round(inference: Inference) -> None:
    data, x = problem(10, choices=0, ties=3)
    half = Comparisons(
        np.concatenate([data.losers[:1], data.winners[1:]]),
        np.concatenate([data.winners[:1], data.losers[1:]]),
        data.tied,
    )
    probit = Probit(0.3, 0.2)
    assert_same(posterior(PAPER, data, probit, inference), posterior(PAPER, half, probit, inference), x, 1e-6)


# --- hard cases -------------------------------------------------------------------------------------------


@both_inferences
def test_nothing_answered_leaves_the_prior(inference: Inference) -> None:
    x = problem(0, choices=1).x
    fit = infer(PAPER, Comparisons.none(2), Probit(0.1), inference)
    found, solution = fit.posterior, fit.solution
    mean, covariance = found(x)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(covariance, PAPER(x, x), atol=1e-15)
    assert found.log_evidence == 0.0
    assert solution.iterations == 1
    np.testing.assert_allclose(found.probability(x[:2], x[2:4]), 0.5)


@both_inferences
def test_an_answer_repeated_is_believed_more_and_more(inference: Inference) -> None:
    a, b = np.array([[0.0, 0.0]]), np.array([[1.0, 0.5]])
    rounds = (1, 3, 10, 50)
    found = [posterior(PAPER, repeated("left", n), Probit(0.5), inference) for n in rounds]
    surer = [float(p.probability(a, b)[0]) for p in found]
    assert surer == sorted(surer)
    assert surer[0] > 0.5
    assert surer[-1] > 0.95


@both_inferences
@pytest.mark.parametrize("noise", [0.01, 0.1, 1.0])
def test_contradictions_cancel(inference: Inference, noise: float) -> None:
    data = joined(repeated("left", 20), repeated("right", 20))
    x = np.array([[0.0, 0.0], [1.0, 0.5], [2.0, 2.0]])
    found = infer(PAPER, data, Probit(noise), inference).posterior
    mean, covariance = found(x)
    np.testing.assert_allclose(mean, 0.0, atol=1e-6)
    gap_variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert 0 < gap_variance < noise**2  # forty answers say that they are alike


@both_inferences
def test_duplicated_trajectories_are_one_and_the_same(inference: Inference) -> None:
    items = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.5], [1.0, 0.5]])
    copies = Comparisons.of(items, [[0, 2], [1, 3], [0, 3], [0, 1]])
    found = posterior(PAPER, copies, Probit(0.3), inference)
    three = posterior(PAPER, repeated("left", 3), Probit(0.3), inference)
    np.testing.assert_allclose(found(items)[0], three(items)[0], atol=1e-5)
    np.testing.assert_allclose(found(items)[1], three(items)[1], atol=1e-5)
    assert found.log_evidence == pytest.approx(three.log_evidence + np.log(0.5), abs=1e-5)


@both_inferences
def test_what_the_prior_knows_cannot_be_taught(inference: Inference) -> None:
    same = np.zeros((2, 2))
    fit = infer(PAPER, Comparisons.of(same, [[0, 1]]), Probit(0.1), inference)
    found, solution = fit.posterior, fit.solution
    assert found.log_evidence == pytest.approx(np.log(0.5), abs=1e-12)
    assert isinstance(solution, Solution)
    np.testing.assert_array_equal(found(np.ones((1, 2)))[0], 0.0)


@both_inferences
@settings(max_examples=150)
@given(case=problems())
def test_any_answers_about_any_pool_give_a_posterior(inference: Inference, case: InferenceCase) -> None:
    fit = check_inference(case, inference)
    assert fit.log_evidence <= 1e-9
    assert (fit.solution.W >= 0).all()


@settings(max_examples=60)
@given(case=problems(), seed=st.integers(0, 1000))
def test_any_order_of_any_answers_gives_the_same_posterior(case: InferenceCase, seed: int) -> None:
    items, data, kernel, probit = case
    order = np.random.default_rng(seed).permutation(len(data)).tolist()
    first, second = (infer(kernel, d, probit).posterior(items) for d in (data, reordered(data, order)))
    sd = np.sqrt(1e-12 + kernel.diagonal(items))
    np.testing.assert_allclose(first[0] / sd, second[0] / sd, atol=1e-4)
    np.testing.assert_allclose(first[1] / np.outer(sd, sd), second[1] / np.outer(sd, sd), atol=1e-4)


# --- errors -----------------------------------------------------------------------------------------------


@both_inferences
def test_ties_need_a_margin(inference: Inference) -> None:
    data, _ = problem(14, choices=1, ties=1)
    with pytest.raises(ValueError, match=r"'about equal', .*margin is 0"):
        infer(PAPER, data, Probit(0.1), inference)


def test_an_unknown_inference_is_refused() -> None:
    with pytest.raises(ValueError, match=r"inference must be 'ep' or 'laplace', .*'mcmc'"):
        infer(PAPER, problem(0, choices=1).data, Probit(0.1), "mcmc")  # type: ignore[arg-type]
