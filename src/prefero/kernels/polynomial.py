"""Kernels of rewards that are polynomials of the features."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array, like_indices, namespace_of
from prefero.kernels.base import Kernel, Term


class Parameterless(Kernel):
    """A kernel with nothing to learn but the scale that `2.0 * kernel` gives it."""

    parameter_names = ()

    @property
    def log_parameters(self) -> Array:
        return np.empty(0)

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:  # noqa: ARG002
        return self

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:  # noqa: ARG002
        return np.empty(0)


@dataclass(frozen=True)
class Linear(Parameterless):
    """x . y: rewards w . x whose weights are independent standard normals."""

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return x @ y.T

    def terms(self, x: AnyArray) -> list[Term]:
        return [Term(x, x)]

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return namespace_of(x).sum(x * y, axis=-1)

    def input_gradient(self, x: Array, y: Array) -> Array:
        return np.broadcast_to(y, (len(x), *y.shape)).copy()


@dataclass(frozen=True)
class Quadratic(Parameterless):
    """Rewards sum_{i<=j} w_ij x_i x_j whose coefficients are independent standard normals."""

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        product = x @ y.T
        return 0.5 * (product * product + (x * x) @ (y * y).T)

    def terms(self, x: AnyArray) -> list[Term]:
        xp = namespace_of(x)
        i, j = (like_indices(places, x) for places in np.triu_indices(x.shape[1]))
        products = xp.take(x, i, axis=1) * xp.take(x, j, axis=1)
        return [Term(products, products)]

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        xp, products = namespace_of(x), x * y
        return 0.5 * (xp.sum(products, axis=-1) ** 2 + xp.sum(products**2, axis=-1))

    def input_gradient(self, x: Array, y: Array) -> Array:
        return (x @ y.T)[:, :, None] * y + x[:, None, :] * y**2
