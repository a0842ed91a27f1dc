"""Expectation propagation for answers of every kind: a site for each answer, with as many rows as it has.

    K, N, r        models, rows of all answers, and the largest rank of a basis
    basis          (K, N, r)      the differences of the rows are basis @ u, with u ~ N(0, I) a priori
    S              (K, B, q, q)   precision of the sites of a group of answers, and
    precision      (N, WIDTH)     the same as it is stored: row i has its answer's row of S, padded with 0
    shift          (K, N)         of the sites: an answer is replaced by exp(shift d - d S d / 2)
    m, V           (K, B, q)      cavity mean, and (K, B, q, q) covariance of an answer's differences

This is `prefero.models.ep` with matrices instead of numbers, for data in which not every answer is a plain
pair. Several models of the same answers are solved at once, to find sites to start from. Where likelihoods
are not log-concave (lapses, and rankings with ties of three), S may be indefinite; where that leads nowhere,
only positive semidefinite ones are allowed. That happens where answers contradict each other, and there full
steps overshoot, so the batch has positive semidefinite sites and takes smaller steps where the residual of a
model grows.
"""

from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags
from prefero.models.answer_regions import Group, Layout
from prefero.models.ep import (
    CAUTIOUS,
    FREE_SWEEPS,
    IMPROPER_SWEEPS,
    AndersonAcceleration,
    closest_solution,
    free_solution,
)
from prefero.models.joint_likelihood import PASSES_PER_SWEEP, AnswerLikelihood, likelihoods
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linalg import symmetric
from prefero.models.solution import ConvergenceError, Solution, WarmStart
from prefero.questions.answer_kinds import MOST_ITEMS

WIDTH = MOST_ITEMS - 1
SWEEPS = 300
BOUNDED_SWEEPS = 100
BATCHED_SWEEPS = 60
CLOSE = 1e-3  # standard deviations: a batch stops here, since each model makes its last sweeps alone
MISLED = 0.3  # standard deviations: sites of a batch that are farther from a fixed point are not used
SMALLER, LARGER, SMALLEST = 0.7, 1.05, 0.1  # the share of a step, when the residual has grown; and has not
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


def widened(start: WarmStart) -> WarmStart:
    """Sites as matrices, of rows that were answers of their own."""
    if start.precision.ndim == 2:
        return start
    wide = np.zeros((len(start.precision), WIDTH))
    wide[:, 0] = start.precision
    return WarmStart(wide, start.shift)


def stored(layout: Layout, blocks: Sequence[Array]) -> Array:
    """Sites of one model, (B, q, q) for each group, as they are stored, (N, WIDTH)."""
    precision = np.zeros((layout.rows, WIDTH))
    for group, S in zip(layout.groups, blocks, strict=True):
        precision[group.rows, : S.shape[2]] = S
    return precision


def blocks_of(layout: Layout, precision: Array) -> list[Array]:
    """The sites of every group, (B, q, q), from how they are stored."""
    return [precision[group.rows][:, :, : group.rows.shape[1]] for group in layout.groups]


def site_product(layout: Layout, precision: Array, x: Array) -> Array:
    """S @ x for x of shape (N, ...)."""
    product = np.zeros_like(x)
    for group, S in zip(layout.groups, blocks_of(layout, precision), strict=True):
        product[group.rows] = np.einsum("bij,bj...->bi...", S, x[group.rows])
    return product


@dataclass(frozen=True, eq=False)
class _Block:
    """One group of answers in a sweep, under every model."""

    group: Group
    S: Array
    h: Array
    mean: Array  # posterior mean of the differences (K, B, q)
    cov: Array  # and their covariance
    m: Array
    V: Array
    at: AnswerLikelihood
    to_site: Array
    to_linear: Array

    @property
    def residual(self) -> Array:
        """The largest distance of the moments from the tilted ones, in standard deviations, (K, B)."""
        std = np.sqrt(np.maximum(np.diagonal(self.cov, axis1=2, axis2=3), 0.0))
        off = np.abs(self.to_site) * std[..., :, None] * std[..., None, :]
        drift = self.to_linear - np.einsum("kbij,kbj->kbi", self.to_site, self.mean)
        total: Array = off.sum(axis=(2, 3)) + np.sum(np.abs(drift) * std, axis=2)
        return total

    def log_sites(self) -> Array:
        """log Z of the tilted distributions relative to their sites, (K, B); see `prefero.models.ep`."""
        SV = np.eye(self.S.shape[2]) + self.S @ self.V
        right = np.stack([self.h, np.einsum("kbij,kbj->kbi", self.S, self.m)], axis=-1)
        solved = np.linalg.solve(SV, right)  # (I + S V)^-1 h and (I + S V)^-1 S m
        quadratic = 2.0 * np.sum(solved[..., 0] * self.m, axis=2) - np.sum(solved[..., 1] * self.m, axis=2)
        Vh = np.einsum("kbij,kbj->kbi", self.V, self.h)
        quadratic += np.sum(solved[..., 0] * Vh, axis=2)
        log: Array = self.at.log + 0.5 * np.linalg.slogdet(SV)[1] - 0.5 * quadratic
        return log


class _Sweeps:
    """Sweeps over all answers of several models."""

    def __init__(self, bases: Array, layout: Layout, probits: Sequence[Probit], bounded: bool) -> None:
        self.bases, self.layout, self.bounded = bases, layout, bounded
        self.likelihoods = likelihoods(layout, probits, PASSES_PER_SWEEP)
        self.parts = [bases[:, group.rows] for group in layout.groups]  # (K, B, q, r)

    def of_models(self, which: Flags) -> Self:
        """The same of some models, (K,)."""
        other = copy(self)
        other.bases, other.parts = self.bases[which], [part[which] for part in self.parts]
        other.likelihoods = [likelihood.of_models(which) for likelihood in self.likelihoods]
        return other

    def precision(self, sites: Sequence[Array]) -> Array:
        """Lambda, the posterior precision of u, (K, r, r)."""
        K, rank = self.bases.shape[0], self.bases.shape[2]
        total = np.tile(np.eye(rank), (K, 1, 1))
        for part, S in zip(self.parts, sites, strict=True):
            flat = (S @ part).reshape(K, -1, rank)
            total += np.swapaxes(part.reshape(K, -1, rank), 1, 2) @ flat
        return 0.5 * (total + np.swapaxes(total, 1, 2))

    def blocks(self, sites: Sequence[Array], shift: Array, covariance: Array) -> list[_Block]:
        """The moments of all answers, given the posterior covariance of u, and the steps of their sites."""
        u_mean = covariance @ (np.swapaxes(self.bases, 1, 2) @ shift[:, :, None])
        found = []
        for part, S, likelihood in zip(self.parts, sites, self.likelihoods, strict=True):
            mean = (part @ u_mean[:, None])[..., 0]
            cov = part @ covariance[:, None] @ np.swapaxes(part, 2, 3)
            h = shift[:, likelihood.group.rows]
            m, V = _cavities(mean, cov, S, h)
            if not self.bounded and not _proper(V):
                raise LinAlgError("a cavity distribution is improper")
            at = likelihood(m, V)
            to_site, to_linear = _matched(at, m, V, self.bounded)
            found.append(_Block(likelihood.group, S, h, mean, cov, m, V, at, to_site - S, to_linear - h))
        return found


def _cavities(mean: Array, cov: Array, S: Array, h: Array) -> tuple[Array, Array]:
    """Mean and covariance of the differences without the answer's own site."""
    left = np.eye(S.shape[2]) - cov @ S
    right = np.concatenate([(mean - np.einsum("kbij,kbj->kbi", cov, h))[..., None], cov], axis=-1)
    solved = np.linalg.solve(left, right)
    V = solved[..., 1:]
    return solved[..., 0], 0.5 * (V + np.swapaxes(V, -1, -2))


def _proper(V: Array) -> bool:
    """Whether all covariances have no negative eigenvalues, up to rounding."""
    smallest = np.linalg.eigvalsh(V)[..., 0]
    return bool(np.all(smallest >= -1e-9 * (1e-300 + np.trace(V, axis1=2, axis2=3))))


def _matched(at: AnswerLikelihood, m: Array, V: Array, bounded: bool) -> tuple[Array, Array]:
    """Sites with which the moments are those of the tilted distributions."""
    H = at.curvature
    if bounded:
        values, vectors = np.linalg.eigh(H)
        H = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    left = np.eye(H.shape[2]) - H @ V
    shifted = at.gradient + np.einsum("kbij,kbj->kbi", H, m)
    solved = np.linalg.solve(left, np.concatenate([shifted[..., None], H], axis=-1))
    S = symmetric(solved[..., 1:])
    return _not_negative(S) if bounded else S, solved[..., 0]


@dataclass(frozen=True, eq=False)
class _Sweep:
    """The state after a sweep of one model."""

    layout: Layout
    sites: list[Array]
    shift: Array  # (N,)
    factor: Array
    u_mean: Array
    mean: Array  # (N,)
    blocks: list[_Block]
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
        self.sweeps = _Sweeps(basis[None], layout, [probit], bounded)
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
            sites = [_not_negative(S) for S in sites]
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
        return [_not_negative(S) for S in sites] if self.sweeps.bounded else sites, shift


def joint_factor(basis: Array, layout: Layout, precision: Array) -> Array:
    """The Cholesky factor of the posterior precision of u, given stored sites."""
    Lambda = np.eye(basis.shape[1]) + basis.T @ site_product(layout, precision, basis)
    return np.asarray(np.linalg.cholesky(0.5 * (Lambda + Lambda.T)), dtype=float)


def joint_marginal_precision(basis: Array, layout: Layout, precision: Array, factor: Array) -> Array:
    """(C + S^-1)^-1 = S - S basis Lambda^-1 basis.T S, shape (N, N)."""
    root = np.linalg.solve(factor, site_product(layout, precision, basis).T)
    marginal: Array = site_product(layout, precision, np.eye(layout.rows)) - root.T @ root
    return marginal


def cavity_log_likelihood(
    layout: Layout, probit: Probit, mean: Array, covariance: Array, sites: tuple[Array, Array] | None
) -> Array:
    """The log-probability of each answer given all others, (answers,), from the moments of all rows."""
    found = np.empty(layout.n_answers)
    precision, shift = sites or (np.zeros((layout.rows, WIDTH)), np.zeros(layout.rows))
    blocks = blocks_of(layout, precision)
    for S, numbers, likelihood in zip(blocks, layout.numbers, likelihoods(layout, [probit]), strict=True):
        rows = likelihood.group.rows
        cov = covariance[rows[:, :, None], rows[:, None, :]]
        m, V = _cavities(mean[rows][None], cov[None], S[None], shift[rows][None])
        found[numbers] = likelihood(m, V).log[0]
    return found


def joint_warm_starts(
    bases: Sequence[Array], layout: Layout, probits: Sequence[Probit], starts: Sequence[WarmStart]
) -> list[WarmStart]:
    """Sites near the fixed point of every model, where they are found; otherwise those it started from."""
    rank = max((basis.shape[1] for basis in bases), default=0)
    padded = np.stack([np.pad(basis, ((0, 0), (0, rank - basis.shape[1]))) for basis in bases])
    found = [widened(start) for start in starts]
    batch = _Batch(_Sweeps(padded, layout, probits, bounded=True), found)
    closest = np.full(len(bases), MISLED)
    for _ in range(BATCHED_SWEEPS):
        blocks = batch.blocks()
        residual = np.max([block.residual.max(axis=1) for block in blocks], axis=0)
        for place in np.flatnonzero(residual < closest[batch.models]).tolist():
            model = batch.models[place]
            found[model], closest[model] = batch.start(place), residual[place]
        batch.step(blocks, residual)
        if not len(batch.models):
            break
    return found


class _Batch:
    """Positive semidefinite sites of several models, each with steps of its own length.

    A model leaves the batch when it is close to its fixed point.
    """

    def __init__(self, sweeps: _Sweeps, starts: Sequence[WarmStart]) -> None:
        self.sweeps, self.models = sweeps, np.arange(len(starts))
        given = zip(*(blocks_of(sweeps.layout, start.precision) for start in starts), strict=True)
        self.sites = [_not_negative(np.stack(some)) for some in given]
        self.shift = np.array([start.shift for start in starts])
        self.damping, self.last = np.ones(len(starts)), np.full(len(starts), np.inf)

    def start(self, place: int) -> WarmStart:
        """The sites of one of the models."""
        precision = stored(self.sweeps.layout, [S[place] for S in self.sites])
        return WarmStart(precision, self.shift[place].copy())

    def blocks(self) -> list[_Block]:
        """A sweep over all answers."""
        covariance = np.asarray(np.linalg.inv(self.sweeps.precision(self.sites)), float)
        return self.sweeps.blocks(self.sites, self.shift, covariance)

    def step(self, blocks: Sequence[_Block], residual: Array) -> None:
        """Move the sites of the models that are not close; where the residual grew, by less than before."""
        grew = residual > self.last
        damping = np.where(grew, np.maximum(SMALLER * self.damping, SMALLEST), LARGER * self.damping)
        self.damping, self.last = np.minimum(damping, 1.0), residual
        for group, block in enumerate(blocks):
            to_site = self.damping[:, None, None, None] * block.to_site
            self.sites[group] = _not_negative(self.sites[group] + to_site)
            to_shift = np.where(np.isfinite(block.to_linear), block.to_linear, 0.0)
            self.shift[:, block.group.rows] += self.damping[:, None, None] * to_shift
        self._keep(~(residual <= CLOSE))

    def _keep(self, which: Flags) -> None:
        if which.all():
            return
        self.sweeps, self.models = self.sweeps.of_models(which), self.models[which]
        self.sites, self.shift = [S[which] for S in self.sites], self.shift[which]
        self.damping, self.last = self.damping[which], self.last[which]


def _not_negative(S: Array) -> Array:
    """Sites without negative eigenvalues, so that no cavity is improper: one would spoil all models."""
    finite = np.where(np.isfinite(S).all(axis=(-2, -1), keepdims=True), S, 0.0)
    values, vectors = np.linalg.eigh(symmetric(finite))
    if values.min(initial=0.0) >= 0.0:
        return finite
    return np.asarray((vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2))
