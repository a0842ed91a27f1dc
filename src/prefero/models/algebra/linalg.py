"""Linear algebra of a low-rank Gaussian: pivoted Cholesky, triangular inverses and posterior precisions.

C           (N, N)   a covariance matrix, often of rank r < N
basis       (N, r)   C = basis @ basis.T: what C describes is basis @ u, with u ~ N(0, I)
pivots      (r,)     the rows of `basis` that form a lower triangular matrix
W           (N,)     precisions that observations add; with lapses some may be negative
Lambda      (r, r)   I + basis.T W basis, the posterior precision of u
factor      (r, r)   lower Cholesky factor of Lambda
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrf, dpotrs, dpstrf, dtrtri, dtrtrs

from prefero._support.arrays import Array, Indices
from prefero.models.algebra.tall_matrix import TallMatrix

NEGLIGIBLE_VARIANCE = 1e-10  # directions of smaller prior variance, relative to the noise's, are left out
ROUNDING = 1e-12  # and so are directions below the rounding error of the largest variance
PREFERRED = 1e-7  # by so much the first variance may be smaller than the last, and be the pivot
SMALL = 64  # triangular matrices up to this size are inverted by LAPACK directly


class PivotedCholesky(NamedTuple):
    """C = basis @ basis.T, where the rows `pivots` of `basis` are lower triangular."""

    basis: Array
    pivots: Indices


def pivoted_cholesky(C: Array, noise: float) -> PivotedCholesky:
    """The rank-revealing Cholesky factor of C, without directions that are negligible relative to `noise`."""
    if not len(C):
        return PivotedCholesky(np.empty((0, 0)), np.empty(0, dtype=np.intp))
    smallest = max(NEGLIGIBLE_VARIANCE * noise**2, ROUNDING * float(C.diagonal().max()))
    lower, order, rank = _pivoted(C, smallest)
    basis = np.empty((len(C), rank))
    basis[order] = np.tril(lower)[:, :rank]
    return PivotedCholesky(basis, order[:rank])


def leading_pivots(C: Array, smallest: float, most: int) -> tuple[Indices, Array]:
    """Pivots that have more variance than `smallest` left, at most so many, and their Cholesky factor."""
    lower, order, rank = _pivoted(C, smallest)
    rank = min(rank, most)
    return order[:rank], np.tril(lower[:rank, :rank])


def _pivoted(C: Array, smallest: float) -> tuple[Array, Indices, int]:
    """LAPACK's pivoted Cholesky factor, its pivots and its rank; of equal variances, the first is the pivot.

    Rounding would decide between equal variances, so earlier ones are made larger by a little while LAPACK
    chooses: the factor of S C S with a diagonal matrix S is S times that of C.
    """
    scale = np.linspace(1.0 + PREFERRED, 1.0, len(C))
    lower, places, rank, _ = dpstrf(scale[:, None] * C * scale, tol=smallest, lower=1)
    order = places.astype(np.intp) - 1
    return lower / scale[order][:, None], order, int(rank)


def symmetric_root(C: Array) -> Array:
    """The symmetric root of the positive part of C: root @ root is C without its negative eigenvalues.

    Unlike other roots it is unique, so that draws of a Gaussian are the same on every machine.
    """
    values, vectors = np.linalg.eigh(C)
    root: Array = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def triangular_inverse(factor: Array) -> Array:
    """The inverse of a lower triangular matrix.

    Halves the triangle until it is small, so that most of the work is matrix products: these, and the
    products with the inverse, are several times faster than triangular solves.
    """
    size = len(factor)
    if size <= SMALL:
        return dtrtri(factor, lower=1)[0] if size else np.empty((0, 0))
    half = size // 2
    top, bottom = triangular_inverse(factor[:half, :half]), triangular_inverse(factor[half:, half:])
    inverse = np.zeros((size, size))
    inverse[:half, :half], inverse[half:, half:] = top, bottom
    inverse[half:, :half] = -(bottom @ (factor[half:, :half] @ top))
    return inverse


def triangular_solution(factor: Array, right: Array) -> Array:
    """factor^-1 right, for a lower triangular factor; only with many columns its inverse pays."""
    if not right.size:
        return right
    if right.shape[1] > SMALL:
        return triangular_inverse(factor) @ right
    return np.asarray(dtrtrs(factor, right, lower=1)[0])


def regular_solutions(matrices: Array, right: Array, otherwise: float = 0.0) -> Array:
    """The solutions of many linear systems, (..., n, m); another number where a matrix is singular.

    With a tiny noise, rounding may make the matrix of one model singular: it must not stop all others.
    """
    try:
        return np.asarray(np.linalg.solve(matrices, right))
    except LinAlgError:
        if matrices.ndim == 2:
            return np.full_like(right, otherwise)
        return np.stack([regular_solutions(*both, otherwise) for both in zip(matrices, right, strict=True)])


def precision_factor(basis: Array | TallMatrix, W: Array) -> Array:
    """The Cholesky factor of Lambda; LinAlgError if negative precisions in W make it indefinite."""
    if not basis.size:
        return np.empty((basis.shape[1], basis.shape[1]))
    if isinstance(basis, TallMatrix):
        precision = basis.gram(W)
    elif W.min() < 0:
        precision = basis.T @ (W[:, None] * basis)
    else:  # a product with its own transpose takes half the time
        scaled = np.sqrt(W)[:, None] * basis
        precision = scaled.T @ scaled
    precision.ravel()[:: len(precision) + 1] += 1.0  # the diagonal of a new, and so contiguous, matrix
    return cholesky_factor(precision)  # GPML 3.1, line 5, in terms of u


def cholesky_factor(precision: Array) -> Array:
    """The lower Cholesky factor of a posterior precision; LinAlgError if it has none."""
    factor, failed = dpotrf(precision, lower=1, clean=1)
    if failed > 0:
        raise LinAlgError("the posterior precision is not positive definite")
    return np.asarray(factor)


def posterior_mean(basis: Array | TallMatrix, factor: Array, shift: Array) -> Array:
    """The posterior mean of u, Lambda^-1 basis.T shift."""
    right = basis.T @ shift
    return dpotrs(factor, right, lower=1)[0] if right.size else right


def stacked(bases: Sequence[Array]) -> Array:
    """Bases of several models in one array, (K, N, r): columns beyond a model's rank are 0."""
    rank = max((basis.shape[1] for basis in bases), default=0)
    stack = np.zeros((len(bases), len(bases[0]), rank))
    for place, basis in zip(stack, bases, strict=True):
        place[:, : basis.shape[1]] = basis
    return stack


def symmetric(matrices: Array) -> Array:
    """The symmetric parts of matrices, (..., n, n): what rounding made unequal is averaged."""
    return np.asarray(0.5 * (matrices + np.swapaxes(matrices, -1, -2)))
