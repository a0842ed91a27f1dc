"""EP after a few more answers, in a basis of bounded rank that was extended for them.

    B, C       (N, r0), (N, k)   the columns that the basis had before, and new ones
    Lambda     (r, r)            posterior precision of u; what the new columns add borders it
    moved                        the sites that are not yet as they should be: few, since one answer among
                                 very many changes little far away from it

A sweep of EP costs N r^2. Here only the sites that move are updated. Each time, the variances of all
differences follow by Woodbury's formula, so that a step costs N r for each moved site, and r^3 / 3.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dpotrs, dtrtrs

from prefero._support.arrays import Array, Flags
from prefero.models import ep
from prefero.models.likelihood import Probit
from prefero.models.linalg import cholesky_factor
from prefero.models.low_rank import LowRank
from prefero.models.solution import Solution

STEPS = 12
MOST_MOVED = 200  # sites; if more of them move, sweeps are cheaper
FEW_NEW = 16  # answers, and columns
MOVES = 0.25  # of the tolerance: sites that are off by more are updated


class _State(NamedTuple):
    """Sites, the posterior precision that they give, and the variances of all differences."""

    precision: Array
    shift: Array
    Lambda: Array
    variance: Array


def updated_solution(
    low: LowRank, tied: Flags, probit: Probit, old: Solution, tolerance: float
) -> Solution | None:
    """The solution for answers of which `old` is that of the first; None where sweeps are better.

    Args:
        low: The basis; its first columns, for the first answers, are those of the old solution.
        tied: Which answers are "about equal", (N,).
        probit: The likelihood of answers, with the neglected variances.
        old: The solution before the last answers came.
        tolerance: When to stop, in standard deviations of the differences.

    Returns:
        The solution.
    """
    new, columns = len(tied) - len(old.W), len(low.pivots) - len(old.u_mean)
    if not isinstance(low.basis.rows, np.ndarray) or not 0 < new <= FEW_NEW or not 0 <= columns <= FEW_NEW:
        return None
    try:
        return _run(_bordered(low.basis.rows, old), low.basis.rows, tied, probit, tolerance)
    except LinAlgError:
        return None


def _bordered(rows: Array, old: Solution) -> _State:
    """The old sites in the extended basis; those of new answers say nothing yet."""
    known, rank, before = len(old.W), len(old.u_mean), old.cavity[1]
    B, C, W = rows[:known, :rank], rows[:known, rank:], old.W
    variance = before / (1.0 + W * before)
    Lambda = np.eye(rows.shape[1])
    Lambda[:rank, :rank] = old.factor @ old.factor.T
    if C.shape[1]:
        weighted = W[:, None] * C
        border = B.T @ weighted
        Lambda[:rank, rank:], Lambda[rank:, :rank] = border, border.T
        Lambda[rank:, rank:] += C.T @ weighted
        along = dpotrs(old.factor, border, lower=1)[0]
        left = cholesky_factor(Lambda[rank:, rank:] - border.T @ along)
        variance = variance + np.sum(_solved(left, (C - B @ along).T) ** 2, axis=0)
    new = np.sum(_solved(cholesky_factor(Lambda), rows[known:].T) ** 2, axis=0)
    more = len(rows) - known
    return _State(np.pad(W, (0, more)), np.pad(old.shift, (0, more)), Lambda, np.concatenate([variance, new]))


def _run(state: _State, rows: Array, tied: Flags, probit: Probit, tolerance: float) -> Solution | None:
    for step in range(1, STEPS + 1):
        factor = cholesky_factor(state.Lambda)
        u_mean = dpotrs(factor, rows.T @ state.shift, lower=1)[0]
        mean, variance, lowest = rows @ u_mean, state.variance, -np.inf if probit.lapse else 0.0
        if np.min(1.0 - state.precision * variance) < ep.PROPER:
            return None
        steps = ep.site_steps(mean, variance, state.precision, state.shift, tied, probit, lowest)
        off = ep.site_residuals(*steps[2:], mean, variance)
        if off.max() <= tolerance:
            precision, shift, residual = state.precision, state.shift, float(off.max())
            found = ep.Sweep(precision, shift, factor, factor, u_mean, mean, *steps, residual)
            return found.solution(step)
        moved = np.flatnonzero(off > MOVES * tolerance)
        if len(moved) > MOST_MOVED:
            return None
        state = _moved(state, rows, factor, moved, steps[2][moved], steps[3][moved])
    return None


def _moved(
    state: _State, rows: Array, factor: Array, moved: np.ndarray, to_precision: Array, to_shift: Array
) -> _State:
    """After steps of some sites: Woodbury's formula gives the variances."""
    own = rows[moved]
    along = rows @ dpotrs(factor, own.T, lower=1)[0]  # (N, s) covariances with the moved differences
    gain = np.linalg.solve(np.eye(len(moved)) + to_precision[:, None] * along[moved], np.diag(to_precision))
    precision, shift = state.precision.copy(), state.shift.copy()
    precision[moved] += to_precision
    shift[moved] += to_shift
    variance = state.variance - np.sum((along @ gain) * along, axis=1)
    return _State(precision, shift, state.Lambda + own.T @ (to_precision[:, None] * own), variance)


def _solved(factor: Array, right: Array) -> Array:
    return np.asarray(dtrtrs(factor, right, lower=1)[0])
