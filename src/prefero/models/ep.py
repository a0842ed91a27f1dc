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

With lapses an answer's likelihood is not log-concave, so a site may have a negative precision: an unexpected
answer makes less certain. Such sites are allowed as long as the posterior and all cavity distributions are
proper. Where that leads nowhere, more noise shows the way, and at last the precisions are bounded by 0; a
site at the bound matches the mean alone. There may also be several fixed points: what is found then depends
on the start.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linalg import precision_factor, triangular_inverse
from prefero.models.solution import ConvergenceError, Solution, WarmStart

SiteSteps = tuple[Likelihood, tuple[Array, Array], Array, Array]
S = TypeVar("S", bound=Solution)
S_co = TypeVar("S_co", bound=Solution, covariant=True)

PARALLEL_SWEEPS = 60  # before the sites are updated one by one
ACCELERATED_SWEEPS, CAUTIOUS_SWEEPS = 40, 160  # with bounded precisions: accelerated, and parallel at all
MEMORY = 3  # steps that are remembered for the acceleration
DIVERGED = 1e4  # standard deviations: a residual beyond this means that the parallel updates diverge
FREE_SWEEPS = 40  # with precisions that may be negative
IMPROPER_SWEEPS = 5  # of these, so many may lead to improper distributions
PROPER = 1e-10  # the least that may remain of a difference's precision without its own site
MORE_NOISE = (8.0, 2.0)  # times as much, to find sites that EP can start from
ROUGH = 0.1  # the tolerance with more noise than there is
CAUTIOUS = 0.5  # the share of a step that is taken with bounded precisions


def expectation_propagation(
    basis: Array, tied: Flags, probit: Probit, start: WarmStart, tolerance: float, limit: int = 300
) -> Solution:
    """EP with accelerated parallel updates, and sequential sweeps where these do not converge."""
    if probit.lapse:
        return _with_lapses(basis, tied, probit, start, tolerance, limit)
    return Iteration(basis, tied, probit).run(start, tolerance, limit)


def _with_lapses(
    basis: Array, tied: Flags, probit: Probit, start: WarmStart, tolerance: float, limit: int
) -> Solution:
    """EP with negative precisions, where that converges, and from the prior otherwise without them."""

    def free(start: WarmStart, factor: float, tolerance: float) -> Solution:
        louder = replace(probit, noise=factor * probit.noise)
        return Iteration(basis, tied, louder, lowest=-np.inf).run(start, tolerance, FREE_SWEEPS)

    if start.precision.any():
        return free(start, 1.0, tolerance)
    found = free_solution(free, start, tolerance)
    if found is not None:
        return found
    bounded = Iteration(basis, tied, probit, damping=CAUTIOUS)
    return closest_solution(bounded, WarmStart.zeros(len(basis)), tolerance, limit)


def free_solution(
    free: Callable[[WarmStart, float, float], S], start: WarmStart, tolerance: float
) -> S | None:
    """EP whose precisions may be negative: from the start, or by way of solutions with more noise.

    `free` runs it from a start with a factor of the noise and a tolerance. None if neither way converges.
    """
    with suppress(ConvergenceError):
        return free(start, 1.0, tolerance)
    with suppress(ConvergenceError):
        for factor in MORE_NOISE:
            found = free(start, factor, ROUGH)
            start = WarmStart(found.W, found.shift)
        return free(start, 1.0, tolerance)
    return None


class AnySweep(Protocol[S_co]):
    """A sweep of an iteration."""

    def solution(self, iterations: int) -> S_co:
        """The sites before it, as a solution."""


class BoundedIteration(Protocol[S_co]):
    """An iteration that remembers the sweep that came closest to a fixed point."""

    @property
    def closest(self) -> AnySweep[S_co] | None:
        """That sweep."""

    def run(self, start: WarmStart, tolerance: float, limit: int) -> S_co:
        """The solution, or `ConvergenceError`."""


def closest_solution(bounded: BoundedIteration[S], start: WarmStart, tolerance: float, limit: int) -> S:
    """EP without negative precisions; or the sites that came closest, if they circle around a fixed point."""
    try:
        return bounded.run(start, tolerance, limit)
    except ConvergenceError:
        if bounded.closest is None:
            raise
        return bounded.closest.solution(limit)


@dataclass(frozen=True, eq=False)
class Sweep:
    """The moments that sites give, and the steps to sites that match those of the tilted distributions."""

    precision: Array
    shift: Array
    factor: Array
    inverse: Array
    u_mean: Array
    mean: Array
    tilted: Likelihood
    cavity: tuple[Array, Array]
    to_precision: Array
    to_shift: Array
    residual: float

    def solution(self, sweep: int) -> Solution:
        """What the sites say, when they are as they should be."""
        evidence = log_evidence(self.tilted, self.cavity, self.precision, self.shift, self.mean, self.factor)
        return Solution(
            self.u_mean,
            self.precision,
            self.shift,
            self.factor,
            evidence,
            sweep,
            self.residual,
            self.tilted,
            self.cavity,
        )


class Iteration:
    """The sites from one sweep to the next: in parallel, and where that does not converge, one by one."""

    def __init__(
        self, basis: Array, tied: Flags, probit: Probit, lowest: float = 0.0, damping: float = 1.0
    ) -> None:
        self.basis, self.tied, self.probit, self.lowest, self.damping = basis, tied, probit, lowest, damping
        self.acceleration = AndersonAcceleration(damping)
        self.last: Sweep | None = None  # the last one whose distributions were proper
        self.closest: Sweep | None = None
        self.improper = 0

    def run(self, start: WarmStart, tolerance: float, limit: int) -> Solution:
        """The fixed point that it comes to."""
        precision, shift, residual = start.precision, start.shift, np.inf
        for sweep in range(1, limit + 1):
            at = self._sweep(precision, shift)
            if at is None:
                precision, shift = self._back(precision, shift)
                continue
            residual = at.residual
            if np.isnan(residual):
                raise ConvergenceError(
                    f"expectation propagation gave nan in sweep {sweep}: are all features finite?"
                )
            if residual <= tolerance:
                return at.solution(sweep)
            precision, shift = self._next(at, sweep)
        raise ConvergenceError(
            f"expectation propagation did not converge in {limit} sweeps: the moments are still off by "
            f"{residual:.1e} standard deviations, asked for {tolerance:.1e} ({len(self.basis)} answers, "
            f"noise {self.probit.noise:g}): is the noise tiny relative to the reward?"
        )

    def _sweep(self, precision: Array, shift: Array) -> Sweep | None:
        """The moments that these sites give; None if a distribution would be improper."""
        try:
            factor, inverse, u_mean, mean, variance = self._moments(precision, shift)
        except LinAlgError:
            return None
        if self.lowest < 0 and np.min(1.0 - precision * variance, initial=1.0) < PROPER:
            return None
        steps = site_steps(mean, variance, precision, shift, self.tied, self.probit, self.lowest)
        residual = _residual(*steps[2:], mean, variance)
        return Sweep(precision, shift, factor, inverse, u_mean, mean, *steps, residual)

    def _moments(self, precision: Array, shift: Array) -> tuple[Array, Array, Array, Array, Array]:
        """The factor of Lambda, its inverse, the mean of u, and means and variances of the differences."""
        basis, factor = self.basis, precision_factor(self.basis, precision)
        inverse = triangular_inverse(factor)
        u_mean = inverse.T @ (inverse @ (basis.T @ shift))
        return factor, inverse, u_mean, basis @ u_mean, np.sum((basis @ inverse.T) ** 2, axis=1)

    def _one_by_one(self, at: Sweep) -> tuple[Array, Array]:
        return _sequential_sweep(self.basis, self.tied, self.probit, at, self.damping)

    def _back(self, precision: Array, shift: Array) -> tuple[Array, Array]:
        """Half of the last step."""
        self.improper += 1
        if self.last is None or self.improper >= IMPROPER_SWEEPS:
            raise ConvergenceError("the sites of expectation propagation lead to improper distributions")
        self.acceleration = AndersonAcceleration(self.damping)
        return 0.5 * (precision + self.last.precision), 0.5 * (shift + self.last.shift)

    def _next(self, at: Sweep, sweep: int) -> tuple[Array, Array]:
        """The sites to try after these."""
        self.last = at
        if self.closest is None or at.residual < self.closest.residual:
            self.closest = at
        diverged = not at.residual < DIVERGED
        if diverged and self.lowest < 0:
            raise ConvergenceError("the sites of expectation propagation diverge")
        is_cautious = self.damping < 1.0
        if diverged or sweep > (CAUTIOUS_SWEEPS if is_cautious else PARALLEL_SWEEPS):
            return self._one_by_one(at)
        if is_cautious and sweep == ACCELERATED_SWEEPS:  # the bound makes a kink, which may mislead it
            self.acceleration = AndersonAcceleration(self.damping, memory=0)
        return self.acceleration(
            at.precision, at.shift, at.to_precision, at.to_shift, at.residual, self.probit.scale, self.lowest
        )


def site_steps(
    mean: Array,
    variance: Array,
    precision: Array,
    shift: Array,
    tied: Flags,
    probit: Probit,
    lowest: float,
) -> SiteSteps:
    """The tilted distributions, their cavities, and the steps of the sites that match the moments."""
    rest = 1.0 - precision * variance
    cavity = (mean - shift * variance) / rest, variance / rest
    tilted = probit(cavity[0], tied, cavity[1])
    left_over = 1.0 - cavity[1] * tilted.curvature
    to_precision = tilted.curvature / left_over - precision
    to_shift = (tilted.gradient + cavity[0] * tilted.curvature) / left_over - shift
    if probit.lapse and lowest == 0.0:
        bounded = tilted.curvature < 0.0  # a site of precision 0 that matches the mean
        to_precision = np.where(bounded, -precision, to_precision)
        to_shift = np.where(bounded, tilted.gradient - shift, to_shift)
    return tilted, cavity, to_precision, to_shift


def _sequential_sweep(
    basis: Array, tied: Flags, probit: Probit, at: Sweep, damping: float
) -> tuple[Array, Array]:
    """A sweep of sequential EP (GPML, Algorithm 3.5): slower, and steady where answers contradict sharply."""
    precision, shift, u_mean = at.precision.copy(), at.shift.copy(), at.u_mean.copy()
    covariance = at.inverse.T @ at.inverse
    for i in range(len(basis)):
        one = slice(i, i + 1)
        along = covariance @ basis[i]
        variance, mean = basis[one] @ along, basis[one] @ u_mean
        _, _, to_precision, to_shift = site_steps(
            mean, variance, precision[one], shift[one], tied[one], probit, 0.0
        )
        to_precision, to_shift = damping * to_precision, damping * to_shift
        gain = along / (1.0 + to_precision * variance)
        u_mean += gain * (to_shift - to_precision * mean)
        covariance -= to_precision * np.outer(gain, along)
        precision[i], shift[i] = max(precision[i] + to_precision[0], 0.0), shift[i] + to_shift[0]
    return precision, shift


def _residual(to_precision: Array, to_shift: Array, mean: Array, variance: Array) -> float:
    """The largest distance of the posterior's moments from the tilted ones, in standard deviations."""
    return float(site_residuals(to_precision, to_shift, mean, variance).max(initial=0.0))


def site_residuals(to_precision: Array, to_shift: Array, mean: Array, variance: Array) -> Array:
    """How far each site's moments are from the tilted ones, in standard deviations."""
    by_mean = np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
    return np.asarray(np.abs(to_precision) * variance + by_mean)


def log_evidence(
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
    """Anderson's acceleration of a fixed-point iteration, with a memory of a few steps.

    The next sites are where the last steps, seen as linear in their starting points, would vanish. When the
    residual has grown, the memory is dropped; when it grows without any, the steps are halved.
    """

    def __init__(self, damping: float = 1.0, memory: int = MEMORY) -> None:
        self.points: list[Array] = []
        self.steps: list[Array] = []
        self.damping, self.memory, self.best = damping, memory, np.inf

    def __call__(
        self,
        precision: Array,
        shift: Array,
        to_precision: Array,
        to_shift: Array,
        residual: float,
        unit: float,
        lowest: float,
    ) -> tuple[Array, Array]:
        """The next sites, given the present ones, the steps they would take, and the residual."""
        if residual > 2.0 * self.best:
            if len(self.steps) == 1:
                self.damping = max(0.5 * self.damping, 0.02)
            self.points, self.steps, self.best = [], [], np.inf
        self.best = min(self.best, residual)
        # multiplied by the noise, precisions are of the same size as shifts
        self.points = [*self.points, np.concatenate([unit * precision, shift])][-1 - self.memory :]
        self.steps = [*self.steps, np.concatenate([unit * to_precision, to_shift])][-1 - self.memory :]
        sites = self._extrapolated()
        return np.maximum(sites[: len(precision)] / unit, lowest), sites[len(precision) :]

    def _extrapolated(self) -> Array:
        plain: Array = self.points[-1] + self.damping * self.steps[-1]
        if len(self.steps) == 1:
            return plain
        steps, points = np.array(self.steps), np.array(self.points)
        changes, moves = (steps[1:] - steps[:-1]).T, (points[1:] - points[:-1]).T
        coefficients = np.linalg.lstsq(changes.T @ changes, changes.T @ self.steps[-1], rcond=1e-12)[0]
        correction: Array = (moves + self.damping * changes) @ coefficients
        too_large = np.linalg.norm(correction) > 10.0 * np.linalg.norm(self.steps[-1])
        return plain if too_large else plain - correction
