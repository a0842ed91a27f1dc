"""A kernel that knows the bar: what a person finds just acceptable, an item without features."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import AnyArray, Array, like, namespace_of
from prefero.kernels.base import Kernel, MeanTerm, Term, Wrapped, kernel_types


@dataclass(frozen=True)
class WithBar(Wrapped):
    """A kernel under which the bar, whose features are infinite, is independent of all rewards.

    Args:
        kernel: Of the rewards. They should be 0 at an anchor, from which the bar is measured.
        variance: Of the bar.
    """

    variance: float = 1.0

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        at_x, at_y = is_bar(x)[:, None], is_bar(y)[None, :]
        return self._with_bar(self.kernel(_placed(x), _placed(y)), at_x, at_y)

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self._with_bar(self.kernel.rowwise(_placed(x), _placed(y)), is_bar(x), is_bar(y))

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self._with_bar(self.kernel.diagonal(_placed(x)), is_bar(x), is_bar(x))

    def _with_bar(self, covariance: AnyArray, at_x: AnyArray, at_y: AnyArray) -> AnyArray:
        xp = namespace_of(covariance)
        if not (xp.any(at_x) or xp.any(at_y)):
            return covariance
        alone = xp.where(at_x & at_y, like(self.variance, covariance), like(0.0, covariance))
        return xp.where(at_x | at_y, alone, covariance)

    def terms(self, x: AnyArray) -> list[Term] | None:
        """Those of the rewards: a pool has no bar."""
        return self.kernel.terms(x)

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        """Without the bar, which says nothing about rewards elsewhere."""
        known = ~is_bar(points)
        return self.kernel.expand(points[known], coefficients[known])

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        weights = np.where(is_bar(x)[:, None] | is_bar(y)[None, :], 0.0, weights)
        return self.kernel.gradient(_placed(x), _placed(y), weights)

    def input_gradient(self, x: Array, y: Array) -> Array:
        gradient = self.kernel.input_gradient(x, _placed(y))
        return np.where(is_bar(y)[None, :, None], 0.0, gradient)


def is_bar(x: AnyArray) -> AnyArray:
    """Which rows stand for the bar, (...)."""
    return namespace_of(x).isinf(x[..., 0])


def _placed(x: AnyArray) -> AnyArray:
    """The same rows, with the bar somewhere: what the inner kernel says of it is not used."""
    xp, bar = namespace_of(x), is_bar(x)
    return xp.where(bar[..., None], like(0.0, x), x) if xp.any(bar) else x


def knows_bar(kernel: Kernel) -> bool:
    """Whether a kernel says how the bar varies."""
    return WithBar in kernel_types(kernel)
