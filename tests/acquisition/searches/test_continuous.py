"""The best question over feature space: gradients by central differences, optima by dense search."""

from typing import Any

import numpy as np
import pytest

import question_reference
from acquisition.searched_pools import score_all
from prefero._support.arrays import Array
from prefero.acquisition.functions.mutual_information import MutualInformation
from prefero.acquisition.searches.continuous import best_continuous_question, mutual_information_and_gradient
from prefero.kernels import RBF, Anchored, Kernel, Linear, Matern, Quadratic
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import Probit
from prefero.questions import Comparisons

KERNELS: dict[str, Kernel] = {
    "RBF": RBF(theta=0.6),
    "ARD": 2.0 * RBF(theta=(0.3, 1.2)),
    "Matern": Matern(lengthscale=(0.8, 1.5)),
    "polynomial": 0.5 * Linear() + 0.3 * Quadratic(),
    "subtracted": Anchored(1.5 * RBF(theta=0.5) + 0.2 * Linear(), (0.3, -0.2)),
    "conditioned": Anchored(RBF(theta=0.5), (0.3, -0.2), mode="condition"),
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
LOW, HIGH = np.array([-1.0, -2.0]), np.array([1.5, 1.0])


def answers(number: int = 6, ties: int = 0, features: int = 2, seed: int = 0) -> Comparisons:
    rng = np.random.default_rng(seed)
    items = rng.standard_normal((8, features))
    pairs = np.array([rng.choice(8, 2, replace=False) for _ in range(number + ties)], dtype=int).reshape(
        -1, 2
    )
    return Comparisons.of(items, pairs[:number], pairs[number:])


def posterior(kernel: Kernel, margin: float = 0.0, number: int = 6, features: int = 2) -> Any:
    data = answers(number, 2 if margin else 0, features)
    return infer(kernel, data, Probit(0.3, margin)).posterior


def belief(margin: float | None = None) -> Any:
    return MixtureFitter(Reference.normal(2), margin=margin).fit(answers(10, 3 if margin else 0))


def judged(distribution: Any, a: Array, b: Array) -> float:
    """Bits by quadrature."""
    rows = []
    for weight, component in distribution.components:
        gap, variance = component.difference(a[None, :], b[None, :])
        rows.append(
            (weight, float(gap[0]), float(variance[0]), component.probit.noise, component.probit.margin)
        )
    return question_reference.mixture_quadrature_bits(rows)


def bits(distribution: Any, place: Array) -> float:
    return mutual_information_and_gradient(distribution, place)[0]


def assert_gradients(distribution: Any, rows: int = 6, features: int = 2) -> None:
    for place in np.random.default_rng(3).standard_normal((rows, 2 * features)):
        _, gradient = mutual_information_and_gradient(distribution, place)
        steps = 1e-5 * np.eye(2 * features)
        values = [
            [mutual_information_and_gradient(distribution, place + s * step)[0] for s in (1, -1)]
            for step in steps
        ]
        expected = np.array([(up - down) / 2e-5 for up, down in values])
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


# --- gradients --------------------------------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("margin", [0.0, 0.25])
def test_gradient_for_one_posterior(kernel: Kernel, margin: float) -> None:
    assert_gradients(posterior(kernel, margin))


@pytest.mark.parametrize("margin", [None, 0.2], ids=["two answers", "three answers"])
def test_gradient_for_a_belief(margin: float | None) -> None:
    distribution = belief(margin)
    assert len(distribution.components) > 2
    assert_gradients(distribution, rows=4)


def test_gradient_before_the_first_answer() -> None:
    assert_gradients(posterior(KERNELS["subtracted"], number=0), rows=3)


@every_kernel
def test_the_value_is_that_of_quadrature(kernel: Kernel) -> None:
    for distribution in (posterior(kernel), posterior(kernel, 0.25)):
        place = np.array([0.4, -0.7, -0.2, 0.9])
        value, _ = mutual_information_and_gradient(distribution, place)
        assert value == pytest.approx(judged(distribution, place[:2], place[2:]), abs=1e-4)


def test_a_question_about_one_place_brings_nothing() -> None:
    value, gradient = mutual_information_and_gradient(
        posterior(KERNELS["RBF"]), np.array([0.3, 0.4, 0.3, 0.4])
    )
    assert value == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)


# --- optima -----------------------------------------------------------------------------------------------


def in_the_box(point: Array) -> bool:
    return bool(np.all(point >= LOW) and np.all(point <= HIGH))


@every_kernel
def test_no_pair_of_a_dense_sample_is_better(kernel: Kernel) -> None:
    for distribution in (posterior(kernel), posterior(kernel, 0.25)):
        made = best_continuous_question(distribution, LOW, HIGH)
        sample = np.random.default_rng(1).uniform(LOW, HIGH, (150, 2))
        assert made.value >= np.max(score_all(distribution, sample, MutualInformation())) - 1e-9
        assert in_the_box(made.left)
        assert in_the_box(made.right)
        assert made.value == pytest.approx(judged(distribution, made.left, made.right), abs=1e-4)


def test_under_a_belief_no_pair_of_a_dense_sample_is_better() -> None:
    distribution = belief()
    made = best_continuous_question(distribution, LOW, HIGH, starts=4)
    sample = np.random.default_rng(1).uniform(LOW, HIGH, (150, 2))
    assert made.value >= np.max(score_all(distribution, sample, MutualInformation())) - 1e-9
    assert in_the_box(made.left)
    assert in_the_box(made.right)


@pytest.mark.parametrize("number", [0, 1, 5])
def test_on_a_line_it_finds_the_best_pair_of_all(number: int) -> None:
    distribution = posterior(RBF(theta=2.0), number=number, features=1)
    line = np.linspace(-2.0, 2.0, 201)[:, None]
    made = best_continuous_question(distribution, [-2.0], [2.0])
    assert made.value >= np.max(score_all(distribution, line, MutualInformation())) - 1e-6


def test_the_seed_decides_the_question() -> None:
    distribution = posterior(KERNELS["RBF"])
    first, again = (best_continuous_question(distribution, LOW, HIGH, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.left, again.left)
    np.testing.assert_array_equal(first.right, again.right)


# --- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ([0.0, 0.0], [0.0, 1.0]),
        ([1.0, 0.0], [0.0, 1.0]),
        ([0.0, np.nan], [1.0, 1.0]),
        ([0.0], [1.0, 1.0]),
        (0.0, 1.0),
        ([[0.0, 0.0]], [[1.0, 1.0]]),
        ([-np.inf, 0.0], [1.0, 1.0]),
        ([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]),
        ([], []),
    ],
    ids=["flat", "upside down", "nan", "uneven", "numbers", "matrix", "endless", "three features", "none"],
)
def test_what_is_no_box_is_refused(low: Any, high: Any) -> None:
    with pytest.raises(ValueError, match="the box needs"):
        best_continuous_question(posterior(KERNELS["RBF"]), low, high)
