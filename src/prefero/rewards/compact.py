"""A Gaussian over rewards in few numbers, from which its arrays are computed again.

    C           (r, r)  prior covariance of the differences f(points) - f(others)
    L           (r, r)  its lower Cholesky factor, C = L L^T
    u           (r,)    L^-1 differences: N(0, I) before the answers
    mean        (r,)    of u, given the answers
    S           (r, r)  its covariance, given the answers
    precision   (r, r)  what answers add to the precision of the differences: S^-1 = I + L^T precision L
    root        (r, r)  lower triangular, S = root root^T

Either `precision` or `root` is kept, and only its lower triangle. An answer about one difference adds one
number to the diagonal of `precision`, which then is nearly all zeros, and short when it is compressed.
Rounding is harmless in both: an error e of `precision` changes a posterior variance by a fraction of at
most |L^T e L|; an error e of `root` changes a posterior standard deviation by at most |e| times the prior
one. Rounding alpha and whitener is not harmless: they are large where differences are alike, and cancel.
"""

import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from prefero._support.arrays import Array
from prefero.kernels import Kernel
from prefero.models.posterior.gaussian import Posterior, covariance_between, prediction_weights
from prefero.rewards.packing import Numbers

NEGLIGIBLE = 1e-7  # entries of `precision` this small, for differences of unit variance, are 0


class Compact(NamedTuple):
    """Either `precision` or `root` is given, as the rows of its lower triangle one after another."""

    mean: Numbers
    precision: Numbers | None = None
    root: Numbers | None = None


def compact(gaussian: Posterior, rounding: str) -> Compact:
    """The numbers that stand for a Gaussian, with its root in int16 or float32.

    LinAlgError if its differences depend on each other.
    """
    L = _factor(gaussian.kernel, gaussian.points, gaussian.others)
    learned = L.T @ gaussian.whitener
    mean = Numbers(L.T @ gaussian.alpha, "float32")
    S = np.eye(len(L)) - learned @ learned.T
    made = [Compact(mean, root=Numbers(_triangle(cholesky(S, lower=True)), rounding))]
    made += [Compact(mean, precision=Numbers(one, "float32")) for one in _precision(L, S)]
    return min(made, key=_size)


def _precision(L: Array, S: Array) -> Iterator[Array]:
    inverse = solve_triangular(L, np.eye(len(L)), lower=True)
    precision = inverse.T @ (np.linalg.inv(S) - np.eye(len(L))) @ inverse
    std = np.linalg.norm(L, axis=1)
    triangle = _triangle(np.where(np.abs(precision) * np.outer(std, std) > NEGLIGIBLE, precision, 0.0))
    if np.all(np.abs(triangle) < np.finfo(np.float32).max):
        yield triangle


def _size(made: Compact) -> int:
    """Of what is kept, in bytes."""
    return sum(len(zlib.compress(one.to_json()["hex"].encode())) for one in made if one is not None)


def arrays_of(
    kernel: Kernel, points: Array, others: Array, mean: Array, precision: Array | None, root: Array | None
) -> tuple[Array, Array]:
    """`alpha` and `whitener` of the Gaussian that the numbers stand for."""
    L = _factor(kernel, points, others)
    if precision is not None:
        added = _full(precision, len(L))
        added = added + np.tril(added, -1).T
        S = np.asarray(cho_solve((cholesky(np.eye(len(L)) + L.T @ added @ L), False), np.eye(len(L))))
    elif root is not None:
        S = _full(root, len(L)) @ _full(root, len(L)).T
    else:
        raise ValueError("a component has neither a precision nor a root")
    if mean.shape != (len(L),):
        raise ValueError("the mean and the points of a component are not of one number")
    unpivot = np.asarray(solve_triangular(L, np.eye(len(L)), lower=True)).T
    return prediction_weights(unpivot, mean, S, rises=True)


def _factor(kernel: Kernel, points: Array, others: Array) -> Array:
    if not len(points):
        return np.empty((0, 0))
    return np.asarray(cholesky(covariance_between(kernel, points, others), lower=True))


def _triangle(matrix: Array) -> Array:
    return np.asarray(matrix[np.tril_indices(len(matrix))])


def _full(triangle: Array, size: int) -> Array:
    """The lower triangular matrix."""
    matrix = np.zeros((size, size))
    matrix[np.tril_indices(size)] = triangle
    return matrix
