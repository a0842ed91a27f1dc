"""One conformance kit for every kernel (a new kernel is one row of KERNELS), and what each alone promises."""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import reference
from kernels.conformance import CHECKS, points, shared_points
from prefero._support.arrays import Array
from prefero.kernels import (
    RBF,
    Additive,
    Anchored,
    ItemEffects,
    Kernel,
    Linear,
    Matern,
    Projected,
    Quadratic,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Thresholded,
    Warped,
    WithBar,
    from_json,
)

ANCHOR = (0.3, -0.2, 0.5)
ARD = (0.4, 1.0, 2.5)

KERNELS: dict[str, Kernel] = {
    "rbf": RBF(theta=0.7),
    "rbf, one theta a feature": RBF(theta=ARD),
    "matern 3/2": Matern(lengthscale=0.8, nu=1.5),
    "matern 3/2, one lengthscale a feature": Matern(lengthscale=ARD, nu=1.5),
    "matern 5/2": Matern(lengthscale=1.3),
    "matern 5/2, one lengthscale a feature": Matern(lengthscale=ARD, nu=2.5),
    "linear": Linear(),
    "quadratic": Quadratic(),
    "scaled": 2.5 * Matern(lengthscale=0.6),
    "scaled twice": 0.5 * (3.0 * RBF(theta=ARD)),
    "linear + quadratic": 2.0 * Linear() + 0.3 * Quadratic(),
    "linear + rbf + matern": Linear() + 4.0 * RBF(theta=ARD) + Matern(nu=1.5),
    "rbf, subtracted": Anchored(RBF(theta=0.7), ANCHOR),
    "rbf, conditioned": Anchored(RBF(theta=0.7), ANCHOR, mode="condition"),
    "scaled matern, subtracted": Anchored(3.0 * Matern(lengthscale=ARD), ANCHOR),
    "scaled matern, conditioned": Anchored(3.0 * Matern(lengthscale=ARD, nu=1.5), ANCHOR, mode="condition"),
    "linear, subtracted": Anchored(2.0 * Linear(), ANCHOR),
    "linear, conditioned": Anchored(2.0 * Linear(), ANCHOR, mode="condition"),
    "sum, subtracted": Anchored(Linear() + 0.3 * Quadratic() + 2.0 * RBF(theta=ARD), ANCHOR),
    "sum, conditioned": Anchored(
        Linear() + 0.3 * Quadratic() + 2.0 * RBF(theta=ARD), ANCHOR, mode="condition"
    ),
    "selected": Selected(RBF(theta=(0.5, 2.0)) + 0.5 * Linear(), (2, 0)),
    "selected, subtracted": Anchored(Selected(Linear() + Quadratic(), (1,)), ANCHOR),
    "additive": Additive(RBF(theta=0.4)),
    "with the bar": WithBar(Anchored(Linear() + RBF(theta=ARD), ANCHOR)),
    "additive sum": Additive(0.7 * Matern(0.8, 1.5) + 0.2 * Linear()),
    "warped": Warped(RBF(theta=ARD) + 0.5 * Linear(), (1.0, -2.0, 0.5), (2.0, 0.3, 1.0)),
    "thresholded": Thresholded(RBF(theta=0.5) + Linear(), (2, 0, 2), (0.5, -0.3, 1.0), (0.4, 0.2, 1.0)),
    "thresholded, subtracted": Anchored(
        Thresholded(Linear(), (2, 0, 2), (0.5, -0.3, 1.0), (0.4, 0.2, 1.0)), ANCHOR
    ),
    "projected": Projected(RBF(theta=(0.5, 2.0)) + 0.5 * Linear(), ((1.0, 0.2), (-0.5, 1.0), (0.3, 0.0))),
    "projected, subtracted": Anchored(Projected(Quadratic(), ((1.0,), (-0.5,), (0.3,))), ANCHOR),
    "standardized": Standardized(RBF(theta=ARD) + 0.5 * Linear(), (1.0, -2.0, 0.5), (2.0, 0.3, 1.0)),
    "standardized, subtracted": Anchored(Standardized(Matern(), (1.0, -2.0, 0.5), (2.0, 0.3, 1.0)), ANCHOR),
    "rbf + items": Anchored(RBF(), ANCHOR) + 0.5 * ItemEffects(((0.0, 1.0, 2.0), (0.5, 0.0, 1.0))),
    "scaled anchored + linear": 2.0 * Anchored(RBF(), ANCHOR, mode="condition") + 0.1 * Linear(),
}
STATIONARY = {name: kernel for name, kernel in KERNELS.items() if isinstance(kernel, RBF | Matern)}
ANCHORED = {name: kernel for name, kernel in KERNELS.items() if isinstance(kernel, Anchored)}

every_kernel = pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS.keys())
every_stationary_kernel = pytest.mark.parametrize("kernel", STATIONARY.values(), ids=STATIONARY.keys())
every_anchored_kernel = pytest.mark.parametrize("kernel", ANCHORED.values(), ids=ANCHORED.keys())


# --- the kit ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@every_kernel
def test_every_kernel_conforms(kernel: Kernel, check: Callable[[Kernel, int], None]) -> None:
    check(kernel, 3)


@every_stationary_kernel
def test_features_far_from_zero_cost_little_accuracy(kernel: Kernel) -> None:
    x, y = shared_points()
    np.testing.assert_allclose(kernel(x + 1e4, y + 1e4), kernel(x, y), rtol=0, atol=1e-10)


@every_anchored_kernel
def test_the_anchor_has_no_variance(kernel: Anchored) -> None:
    at, x = np.array([kernel.anchor]), points(5, 7)
    np.testing.assert_allclose(kernel(at, x), 0.0, atol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(at), 0.0, atol=1e-12)


# --- what each kernel is ----------------------------------------------------------------------------------


def test_rbf_is_the_exponential_of_the_squared_distance() -> None:
    x, y = shared_points()
    squares = np.array([[np.sum(np.array(ARD) * (p - q) ** 2) for q in y] for p in x])
    np.testing.assert_allclose(RBF(theta=ARD)(x, y), np.exp(-squares), rtol=1e-12)


@pytest.mark.parametrize("nu", [1.5, 2.5])
def test_matern_equals_the_general_formula_with_a_bessel_function(nu: float) -> None:
    r = np.linspace(0.1, 5.0, 50)
    t = np.sqrt(2 * nu) * r / 1.7
    expected = 2 ** (1 - nu) / special.gamma(nu) * t**nu * special.kv(nu, t)
    found = Matern(lengthscale=1.7, nu=nu)(r[:, None], np.zeros((1, 1)))[:, 0]
    np.testing.assert_allclose(found, expected, rtol=1e-11)


def test_quadratic_is_a_polynomial_with_independent_standard_normal_coefficients() -> None:
    def monomials(z: Array) -> Array:
        rows = [z[:, i] * z[:, j] for i in range(3) for j in range(i, 3)]
        return np.stack(rows, axis=1)

    x, y = shared_points()
    np.testing.assert_allclose(Quadratic()(x, y), monomials(x) @ monomials(y).T, rtol=1e-12, atol=1e-12)


def test_sums_and_scales_are_sums_and_multiples() -> None:
    x, y = shared_points()
    kernel = 2.0 * RBF(theta=0.5) + Linear()
    np.testing.assert_allclose(kernel(x, y), 2.0 * RBF(theta=0.5)(x, y) + x @ y.T, rtol=1e-12, atol=1e-12)
    assert kernel == Sum(Scaled(RBF(theta=0.5), 2.0), Linear())
    assert kernel.parameter_names == ("variance", "theta")


@pytest.mark.parametrize("two", [2, 2.0, np.float64(2.0), np.float32(2.0), np.int64(2)])
def test_kernels_commute_with_numbers(two: Any) -> None:
    kernel = RBF(theta=0.5)
    assert two * kernel == kernel * two == kernel / (1 / two) == Scaled(kernel, 2.0)
    assert sum([kernel, Linear()]) == kernel + Linear()


@pytest.mark.parametrize("other", [RBF(), "2", None, np.ones(3)], ids=["kernel", "text", "nothing", "array"])
def test_kernels_are_multiplied_by_numbers_only(other: Any) -> None:
    for operation in (operator.mul, operator.truediv):
        with pytest.raises(TypeError):
            operation(Linear(), other)
    for operation, one in ((operator.mul, other), (operator.add, 1), (operator.add, other)):
        if not (isinstance(one, Kernel) and operation is operator.add):
            with pytest.raises(TypeError):
                operation(one, Linear())


def test_conditioning_gives_the_kernel_printed_in_the_paper() -> None:
    x, y = shared_points()
    printed = reference.conditioned_rbf(x, y, theta=0.7, anchor=np.array(ANCHOR))
    np.testing.assert_allclose(KERNELS["rbf, conditioned"](x, y), printed, rtol=1e-12, atol=1e-14)


def test_subtracting_gives_the_covariance_of_rewards_less_the_reward_of_the_anchor() -> None:
    x, y = shared_points()
    everything = np.concatenate([x, y, [ANCHOR]])
    less = np.hstack([np.eye(11), -np.ones((11, 1))])
    full = less @ RBF(theta=0.7)(everything, everything) @ less.T
    np.testing.assert_allclose(KERNELS["rbf, subtracted"](x, y), full[:6, 6:], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("inner", [RBF(theta=ARD), Linear() + Quadratic(), 3.0 * Matern()])
def test_subtracting_leaves_differences_untouched_by_the_anchor(inner: Kernel) -> None:
    def variance_of_differences(kernel: Kernel) -> Array:
        x, y = points(4, 8), points(4, 9)
        return np.asarray(kernel(x, x) - kernel(x, y) - kernel(y, x) + kernel(y, y))

    plain = variance_of_differences(inner)
    np.testing.assert_allclose(variance_of_differences(Anchored(inner, ANCHOR)), plain, atol=1e-12)
    np.testing.assert_allclose(variance_of_differences(Anchored(inner, (5.0, 0.0, -1.0))), plain, atol=1e-11)


def test_standardized_features_are_centered_and_scaled() -> None:
    (x, y), center, scale = shared_points(), np.array([1.0, -2.0, 0.5]), np.array([2.0, 0.3, 1.0])
    kernel = Standardized(RBF(theta=ARD), tuple(center), tuple(scale))
    inner = RBF(theta=ARD)((x - center) / scale, (y - center) / scale)
    np.testing.assert_allclose(kernel(x, y), inner, rtol=1e-12)


def test_an_additive_reward_is_a_sum_of_independent_functions_of_one_feature() -> None:
    x, y = shared_points()
    each = [Selected(RBF(0.4), (j,))(x, y) for j in range(3)]
    np.testing.assert_allclose(Additive(RBF(0.4))(x, y), np.mean(each, axis=0), rtol=1e-12)


def test_warped_features_are_linear_near_the_center_and_logarithmic_far_from_it() -> None:
    near, far, one = np.array([[1.0 + 1e-6]]), np.array([[1.0 + 1e6]]), np.array([[1.0 + np.sinh(1.0)]])
    kernel = Warped(Linear(), (1.0,), (1.0,))
    assert kernel(near, one)[0, 0] == pytest.approx(1e-6, rel=1e-9)
    assert kernel(far, one)[0, 0] == pytest.approx(np.log(2e6), rel=1e-9)


def test_a_threshold_is_a_step_that_levels_off() -> None:
    kernel = Thresholded(Linear(), (1,), (2.0,), (0.5,))
    one = np.array([[7.0, 1e9]])  # beyond the threshold, where the step is 1
    x = np.array([[0.0, -50.0], [3.0, 2.0], [-9.0, 2.5], [0.0, 1e4]])
    np.testing.assert_allclose(kernel(x, one)[:, 0], [-1.0, 0.0, np.tanh(1.0), 1.0], rtol=1e-12)


@pytest.mark.parametrize("numbers", [((), ()), ((1.0,), (0.0,)), ((np.nan,), (1.0,)), ((1.0, 2.0), (1.0,))])
def test_a_threshold_has_a_value_and_a_positive_width(numbers: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="threshold"):
        Thresholded(Linear(), (0,), *numbers)


def test_a_kernel_is_a_value() -> None:
    assert RBF(theta=[1, 2]) == RBF(theta=(1.0, 2.0))  # type: ignore[arg-type]
    assert hash(Anchored(RBF(), ANCHOR)) == hash(Anchored(RBF(theta=1.0), ANCHOR))
    with pytest.raises(AttributeError, match="cannot assign"):
        RBF().theta = 2.0  # type: ignore[misc]


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, (1.0, 0.0), (), ((1.0, 2.0),)])
def test_a_length_must_be_positive(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"theta must be .*positive"):
        RBF(theta=bad)
    with pytest.raises(ValueError, match=r"lengthscale must be .*positive"):
        Matern(lengthscale=bad)


def test_matern_knows_two_smoothnesses() -> None:
    with pytest.raises(ValueError, match=r"nu must be .*0\.5"):
        Matern(nu=0.5)


@pytest.mark.parametrize("bad", [0.0, -2.0, np.nan, np.inf])
def test_a_scale_must_be_positive(bad: float) -> None:
    with pytest.raises(ValueError, match="positive variance"):
        bad * RBF()


@pytest.mark.parametrize("bad", [(), ((0.0, 1.0),), (np.nan, 0.0), 1.0])
def test_an_anchor_is_one_finite_point(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"anchor must be .*one point"):
        Anchored(RBF(), bad)


def test_an_anchor_is_subtracted_or_conditioned_on() -> None:
    with pytest.raises(ValueError, match=r"mode must be 'subtract' or 'condition', .*'both'"):
        Anchored(RBF(), ANCHOR, mode="both")  # type: ignore[arg-type]


def test_a_reward_that_is_0_at_the_anchor_cannot_be_conditioned_there() -> None:
    with pytest.raises(ValueError, match=r"already 0 .*mode='subtract'"):
        Anchored(Linear(), (0.0, 0.0), mode="condition")


@pytest.mark.parametrize("kernel", [RBF(theta=(1.0, 2.0)), Matern(lengthscale=(1.0, 2.0))])
def test_lengths_must_match_the_features(kernel: Kernel) -> None:
    with pytest.raises(ValueError, match=r"2 values of .* 3 features"):
        kernel(points(2, 0), points(2, 0))


def test_the_anchor_must_match_the_features() -> None:
    with pytest.raises(ValueError, match=r"anchor has 2 features, .*3"):
        Anchored(RBF(), (0.0, 0.0))(points(2, 0), points(2, 0))


def test_an_unknown_kernel_in_a_file_is_named_and_the_known_are_listed() -> None:
    with pytest.raises(ValueError, match=r"no kernel 'Cosine'.*RBF, Matern, Linear"):
        from_json({"kind": "Cosine"})


def test_a_selected_kernel_is_of_these_columns_alone_in_their_order() -> None:
    x, y = shared_points()
    kernel = Selected(RBF(theta=(0.5, 2.0)), (2, 0))
    wanted = np.exp(-0.5 * (x[:, None, 2] - y[:, 2]) ** 2 - 2.0 * (x[:, None, 0] - y[:, 0]) ** 2)
    np.testing.assert_allclose(kernel(x, y), wanted, rtol=1e-12)


@pytest.mark.parametrize("columns", [(), (1, 1), (0, -1)])
def test_a_selected_kernel_needs_features_each_once(columns: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="one feature or more"):
        Selected(Linear(), columns)


def test_a_projected_kernel_is_that_of_the_combinations() -> None:
    x = np.random.default_rng(0).standard_normal((5, 3))
    axes = np.array([[1.0, 0.2], [-0.5, 1.0], [0.3, 0.0]])
    kernel = Projected(RBF(0.7), tuple(map(tuple, axes)))
    assert np.allclose(kernel(x, x), RBF(0.7)(x @ axes, x @ axes), rtol=0, atol=1e-14)
    with pytest.raises(ValueError, match=r"\(features, combinations\), .*\(3,\)"):
        Projected(RBF(), (1.0, 2.0, 3.0))  # type: ignore[arg-type]
