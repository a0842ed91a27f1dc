"""Basis functions of a kernel: rewards as sums of a few functions with independent standard normal weights.

    items     (M, d)   rows of features that rewards are about
    points    (r, d)   some of these, which determine the rewards of all of them (nearly)
    factor    (r, r)   lower Cholesky factor of k(points, points)
    phi(x)    (M, r)   k(x, points) factor^-T: f(x) = phi(x) @ w with w ~ N(0, I)

Where there are more items than basis functions allowed, those items become points whose rewards are the most
uncertain given the others (pivoted Cholesky). What is left out is the prior variance `left_over`.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import NEGLIGIBLE_VARIANCE, pivoted_cholesky, triangular_inverse

SMALLEST = 1e-9  # of the largest prior variance: directions of less are left out


@dataclass(frozen=True, eq=False)
class BasisFunctions:
    """Basis functions of a kernel; call them with features, (M, d), for (M, r).

    Args:
        kernel: The kernel.
        points: (r, d).
        factor: (r, r).
    """

    kernel: Kernel
    points: Array
    factor: Array

    @classmethod
    def of(cls, kernel: Kernel, items: Array, most: int) -> Self:
        """Of a kernel, for the rewards of these items: at most so many."""
        pivots, factor = _exactly(kernel, items) if len(items) <= most else _partly(kernel, items, most)
        return cls(kernel, items[pivots], factor)

    def __call__(self, x: Array) -> Array:
        """phi(x), (M, r)."""
        phi: Array = self.kernel(x, self.points) @ self.unpivot
        return phi

    def left_over(self, x: Array) -> Array:
        """The prior variance of f(x) that the basis functions leave out, (M,)."""
        prior: Array = self.kernel.diagonal(x)
        return np.asarray(np.maximum(prior - np.sum(self(x) ** 2, axis=1), 0.0))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def unpivot(self) -> Array:
        """factor^-T, from the rewards of the points to the weights of the basis functions."""
        return triangular_inverse(self.factor).T


def _exactly(kernel: Kernel, items: Array) -> tuple[Indices, Array]:
    K: Array = kernel(items, items)
    largest = float(K.diagonal().max(initial=0.0))
    found = pivoted_cholesky(K, np.sqrt(SMALLEST / NEGLIGIBLE_VARIANCE * largest))
    return found.pivots, found.basis[found.pivots]


def _partly(kernel: Kernel, items: Array, most: int) -> tuple[Indices, Array]:
    """Pivoted Cholesky of which only the columns of the pivots are computed."""
    open_ = np.asarray(kernel.diagonal(items), dtype=float).copy()
    least = SMALLEST * float(open_.max())
    basis, pivots = np.zeros((len(items), most)), np.zeros(most, dtype=np.intp)
    for j in range(most):
        pivots[j] = p = first_largest(open_)
        if open_[p] <= least:
            most = j
            break
        column = kernel(items, items[[p]])[:, 0] - basis[:, :j] @ basis[p, :j]
        basis[:, j] = column / np.sqrt(open_[p])
        open_ = np.maximum(open_ - basis[:, j] ** 2, 0.0)
        open_[pivots[: j + 1]] = 0.0
    pivots = pivots[:most]
    return pivots, np.tril(basis[pivots, :most])
