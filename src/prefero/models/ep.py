"""Expectation propagation (EP), the default inference (GPML, section 3.6), with parallel site updates.

    basis             (N, r)   the answered differences are basis @ u, with u ~ N(0, I) a priori
    precision, shift  (N,)     the sites: an answer is replaced by exp(shift d - precision d^2 / 2)
    mean, variance    (N,)     posterior moments of each difference
    cavity            (N,)     the posterior of a difference without its own site
    tilted            (N,)     the cavity distribution times the answer's likelihood
    Lambda            (r, r)   I + basis.T diag(precision) basis; `factor` is its Cholesky factor

It is written for u instead of the differences: no term is a difference of large numbers, however small the
noise. Parallel updates are accelerated by Anderson's method; where they do not converge, sequential EP takes
over.
"""

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linalg import precision_factor, triangular_inverse
from prefero.models.solution import ConvergenceError, Solution, WarmStart

PARALLEL_SWEEPS = 60  # before the sites are updated one by one
DIVERGED = 1e4  # standard deviations: a residual beyond this means that the parallel updates diverge


def expectation_propagation(
    basis: Array, tied: Flags, probit: Probit, start: WarmStart, tolerance: float, limit: int = 300
) -> Solution:
    """EP with accelerated parallel updates, and sequential sweeps where these do not converge."""
    precision, shift = start.precision, start.shift
    acceleration = AndersonAcceleration()
    for sweep in range(1, limit + 1):
        factor = precision_factor(basis, precision)
        inverse = triangular_inverse(factor)
        u_mean = inverse.T @ (inverse @ (basis.T @ shift))
        mean = basis @ u_mean
        variance = np.sum((basis @ inverse.T) ** 2, axis=1)
        tilted, cavity, to_precision, to_shift = _site_steps(mean, variance, precision, shift, tied, probit)
        residual = _residual(to_precision, to_shift, mean, variance)
        if np.isnan(residual):
            raise ConvergenceError(
                f"expectation propagation gave nan in sweep {sweep}: are all features finite?"
            )
        if residual <= tolerance:
            log_evidence = _log_evidence(tilted, cavity, precision, shift, mean, factor)
            return Solution(u_mean, precision, shift, factor, log_evidence, sweep, residual, tilted, cavity)
        if sweep > PARALLEL_SWEEPS or not residual < DIVERGED:
            precision, shift = _sequential_sweep(basis, tied, probit, precision, shift, inverse, u_mean)
        else:
            precision, shift = acceleration(precision, shift, to_precision, to_shift, residual, probit.scale)
    raise ConvergenceError(
        f"expectation propagation did not converge in {limit} sweeps: the moments are still off by "
        f"{residual:.1e} standard deviations, asked for {tolerance:.1e} ({len(basis)} answers, "
        f"noise {probit.noise:g}): is the noise tiny relative to the reward?"
    )


def _site_steps(
    mean: Array, variance: Array, precision: Array, shift: Array, tied: Flags, probit: Probit
) -> tuple[Likelihood, tuple[Array, Array], Array, Array]:
    """The tilted distributions, their cavities, and the steps of the sites that match the moments."""
    rest = 1.0 - precision * variance
    cavity = (mean - shift * variance) / rest, variance / rest
    tilted = probit(cavity[0], tied, cavity[1])
    left_over = 1.0 - cavity[1] * tilted.curvature
    to_precision = tilted.curvature / left_over - precision
    to_shift = (tilted.gradient + cavity[0] * tilted.curvature) / left_over - shift
    return tilted, cavity, to_precision, to_shift


def _sequential_sweep(
    basis: Array, tied: Flags, probit: Probit, precision: Array, shift: Array, inverse: Array, u_mean: Array
) -> tuple[Array, Array]:
    """A sweep of sequential EP (GPML, Algorithm 3.5): slower, and steady where answers contradict sharply."""
    precision, shift, u_mean = precision.copy(), shift.copy(), u_mean.copy()
    covariance = inverse.T @ inverse
    for i in range(len(basis)):
        one = slice(i, i + 1)
        along = covariance @ basis[i]
        variance, mean = basis[one] @ along, basis[one] @ u_mean
        _, _, to_precision, to_shift = _site_steps(
            mean, variance, precision[one], shift[one], tied[one], probit
        )
        gain = along / (1.0 + to_precision * variance)
        u_mean += gain * (to_shift - to_precision * mean)
        covariance -= to_precision * np.outer(gain, along)
        precision[i], shift[i] = max(precision[i] + to_precision[0], 0.0), shift[i] + to_shift[0]
    return precision, shift


def _residual(to_precision: Array, to_shift: Array, mean: Array, variance: Array) -> float:
    """The largest distance of the posterior's moments from the tilted ones, in standard deviations."""
    off = np.abs(to_precision) * variance + np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
    return float(off.max(initial=0.0))


def _log_evidence(
    tilted: Likelihood,
    cavity: tuple[Array, Array],
    precision: Array,
    shift: Array,
    mean: Array,
    factor: Array,
) -> float:
    """log Z_EP (GPML 3.65), with the terms of the cavities combined so that none of them overflows."""
    m, v = cavity
    shared = 1.0 + precision * v
    sites = 0.5 * np.log(shared) - 0.5 * (2.0 * m * shift + shift**2 * v - precision * m**2) / shared
    return float(np.sum(tilted.log + sites) + 0.5 * shift @ mean - np.sum(np.log(factor.diagonal())))


class AndersonAcceleration:
    """Anderson's acceleration of a fixed-point iteration, with a memory of three steps.

    The next sites are where the last steps, seen as linear in their starting points, would vanish. When the
    residual has grown, the memory is dropped; when it grows without any, the steps are halved.
    """

    def __init__(self) -> None:
        self.points: list[Array] = []
        self.steps: list[Array] = []
        self.damping, self.best = 1.0, np.inf

    def __call__(
        self,
        precision: Array,
        shift: Array,
        to_precision: Array,
        to_shift: Array,
        residual: float,
        unit: float,
    ) -> tuple[Array, Array]:
        """The next sites, given the present ones, the steps they would take, and the residual."""
        if residual > 2.0 * self.best:
            if len(self.steps) == 1:
                self.damping = max(0.5 * self.damping, 0.02)
            self.points, self.steps, self.best = [], [], np.inf
        self.best = min(self.best, residual)
        # multiplied by the noise, precisions are of the same size as shifts
        self.points = [*self.points[-3:], np.concatenate([unit * precision, shift])]
        self.steps = [*self.steps[-3:], np.concatenate([unit * to_precision, to_shift])]
        scaled, shift = np.split(self._extrapolated(), 2)
        return np.maximum(scaled / unit, 0.0), shift

    def _extrapolated(self) -> Array:
        plain: Array = self.points[-1] + self.damping * self.steps[-1]
        if len(self.steps) == 1:
            return plain
        changes, moves = np.diff(self.steps, axis=0).T, np.diff(self.points, axis=0).T
        coefficients = np.linalg.lstsq(changes.T @ changes, changes.T @ self.steps[-1], rcond=1e-12)[0]
        correction: Array = (moves + self.damping * changes) @ coefficients
        too_large = np.linalg.norm(correction) > 10.0 * np.linalg.norm(self.steps[-1])
        return plain if too_large else plain - correction
