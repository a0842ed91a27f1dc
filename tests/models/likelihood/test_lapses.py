"""Lapses: the likelihood against arithmetic with many digits, EP against integrals; convergence."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import reference
from models.answer_problems import (
    PAPER,
    InferenceCase,
    both_inferences,
    check_inference,
    from_sites,
    joined,
    posterior,
    problem,
    problems,
    repeated,
)
from prefero import Learner, Pool, PreferenceGP, Question, load_reward
from prefero._support.arrays import Array
from prefero.kernels import RBF, Kernel, Linear
from prefero.models.algebra.linalg import pivoted_cholesky
from prefero.models.averaging.structures import noise_grid
from prefero.models.explain.predictive_accuracy import accuracy_draws, expected_accuracy
from prefero.models.inference.attempts import expectation_propagation, warm_starts
from prefero.models.inference.evidence import log_evidence
from prefero.models.inference.infer import Inference, infer
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.inference.solution import WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of, pairs_layout
from prefero.models.linear import LinearPosterior, LinearPreference
from prefero.models.posterior.gaussian import covariance_of_differences, covariance_with_differences

DIFFERENCES = (-300.0, -9.0, -3.0, -1e-3, 0.4, 2.0, 50.0)  # in units of the noise
LAPSES = (1e-6, 0.05, 0.6)

# --- the likelihood ---------------------------------------------------------------------------------------


def log_probability(d: mp.mpf, margin: mp.mpf, tied: bool, lapse: float) -> mp.mpf:
    """log of (1 - lapse) P + lapse / n, for noise 1."""
    ends = (-margin, margin) if tied else (margin, mp.inf)
    low, high = (mp.ncdf((end - d) / mp.sqrt(2)) if end != mp.inf else mp.mpf(1) for end in ends)
    return mp.log((1 - mp.mpf(lapse)) * (high - low) + mp.mpf(lapse) / (3 if margin > 0 else 2))


def judged(d: float, margin: float, tied: bool, lapse: float, order: int, by_margin: int = 0) -> mp.mpf:
    """A derivative by d and by the margin."""
    with mp.workdps(40):
        at = mp.mpf(d), mp.mpf(margin)
        function: Callable[..., mp.mpf] = lambda x, m: log_probability(x, m, tied, lapse)  # noqa: E731
        return mp.diff(function, at, (order, by_margin)) if order or by_margin else function(*at)


@pytest.mark.parametrize("lapse", LAPSES)
@pytest.mark.parametrize(("tied", "margin"), [(False, 0.0), (False, 0.7), (True, 0.7)])
def test_log_probability_and_derivatives_are_right_in_both_tails(
    tied: bool, margin: float, lapse: float
) -> None:
    noise, flags = 0.3, np.full(len(DIFFERENCES), tied)
    found = Probit(noise, margin * noise, lapse)(noise * np.array(DIFFERENCES), flags)
    for order, (values, sign) in enumerate(zip(found, (1, 1, -1, 1), strict=True)):
        expected = [float(sign * judged(d, margin, tied, lapse, order)) for d in DIFFERENCES]
        np.testing.assert_allclose(values * noise**order, expected, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("tied", [False, True])
def test_derivatives_by_the_margin_are_right_in_both_tails(tied: bool) -> None:
    margin, lapse, flags = 0.7, 0.05, np.full(len(DIFFERENCES), tied)
    found = Probit(1.0, margin, lapse).by_margin(np.array(DIFFERENCES), flags)
    for order, (values, sign) in enumerate(zip(found, (1, 1, -1), strict=True)):
        expected = [float(sign * judged(d, margin, tied, lapse, order, by_margin=1)) for d in DIFFERENCES]
        np.testing.assert_allclose(values, expected, rtol=1e-7, atol=1e-12)


@settings(max_examples=50)
@given(
    d=st.floats(-1e3, 1e3), margin=st.sampled_from([0.0, 0.5]), lapse=st.floats(0.0, 0.99), v=st.floats(0, 9)
)
def test_the_answers_share_the_whole_probability(d: float, margin: float, lapse: float, v: float) -> None:
    probit, at = Probit(0.7, margin, lapse), np.array([d])
    left, right = (np.exp(probit(side, np.array([False]), v).log[0]) for side in (at, -at))
    equal = np.exp(probit(at, np.array([True]), v).log[0]) if margin else 0.0
    assert left + right + equal == pytest.approx(1.0, abs=1e-12)
    assert min(left, right) >= lapse / (3 if margin else 2) * (1.0 - 1e-12)
    first, second = probit.probabilities(at, v)
    assert (first[0], second[0]) == pytest.approx((left, right), abs=1e-13)


@pytest.mark.parametrize("bad", [-0.1, 1.0, np.nan, np.inf])
def test_a_lapse_rate_is_a_probability(bad: float) -> None:
    with pytest.raises(ValueError, match=r"lapse must be"):
        Probit(1.0, 0.0, bad)


# --- EP against integrals ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("tied", "margin"), [(False, 0.0), (False, 0.4), (True, 0.4)])
@pytest.mark.parametrize("lapse", [0.02, 0.3])
def test_ep_is_exact_for_one_answer(lapse: float, tied: bool, margin: float) -> None:
    data, x = problem(4, choices=1 - tied, ties=int(tied))
    C = covariance_of_differences(PAPER, data)
    exact = reference.exact_moments_of_one(float(C[0, 0]), tied, 0.2, margin, lapse)
    found = posterior(PAPER, data, Probit(0.2, margin, lapse), "ep")
    across, prior = covariance_with_differences(PAPER, x, data.winners, data.losers), PAPER(x, x)
    mean, covariance = reference.predict_from_differences(across, prior, C, exact.mean, exact.covariance)
    np.testing.assert_allclose(found(x)[0], mean, atol=1e-6)
    np.testing.assert_allclose(found(x)[1], covariance, atol=1e-6)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-6)


@pytest.mark.parametrize(("ties", "margin"), [(0, 0.0), (1, 0.3)])
@pytest.mark.parametrize("lapse", [0.01, 0.1])
@pytest.mark.parametrize("seed", [0, 2])
def test_ep_is_near_the_exact_posterior_of_two_answers(
    seed: int, lapse: float, ties: int, margin: float
) -> None:
    noise, (data, _) = 0.3, problem(seed, choices=2 - ties, ties=ties)
    exact = reference.exact_moments_of_two(
        covariance_of_differences(PAPER, data), data.tied, noise, margin, lapse
    )
    found = posterior(PAPER, data, Probit(noise, margin, lapse), "ep")
    mean, variance = found.difference(data.winners, data.losers)
    sd = np.sqrt(np.diag(exact.covariance))
    np.testing.assert_allclose((mean - exact.mean) / sd, 0.0, atol=0.01)
    np.testing.assert_allclose(variance, sd**2, rtol=0.03)
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=0.01)


def one_difference(ups: int, downs: int, noise: float, lapse: float) -> tuple[float, float, float]:
    """Exact mean, standard deviation and log evidence of answers about one difference of variance 1."""
    u = np.linspace(-10, 10, 20001)
    up, down = (
        reference.answer_probability(s * u, np.zeros(1, dtype=bool), noise, lapse=lapse) for s in (1, -1)
    )
    weight = np.exp(-0.5 * u**2) * up**ups * down**downs
    mean = np.sum(weight * u) / weight.sum()
    mass = weight.sum() * (u[1] - u[0]) / np.sqrt(2 * np.pi)
    return mean, float(np.sqrt(np.sum(weight * (u - mean) ** 2) / weight.sum())), float(np.log(mass))


def test_an_answer_against_many_is_taken_for_a_lapse() -> None:
    data = joined(repeated("left", 6), repeated("right", 1))
    variance = float(covariance_of_differences(PAPER, data)[0, 0])
    kernel, probit = (1.0 / variance) * PAPER, Probit(0.3, lapse=0.05)
    fit = infer(kernel, data, probit)
    found, solution = fit.posterior, fit.solution
    mean, deviation, log_mass = one_difference(6, 1, 0.3, 0.05)
    assert solution.W[-1] < 0  # the last answer makes less certain
    gap, gap_variance = found.difference(data.winners[:1], data.losers[:1])
    assert gap[0] == pytest.approx(mean, abs=0.2 * deviation)  # no Gaussian: a lapse, or a small difference
    assert np.sqrt(gap_variance[0]) == pytest.approx(deviation, rel=0.35)
    assert found.log_evidence == pytest.approx(log_mass, abs=0.15)
    without = posterior(kernel, data, Probit(0.3), "ep").difference(data.winners[:1], data.losers[:1])[0][0]
    assert gap[0] > without + 0.1


def test_ep_with_lapses_agrees_with_a_long_markov_chain() -> None:
    noise, lapse, (data, x) = 0.3, 0.1, problem(1, choices=8)
    found, C = posterior(PAPER, data, Probit(noise, 0.0, lapse), "ep"), covariance_of_differences(PAPER, data)
    samples = reference.sample_differences(
        C, data.tied, noise, np.random.default_rng(0), lapse=lapse, chains=400, steps=150, burn=50
    )
    a, b = x[[0, 0, 1, 2]], x[[1, 2, 3, 4]]
    across = covariance_with_differences(PAPER, a, data.winners, data.losers) - covariance_with_differences(
        PAPER, b, data.winners, data.losers
    )
    prior = PAPER.diagonal(a) + PAPER.diagonal(b) - 2 * PAPER(a, b).diagonal()
    judge = reference.predict_from_samples(samples, C, across, prior, noise, lapse=lapse)
    mean, variance = found.difference(a, b)
    np.testing.assert_allclose(found.probability(a, b), judge.probability, atol=0.01)
    np.testing.assert_allclose(mean, judge.mean, atol=0.02)
    np.testing.assert_allclose(variance, judge.variance, rtol=0.05)


# --- convergence ------------------------------------------------------------------------------------------


def test_a_model_whose_precision_is_singular_does_not_stop_the_others() -> None:
    probit, basis, layout = Probit(0.3, lapse=0.05), np.ones((1, 1)), pairs_layout(np.zeros(1, dtype=bool))
    singular = WarmStart(np.array([-1.0]), np.zeros(1))  # then Lambda is 0
    found = warm_starts([basis] * 2, layout, [probit] * 2, [singular, WarmStart.zeros(1)], 1e-5)
    alone = expectation_propagation(basis, layout, probit, WarmStart.zeros(1), 1e-5)
    for start in found:  # more noise leads away from the singular one
        np.testing.assert_allclose(start.precision, alone.W, atol=1e-5)


def test_a_batch_of_models_starts_at_the_fixed_point_of_each() -> None:
    """With lapses, an answer against many has a negative precision, so the batch must allow them."""
    data = joined(repeated("left", 6), repeated("right", 1))
    probits = [Probit(0.3), Probit(0.3, lapse=0.05), Probit(0.6, lapse=0.1)]
    basis = pivoted_cholesky(covariance_of_differences(PAPER, data), 0.3).basis
    zeros = WarmStart.zeros(len(data))
    starts = warm_starts([basis] * 3, layout_of(data), probits, [zeros] * 3, 1e-5)
    assert [bool(start.precision[-1] < 0) for start in starts] == [False, True, True]
    for probit, start in zip(probits, starts, strict=True):
        warm = expectation_propagation(basis, layout_of(data), probit, start, 1e-5)
        cold = expectation_propagation(basis, layout_of(data), probit, zeros, 1e-5)
        assert warm.iterations <= 2 < cold.iterations
        assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-5)
        solved = start.solved(len(data), 1e-5)
        assert solved is not None
        assert solved.log_evidence == pytest.approx(warm.log_evidence, abs=1e-7)
        np.testing.assert_allclose(solved.u_mean, warm.u_mean, atol=1e-4)
        np.testing.assert_allclose(solved.factor, warm.factor, atol=1e-4)
        assert start.solved(len(data) + 1, 1e-5) is None
        assert replace(start, is_final=False).solved(len(data), 1e-12) is None


@both_inferences
@settings(max_examples=40)
@given(case=problems(lapses=True))
def test_any_answers_about_any_pool_give_a_posterior(inference: Inference, case: InferenceCase) -> None:
    fit = check_inference(case, inference)
    assert (fit.solution.factor.diagonal() > 0).all()
    mean = fit.posterior(case[0])[0]
    np.testing.assert_allclose(from_sites(fit, case[0])[0], mean, atol=1e-6 * (1.0 + np.abs(mean).max()))


def test_sites_of_another_model_do_no_harm() -> None:
    data, x = problem(6, choices=15)
    probit = Probit(0.2, 0.0, 0.05)
    wild = WarmStart(np.full(15, -1e3), np.full(15, 1e3))
    warm = infer(PAPER, data, probit, "ep", wild, tolerance=1e-9).posterior
    cold = infer(PAPER, data, probit, "ep", tolerance=1e-9).posterior
    np.testing.assert_allclose(warm(x)[0], cold(x)[0], atol=1e-6)


def test_laplace_finds_a_mode() -> None:
    data, probit = problem(2, choices=12).data, Probit(0.2, 0.0, 0.1)
    fit = infer(PAPER, data, probit, "laplace")
    solution = fit.solution

    def negated(u: Array) -> float:
        d = fit.cholesky.basis @ u
        log = reference.log_answer_probability(d, data.tied, 0.2, lapse=0.1).sum()
        return float(0.5 * u @ u - log)

    best = minimize(negated, solution.u_mean, tol=1e-12)
    np.testing.assert_allclose(solution.u_mean, best.x, atol=1e-4)
    assert negated(solution.u_mean) <= best.fun + 1e-10


# --- the marginal likelihood ------------------------------------------------------------------------------


def central(function: Callable[[float], float], step: float = 1e-4) -> float:
    near, far = (function(s) - function(-s) for s in (step, 2 * step))
    return (8 * near - far) / (12 * step)


@both_inferences
@pytest.mark.parametrize("kernel", [1.5 * RBF(theta=(0.3, 1.1)), 0.6 * Linear()], ids=["ARD", "linear"])
def test_gradients_of_the_evidence(kernel: Kernel, inference: Inference) -> None:
    data, lapse = problem(3, choices=12, ties=3).data, 0.08
    logs, along = kernel.log_parameters, np.linspace(1.0, -0.5, len(kernel.log_parameters))
    found = log_evidence(kernel, data, Probit(0.3, 0.2, lapse), inference)

    def evidence(kernel_step: float = 0.0, noise_step: float = 0.0, margin_step: float = 0.0) -> float:
        probit = Probit(0.3 * np.exp(noise_step), 0.2 * np.exp(margin_step), lapse)
        moved = kernel.with_log_parameters(logs + kernel_step * along)
        return log_evidence(moved, data, probit, inference).value

    by_kernel = central(lambda step: evidence(kernel_step=step))
    assert found.kernel_gradient @ along == pytest.approx(by_kernel, rel=1e-5, abs=1e-6)
    by_noise = central(lambda step: evidence(noise_step=step))
    assert found.noise_gradient == pytest.approx(by_noise, rel=1e-5, abs=1e-6)
    by_margin = central(lambda step: evidence(margin_step=step))
    assert found.margin_gradient == pytest.approx(by_margin, rel=1e-5, abs=1e-6)


# --- estimators -------------------------------------------------------------------------------------------


def test_a_gp_takes_a_lapse_rate_and_keeps_it_in_a_saved_reward(tmp_path: Path) -> None:
    pool = Pool(np.random.default_rng(0).standard_normal((20, 2)))
    learner = Learner(pool, model=PreferenceGP(RBF(theta=0.5), 0.3, 0.0, learn=False, lapse=0.1))
    for winner, loser in ((0, 1), (1, 2), (2, 0), (0, 1)):
        learner.tell(Question(winner, loser), "left")
    reward = learner.reward()
    assert reward.belief.probit == Probit(0.3, 0.0, 0.1)
    assert reward.diagnostics["lapse"] == 0.1
    reward.save(tmp_path / "reward.json")
    loaded = load_reward(tmp_path / "reward.json").belief
    assert loaded.probit == Probit(0.3, 0.0, 0.1)
    a, b = pool.scaled[:5], pool.scaled[5:10]
    np.testing.assert_allclose(loaded.probability(a, b), reward.belief.probability(a, b), atol=1e-12)
    learner.save(tmp_path / "learner.json")
    again = Learner.load(tmp_path / "learner.json").belief()
    np.testing.assert_allclose(again.probability(a, b), reward.belief.probability(a, b), atol=1e-6)


def test_the_linear_baseline_samples_weights_of_people_who_lapse() -> None:
    rng = np.random.default_rng(1)
    x, angles = rng.standard_normal((10, 2)), np.linspace(0, 2 * np.pi, 4001)[:-1]
    pairs = np.array([[0, 1], [1, 2], [3, 4], [0, 1], [1, 0], [5, 6]])
    model = LinearPreference(0.2, draws=2000, lapse=0.2).fit(x, pairs)
    w = np.column_stack([np.cos(angles), np.sin(angles)])
    d = w @ (x[pairs[:, 0]] - x[pairs[:, 1]]).T
    weight = np.prod(reference.answer_probability(d, np.zeros(6, dtype=bool), 0.2, lapse=0.2), axis=1)
    expected = weight @ w / weight.sum()
    assert isinstance(model.posterior_, LinearPosterior)
    np.testing.assert_allclose(model.posterior_.weights.mean(axis=0), expected, atol=0.06)
    a, b = x[:4], x[4:8]
    judge = (
        weight
        @ reference.answer_probability(w @ (a - b).T, np.zeros(4, dtype=bool), 0.2, lapse=0.2)
        / weight.sum()
    )
    np.testing.assert_allclose(model.posterior_.probability(a, b), judge, atol=0.03)


def test_each_answer_left_out_is_predicted_with_lapses() -> None:
    data, probit = problem(2, choices=6).data, Probit(0.3, 0.0, 0.1)
    fit = infer(PAPER, data, probit)
    found = leave_one_out(fit.posterior, data, [fit.solution.sites])
    for n in range(len(data)):
        rest = posterior(PAPER, data[np.delete(np.arange(len(data)), n)], probit, "ep")
        expected = rest.probability(data.winners[n : n + 1], data.losers[n : n + 1])[0]
        assert found[n] == pytest.approx(expected, abs=0.02)
    assert (found >= 0.05).all()


def test_the_expected_accuracy_counts_lapses() -> None:
    x = np.random.default_rng(0).standard_normal((12, 2))
    belief = LinearPosterior(np.array([[1.0, 0.0]]), Probit(0.3, 0.5, 0.2), 1.0)
    i, j = np.triu_indices(12, 1)
    right = reference.answer_probability(np.abs(x[i, 0] - x[j, 0]), np.zeros(1, dtype=bool), 0.3, lapse=0.2)
    assert expected_accuracy(belief, x) == pytest.approx(right.mean(), abs=1e-12)
    assert accuracy_draws(belief, x).mean == pytest.approx(right.mean(), abs=1e-12)


def test_model_averaging_keeps_to_a_given_lapse_rate() -> None:
    data = problem(5, choices=6).data
    for noise in (None, 0.2):
        belief = PreferenceGP(noise=noise, lapse=0.07, learn=False).fit_comparisons(data).posterior_
        assert {component.probit.lapse for _, component in belief.components} == {0.07}
    assert sum(noise_grid(None, 0.07).values()) == pytest.approx(1.0)
