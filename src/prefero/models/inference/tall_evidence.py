"""The log evidence of very many answers, and its gradient, in a basis of bounded rank.

    F            (N, r)   covariances of the differences with those of the pivots
    L            (r, r)   Cholesky factor of the covariance of the pivots' differences; basis = F L^-T
    Q            (N, N)   basis @ basis.T = F (L L^T)^-1 F^T, never formed
    c            (N,)     prior variances of the differences; neglected = c - diagonal of Q
    G            (N, N)   derivative of the log evidence by Q at fixed neglected variances, never formed
    g            (N,)     derivative by the neglected variances
    alpha, W              as in `prefero.models.inference.evidence`
    Lambda       (r, r)   I + basis.T W basis

With H = G - diag(g), the derivative by a hyper-parameter is that of F weighed by 2 H P, of the covariance of
the pivots weighed by -P^T H P, and of c weighed by g, where P = basis L^-1. All of it costs N r^2. What the
neglected variances do follows from the heat equation, by which a variance v acts on a probability Z:
dZ/dv = Z'' / 2.
"""

from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero._support.parallel import chunks_of, map_parallel
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import triangular_inverse
from prefero.models.algebra.tall_matrix import map_chunks
from prefero.models.inference.infer import Inference, solve
from prefero.models.inference.low_rank import LowRank
from prefero.models.inference.solution import Solution, WarmStart
from prefero.models.likelihood.factors import factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import layout_of
from prefero.questions import Comparisons
from prefero.questions.kinds.base import ANYWHERE, MARGIN

TOLERANCE = {"ep": 1e-5, "laplace": 1e-9}  # gradients need a better fixed point than predictions
STEP = 1e-4  # of the variance of the noise, for the one derivative that is taken by differences
ROWS = 32  # whose own variances are differentiated together


class LowRankEvidence(NamedTuple):
    """What the inference found, and derivatives of the log evidence.

    They are by the logarithms of kernel parameters, (P,), by the logarithm of all prior variances, and by the
    bounds of answers, (ANYWHERE,).
    """

    solution: Solution
    by_kernel: Array
    by_scale: float
    by_bounds: Array


class _Weights(NamedTuple):
    """The derivatives of the log evidence by what it is made of."""

    alpha: Array  # (N,) with half of what Laplace's mode adds: G = (alpha alpha^T - A) / 2
    drift: Array  # (N,) 0 for EP
    neglected: Array  # (N,) g
    bounds: Array  # (ANYWHERE,)


def low_rank_log_evidence(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference,
    low: LowRank,
    start: WarmStart | None = None,
) -> LowRankEvidence:
    """The log evidence in this basis, with its gradient at fixed pivots."""
    solution = solve(low, data, probit, inference, start, TOLERANCE[inference])
    inverse = triangular_inverse(solution.factor)
    covariance: Array = inverse.T @ inverse
    weights = _weights(low, data, probit, solution, covariance, inference)
    along, drifted = low.basis.T @ weights.alpha, low.basis.T @ weights.drift
    by_scale = 0.5 * float(along @ along - len(covariance) + np.trace(covariance)) + float(drifted @ along)
    by_scale += float(weights.neglected @ low.neglected)
    by_kernel = _kernel_gradient(kernel.for_differences, data, low, solution.W, weights, covariance)
    return LowRankEvidence(solution, by_kernel, by_scale, weights.bounds)


def _weights(
    low: LowRank, data: Comparisons, probit: Probit, solution: Solution, covariance: Array, inference: str
) -> _Weights:
    alpha = solution.shift - solution.W * (low.basis @ solution.u_mean)
    ((mean, variance),) = solution.cavities
    if inference == "ep":
        (factors,) = factors_of(layout_of(data), [probit], low.neglected)
        tilted = factors.tilted(mean[None], variance[None])
        by_neglected = 0.5 * (tilted.gradient[0] ** 2 - tilted.curvature[0])
        by_bounds = factors.by_bounds(mean[None], variance[None])[0]
        return _Weights(alpha, np.zeros_like(alpha), by_neglected, by_bounds)
    at = probit(mean, data.tied, low.neglected)
    by_neglected = 0.5 * (at.gradient**2 - at.curvature)
    by_margin = probit.by_margin(mean, data.tied, low.neglected)
    # the mode moves with everything, and with it the curvatures there (GPML 5.23)
    variances = low.basis.squared_norms(triangular_inverse(solution.factor))
    pull = 0.5 * variances * at.third
    moved = low.basis @ (covariance @ (low.basis.T @ pull))
    curvature_by_variance = _curvature_by_variance(probit, mean, data.tied, low.neglected)
    by_neglected += (
        moved * (0.5 * at.third - at.gradient * at.curvature) - 0.5 * variances * curvature_by_variance
    )
    direct = by_margin.log.sum() - 0.5 * variances @ by_margin.curvature + moved @ by_margin.gradient
    by_bounds = np.zeros(ANYWHERE)
    by_bounds[MARGIN] = float(direct)
    return _Weights(alpha, pull - solution.W * moved, by_neglected, by_bounds)


def _curvature_by_variance(probit: Probit, mode: Array, tied: Flags, neglected: Array) -> Array:
    step = STEP * probit.scale**2
    above, below = (probit(mode, tied, neglected + sign * step).curvature for sign in (1.0, -1.0))
    return np.asarray((above - below) / (2.0 * step))


def _kernel_gradient(
    kernel: Kernel, data: Comparisons, low: LowRank, W: Array, weights: _Weights, covariance: Array
) -> Array:
    """The derivative by the kernel's log-parameters."""
    pivots, basis = data[low.pivots], low.basis
    inverse = triangular_inverse(basis[low.pivots])
    to_P, to_known = inverse, covariance @ inverse
    a, drifted = (inverse.T @ (basis.T @ v) for v in (weights.alpha, weights.drift))
    both = 0.5 * (a + drifted)

    def of_chunk(b: slice) -> tuple[Array, Array]:
        rows = basis.rows[b, :]
        P = rows @ to_P
        HP = np.outer(weights.alpha[b], both) + np.outer(0.5 * weights.drift[b], a)
        HP -= 0.5 * W[b, None] * (rows @ to_known)
        HP -= weights.neglected[b, None] * P
        return _by_differences(kernel, data[b], pivots, 2.0 * HP), P.T @ HP

    each = map_chunks(of_chunk, basis.rows)
    by_columns, PHP = (np.sum([one[n] for one in each], axis=0) for n in (0, 1))
    by_pivots = _by_differences(kernel, pivots, pivots, -PHP)
    return np.asarray(by_columns + by_pivots + _by_variances(kernel, data, weights.neglected))


def _by_differences(kernel: Kernel, one: Comparisons, other: Comparisons, weights: Array) -> Array:
    """Derivative of sum(weights * Cov[differences of one, of the other])."""
    gradient = kernel.gradient
    same = gradient(one.winners, other.winners, weights) + gradient(one.losers, other.losers, weights)
    return same - gradient(one.winners, other.losers, weights) - gradient(one.losers, other.winners, weights)


def _by_variances(kernel: Kernel, data: Comparisons, weights: Array) -> Array:
    """Derivative of sum(weights * Var[differences])."""

    def of_chunk(b: slice) -> Array:
        return _by_own(kernel, data.winners[b], data.losers[b], np.diag(weights[b]))

    return np.asarray(np.sum(map_parallel(of_chunk, chunks_of(len(data), ROWS)), axis=0))


def _by_own(kernel: Kernel, a: Array, b: Array, weights: Array) -> Array:
    same = kernel.gradient(a, a, weights) + kernel.gradient(b, b, weights)
    return same - 2.0 * kernel.gradient(a, b, weights)
