"""The evidence: its gradients against central differences, its value against integration, its maximum."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reference
from prefero import kernels
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.inference import evidence
from prefero.models.inference.evidence import DEFAULT_PRIOR_STD, PRIOR_STD, fit_hyperparameters, log_evidence
from prefero.models.inference.infer import Inference
from prefero.models.inference.solution import ConvergenceError
from prefero.models.likelihood.probit import Probit
from prefero.models.posterior.gaussian import covariance_of_differences
from prefero.questions import Comparisons

ANCHOR = (0.2, -0.1)
KERNELS: dict[str, Kernel] = {
    "RBF": RBF(theta=0.7),
    "ARD": 1.5 * RBF(theta=(0.3, 1.1)),
    "Matern": 0.8 * Matern(lengthscale=(0.9, 1.6), nu=1.5),
    "linear": 0.6 * Linear(),
    "sum": 0.5 * Linear() + (0.2 * Quadratic() + 0.7 * RBF(theta=0.5)),
    "subtracted": Anchored(2.0 * RBF(theta=(0.4, 0.9)), ANCHOR),
    "conditioned": Anchored(RBF(theta=0.9), ANCHOR, mode="condition"),
    "standardized": kernels.Standardized(0.9 * Matern(lengthscale=1.2), (0.1, 0.3), (2.0, 0.5)),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
both_inferences = pytest.mark.parametrize("inference", ["ep", "laplace"])
MEASURED = 0.01  # the largest error of EP for two answers was 0.006, of Laplace 0.29
with_and_without_ties = pytest.mark.parametrize("ties", [0, 3], ids=["choices", "with ties"])


def answers(pairs: int = 9, ties: int = 0, seed: int = 0, features: int = 2) -> Comparisons:
    """Answers of a coin, which contradict each other often enough."""
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((8, features))
    drawn = np.array([rng.choice(8, 2, replace=False) for _ in range(pairs + ties)])
    return Comparisons.of(items, drawn[:pairs], drawn[pairs:])


def linear_answers(count: int, seed: int = 0, noise: float = 0.1) -> Comparisons:
    """Answers of somebody who wants much of the first feature."""
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((20, 2))
    pairs = np.array([rng.choice(20, 2, replace=False) for _ in range(count)])
    gap = items[pairs[:, 0], 0] - items[pairs[:, 1], 0] + np.sqrt(2) * noise * rng.standard_normal(count)
    return Comparisons.of(items, np.where(gap[:, None] > 0, pairs, pairs[:, ::-1]))


def central(function: Callable[[float], float], step: float = 1e-4) -> float:
    """A derivative at 0, to fourth order."""
    near, far = (function(s) - function(-s) for s in (step, 2 * step))
    return (8 * near - far) / (12 * step)


# --- gradients --------------------------------------------------------------------------------------------


@every_kernel
@both_inferences
@with_and_without_ties
def test_gradient_by_every_kernel_parameter(kernel: Kernel, inference: Inference, ties: int) -> None:
    data, probit = answers(ties=ties), Probit(0.3, 0.2 if ties else 0.0)
    logs = kernel.log_parameters

    def moved(number: int) -> Callable[[float], float]:
        unit = np.eye(len(logs))[number]
        return lambda step: (
            log_evidence(kernel.with_log_parameters(logs + step * unit), data, probit, inference).value
        )

    expected = [central(moved(number)) for number in range(len(logs))]
    found = log_evidence(kernel, data, probit, inference).kernel_gradient
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@every_kernel
@both_inferences
@with_and_without_ties
def test_gradient_by_the_noise(kernel: Kernel, inference: Inference, ties: int) -> None:
    data, margin = answers(ties=ties, seed=1), 0.25 if ties else 0.0

    def moved(step: float) -> float:
        return log_evidence(kernel, data, Probit(0.4 * np.exp(step), margin), inference).value

    found = log_evidence(kernel, data, Probit(0.4, margin), inference).noise_gradient
    assert found == pytest.approx(central(moved), rel=1e-5, abs=1e-6)


@every_kernel
@both_inferences
def test_gradient_by_the_margin(kernel: Kernel, inference: Inference) -> None:
    data = answers(ties=3, seed=2)

    def moved(step: float) -> float:
        return log_evidence(kernel, data, Probit(0.4, 0.3 * np.exp(step)), inference).value

    found = log_evidence(kernel, data, Probit(0.4, 0.3), inference).margin_gradient
    assert found == pytest.approx(central(moved), rel=1e-5, abs=1e-6)


@both_inferences
def test_gradients_hold_where_the_noise_is_small_and_answers_repeat(inference: Inference) -> None:
    once = linear_answers(6)
    data = Comparisons(np.tile(once.winners, (2, 1)), np.tile(once.losers, (2, 1)), np.tile(once.tied, 2))
    kernel, probit = 1.0 * RBF(theta=0.3), Probit(0.02)

    def moved(step: float) -> float:
        logs = kernel.log_parameters + step * np.array([1.0, 0.5])
        return log_evidence(kernel.with_log_parameters(logs), data, probit, inference).value

    found = log_evidence(kernel, data, probit, inference).kernel_gradient @ np.array([1.0, 0.5])
    assert found == pytest.approx(central(moved, 1e-3), rel=1e-4)


@both_inferences
def test_only_ratios_of_reward_noise_and_margin_matter(inference: Inference) -> None:
    data = answers(ties=2)
    small = log_evidence(1.0 * RBF(theta=0.5), data, Probit(0.3, 0.2), inference)
    large = log_evidence(100.0 * RBF(theta=0.5), data, Probit(3.0, 2.0), inference)
    assert large.value == pytest.approx(small.value, rel=1e-9)
    np.testing.assert_allclose(large.kernel_gradient, small.kernel_gradient, rtol=1e-6)


# --- value ------------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("tied", [(False, False), (False, True), (True, True)])
def test_evidence_of_two_answers_is_the_integral(kernel: Kernel, tied: tuple[bool, bool]) -> None:
    plain = answers(pairs=2)
    data = Comparisons(plain.winners, plain.losers, np.array(tied))
    probit = Probit(0.4, 0.3 if any(tied) else 0.0)
    C = covariance_of_differences(kernel, data)
    exact = reference.exact_moments_of_two(C, data.tied, probit.noise, probit.margin).log_evidence
    assert log_evidence(kernel, data, probit).value == pytest.approx(exact, abs=MEASURED)
    assert log_evidence(kernel, data, probit, "laplace").value == pytest.approx(exact, abs=0.4)


def test_evidence_of_answers_that_contradict_each_other_is_the_integral() -> None:
    once = answers(pairs=1)
    data = Comparisons(
        np.concatenate([once.winners, once.losers]),
        np.concatenate([once.losers, once.winners]),
        np.zeros(2, bool),
    )
    C = covariance_of_differences(KERNELS["RBF"], data)
    exact = reference.exact_moments_of_two(C, data.tied, 0.3).log_evidence
    assert log_evidence(KERNELS["RBF"], data, Probit(0.3)).value == pytest.approx(exact, abs=MEASURED)


@both_inferences
def test_before_the_first_answer_the_evidence_is_one(inference: Inference) -> None:
    found = log_evidence(KERNELS["ARD"], Comparisons.none(2), Probit(0.1), inference)
    assert found.value == 0.0
    np.testing.assert_array_equal(found.kernel_gradient, np.zeros(3))
    assert found.noise_gradient == 0.0


@every_kernel
def test_one_answer_without_a_margin_is_a_coin(kernel: Kernel) -> None:
    assert log_evidence(kernel, answers(pairs=1), Probit(0.1)).value == pytest.approx(np.log(0.5))


# --- maximum ----------------------------------------------------------------------------------------------


def log_posterior(kernel: Kernel, start: Kernel, probit: Probit, data: Comparisons) -> float:
    """Log evidence plus log prior, which is centered on the start."""
    away = [
        (now - was) / prior_std(n) for (n, now), (_, was) in zip(named(kernel), named(start), strict=True)
    ]
    return log_evidence(kernel, data, probit).value - 0.5 * float(np.square(away).sum())


def prior_std(name: str) -> float:
    return PRIOR_STD.get(name, DEFAULT_PRIOR_STD)


def named(kernel: Kernel) -> list[tuple[str, float]]:
    return list(zip(kernel.parameter_names, kernel.log_parameters.tolist(), strict=True))


STARTS: dict[str, Kernel] = {name: KERNELS[name] for name in ("ARD", "sum", "subtracted", "conditioned")}


@pytest.mark.parametrize("kernel", STARTS.values(), ids=STARTS.keys())
def test_the_maximum_is_higher_than_the_start_and_than_its_neighbors(kernel: Kernel) -> None:
    data, probit = linear_answers(15), Probit(0.1)
    learned = fit_hyperparameters(kernel, data, probit)
    assert learned.log_posterior == pytest.approx(
        log_posterior(learned.kernel, kernel, probit, data), abs=1e-6
    )
    assert learned.log_posterior > log_evidence(kernel, data, probit).value
    assert learned.probit == probit
    assert learned.free_parameters == len(kernel.parameter_names)
    rng = np.random.default_rng(0)
    for _ in range(10):
        logs = learned.kernel.log_parameters + 0.2 * rng.standard_normal(len(kernel.parameter_names))
        assert (
            log_posterior(kernel.with_log_parameters(logs), kernel, probit, data)
            <= learned.log_posterior + 1e-4
        )


def test_noise_is_learned_when_it_is_asked_for() -> None:
    start, learned_of = 0.1, {}
    for true in (0.01, 1.0):
        data = linear_answers(40, noise=true)
        learned = fit_hyperparameters(
            1.0 * Linear(), data, Probit(start), learn_kernel=False, learn_noise=True
        )
        learned_of[true] = learned.probit.noise
        assert learned.kernel == 1.0 * Linear()
        assert learned.log_posterior > log_evidence(1.0 * Linear(), data, Probit(start)).value
    assert learned_of[0.01] < start < learned_of[1.0]


def test_a_margin_is_learned_from_the_fraction_of_ties() -> None:
    few, many = (answers(pairs=12 - ties, ties=ties, seed=3) for ties in (1, 8))
    margins = [
        fit_hyperparameters(
            RBF(0.7), data, Probit(0.3, 0.3), learn_kernel=False, learn_margin=True
        ).probit.margin
        for data in (few, many)
    ]
    assert margins[0] < 0.5 * margins[1]


def test_the_irrelevant_feature_of_an_ard_kernel_is_found() -> None:
    learned = fit_hyperparameters(1.0 * RBF(theta=(0.3, 0.3)), linear_answers(40), Probit(0.1))
    _, first, second = learned.kernel.log_parameters
    assert first > second + 1.0


@pytest.mark.parametrize("seed", range(3))
def test_learned_parameters_stay_within_three_standard_deviations_of_the_given_ones(seed: int) -> None:
    data = linear_answers(20, seed, noise=1e-3)  # no contradiction: the evidence alone would go to infinity
    kernel = 1e-6 * RBF(theta=(500.0, 1e-6)) + 1e6 * Linear()
    learned = fit_hyperparameters(kernel, data, Probit(0.1), learn_noise=True, restarts=1)
    before = [*named(kernel), ("noise", np.log(0.1))]
    after = [*named(learned.kernel), ("noise", np.log(learned.probit.noise))]
    for (name, given), (_, value) in zip(before, after, strict=True):
        assert abs(value - given) <= 3.0 * prior_std(name) + 1e-9


def test_restarts_never_make_it_worse() -> None:
    data = linear_answers(12, seed=5)
    alone, again = (fit_hyperparameters(KERNELS["sum"], data, Probit(0.1), restarts=n) for n in (0, 2))
    assert again.log_posterior >= alone.log_posterior
    assert again.evaluations > alone.evaluations


def test_the_same_seed_finds_the_same_maximum() -> None:
    found = [
        fit_hyperparameters(KERNELS["ARD"], linear_answers(12), Probit(0.1), restarts=1, seed=7)
        for _ in range(2)
    ]
    assert found[0].kernel == found[1].kernel


def test_without_time_it_returns_at_once_with_something_usable() -> None:
    data, began = linear_answers(30), time.monotonic()
    hurried = fit_hyperparameters(KERNELS["sum"], data, Probit(0.1), restarts=5, seconds=0.0)
    assert time.monotonic() - began < 2.0
    patient = fit_hyperparameters(KERNELS["sum"], data, Probit(0.1), restarts=5)
    assert hurried.evaluations < patient.evaluations
    assert hurried.log_posterior >= log_evidence(KERNELS["sum"], data, Probit(0.1)).value - 1e-9


def test_few_iterations_are_a_beginning() -> None:
    data, probit = linear_answers(30), Probit(0.1)
    one, many = (fit_hyperparameters(KERNELS["sum"], data, probit, iterations=n) for n in (1, 60))
    assert log_evidence(KERNELS["sum"], data, probit).value < one.log_posterior < many.log_posterior
    assert one.evaluations < many.evaluations


@pytest.mark.parametrize(
    ("kernel", "data", "options"),
    [
        (1.0 * RBF(0.7), Comparisons.none(2), {}),
        (Linear(), answers(), {}),
        (1.0 * RBF(0.7), answers(), {"learn_kernel": False}),
    ],
    ids=["no answer", "no parameter", "nothing asked for"],
)
def test_with_nothing_to_learn_the_given_parameters_come_back(
    kernel: Kernel, data: Comparisons, options: dict[str, Any]
) -> None:
    learned = fit_hyperparameters(kernel, data, Probit(0.1), **options)
    assert (learned.kernel, learned.probit, learned.evaluations) == (kernel, Probit(0.1), 0)


def never_converges(*_: Any, **__: Any) -> Any:
    raise ConvergenceError("this inference never converges")


@pytest.mark.parametrize("theta", [0.5, 1e-6, 1e6], ids=["usual", "tiny", "huge"])
def test_when_every_inference_fails_the_given_parameters_come_back(
    theta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evidence, "log_evidence", never_converges)
    learned = fit_hyperparameters(2.0 * RBF(theta), answers(), Probit(0.1), learn_noise=True, restarts=1)
    expected: Array = (2.0 * RBF(theta)).log_parameters
    np.testing.assert_allclose(learned.kernel.log_parameters, expected, atol=1e-9)
    assert learned.probit.noise == pytest.approx(0.1)


def test_an_inference_that_fails_here_and_there_does_not_end_the_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real, calls = evidence.log_evidence, iter(range(1000))

    def sometimes(*args: Any, **kwargs: Any) -> Any:
        return never_converges() if next(calls) % 4 == 3 else real(*args, **kwargs)

    monkeypatch.setattr(evidence, "log_evidence", sometimes)
    data = linear_answers(12)
    learned = fit_hyperparameters(KERNELS["ARD"], data, Probit(0.1), restarts=1)
    assert learned.log_posterior > real(KERNELS["ARD"], data, Probit(0.1)).value
