"""EP and Laplace against the paper's formulas, exact integrals and a long Markov chain; and their manners."""

from collections.abc import Sequence
from typing import NamedTuple, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.inference import (
    Inference,
    NotSettled,
    Solution,
    Start,
    expectation_propagation,
    from_sites,
    infer,
    laplace,
)
from prefero.models.likelihood import Probit
from prefero.models.posterior import (
    Posterior,
    basis_of,
    covariance_of_differences,
    covariance_with_differences,
)
from prefero.questions import Comparisons

INFERENCES: tuple[Inference, ...] = get_args(Inference)
ANCHOR = (0.2, -0.1)
PAPER = Anchored(RBF(theta=1.0), ANCHOR, how="condition")
KERNELS: dict[str, Kernel] = {
    "the paper's": PAPER,
    "rbf": RBF(theta=0.5),
    "matern": 2.0 * Matern(lengthscale=(0.7, 1.5), nu=1.5),
    "linear": 3.0 * Linear(),
    "linear + quadratic": Linear() + 0.5 * Quadratic(),
    "rbf, subtracted": Anchored(RBF(theta=0.5) + 0.2 * Linear(), ANCHOR),
}

both_inferences = pytest.mark.parametrize("inference", INFERENCES)
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())


class Problem(NamedTuple):
    """Answers about a pool, and other points to predict."""

    data: Comparisons
    x: Array


def problem(seed: int, choices: int, ties: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((12, 2))
    pairs = np.array([rng.choice(12, 2, replace=False) for _ in range(choices + ties)])
    return Problem(Comparisons.of(items, pairs[:choices], pairs[choices:]), rng.standard_normal((5, 2)))


def swapped(data: Comparisons) -> Comparisons:
    return Comparisons(data.losers, data.winners, data.tied)


def reordered(data: Comparisons, order: Sequence[int]) -> Comparisons:
    at = list(order)
    return Comparisons(data.winners[at], data.losers[at], data.tied[at])


def posterior(kernel: Kernel, data: Comparisons, probit: Probit, inference: Inference) -> Posterior:
    return infer(kernel, data, probit, inference)[0]


def assert_same(first: Posterior, second: Posterior, x: Array, tolerance: float) -> None:
    for found, expected in zip(first(x), second(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert first.log_evidence == pytest.approx(second.log_evidence, abs=10 * tolerance, rel=tolerance)


# --- Laplace against the paper's 2N x 2N formulas ---------------------------------------------------------


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


# --- EP against exact integrals ---------------------------------------------------------------------------


def assert_moments(found: Posterior, data: Comparisons, x: Array, moments: reference.Moments) -> None:
    C = covariance_of_differences(found.kernel, data)
    across, prior = covariance_with_differences(found.kernel, x, data), found.kernel(x, x)
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


@pytest.mark.parametrize("noise", [0.3, 1.0, 3.0])
def test_the_evidence_of_laplace_is_near_that_of_one_answer(noise: float) -> None:
    data, _ = problem(4, choices=0, ties=1)
    variance = float(covariance_of_differences(PAPER, data)[0, 0])
    exact = reference.exact_moments_of_one(variance, True, noise, 0.5).log_evidence
    found = posterior(PAPER, data, Probit(noise, 0.5), "laplace").log_evidence
    assert found == pytest.approx(exact, abs=0.05)
    one = posterior(PAPER, problem(4, choices=1).data, Probit(noise), "laplace").log_evidence
    assert one == pytest.approx(np.log(0.5), abs=0.15)


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
    across = covariance_with_differences(PAPER, a, data) - covariance_with_differences(PAPER, b, data)
    prior = PAPER.diagonal(a) + PAPER.diagonal(b) - 2 * PAPER(a, b).diagonal()
    judge = reference.predict_from_samples(samples, C, across, prior, noise, margin)
    mean, variance = found.difference(a, b)
    np.testing.assert_allclose(found.probability(a, b), judge.probability, atol=0.01)
    np.testing.assert_allclose(mean, judge.mean, atol=0.02)
    np.testing.assert_allclose(variance, judge.variance, rtol=0.05)


# --- the judges themselves --------------------------------------------------------------------------------


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


# --- symmetries -------------------------------------------------------------------------------------------


@both_inferences
@every_kernel
def test_a_warm_start_ends_where_a_cold_one_does(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(6, choices=15, ties=5)
    probit, early = Probit(0.2, 0.3), reordered(data, range(18))
    _, before = infer(kernel, early, probit, inference, tolerance=1e-9)
    cold, _ = infer(kernel, data, probit, inference, tolerance=1e-9)
    warm, _ = infer(kernel, data, probit, inference, Start.after(before, len(data)), tolerance=1e-9)
    assert_same(warm, cold, x, 1e-7)


@both_inferences
def test_a_warm_start_at_the_end_needs_one_step(inference: Inference) -> None:
    data, _ = problem(6, choices=15)
    _, ended = infer(PAPER, data, Probit(0.2), inference)
    _, again = infer(PAPER, data, Probit(0.2), inference, Start.after(ended, len(data)), tolerance=1e-5)
    assert again.steps == 1


@both_inferences
def test_a_start_from_more_answers_serves_after_an_undo(inference: Inference) -> None:
    data, x = problem(6, choices=15)
    probit, fewer = Probit(0.2), reordered(data, range(14))
    _, ended = infer(PAPER, data, probit, inference)
    warm, _ = infer(PAPER, fewer, probit, inference, Start.after(ended, 14), tolerance=1e-9)
    assert_same(warm, infer(PAPER, fewer, probit, inference, tolerance=1e-9)[0], x, 1e-7)


@both_inferences
def test_a_misleading_start_does_no_harm(inference: Inference) -> None:
    data, x = problem(6, choices=15)
    wild = Start(np.full(15, 1e8), np.full(15, -1e8))
    warm, _ = infer(PAPER, data, Probit(0.2), inference, wild, tolerance=1e-9)
    assert_same(warm, infer(PAPER, data, Probit(0.2), inference, tolerance=1e-9)[0], x, 1e-6)


@both_inferences
@every_kernel
def test_swapping_every_answer_negates_the_mean_and_keeps_the_covariance(
    kernel: Kernel, inference: Inference
) -> None:
    data, x = problem(7, choices=12, ties=4)
    (mean, covariance), (other_mean, other_covariance) = (
        infer(kernel, d, Probit(0.3, 0.2), inference, tolerance=1e-9)[0](x) for d in (data, swapped(data))
    )
    np.testing.assert_allclose(other_mean, -mean, atol=1e-7)
    np.testing.assert_allclose(other_covariance, covariance, atol=1e-7)


@both_inferences
@every_kernel
def test_the_order_of_answers_does_not_matter(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(8, choices=12, ties=4)
    other = reordered(data, np.random.default_rng(0).permutation(16).tolist())
    first, second = (infer(kernel, d, Probit(0.3, 0.2), inference, tolerance=1e-9)[0] for d in (data, other))
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


# --- the posterior's own ways to say the same --------------------------------------------------------------


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
    gap, spread = found.difference(x[:2], x[2:4])
    contrast = np.array([[1, 0, -1, 0, 0], [0, 1, 0, -1, 0]])
    np.testing.assert_allclose(gap, contrast @ mean, atol=1e-12)
    np.testing.assert_allclose(spread, (contrast @ covariance @ contrast.T).diagonal(), atol=1e-10)
    _, learned = found.project(x)
    np.testing.assert_allclose(kernel(x, x) - learned @ learned.T, covariance, atol=1e-10)
    assert found.components == ((1.0, found),)


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
def test_the_sites_alone_bring_the_posterior_back(kernel: Kernel, inference: Inference) -> None:
    data, x = problem(11, choices=12, ties=3)
    found = posterior(kernel, data, Probit(0.3, 0.2), inference)
    again = from_sites(kernel, data, found.probit, found.sites, found.log_evidence)
    assert_same(again, found, x, 1e-12)


@both_inferences
def test_many_rows_are_compared_in_blocks(inference: Inference) -> None:
    data, _ = problem(11, choices=12)
    found, x = (
        posterior(PAPER, data, Probit(0.3), inference),
        np.random.default_rng(2).standard_normal((300, 2)),
    )
    gap, spread = found.difference(x[:150], x[150:])
    mean, covariance = found(x)
    at = np.arange(150)
    np.testing.assert_allclose(gap, mean[:150] - mean[150:], atol=1e-12)
    full = covariance[at, at] + covariance[at + 150, at + 150] - 2 * covariance[at, at + 150]
    np.testing.assert_allclose(spread, full, atol=1e-10)


# --- hard cases -------------------------------------------------------------------------------------------


def repeated(choice: str, times: int) -> Comparisons:
    items = np.array([[0.0, 0.0], [1.0, 0.5]])
    pair = [0, 1] if choice == "left" else [1, 0]
    return Comparisons.of(items, [pair] * times)


def joined(first: Comparisons, second: Comparisons) -> Comparisons:
    pairs = ((getattr(first, name), getattr(second, name)) for name in ("winners", "losers", "tied"))
    return Comparisons(*(np.concatenate(pair) for pair in pairs))


@both_inferences
def test_nothing_answered_leaves_the_prior(inference: Inference) -> None:
    x = problem(0, choices=1).x
    found, solution = infer(PAPER, Comparisons.none(2), Probit(0.1), inference)
    mean, covariance = found(x)
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(covariance, PAPER(x, x), atol=1e-15)
    assert found.log_evidence == 0.0
    assert solution.steps == 1
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
    found, _ = infer(PAPER, data, Probit(noise), inference)
    mean, covariance = found(x)
    np.testing.assert_allclose(mean, 0.0, atol=1e-6)
    spread = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    assert 0 < spread < noise**2  # forty answers say that they are alike


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
    found, solution = infer(PAPER, Comparisons.of(same, [[0, 1]]), Probit(0.1), inference)
    assert found.log_evidence == pytest.approx(np.log(0.5), abs=1e-12)
    assert isinstance(solution, Solution)
    np.testing.assert_array_equal(found(np.ones((1, 2)))[0], 0.0)


def test_a_linear_reward_costs_as_much_as_it_has_features() -> None:
    data, _ = problem(12, choices=40)
    assert posterior(Linear(), data, Probit(0.3), "ep").slope.shape == (2,)


finite = st.floats(-3.0, 3.0).map(lambda value: round(value, 1))  # rounded, so that duplicates are common


@st.composite
def problems(draw: st.DrawFn) -> tuple[Array, Comparisons, Kernel, Probit]:
    """Any pool, answers that may repeat and contradict, any kernel, noise from tiny to huge."""
    count = draw(st.integers(2, 8))
    items = draw(hnp.arrays(float, (count, 2), elements=finite))
    pair = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)).filter(lambda p: p[0] != p[1])
    chosen, equal = draw(st.lists(pair, max_size=25)), draw(st.lists(pair, max_size=5))
    kernel = draw(st.sampled_from(list(KERNELS.values())))
    noise = 10 ** draw(st.floats(-3, 3))
    margin = noise * 10 ** draw(st.floats(-2, 2))
    return items, Comparisons.of(items, chosen, equal), kernel, Probit(noise, margin)


@both_inferences
@settings(max_examples=150)
@given(case=problems())
def test_any_answers_about_any_pool_give_a_posterior(
    inference: Inference, case: tuple[Array, Comparisons, Kernel, Probit]
) -> None:
    items, data, kernel, probit = case
    found, solution = infer(kernel, data, probit, inference)
    mean, covariance = found(items)
    assert np.isfinite(mean).all()
    assert np.isfinite(covariance).all()
    assert np.isfinite(found.log_evidence)
    assert found.log_evidence <= 1e-9
    assert (solution.W >= 0).all()
    prior = kernel(items, items)
    scale = 1e-8 * max(1.0, float(prior.max()))
    assert (covariance.diagonal() <= prior.diagonal() + scale).all()  # answers never make less certain
    assert np.linalg.eigvalsh(covariance).min() >= -scale


@settings(max_examples=60)
@given(case=problems(), seed=st.integers(0, 1000))
def test_any_order_of_any_answers_gives_the_same_posterior(
    case: tuple[Array, Comparisons, Kernel, Probit], seed: int
) -> None:
    items, data, kernel, probit = case
    order = np.random.default_rng(seed).permutation(len(data)).tolist()
    first, second = (infer(kernel, d, probit)[0](items) for d in (data, reordered(data, order)))
    sd = np.sqrt(1e-12 + kernel.diagonal(items))
    np.testing.assert_allclose(first[0] / sd, second[0] / sd, atol=1e-4)
    np.testing.assert_allclose(first[1] / np.outer(sd, sd), second[1] / np.outer(sd, sd), atol=1e-4)


# --- errors -----------------------------------------------------------------------------------------------


def test_ep_that_does_not_settle_says_how_far_it_came() -> None:
    data, _ = problem(13, choices=10)
    basis = basis_of(covariance_of_differences(PAPER, data), 0.1).basis
    message = r"expectation propagation did not settle in 2 sweeps: the moments are still off by .* standard"
    with pytest.raises(NotSettled, match=message):
        expectation_propagation(basis, data.tied, Probit(0.1), Start.cold(10), 1e-9, limit=2)


def test_laplace_that_does_not_settle_says_how_far_it_came() -> None:
    data, _ = problem(13, choices=10)
    basis = basis_of(covariance_of_differences(PAPER, data), 0.1).basis
    message = r"the posterior mode did not settle in 2 Newton steps: the last one still moved by .* noise"
    with pytest.raises(NotSettled, match=message):
        laplace(basis, data.tied, Probit(0.1), Start.cold(10), 1e-12, limit=2)


@both_inferences
def test_ties_need_a_margin(inference: Inference) -> None:
    data, _ = problem(14, choices=1, ties=1)
    with pytest.raises(ValueError, match=r"some answers are 'about equal', but the margin is 0.*: give"):
        infer(PAPER, data, Probit(0.1), inference)


def test_an_unknown_inference_is_refused() -> None:
    with pytest.raises(ValueError, match="inference must be 'ep' or 'laplace', but is 'mcmc'"):
        infer(PAPER, problem(0, choices=1).data, Probit(0.1), "mcmc")  # type: ignore[arg-type]
