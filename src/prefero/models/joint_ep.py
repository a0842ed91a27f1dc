"""Expectation propagation for answers of every kind: a site for each answer, with as many rows as it has.

This is `prefero.models.ep` with matrices instead of numbers, for data in which not every answer is a plain
pair; `prefero.models.joint_sites` has the notation. Where likelihoods are not log-concave (lapses, and
rankings with ties of three), the precision S of a site may be indefinite; where that leads nowhere, only
positive semidefinite ones are allowed. That happens where answers contradict each other.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array
from prefero.models.answer_regions import Layout
from prefero.models.ep import (
    CAUTIOUS,
    FREE_SWEEPS,
    IMPROPER_SWEEPS,
    AndersonAcceleration,
    closest_solution,
    free_solution,
)
from prefero.models.joint_sites import Block, Sweeps, blocks_of, not_negative, stored, widened
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.solution import ConvergenceError, Solution, WarmStart

SWEEPS = 300
BOUNDED_SWEEPS = 100
TRIAL = 15  # sweeps with indefinite sites, from a start where semidefinite ones have converged
NEARLY = 1.0  # standard deviations: this close to a fixed point, more sweeps are made
ROUNDING, UNCHANGED = 1e-7, 6  # a residual below this that has not fallen for so many sweeps is rounding
CIRCLING = 20  # sweeps after which a residual that does not fall any more is not expected to


@dataclass(frozen=True, eq=False)
class JointSolution(Solution):
    """A solution whose sites are matrices; `W` has shape (N, WIDTH).

    Args:
        by_margins: Derivatives of the log evidence by margin and strong margin, (2,).
        log_likelihood: Of each answer at its cavity distribution, (answers,).
    """

    by_margins: Array
    log_likelihood: Array


def joint_propagation(
    basis: Array, layout: Layout, probit: Probit, start: WarmStart, tolerance: float, limit: int = SWEEPS
) -> JointSolution:
    """EP from a start; where it does not converge, with more noise first, and at last with bounded sites.

    Bounded sites may circle around a fixed point. Then those that came closest are taken, whose distance from
    it is the solution's `residual`.
    """
    start = widened(start)

    def free(start: WarmStart, factor: float, tolerance: float) -> JointSolution:
        louder = replace(probit, noise=factor * probit.noise)
        sweeps = FREE_SWEEPS if probit.lapse else limit
        return _Iteration(basis, layout, louder, bounded=False).run(start, tolerance, sweeps)

    def bounded() -> _Iteration:
        return _Iteration(basis, layout, probit, bounded=True, damping=CAUTIOUS)

    if start.precision.any():
        if not probit.lapse:
            return free(start, 1.0, tolerance)
        with suppress(ConvergenceError):
            return _Iteration(basis, layout, probit, bounded=False).run(start, tolerance, TRIAL, NEARLY)
        return bounded().run(start, tolerance, BOUNDED_SWEEPS)
    found = free_solution(free, start, tolerance)
    if found is not None:
        return found
    return closest_solution(bounded(), start, tolerance, min(limit, BOUNDED_SWEEPS))


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The state after a sweep of one model."""

    layout: Layout
    sites: list[Array]
    shift: Array  # (N,)
    factor: Array
    u_mean: Array
    mean: Array  # (N,)
    blocks: list[Block]
    residual: float

    def solution(self, sweep: int) -> JointSolution:
        """What the sites say, when they are as they should be."""
        log_evidence = sum(float(block.log_sites().sum()) for block in self.blocks)
        log_evidence += 0.5 * float(self.shift @ self.mean) - float(np.sum(np.log(self.factor.diagonal())))
        log = np.empty(self.layout.n_answers)
        for numbers, block in zip(self.layout.numbers, self.blocks, strict=True):
            log[numbers] = block.at.log[0]
        nothing = np.empty(0)
        return JointSolution(
            self.u_mean,
            stored(self.layout, [S[0] for S in self.sites]),
            self.shift,
            self.factor,
            log_evidence,
            sweep,
            self.residual,
            Likelihood(log, nothing, nothing, nothing),
            (nothing, nothing),
            sum((block.at.by_margins.sum(axis=(0, 1)) for block in self.blocks), np.zeros(2)),
            log,
        )


class _Iteration:
    """The sites of one model from one sweep to the next."""

    def __init__(
        self, basis: Array, layout: Layout, probit: Probit, bounded: bool, damping: float = 1.0
    ) -> None:
        self.sweeps = Sweeps(basis[None], layout, [probit], bounded)
        self.layout, self.probit, self.damping = layout, probit, damping
        self.acceleration = AndersonAcceleration(damping)
        self.last: _Sweep | None = None
        self.closest: _Sweep | None = None
        self.improper = self.unchanged = 0

    def run(
        self, start: WarmStart, tolerance: float, limit: int, nearly: float | None = None
    ) -> JointSolution:
        """The fixed point that it comes to; after the limit only where the residual is small and falls."""
        sites, shift = [S[None] for S in blocks_of(self.layout, start.precision)], start.shift
        if self.sweeps.bounded:
            sites = [not_negative(S) for S in sites]
        residual = np.inf
        for sweep in range(1, SWEEPS + 1):
            at = self._sweep(sites, shift)
            if at is None:
                sites, shift = self._back(sites, shift)
                continue
            residual = at.residual
            if residual <= tolerance or self._is_rounding(residual):
                return at.solution(sweep)
            if sweep >= limit and not (nearly and residual < nearly and self.unchanged < CIRCLING):
                break
            sites, shift = self._next(at)
        raise ConvergenceError(
            f"expectation propagation did not converge in {sweep} sweeps: the moments are still off by "
            f"{residual:.1e} standard deviations, asked for {tolerance:.1e} "
            f"({self.layout.n_answers} answers, noise {self.probit.noise:g}): "
            "is the noise tiny relative to the reward?"
        )

    def _is_rounding(self, residual: float) -> bool:
        """Whether a small residual falls no more."""
        fell = self.closest is None or residual < self.closest.residual
        self.unchanged = 0 if fell else self.unchanged + 1
        return residual <= ROUNDING and self.unchanged >= UNCHANGED

    def _sweep(self, sites: list[Array], shift: Array) -> _Sweep | None:
        """The moments that these sites give; None if a distribution would be improper."""
        try:
            factor = np.linalg.cholesky(self.sweeps.precision(sites)[0])
            inverse = np.linalg.solve(factor, np.eye(len(factor)))
            covariance = inverse.T @ inverse
            blocks = self.sweeps.blocks(sites, shift[None], covariance[None])
        except (LinAlgError, np.linalg.LinAlgError):
            return None
        moved = [likelihood.moved for likelihood in self.sweeps.likelihoods]
        residual = max([*(float(block.residual.max(initial=0.0)) for block in blocks), *moved, 0.0])
        if not np.isfinite(residual):
            return None
        basis = self.sweeps.bases[0]
        u_mean = covariance @ (basis.T @ shift)
        return _Sweep(self.layout, sites, shift, factor, u_mean, basis @ u_mean, blocks, residual)

    def _back(self, sites: list[Array], shift: Array) -> tuple[list[Array], Array]:
        """Half of the last step."""
        self.improper += 1
        if self.last is None or self.improper >= IMPROPER_SWEEPS:
            raise ConvergenceError("the sites of expectation propagation lead to improper distributions")
        self.acceleration = AndersonAcceleration(self.damping)
        halves = [0.5 * (S + old) for S, old in zip(sites, self.last.sites, strict=True)]
        return halves, 0.5 * (shift + self.last.shift)

    def _next(self, at: _Sweep) -> tuple[list[Array], Array]:
        """The sites to try after these."""
        self.last = at
        if self.closest is None or at.residual < self.closest.residual:
            self.closest = at
        to_shift = np.zeros_like(at.shift)
        for block in at.blocks:
            to_shift[block.group.rows] = block.to_linear[0]
        flat = [
            np.concatenate([S.ravel() for S in some] or [np.empty(0)])
            for some in (at.sites, [b.to_site for b in at.blocks])
        ]
        found, shift = self.acceleration(
            flat[0], at.shift, flat[1], to_shift, at.residual, self.probit.scale, -np.inf
        )
        ends = np.cumsum([S.size for S in at.sites])[:-1]
        sites = [part.reshape(S.shape) for part, S in zip(np.split(found, ends), at.sites, strict=True)]
        return [not_negative(S) for S in sites] if self.sweeps.bounded else sites, shift
