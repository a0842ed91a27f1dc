"""From comparisons to a posterior: expectation propagation (EP, the default) and Laplace (the paper's).

    basis             (N, r)   the answered differences are basis @ u, with u ~ N(0, I) a priori
    W                 (N,)     what each answer adds in precision: EP's site, or Laplace's curvature
    Lambda            (r, r)   I + basis.T W basis, the posterior precision of u; `factor` is its Cholesky
    mean, variance    (N,)     the posterior's, of each difference
    precision, shift  (N,)     EP's sites: an answer is replaced by exp(shift d - precision d^2 / 2)
    cavity            (N,)     the posterior of a difference without its own answer

Laplace is Newton's method (Rasmussen & Williams, GPML, Algorithm 3.1) and EP is their section 3.6 with all
sites updated at once, both written for u instead of the differences: no term is a difference of large
numbers, however small the noise. Both may start from an earlier solution with fewer answers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from prefero._support.arrays import Array, Flags, one_thread
from prefero.kernels import Kernel
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.posterior import Posterior, basis_of, covariance_of_differences, triangular_inverse
from prefero.questions import Comparisons

Inference = Literal["ep", "laplace"]
AT_ONCE = 60  # sweeps with all sites at once, before they are updated one by one
HOPELESS = 1e4  # standard deviations: the extrapolation has left every sensible place


class NotSettled(RuntimeError):
    """An inference did not converge; the message says how far it came."""


@dataclass(frozen=True, eq=False)
class Solution:
    """Where an inference ended."""

    centre: Array  # (r,) posterior mean of u
    W: Array
    shift: Array  # EP's, by Laplace's view W d + slope: the mean of u is Lambda^-1 basis.T shift in both
    factor: Array
    log_evidence: float
    steps: int
    residual: float
    at: Likelihood  # of the answers, at the mode or at EP's cavities
    cavity: tuple[Array, Array]  # means and variances; Laplace: the mode, and no variance


@dataclass(frozen=True, eq=False)
class Start:
    """Where to begin: sites for EP, whose mean is a mode to start from for Laplace."""

    precision: Array
    shift: Array

    @classmethod
    def cold(cls, count: int) -> "Start":
        """Nothing known yet."""
        return cls(np.zeros(count), np.zeros(count))

    @classmethod
    def after(cls, solution: Solution, count: int) -> "Start":
        """From a solution for the first of `count` answers."""
        more = max(count - len(solution.W), 0)
        return cls(np.pad(solution.W, (0, more))[:count], np.pad(solution.shift, (0, more))[:count])


@one_thread
def infer(
    kernel: Kernel,
    data: Comparisons,
    probit: Probit,
    inference: Inference = "ep",
    start: Start | None = None,
    tolerance: float | None = None,
) -> tuple[Posterior, Solution]:
    """The posterior over rewards given the answers, and where the inference ended."""
    if inference not in SOLVERS:
        raise ValueError(f"inference must be 'ep' or 'laplace', but is {inference!r}")
    basis = basis_of(covariance_of_differences(kernel, data), probit.noise)
    solution = solve(basis.basis, data.tied, probit, inference, start, tolerance)
    posterior = Posterior(
        kernel,
        probit,
        data,
        (solution.W, solution.shift),
        basis,
        solution.centre,
        solution.factor,
        solution.log_evidence,
    )
    return posterior, solution


@one_thread
def from_sites(
    kernel: Kernel, data: Comparisons, probit: Probit, sites: tuple[Array, Array], log_evidence: float
) -> Posterior:
    """The posterior again from what an inference found; nothing is iterated."""
    basis = basis_of(covariance_of_differences(kernel, data), probit.noise)
    factor = _factor(basis.basis, sites[0])
    centre = _centre(basis.basis, factor, sites[1])
    return Posterior(kernel, probit, data, sites, basis, centre, factor, log_evidence)


def solve(
    basis: Array,
    tied: Flags,
    probit: Probit,
    inference: Inference,
    start: Start | None = None,
    tolerance: float | None = None,
) -> Solution:
    """Run an inference from `start`; should it not settle from there, once more from nothing."""
    if tied.any() and probit.margin == 0:
        raise ValueError(
            "some answers are 'about equal', but the margin is 0, which makes them impossible: "
            "give a positive margin, or leave it to be learned"
        )
    solver, default = SOLVERS[inference]
    goal = default if tolerance is None else tolerance
    if start is not None:
        try:
            return solver(basis, tied, probit, start, goal)
        except NotSettled:
            pass  # an old start may mislead where the model has changed much
    return solver(basis, tied, probit, Start.cold(len(basis)), goal)


def expectation_propagation(
    basis: Array, tied: Flags, probit: Probit, start: Start, tolerance: float, limit: int = 300
) -> Solution:
    """EP with all sites updated at once, extrapolated from the last sweeps; one by one if that is in vain."""
    precision, shift = start.precision, start.shift
    extrapolation = Extrapolation()
    for sweep in range(1, limit + 1):
        factor = _factor(basis, precision)
        inverse = triangular_inverse(factor)
        centre = inverse.T @ (inverse @ (basis.T @ shift))
        mean = basis @ centre
        variance = np.sum((basis @ inverse.T) ** 2, axis=1)
        tilted, cavity, to_precision, to_shift = _site_steps(mean, variance, precision, shift, tied, probit)
        residual = _mismatch(to_precision, to_shift, mean, variance)
        if np.isnan(residual):
            raise NotSettled(
                f"expectation propagation lost its numbers in sweep {sweep}: are all features finite?"
            )
        if residual <= tolerance:
            log_evidence = _ep_evidence(tilted, cavity, precision, shift, mean, factor)
            return Solution(centre, precision, shift, factor, log_evidence, sweep, residual, tilted, cavity)
        if sweep > AT_ONCE or not residual < HOPELESS:
            precision, shift = _one_by_one(basis, tied, probit, precision, shift, inverse, centre)
        else:
            precision, shift = extrapolation(precision, shift, to_precision, to_shift, residual, probit.scale)
    raise NotSettled(
        f"expectation propagation did not settle in {limit} sweeps: the moments are still off by "
        f"{residual:.1e} standard deviations, asked for {tolerance:.1e} ({len(basis)} answers, "
        f"noise {probit.noise:g}): is the noise tiny beside the reward?"
    )


def _site_steps(
    mean: Array, variance: Array, precision: Array, shift: Array, tied: Flags, probit: Probit
) -> tuple[Likelihood, tuple[Array, Array], Array, Array]:
    """Each answer seen from its cavity, and the steps of the sites toward the moments it asks for."""
    rest = 1.0 - precision * variance
    cavity = (mean - shift * variance) / rest, variance / rest
    tilted = probit(cavity[0], tied, cavity[1])
    left_over = 1.0 - cavity[1] * tilted.curvature
    to_precision = tilted.curvature / left_over - precision
    to_shift = (tilted.slope + cavity[0] * tilted.curvature) / left_over - shift
    return tilted, cavity, to_precision, to_shift


def _one_by_one(
    basis: Array, tied: Flags, probit: Probit, precision: Array, shift: Array, inverse: Array, centre: Array
) -> tuple[Array, Array]:
    """A sweep of sequential EP (GPML, Algorithm 3.5): slower, and steady where contradictions are sharp."""
    precision, shift, centre = precision.copy(), shift.copy(), centre.copy()
    covariance = inverse.T @ inverse
    for i in range(len(basis)):
        one = slice(i, i + 1)
        along = covariance @ basis[i]
        variance, mean = basis[one] @ along, basis[one] @ centre
        _, _, up, across = _site_steps(mean, variance, precision[one], shift[one], tied[one], probit)
        share = along / (1.0 + up * variance)
        centre += share * (across - up * mean)
        covariance -= up * np.outer(share, along)
        precision[i], shift[i] = max(precision[i] + up[0], 0.0), shift[i] + across[0]
    return precision, shift


class Extrapolation:
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
        """The next sites, given the present ones, the steps they would take, and how far off they are."""
        if residual > 2.0 * self.best:
            if len(self.steps) == 1:
                self.damping = max(0.5 * self.damping, 0.02)
            self.points, self.steps, self.best = [], [], np.inf
        self.best = min(self.best, residual)
        # multiplied by the noise, precisions are of the same size as shifts
        self.points = [*self.points[-3:], np.concatenate([unit * precision, shift])]
        self.steps = [*self.steps[-3:], np.concatenate([unit * to_precision, to_shift])]
        scaled, shift = np.split(self._ahead(), 2)
        return np.maximum(scaled / unit, 0.0), shift

    def _ahead(self) -> Array:
        plain: Array = self.points[-1] + self.damping * self.steps[-1]
        if len(self.steps) == 1:
            return plain
        changes, moves = np.diff(self.steps, axis=0).T, np.diff(self.points, axis=0).T
        share = np.linalg.lstsq(changes.T @ changes, changes.T @ self.steps[-1], rcond=1e-12)[0]
        correction: Array = (moves + self.damping * changes) @ share
        too_bold = np.linalg.norm(correction) > 10.0 * np.linalg.norm(self.steps[-1])
        return plain if too_bold else plain - correction


def _factor(basis: Array, W: Array) -> Array:
    """The Cholesky factor of Lambda."""
    if not basis.size:
        return np.empty((basis.shape[1], basis.shape[1]))
    scaled = np.sqrt(W)[:, None] * basis
    precision = scaled.T @ scaled
    precision[np.diag_indices_from(precision)] += 1.0
    factor: Array = dpotrf(precision, lower=1, clean=1)[0]  # GPML 3.1, line 5, in terms of u
    return factor


def _centre(basis: Array, factor: Array, shift: Array) -> Array:
    """The posterior mean of u."""
    right = basis.T @ shift
    return dpotrs(factor, right, lower=1)[0] if right.size else right


def weigh(basis: Array, solution: Solution) -> Array:
    """W^1/2 B^-1 W^1/2 = (C + W^-1)^-1, shape (N, N), as W - W basis Lambda^-1 basis.T W."""
    spread = (basis * solution.W[:, None]) @ triangular_inverse(solution.factor).T
    return np.diag(solution.W) - spread @ spread.T


def _mismatch(to_precision: Array, to_shift: Array, mean: Array, variance: Array) -> float:
    """How far the moments of the sites are from those of the answers, in standard deviations."""
    off = np.abs(to_precision) * variance + np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
    return float(off.max(initial=0.0))


def _ep_evidence(
    tilted: Likelihood,
    cavity: tuple[Array, Array],
    precision: Array,
    shift: Array,
    mean: Array,
    factor: Array,
) -> float:
    """log Z_EP (GPML 3.65), with the cavities' terms gathered so that none of them overflows."""
    m, v = cavity
    shared = 1.0 + precision * v
    sites = 0.5 * np.log(shared) - 0.5 * (2.0 * m * shift + shift**2 * v - precision * m**2) / shared
    return float(np.sum(tilted.log + sites) + 0.5 * shift @ mean - np.sum(np.log(factor.diagonal())))


def laplace(
    basis: Array, tied: Flags, probit: Probit, start: Start, tolerance: float, limit: int = 100
) -> Solution:
    """The posterior's mode by Newton steps, halved until they climb (GPML, Algorithm 3.1)."""
    u = _centre(basis, _factor(basis, start.precision), start.shift)
    d, at, height = _height(basis, tied, probit, u)
    last = np.inf
    for step in range(1, limit + 1):
        shift = at.curvature * d + at.slope
        factor = _factor(basis, at.curvature)
        target = _centre(basis, factor, shift)
        residual = float(np.max(np.abs(basis @ (target - u)), initial=0.0)) / probit.noise
        at_rounding = residual < 1e-4 and residual > 0.5 * last
        if residual <= tolerance or at_rounding:
            log_evidence = height - float(np.sum(np.log(factor.diagonal())))  # line 10
            cavity = d, np.zeros(len(d))
            return Solution(target, at.curvature, shift, factor, log_evidence, step, residual, at, cavity)
        last = residual
        u, d, at, height = _climb(basis, tied, probit, u, target, height)
    raise NotSettled(
        f"the posterior mode did not settle in {limit} Newton steps: the last one still moved by "
        f"{residual:.1e} of the noise, asked for {tolerance:.1e}"
    )


def _height(basis: Array, tied: Flags, probit: Probit, u: Array) -> tuple[Array, Likelihood, float]:
    """The differences at u, the answers' likelihood there, and the log-posterior."""
    d = basis @ u
    at = probit(d, tied)
    return d, at, float(at.log.sum() - 0.5 * u @ u)


def _climb(
    basis: Array, tied: Flags, probit: Probit, u: Array, target: Array, height: float
) -> tuple[Array, Array, Likelihood, float]:
    """The largest of the steps 1, 1/2, 1/4, ... toward `target` that does not go down, but for rounding."""
    allowance = 1e-12 * (1.0 + abs(height))
    size = 1.0
    while True:
        tried = u + size * (target - u)
        d, at, now = _height(basis, tied, probit, tried)
        if now >= height - allowance or size < 1e-6:
            return tried, d, at, now
        size *= 0.5


Solver = Callable[[Array, Flags, Probit, Start, float], Solution]
SOLVERS: dict[str, tuple[Solver, float]] = {
    "ep": (expectation_propagation, 1e-5),
    "laplace": (laplace, 1e-8),
}
