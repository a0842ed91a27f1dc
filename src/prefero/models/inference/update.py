"""EP after a few more answers, in a basis of bounded rank that was extended for them.

    B, C       (N, r0), (N, k)   the columns that the basis had before, and new ones
    Lambda     (r, r)            posterior precision of u; what the new columns add borders it
    moved      (m,)              the sites that move: those of the new answers, and few of the others, since
                                 one answer among very many changes little far away from it
    along      (N, m)            posterior covariances of all differences with those of the moved sites

A sweep of EP costs N r^2. Here only the sites that move are updated: their covariances before the update,
which cost N r for each of them, give all means and variances after it by Woodbury's formula. So further
steps of the same sites cost N m^2, and the factor of Lambda is computed once, at the end.

One informative answer makes a thousand others be a little off. Those that are off the most are updated, a few
more each time than the tolerance asks for. So what is left over does not add up from answer to answer: it
settles where posterior means and deviations are off by about 0.005 deviations. Where it has one direction,
such as after an answer that contradicts all others, more sites are updated: the steps in precision, times the
variances, add up to what the steps left over would change of the logarithm of |Lambda|.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrs

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import largest_first
from prefero.models.algebra.linalg import cholesky_factor, triangular_solution
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.latent import Center
from prefero.models.inference.low_rank import LowRank
from prefero.models.inference.sites import NUMBERS, PROPER
from prefero.models.inference.solution import Solution, WarmStart
from prefero.models.likelihood.factors import Factors, Tilted, factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout


@dataclass(frozen=True)
class UpdatePolicy:
    """When a solution is updated, which sites move, and when it ends."""

    new: int = 16  # answers, and columns, that are added at most
    steps: int = 12
    moved: int = 600  # sites; if more of them move, sweeps are cheaper
    looser: float = 5.0  # times the tolerance: sites that are off by more move
    eager: int = 32  # sites that move anyway, if they are off by more than
    least: float = 0.25  # times the tolerance
    drift: float = 5e-4  # the mean relative change of posterior variances that may be left over


POLICY = UpdatePolicy()


@dataclass(frozen=True, eq=False)
class UpdatedSolution(Solution):
    """A solution that was updated, with what the next update needs.

    Args:
        Lambda: The posterior precision of u, (r, r).
    """

    Lambda: Array


class _Before(NamedTuple):
    """The posterior before the update in the extended basis: sites of new answers say nothing yet."""

    Lambda: Array
    factor: Array
    u_mean: Array
    mean: Array
    variance: Array
    precision: Array
    shift: Array


def updated_solution(
    low: LowRank, layout: Layout, probit: Probit, old: Solution, tolerance: float
) -> Solution | WarmStart | None:
    """The solution for answers of which `old` is that of the first.

    Args:
        low: The basis; its first columns, for the first answers, are those of the old solution.
        layout: The answers.
        probit: The likelihood of answers.
        old: The solution before the last answers came.
        tolerance: When to stop, in standard deviations of the differences.

    Returns:
        The solution; or sites from which sweeps should go on, where too many move; or None where all should
        be done by sweeps.
    """
    rows, known = low.basis.rows, len(old.W)
    new, columns = layout.rows - known, len(low.pivots) - len(old.u_mean)
    if not isinstance(rows, np.ndarray) or not 0 < new <= POLICY.new or not 0 <= columns <= POLICY.new:
        return None
    try:
        (factors,) = factors_of(layout, [probit], low.neglected)
        update = _Update(_before(rows, old), low.basis, factors, bounded=not probit.lapse)
        return update.run(np.arange(known, layout.rows), tolerance)
    except LinAlgError:
        return None


def _before(rows: Array, old: Solution) -> _Before:
    known, rank = len(old.W), len(old.u_mean)
    ((cavity_mean, cavity_variance),) = old.cavities
    rest = 1.0 + old.W * cavity_variance
    Lambda = old.Lambda if isinstance(old, UpdatedSolution) else old.factor @ old.factor.T
    mean, variance = (cavity_mean + old.shift * cavity_variance) / rest, cavity_variance / rest
    before = _Before(Lambda, old.factor, old.u_mean, mean, variance, old.W, old.shift)
    if rows.shape[1] > rank:
        before = _bordered(before, rows[:known, :rank], rows[:known, rank:])
    return _with_answers(before, rows[known:])


def _bordered(before: _Before, B: Array, C: Array) -> _Before:
    """With new columns C besides B."""
    weighted = before.precision[:, None] * C
    border, corner = B.T @ weighted, np.eye(C.shape[1]) + C.T @ weighted
    along = dpotrs(before.factor, border, lower=1)[0]
    left = cholesky_factor(corner - border.T @ along)
    rest = C - B @ along  # what is new in the new columns
    u_new = dpotrs(left, C.T @ before.shift - border.T @ before.u_mean, lower=1)[0]
    side = triangular_solution(before.factor, border).T
    return before._replace(
        Lambda=np.block([[before.Lambda, border], [border.T, corner]]),
        factor=np.block([[before.factor, np.zeros_like(border)], [side, left]]),
        u_mean=np.concatenate([before.u_mean - along @ u_new, u_new]),
        mean=before.mean + rest @ u_new,
        variance=before.variance + np.sum(triangular_solution(left, rest.T) ** 2, axis=0),
    )


def _with_answers(before: _Before, rows: Array) -> _Before:
    """With further answers, of which nothing is learned yet."""
    variance = np.sum(triangular_solution(before.factor, rows.T) ** 2, axis=0)
    return before._replace(
        mean=np.concatenate([before.mean, rows @ before.u_mean]),
        variance=np.concatenate([before.variance, variance]),
        precision=np.pad(before.precision, (0, len(rows))),
        shift=np.pad(before.shift, (0, len(rows))),
    )


class _Steps(NamedTuple):
    """Of all sites: their cavities and tilted distributions, the steps they would take, and how far off."""

    cavity: tuple[Array, Array]
    tilted: Tilted
    to_precision: Array
    to_shift: Array
    off: Array


class _Update:
    """The sites as they move, and what follows from them."""

    def __init__(self, before: _Before, basis: TallMatrix, factors: Factors, bounded: bool) -> None:
        self.before, self.basis, self.factors = before, basis, factors
        self.bounded = np.array([bounded])
        self.precision, self.shift = before.precision, before.shift
        self.moved: Indices = np.empty(0, dtype=np.intp)
        self.directions = np.empty((basis.shape[1], 0))  # covariances of u with the moved differences
        self.along = np.empty((len(basis), 0))

    def run(self, new: Indices, tolerance: float) -> Solution | WarmStart | None:
        """The solution, or how far it came; the new sites move, even if they say little."""
        moving, most = new, POLICY.looser * tolerance
        for step in range(1, POLICY.steps + 1):
            u_mean, mean, variance = self._moments()
            at = self._sweep(mean, variance)
            if at is None:
                return None
            drifts = abs(float(at.to_precision @ variance)) > POLICY.drift * len(u_mean)
            if step > 2 and at.off.max() <= most and not drifts:
                return self._solution(u_mean, mean, at, step)
            if step > 1:
                further = max(POLICY.eager if step == 2 else 0, len(self.moved) if drifts else 0)
                moving = self._largest(at.off, most, further, POLICY.least * tolerance)
            if len(moving) > POLICY.moved:
                break
            self._move(moving, at.to_precision, at.to_shift)
        return WarmStart(self.precision, self.shift)

    def _sweep(self, mean: Array, variance: Array) -> "_Steps | None":
        """The steps of all sites; None if a distribution would be improper."""
        S, h, moments = self.precision[None], self.shift[None], (mean[None], variance[None])
        if not np.min(1.0 - self.precision * variance) >= PROPER:
            return None
        m, V, _ = NUMBERS.cavity(*moments, S, h, self.bounded)
        tilted = self.factors.tilted(m, V)
        to_S, to_h = NUMBERS.matched(tilted, m, V, self.bounded)
        off = NUMBERS.residual(to_S - S, to_h - h, *moments)
        return _Steps((m, V), tilted, (to_S - S)[0], (to_h - h)[0], off[0])

    def _largest(self, off: Array, most: float, further: int, least: float) -> Indices:
        """The sites that have moved, those that are off by too much, and further ones by how far they are."""
        waiting = off.copy()
        waiting[self.moved] = 0.0
        count = min(max(further, int(np.count_nonzero(waiting > most))), len(off) - 1)
        largest = largest_first(waiting, count)
        return np.union1d(self.moved, largest[waiting[largest] > least])

    def _moments(self) -> tuple[Array, Array, Array]:
        """The mean of u, and means and variances of the differences, by Woodbury's formula."""
        before, moved = self.before, self.moved
        by_precision = (self.precision - before.precision)[moved]
        by_shift = (self.shift - before.shift)[moved] - by_precision * before.mean[moved]
        inner = np.eye(len(moved)) + by_precision[:, None] * self.along[moved]
        solved = np.linalg.solve(inner, np.column_stack([by_shift, np.diag(by_precision)]))
        weights, gain = solved[:, 0], solved[:, 1:]
        variance = before.variance - np.sum((self.along @ gain) * self.along, axis=1)
        return before.u_mean + self.directions @ weights, before.mean + self.along @ weights, variance

    def _move(self, moving: Indices, to_precision: Array, to_shift: Array) -> None:
        """Steps of the sites that have moved before, and of others."""
        further = np.setdiff1d(moving, self.moved)
        if len(further):
            directions = dpotrs(self.before.factor, self.basis[further].T, lower=1)[0]
            self.moved = np.concatenate([self.moved, further])
            self.directions = np.column_stack([self.directions, directions])
            self.along = np.column_stack([self.along, self.basis.times(directions)])
        self.precision, self.shift = self.precision.copy(), self.shift.copy()
        self.precision[moving] += to_precision[moving]
        self.shift[moving] += to_shift[moving]

    def _solution(self, u_mean: Array, mean: Array, at: "_Steps", step: int) -> Solution:
        own = self.basis[self.moved]
        added = (self.precision - self.before.precision)[self.moved]
        Lambda = (added * own.T) @ own
        Lambda += self.before.Lambda
        factor = cholesky_factor(Lambda.T)  # it is symmetric, and LAPACK reads columns
        (m, V), S, h = at.cavity, self.precision[None], self.shift[None]
        log_evidence = float(NUMBERS.log_z(at.tilted, m, V, S, h).sum())
        log_evidence += Center(u_mean, factor, mean).log_z(self.shift)
        return UpdatedSolution(
            u_mean,
            self.precision,
            self.shift,
            factor,
            log_evidence,
            step,
            float(at.off.max()),
            (Tilted(*(one[0] for one in at.tilted)),),
            ((m[0], V[0]),),
            Lambda,
        )
