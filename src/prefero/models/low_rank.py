"""The covariance of very many answered differences in a basis of bounded rank, without ever forming it.

    C            (N, N)   prior covariance of the differences: only its diagonal and r columns are computed
    basis        (N, r)   C = basis @ basis.T + rest
    pivots       (r,)     the answers whose columns were computed
    neglected    (N,)     the diagonal of the rest, a prior variance that no other difference shares

A difference is then basis_i . u + e_i, with u ~ N(0, I) and e_i ~ N(0, neglected_i) independent of all else:
variances are those of C, as in the FITC approximation, so that nothing becomes too sure. The rank is chosen
such that the neglected variances add up to no more than `TOLERANCE` variances of the noise of one answer:
all answers together would tell little about what is neglected.

Pivots are drawn with probabilities proportional to the neglected variances, many at once, and those that the
others of their block explain are left out (accelerated randomly pivoted Cholesky: Epperly, Tropp and Webber,
2024). So nearly all work is in matrix products.
"""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import (
    AnyArray,
    Array,
    Indices,
    like,
    like_indices,
    namespace_of,
    one_thread,
    to_numpy,
)
from prefero.kernels import Kernel
from prefero.models.linalg import ROUNDING, leading_pivots, triangular_inverse
from prefero.models.posterior import covariance_of_differences, covariance_with_differences
from prefero.models.tall_matrix import TallMatrix, map_blocks
from prefero.questions import Comparisons

FROM = 500  # answers: with fewer, nothing is neglected
TOLERANCE = 0.1  # of the neglected variances' sum, in variances of the noise
MAX_RANK = 1500
CANDIDATES = 160  # pivots that are drawn at once
EXPLAINED = 0.05  # candidates with less than this share of the largest variance left are no pivots yet


@dataclass(frozen=True, eq=False)
class LowRank:
    """The basis of the answered differences; the rows `pivots` of it are lower triangular."""

    basis: TallMatrix
    pivots: Indices
    neglected: Array

    def __deepcopy__(self, memo: object) -> "LowRank":
        """Itself: it is never changed."""
        return self

    def for_noise(self, noise: float) -> "LowRank":
        """With only as many columns as this noise, larger than that of the basis, asks for."""
        columns = self.basis.rows
        explained = to_numpy(namespace_of(columns).sum(columns * columns, axis=0))
        return self.neglecting(TOLERANCE * 2.0 * noise**2, explained)

    def neglecting(self, allowed: float, explained: Array) -> "LowRank":
        """Without the last columns, as far as the neglected variances add up to no more than is allowed.

        `explained` are the variances that the columns explain, those of the last ones at least.
        """
        spare = int(np.count_nonzero(np.cumsum(explained[::-1]) + self.neglected.sum() <= allowed))
        return self.of_rank(len(self.pivots) - spare) if spare else self

    def of_rank(self, rank: int) -> "LowRank":
        """With the first of the pivots only."""
        dropped = self.basis.rows[:, rank:]
        neglected = self.neglected + to_numpy(namespace_of(dropped).sum(dropped * dropped, axis=1))
        return LowRank(TallMatrix(self.basis.rows[:, :rank]), self.pivots[:rank], neglected)


def are_many(data: Comparisons) -> bool:
    """Whether there are so many answers, all about pairs, that they are inferred from in a low rank."""
    return len(data) >= FROM and data.rows is None


def variance_of_differences(kernel: Kernel, data: Comparisons) -> Array:
    """The diagonal of C, (N,)."""
    k, a, b = kernel.for_differences, data.winners, data.losers
    variance: Array = np.maximum(k.diagonal(a) + k.diagonal(b) - 2.0 * k.rowwise(a, b), 0.0)
    return variance


def covariance_between(kernel: Kernel, winners: AnyArray, losers: AnyArray, data: Comparisons) -> AnyArray:
    """Cov[f(winners) - f(losers), differences of data], one row for each winner."""
    covariance = covariance_with_differences(kernel, winners, data)
    covariance -= covariance_with_differences(kernel, losers, data)
    return covariance


@one_thread
def low_rank_basis(
    kernel: Kernel,
    data: Comparisons,
    noise: float,
    *,
    tolerance: float = TOLERANCE,
    max_rank: int = MAX_RANK,
    start: LowRank | None = None,
    device: AnyArray | None = None,
) -> LowRank:
    """A basis of the answered differences whose neglected variances are small relative to the noise.

    Args:
        kernel: The prior covariance of the reward.
        data: The comparisons.
        noise: The paper's sigma.
        tolerance: What the neglected variances may add up to, in variances of the noise.
        max_rank: The largest rank.
        start: The basis of the first of these comparisons, whose pivots are kept.
        device: An array of the library, and on the device, that computes; None: NumPy.

    Returns:
        The basis, with what it neglects.
    """
    growing = _Growing(kernel, data, min(max_rank, len(data)), device)
    if start is not None:
        growing.continue_from(start)
    rng, allowed = np.random.default_rng(0), tolerance * 2.0 * noise**2
    while growing.rank < growing.most and growing.neglected.sum() > allowed:
        candidates = _drawn(growing.neglected, rng)
        growing.add(*_independent(growing, candidates, growing.most - growing.rank))
    return growing.finished(allowed)


@one_thread
def basis_of_pivots(kernel: Kernel, data: Comparisons, pivots: Indices) -> LowRank:
    """The basis with these pivots, without those that follow from the others."""
    growing = _Growing(kernel, data, len(pivots), None)
    covariance = covariance_of_differences(growing.kernel, data[pivots])
    order, factor = leading_pivots(covariance, ROUNDING * float(covariance.diagonal().max()), len(pivots))
    growing.add(pivots[order], factor)
    return growing.finished(-np.inf)


def _drawn(variances: Array, rng: np.random.Generator) -> Indices:
    """Different answers, with probabilities proportional to their variances."""
    # the largest of log(p) + Gumbel noise are a draw without replacement
    with np.errstate(divide="ignore"):
        keys = np.log(variances) + rng.gumbel(size=len(variances))
    count = min(CANDIDATES, int(np.count_nonzero(variances)))
    return np.argpartition(-keys, count - 1)[:count]


def _independent(growing: "_Growing", candidates: Indices, most: int) -> tuple[Indices, Array]:
    """The candidates that do not explain each other, and the Cholesky factor of what they have left."""
    known = growing.rows(candidates)
    left = covariance_of_differences(growing.kernel, growing.data[candidates]) - to_numpy(known @ known.T)
    order, factor = leading_pivots(left, EXPLAINED * float(left.diagonal().max()), most)
    return candidates[order], factor


class _Growing:
    """The basis as it grows, where the work is done: in NumPy or on a device."""

    def __init__(self, kernel: Kernel, data: Comparisons, most: int, device: AnyArray | None) -> None:
        self.kernel, self.data, self.most, self.rank = kernel.for_differences, data, most, 0
        self.winners, self.losers = data.winners, data.losers
        if device is not None:
            self.winners, self.losers = like(data.winners, device), like(data.losers, device)
        xp = namespace_of(self.winners)
        # columns lie one after the other, so that memory is taken as they come
        self.store = xp.empty((most, len(data)), dtype=self.winners.dtype, device=self.winners.device)
        self.pivots: list[Indices] = []
        self.added = 0  # how many of them were added last
        self.neglected = variance_of_differences(kernel, data)

    def add(self, pivots: Indices, factor: Array) -> None:
        """Columns for pivots whose neglected covariance has this Cholesky factor."""
        chosen, known = self.data[pivots], self.rows(pivots)
        inverse = like(triangular_inverse(factor).T, self.winners)
        start, end = self.rank, self.rank + len(pivots)

        def column(b: slice) -> Array:
            left = covariance_between(self.kernel, self.winners[b, :], self.losers[b, :], chosen)
            left -= self.store[:start, b].T @ known.T
            new = left @ inverse
            self.store[start:end, b] = new.T
            return to_numpy(namespace_of(new).sum(new * new, axis=1))

        explained = np.concatenate(map_blocks(column, self.winners))
        self.neglected = np.maximum(self.neglected - explained, 0.0)
        self.neglected[pivots] = 0.0
        self.pivots.append(pivots)
        self.rank, self.added = end, len(pivots)

    def rows(self, which: Indices) -> AnyArray:
        """Rows of the basis so far."""
        place = like_indices(which, self.store)
        return namespace_of(self.store).take(self.store[: self.rank, :], place, axis=1).T

    def continue_from(self, start: LowRank) -> None:
        """The columns of a basis of the first answers, with rows for the others."""
        rank, known, pivots = len(start.pivots), len(start.basis), start.pivots
        self.store[:rank, :known] = start.basis.rows.T
        self.neglected[:known] = start.neglected
        if known < len(self.data):
            new = slice(known, None)
            left = covariance_between(
                self.kernel, self.winners[new, :], self.losers[new, :], self.data[pivots]
            )
            rows = left @ like(triangular_inverse(start.basis[pivots]).T, self.winners)
            self.store[:rank, new] = rows.T
            explained = to_numpy(namespace_of(rows).sum(rows * rows, axis=1))
            self.neglected[new] = np.maximum(self.neglected[new] - explained, 0.0)
        self.pivots, self.rank = [pivots], rank

    def finished(self, allowed: float) -> LowRank:
        """The basis, with no more columns than what may be neglected asks for."""
        pivots = np.concatenate([np.empty(0, dtype=np.intp), *self.pivots])
        found = LowRank(TallMatrix(self.store[: self.rank, :].T), pivots, self.neglected)
        columns = self.store[self.rank - self.added : self.rank, :]
        return found.neglecting(allowed, to_numpy(namespace_of(columns).sum(columns * columns, axis=1)))
