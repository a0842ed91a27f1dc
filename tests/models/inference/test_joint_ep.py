"""EP for answers of every kind: equal to that of pairs, and near the exact posterior."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from models.answer_problems import from_sites
from models.joint_reference import reweighted_moments
from prefero._support.arrays import Array
from prefero.kernels import RBF, Linear
from prefero.models.algebra.linalg import pivoted_cholesky
from prefero.models.inference import ep
from prefero.models.inference.attempts import expectation_propagation, warm_starts
from prefero.models.inference.evidence import fit_hyperparameters, log_evidence
from prefero.models.inference.infer import infer
from prefero.models.inference.latent import Single
from prefero.models.inference.leave_one_out import leave_one_out
from prefero.models.inference.solution import WarmStart
from prefero.models.likelihood.probabilities import People, answer_probabilities
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.models.posterior.gaussian import covariance_of_differences
from prefero.models.preference_gp import PreferenceGP
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import choices_of
from prefero.questions.comparisons import AnswerRows

X = np.random.default_rng(0).standard_normal((8, 2))
KERNEL = RBF(0.3)
MIXED = [
    Answer.best_of([0, 1, 2], best=1),
    Answer.preferred(3, 4),
    Answer.worst_of([2, 5, 6], worst=6),
    Answer.preferred(1, 7, "much"),
    Answer.ranking([5, 1, 0]),
    Answer.ranking([1, (0, 7)]),
    Answer(Question(2, 6), "equal"),
    Answer.preferred(4, 6, "slightly"),
]
PERSON = Probit(0.4, 0.3, 0.0, 0.9)


def plain_pairs(seed: int, ties: int) -> Comparisons:
    rng = np.random.default_rng(seed)
    pairs = np.array([rng.choice(8, 2, replace=False) for _ in range(10)])
    return Comparisons.of(X, pairs[ties:], pairs[:ties])


def general(data: Comparisons) -> Comparisons:
    """The same answers, as data of the general path."""
    number = np.arange(len(data))
    rows = AnswerRows.of(number, ["pair"] * len(data), np.where(data.tied, "equal", "left"))
    return replace(data, rows=rows)


@settings(max_examples=15)
@given(seed=st.integers(0, 1000), ties=st.integers(0, 4), lapse=st.sampled_from([0.0, 0.1]))
def test_pairs_through_the_general_path_equal_the_present_ones(seed: int, ties: int, lapse: float) -> None:
    data, probit = plain_pairs(seed, ties), Probit(0.3, 0.2, lapse)
    one, other = (infer(KERNEL, some, probit, tolerance=1e-11) for some in (data, general(data)))
    assert one.log_evidence == pytest.approx(other.log_evidence, abs=1e-9)
    for found, wanted in zip(other.posterior(X), one.posterior(X), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    first, second = (leave_one_out(fit.posterior, fit.data, [fit.solution.sites]) for fit in (one, other))
    np.testing.assert_allclose(second, first, atol=1e-9)


def test_plain_answers_take_the_present_path() -> None:
    answers = [Answer(Question(0, 1), "left"), Answer(Question(2, 1), "equal")]
    assert Comparisons.from_answers(X, answers).rows is None
    assert Comparisons.from_answers(X, [*answers, MIXED[0]]).rows is not None


def log_likelihood(answers: list[Answer], rewards: Array, probit: Probit) -> Array:
    """log P(answers | rewards), for rewards of all trajectories, (S, M)."""
    values = (probit.noise, probit.margin, probit.strong_margin, probit.lapse)
    people, total = People(*(np.full(len(rewards), value) for value in values)), np.zeros(len(rewards))
    for answer in answers:
        kind, items = answer.question.kind, list(answer.question.items)
        p = answer_probabilities(rewards[:, items], kind, people, ties=True)
        total += np.log(np.maximum(p[:, choices_of(kind).index(answer.choice)], 1e-300))
    return total


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_ep_is_near_the_exact_posterior_of_mixed_answers(lapse: float) -> None:
    """By importance sampling: whatever is proposed, the weights are prior times likelihood / proposal."""
    probit, rng = Probit(PERSON.noise, PERSON.margin, lapse, PERSON.strong_margin), np.random.default_rng(0)
    posterior = infer(KERNEL, Comparisons.from_answers(X, MIXED), probit).posterior
    mean, covariance = posterior(X)
    prior, proposal = KERNEL(X, X) + 1e-6 * np.eye(8), 1.4 * covariance + 1e-6 * np.eye(8)
    draws = rng.multivariate_normal(mean, proposal, 1000)
    log_weights = multivariate_normal(np.zeros(8), prior).logpdf(draws) + log_likelihood(MIXED, draws, probit)
    log_weights -= multivariate_normal(mean, proposal).logpdf(draws)
    exact_mean, exact_covariance, effective = reweighted_moments(draws, log_weights)
    assert effective > 200
    D = np.eye(8) - 1.0 / 8  # rewards are known up to a constant
    std = np.sqrt(np.diagonal(D @ exact_covariance @ D.T))
    assert np.abs(D @ (mean - exact_mean) / std).max() < 0.15  # of which 0.07 is the error of sampling
    assert np.abs(np.sqrt(np.diagonal(D @ covariance @ D.T)) / std - 1.0).max() < 0.1


def test_best_of_k_told_as_pairs_is_too_sure() -> None:
    """The k - 1 pairs count the noise of the best one's showing several times, as if it were independent."""
    best = Answer.best_of([0, 1, 2, 3, 4], best=0)
    joint = infer(Linear(), Comparisons.from_answers(np.eye(5), [best]), Probit(0.5)).posterior
    pairs = Comparisons.of(np.eye(5), [(0, other) for other in range(1, 5)])
    apart = infer(Linear(), pairs, Probit(0.5)).posterior
    lead = np.array([1.0, -0.25, -0.25, -0.25, -0.25])
    variances = [float(lead @ posterior(np.eye(5))[1] @ lead) for posterior in (joint, apart)]
    rng = np.random.default_rng(0)
    rewards = rng.standard_normal((300_000, 5))
    said = np.argmax(rewards + 0.5 * rng.standard_normal(rewards.shape), axis=1) == 0
    exact = np.var(rewards[said] @ lead)
    assert variances[0] == pytest.approx(exact, rel=0.05)
    assert variances[1] == pytest.approx(0.82 * exact, rel=0.02)  # 18 % too little


def test_the_order_of_answers_does_not_matter() -> None:
    one = infer(KERNEL, Comparisons.from_answers(X, MIXED), PERSON, tolerance=1e-10).posterior
    other = infer(KERNEL, Comparisons.from_answers(X, MIXED[::-1]), PERSON, tolerance=1e-10).posterior
    np.testing.assert_allclose(one(X)[0], other(X)[0], atol=1e-7)
    np.testing.assert_allclose(one(X)[1], other(X)[1], atol=1e-7)


@pytest.mark.parametrize("lapse", [0.0, 0.1])
def test_the_evidence_has_the_gradient_of_finite_differences(lapse: float) -> None:
    data = Comparisons.from_answers(X, MIXED)

    def value(theta: float = 0.3, noise: float = 0.4, margin: float = 0.3, strong: float = 0.9) -> float:
        return log_evidence(RBF(theta), data, Probit(noise, margin, lapse, strong)).value

    found = log_evidence(KERNEL, data, Probit(0.4, 0.3, lapse, 0.9))
    h = 1e-4
    wanted = [
        (value(**{name: at * np.exp(h)}) - value(**{name: at * np.exp(-h)})) / (2 * h)
        for name, at in {"theta": 0.3, "noise": 0.4, "margin": 0.3, "strong": 0.9}.items()
    ]
    gradient = [*found.kernel_gradient, found.noise_gradient, found.margin_gradient]
    np.testing.assert_allclose([*gradient, found.strong_margin_gradient], wanted, atol=2e-5)


def test_both_margins_are_learned() -> None:
    rng, x = np.random.default_rng(0), np.random.default_rng(1).standard_normal((40, 1))
    answers = []
    for _ in range(60):
        a, b = (int(i) for i in rng.choice(40, 2, replace=False))
        gap = x[a, 0] - x[b, 0] + 0.1 * np.sqrt(2) * rng.standard_normal()
        side = "left" if gap > 0 else "right"
        word = "equal" if abs(gap) < 0.3 else f"{side}-{'much' if abs(gap) > 1.2 else 'slightly'}"
        answers.append(Answer(Question(a, b, kind="strength"), word))
    data = Comparisons.from_answers(x, answers)
    fit = fit_hyperparameters(
        Linear(),
        data,
        Probit(0.1, 0.1, 0.0, 0.8),
        learn_kernel=False,
        learn_margin=True,
        learn_strong_margin=True,
    )
    # a linear reward has a prior standard deviation of 1 for a slope of 1
    slope = float(infer(Linear(), data, fit.probit).posterior(np.ones((1, 1)))[0][0])
    assert fit.probit.margin / slope == pytest.approx(0.3, rel=0.25)
    assert fit.probit.strong_margin / slope == pytest.approx(1.2, rel=0.15)


def test_the_posterior_is_what_the_sites_say() -> None:
    fit = infer(KERNEL, Comparisons.from_answers(X, MIXED), PERSON)
    for found, wanted in zip(fit.posterior(X), from_sites(fit, X), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)


def test_a_batch_of_models_starts_near_the_fixed_point_of_each() -> None:
    data, probits = Comparisons.from_answers(X, MIXED), [Probit(s, s, 0.0, 0.9) for s in (0.2, 0.4)]
    C = covariance_of_differences(KERNEL, data)
    bases = [pivoted_cholesky(C, probit.noise).basis for probit in probits]
    starts = warm_starts(bases, layout_of(data), probits, [WarmStart.zeros(len(data))] * 2, 1e-6)
    for basis, probit, start in zip(bases, probits, starts, strict=True):
        warm = expectation_propagation(basis, layout_of(data), probit, start, 1e-5)
        cold = expectation_propagation(basis, layout_of(data), probit, WarmStart.zeros(len(data)), 1e-5)
        assert warm.iterations < cold.iterations
        assert warm.log_evidence == pytest.approx(cold.log_evidence, abs=1e-5)


def test_a_start_with_negative_sites_spoils_no_other_model() -> None:
    """Free sites of fewer answers may be negative, and leave an improper cavity once there are more."""
    data = Comparisons.from_answers(X, MIXED)
    probit, layout = Probit(0.5, 0.2, 0.0, 1.0), layout_of(data)
    basis = pivoted_cholesky(covariance_of_differences(KERNEL, data), probit.noise).basis
    zeros = WarmStart.zeros(len(data))
    negative = WarmStart(np.zeros((len(data), layout.width)), np.zeros(len(data)))
    for rows in (batch.rows for batch in layout.batches):
        negative.precision[rows, : rows.shape[1]] = -3.0 * np.eye(rows.shape[1])
    _, other = warm_starts([basis, basis], layout, [probit] * 2, [negative, zeros], 1e-6)
    _, alone = warm_starts([basis, basis], layout, [probit] * 2, [zeros, zeros], 1e-6)
    np.testing.assert_allclose(other.shift, alone.shift)
    np.testing.assert_allclose(other.precision, alone.precision)


def test_the_default_model_learns_from_answers_of_every_kind() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((30, 2))
    reward, answers = x @ [1.0, -0.5], []
    for _ in range(8):
        items = [int(i) for i in rng.choice(30, 4, replace=False)]
        order = sorted(items, key=lambda i: -(reward[i] + 0.1 * rng.standard_normal()))
        answers.append(Answer.ranking(order))
    model = PreferenceGP(noise=0.1).fit(x, answers=answers)
    predicted = model.predict(x)
    assert np.corrcoef(np.asarray(predicted), reward)[0, 1] > 0.9
    more = [*answers[:1], Answer.preferred(4, 5, "much")]
    one = PreferenceGP(noise=0.1, learn=False).fit(x, [(0, 1)], [(2, 3)], answers=more)
    assert one.margin_ > 0
    assert one.strong_margin_ > one.margin_


@pytest.mark.parametrize("strength", ["slightly", "much"])
def test_strengths_need_a_strong_margin(strength: str) -> None:
    answer = Answer.preferred(0, 1, strength)
    with pytest.raises(ValueError, match="strong margin is 0"):
        infer(KERNEL, Comparisons.from_answers(X, [answer]), Probit(0.3))


def test_laplace_knows_pairs_only() -> None:
    with pytest.raises(ValueError, match=r"'laplace' .*pairs only"):
        infer(KERNEL, Comparisons.from_answers(X, MIXED), PERSON, "laplace")


CONTRADICTORY = [
    Answer.ranking([0, 1, 2, 3]),
    Answer.ranking([3, 2, (1, 0)]),
    Answer.ranking([4, (5, 0), 6]),
    Answer.ranking([6, 0, 5, 4]),
    Answer.ranking([1, 7, 3, (2, 5)]),
]


@pytest.fixture
def sweeps(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The scale of the noise in every sweep of a single model, in the order in which they are made."""
    made: list[float] = []
    sweep = ep.Problem.sweep

    def counted(self: ep.Problem, flat: Array) -> ep.Sweep:
        if isinstance(self.latent, Single):
            made.append(float(self.scale[0]))
        return sweep(self, flat)

    monkeypatch.setattr(ep.Problem, "sweep", counted)
    return made


def test_rankings_that_contradict_each_other_take_few_sweeps(sweeps: list[float]) -> None:
    """Full steps overshoot there."""
    data = Comparisons.from_answers(X, CONTRADICTORY)
    probits = [Probit(noise, noise, 0.1) for noise in (0.1, 0.3)]
    basis = pivoted_cholesky(covariance_of_differences(KERNEL, data), 0.1).basis
    nothing = [WarmStart.zeros(len(data))] * len(probits)
    starts = warm_starts([basis] * len(probits), layout_of(data), probits, nothing, 1e-6)
    found = [
        expectation_propagation(basis, layout_of(data), probit, start, 1e-5)
        for probit, start in zip(probits, starts, strict=True)
    ]
    assert max(solution.residual for solution in found) <= 1e-5
    assert len(sweeps) <= 30 * len(probits)


def test_a_residual_of_rounding_ends_the_sweeps(sweeps: list[float]) -> None:
    """A tie within a tiny margin has sites whose rounding alone is more than the tolerance."""
    answers = [Answer.ranking([0, (1, 2), 3]), Answer.ranking([3, 1, 2, 4]), Answer.preferred(5, 0)]
    data, probit = Comparisons.from_answers(X, answers), Probit(0.1, 1e-4)
    basis = pivoted_cholesky(covariance_of_differences(Linear(), data), 0.1).basis
    found = expectation_propagation(basis, layout_of(data), probit, WarmStart.zeros(len(data)), 1e-12)
    assert found.residual <= ep.ROUNDING
    assert len(sweeps) <= 40
