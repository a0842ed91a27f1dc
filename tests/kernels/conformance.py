"""The conformance kit of kernels: what Prefero needs of a kernel, its own or another package's.

`check_kernel(kernel)` runs every check; a package that defines a kernel can copy this file into its tests.
"""

import json
from collections.abc import Callable

import array_api_strict
import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Kernel, from_json, to_json

STEP = 1e-5  # of central differences


def check_kernel(kernel: Kernel, features: int = 3) -> None:
    """Run every check on a kernel of so many features."""
    for check in CHECKS:
        check(kernel, features)


def points(count: int, seed: int, features: int = 3) -> Array:
    """Features of random trajectories."""
    return np.random.default_rng(seed).standard_normal((count, features))


def shared_points(features: int = 3) -> tuple[Array, Array]:
    """x (6, d) and y (5, d), two of which are the same point, where a Matern kernel has its kink."""
    x = points(6, 1, features)
    return x, np.concatenate([x[:2], points(3, 2, features)])


def is_a_kernel(kernel: Kernel, features: int) -> None:  # noqa: ARG001
    assert isinstance(kernel, Kernel)
    assert hash(kernel) == hash(kernel)


def is_symmetric(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    assert kernel(x, y).shape == (6, 5)
    np.testing.assert_allclose(kernel(x, y), kernel(y, x).T, rtol=1e-12, atol=1e-12)


def is_positive_semi_definite(kernel: Kernel, features: int) -> None:
    x = points(30, 3, features)
    values = np.linalg.eigvalsh(kernel(*[np.concatenate([x, x[:5]])] * 2))  # with duplicates
    assert values.min() > -1e-12 * values.max()


def has_the_diagonal_of_its_matrix(kernel: Kernel, features: int) -> None:
    x = points(7, 4, features)
    np.testing.assert_allclose(kernel.diagonal(x), kernel(x, x).diagonal(), rtol=1e-12, atol=1e-12)


def is_the_sum_of_its_terms(kernel: Kernel, features: int) -> None:
    x = points(9, 5, features)
    total = np.zeros((9, 9))
    for left, right, profile, scale in kernel.terms(x) or []:
        product = left @ right.T
        total += scale * (product if profile is None else profile(product))
    if kernel.terms(x) is not None:
        np.testing.assert_allclose(total, kernel(x, x), rtol=1e-9, atol=1e-9)


def computes_each_pair_alone(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    np.testing.assert_allclose(kernel(x[2:3], y[1:2]), kernel(x, y)[2:3, 1:2], rtol=1e-12, atol=1e-12)


def computes_rows_like_its_matrix(kernel: Kernel, features: int) -> None:
    x, y = points(70, 6, features), points(70, 7, features)
    np.testing.assert_allclose(kernel.rowwise(x, y), kernel(x, y).diagonal(), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(kernel.rowwise(x[:, None], y), kernel(x, y), rtol=1e-11, atol=1e-12)
    assert kernel.rowwise(x[:0], y[:0]).shape == (0,)


def leaves_its_arguments_unchanged(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    before = x.copy(), y.copy()
    kernel(x, y)
    kernel.gradient(x, y, np.ones((6, 5)))
    kernel.input_gradient(x, y)
    np.testing.assert_array_equal(x, before[0])
    np.testing.assert_array_equal(y, before[1])


def returns_an_array_of_its_own(kernel: Kernel, features: int) -> None:
    """Composed kernels change it in place."""
    x, y = shared_points(features)
    wanted = kernel(x, y).copy()
    kernel(x, y)[:] = np.nan
    np.testing.assert_array_equal(kernel(x, y), wanted)


def names_its_parameters(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    gradient = kernel.gradient(x, y, np.ones((6, 5)))
    assert gradient.shape == kernel.log_parameters.shape == (len(kernel.parameter_names),)
    assert all(isinstance(name, str) for name in kernel.parameter_names)


def has_the_gradient_of_its_parameters(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    weights = np.random.default_rng(5).standard_normal((6, 5))
    at = kernel.log_parameters

    def value(values: Array) -> float:
        return float(np.sum(weights * kernel.with_log_parameters(values)(x, y)))

    expected = [(value(at + s) - value(at - s)) / (2 * STEP) for s in STEP * np.eye(len(at))]
    np.testing.assert_allclose(kernel.gradient(x, y, weights), expected, rtol=1e-7, atol=1e-8)


def has_the_gradient_of_its_input(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    steps = STEP * np.eye(features)
    expected = np.stack([(kernel(x + s, y) - kernel(x - s, y)) / (2 * STEP) for s in steps], -1)
    np.testing.assert_allclose(kernel.input_gradient(x, y), expected, rtol=1e-7, atol=1e-8)


def takes_other_parameters(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    moved = kernel.log_parameters + 0.1 * np.arange(len(kernel.parameter_names)) - 0.2
    np.testing.assert_allclose(kernel.with_log_parameters(moved).log_parameters, moved, rtol=1e-14)
    back = kernel.with_log_parameters(moved).with_log_parameters(kernel.log_parameters)
    np.testing.assert_allclose(back(x, y), kernel(x, y), rtol=1e-12, atol=1e-12)
    assert back.parameter_names == kernel.parameter_names


def keeps_differences_for_the_search(kernel: Kernel, features: int) -> None:
    """`for_differences` may be another kernel, but every difference has the same variance under it."""
    x, y = points(4, 8, features), points(4, 9, features)

    def variance(of: Kernel) -> Array:
        return np.asarray(of.diagonal(x) + of.diagonal(y) - 2.0 * of(x, y).diagonal())

    np.testing.assert_allclose(variance(kernel.for_differences), variance(kernel), rtol=1e-9, atol=1e-11)


def survives_a_file(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    for written in (kernel, kernel.with_log_parameters(kernel.log_parameters + 0.25)):
        back = from_json(json.loads(json.dumps(to_json(written))))
        assert back == written
        np.testing.assert_array_equal(back(x, y), written(x, y))


def computes_with_any_array_library(kernel: Kernel, features: int) -> None:
    x, y = shared_points(features)
    strict_x, strict_y = array_api_strict.asarray(x), array_api_strict.asarray(y)
    np.testing.assert_allclose(np.asarray(kernel(strict_x, strict_y)), kernel(x, y), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(np.asarray(kernel.diagonal(strict_x)), kernel.diagonal(x), rtol=1e-13)
    rows = kernel.rowwise(strict_x[:5, ...], strict_y)
    np.testing.assert_allclose(np.asarray(rows), kernel.rowwise(x[:5], y), rtol=1e-13, atol=1e-13)


def is_the_sum_of_its_expansion(kernel: Kernel, features: int) -> None:
    """A function that is a sum of kernels is the same as a sum of simple ones of transformed features."""
    x, y = shared_points(features)
    coefficients = np.random.default_rng(6).standard_normal(5)
    terms, total = kernel.expand(y, coefficients)
    for path, leaf, points_, own in terms:
        z = x
        for step in path:
            z = step.transform(z)
        total = total + leaf(z, points_) @ own
    np.testing.assert_allclose(total, kernel(x, y) @ coefficients, rtol=1e-9, atol=1e-10)


CHECKS: tuple[Callable[[Kernel, int], None], ...] = (
    is_a_kernel,
    is_symmetric,
    is_positive_semi_definite,
    has_the_diagonal_of_its_matrix,
    is_the_sum_of_its_terms,
    computes_each_pair_alone,
    computes_rows_like_its_matrix,
    leaves_its_arguments_unchanged,
    returns_an_array_of_its_own,
    names_its_parameters,
    has_the_gradient_of_its_parameters,
    has_the_gradient_of_its_input,
    takes_other_parameters,
    keeps_differences_for_the_search,
    survives_a_file,
    computes_with_any_array_library,
    is_the_sum_of_its_expansion,
)
