"""Laplace's method, the paper's inference: a Gaussian at the posterior mode (GPML, Algorithm 3.1).

    basis      (N, r)   the answered differences are d = basis @ u, with u ~ N(0, I) a priori
    u          (r,)     the present point, and in the end the mode
    W          (N,)     negated second derivative of the log-likelihood at d
    shift      (N,)     W d + gradient of the log-likelihood at d

Newton's method is written for u instead of the differences: no term is a difference of large numbers, however
small the noise.
"""

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array
from prefero.models.algebra.linalg import posterior_mean, precision_factor
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.likelihood.factors import Factors, Tilted, factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout


def laplace(
    basis: Array | TallMatrix,
    layout: Layout,
    probit: Probit,
    start: WarmStart,
    tolerance: float,
    neglected: Array | float = 0.0,
    limit: int = 100,
) -> Solution:
    """The posterior mode by Newton steps with backtracking (GPML, Algorithm 3.1)."""
    (factors,) = factors_of(layout, [probit], neglected)  # plain pairs are one batch
    u = posterior_mean(basis, precision_factor(basis, np.maximum(start.precision, 0.0)), start.shift)
    d, at, log_posterior = _log_posterior(basis, factors, u)
    last = np.inf
    for iteration in range(1, limit + 1):
        W, factor = _newton_matrix(basis, at.curvature)
        shift = W * d + at.gradient
        target = posterior_mean(basis, factor, shift)
        residual = float(np.max(np.abs(basis @ (target - u)), initial=0.0)) / probit.noise
        at_rounding = residual < 1e-4 and residual > 0.5 * last
        if residual <= tolerance or at_rounding:
            log_evidence = log_posterior - float(np.sum(np.log(factor.diagonal())))  # line 10
            mode = d, np.zeros(len(d))
            return Solution(target, W, shift, factor, log_evidence, iteration, residual, (at,), (mode,))
        last = residual
        u, d, at, log_posterior = _line_search(basis, factors, u, target, log_posterior)
    raise ConvergenceError(
        f"Laplace's method did not converge in {limit} Newton steps: the last one still moved by "
        f"{residual:.1e} of the noise, asked for {tolerance:.1e}"
    )


def _newton_matrix(basis: Array | TallMatrix, curvature: Array) -> tuple[Array, Array]:
    """W and the factor of Lambda; where lapses make the log-posterior convex, without the negative ones."""
    try:
        return curvature, precision_factor(basis, curvature)
    except LinAlgError:
        W = np.maximum(curvature, 0.0)
        return W, precision_factor(basis, W)


def _log_posterior(basis: Array | TallMatrix, factors: Factors, u: Array) -> tuple[Array, Tilted, float]:
    """The differences at u, the answers' likelihood there, and the log-posterior up to its constant."""
    d = basis @ u
    at = Tilted(*(one[0] for one in factors.tilted(d[None], np.zeros((1, len(d))))))
    return d, at, float(at.log.sum() - 0.5 * u @ u)


def _line_search(
    basis: Array | TallMatrix, factors: Factors, u: Array, target: Array, log_posterior: float
) -> tuple[Array, Array, Tilted, float]:
    """The largest of the steps 1, 1/2, 1/4, ... toward `target` that does not go down, except by rounding."""
    allowance = 1e-12 * (1.0 + abs(log_posterior))
    size = 1.0
    while True:
        tried = u + size * (target - u)
        d, at, reached = _log_posterior(basis, factors, tried)
        if reached >= log_posterior - allowance or size < 1e-6:
            return tried, d, at, reached
        size *= 0.5
