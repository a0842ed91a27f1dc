"""The basis of very many answered differences, column by column, and row by row as answers come.

    columns      (r, N)   the transpose of the basis, in memory with room for more of both
    factor       (r, r)   the rows `pivots` of the basis, lower triangular
    neglected    (N,)     what the columns so far leave of the prior variances

Pivots are drawn with probabilities proportional to the neglected variances, many at once, and those that the
others drawn with them explain are left out (accelerated randomly pivoted Cholesky: Epperly, Tropp and Webber,
2024). So nearly all work is in matrix products. With a few more answers the columns stay, and get a row for
each; new columns are added only where the new answers have variance that the old ones do not explain.
"""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from prefero._support.arrays import (
    AnyArray,
    Array,
    Indices,
    like,
    namespace_of,
    one_thread,
    to_numpy,
)
from prefero._support.ordering import largest_first
from prefero.kernels import Kernel
from prefero.models.algebra.linalg import ROUNDING, leading_pivots, triangular_inverse, triangular_solution
from prefero.models.algebra.tall_matrix import TallMatrix, columns_at, map_chunks
from prefero.models.inference.low_rank import TOLERANCE, LowRank
from prefero.models.posterior.gaussian import covariance_of_differences, variance_of_differences
from prefero.questions import Comparisons

MAX_RANK = 1500
CANDIDATES = 160  # pivots that are drawn at once
FEWER_CANDIDATES = 16  # for each further answer
EXPLAINED = 0.01  # candidates with less than this fraction of the largest variance left are no pivots yet
ROOM = 16  # a basis that is continued has room for a sixteenth more answers


class _Store:
    """Memory for the columns of a basis, with room for the rows of further answers.

    A basis that is continued here stays as it is: what is written lies beyond its rows and its columns. Two
    bases may continue the same one, with different answers: only the first of them goes on in its memory.
    """

    def __init__(self, columns: AnyArray) -> None:
        self.columns, self.lock = columns, threading.Lock()
        self.answers = self.rank = 0  # what the bases in this memory have taken of it

    def take(self, start: LowRank, answers: int) -> bool:
        """Whether the basis may go on here, with so many answers; if so, no other may."""
        with self.lock:
            is_largest = (self.answers, self.rank) == (len(start.basis), len(start.pivots))
            free = is_largest and self.answers < answers <= self.columns.shape[1]
            if free:
                self.answers = answers
            return free


@dataclass(frozen=True, eq=False)
class StoredBasis(LowRank):
    """A basis that can be continued in its own memory."""

    store: _Store
    factor: Array | None  # the rows of the pivots, where they are known already

    def __reduce__(self) -> tuple[Any, ...]:
        """Elsewhere it has memory without room."""
        return LowRank, (self.basis, self.pivots, self.neglected)


def covariance_between(kernel: Kernel, data: Comparisons, winners: AnyArray, losers: AnyArray) -> AnyArray:
    """Cov[differences of data, f(winners) - f(losers)], one row for each difference of the data."""
    a, b = like(data.winners, winners), like(data.losers, winners)
    covariance = kernel(a, winners)
    covariance -= kernel(b, winners)
    covariance -= kernel(a, losers)
    covariance += kernel(b, losers)
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
        device: An array of the library, and on the device, that computes; None: that of the start, or NumPy.

    Returns:
        The basis, with what it neglects.
    """
    most = min(max_rank, len(data))
    growing = _Growing(kernel, data, most, device) if start is None else _Continued(kernel, data, most, start)
    rng, allowed = np.random.default_rng(0), tolerance * 2.0 * noise**2
    while growing.rank < growing.most and growing.neglected.sum() > allowed:
        candidates = _drawn(growing.neglected, growing.candidates, rng)
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


def _drawn(variances: Array, most: int, rng: np.random.Generator) -> Indices:
    """Different answers, with probabilities proportional to their variances."""
    # the largest of log(p) + Gumbel noise are a draw without replacement
    with np.errstate(divide="ignore"):
        keys = np.log(variances) + rng.gumbel(size=len(variances))
    count = min(most, int(np.count_nonzero(variances)))
    return largest_first(keys, count)


def _independent(growing: "_Growing", candidates: Indices, most: int) -> tuple[Indices, Array]:
    """The candidates that do not explain each other, and the Cholesky factor of what they have left."""
    known = growing.rows(candidates)
    left = covariance_of_differences(growing.kernel, growing.data[candidates]) - to_numpy(known @ known.T)
    order, factor = leading_pivots(left, EXPLAINED * float(left.diagonal().max()), most)
    return candidates[order], factor


class _Growing:
    """The basis as it grows, where the work is done: in NumPy or on a device."""

    candidates = CANDIDATES
    factor: Array | None = None

    def __init__(self, kernel: Kernel, data: Comparisons, most: int, device: AnyArray | None = None) -> None:
        self.kernel, self.data, self.most, self.rank = kernel.for_differences, data, most, 0
        self.winners, self.losers = data.winners, data.losers
        if device is not None:
            self.winners, self.losers = like(data.winners, device), like(data.losers, device)
        self.store = self._memory()
        self.columns = self.store.columns[:, : len(data)]
        self.pivots: list[Indices] = []
        prior = variance_of_differences(kernel.for_differences, data.winners, data.losers)
        self.neglected = np.maximum(prior, 0.0)

    def _memory(self) -> _Store:
        """Columns lie one after the other, so that memory is taken from the system as they come."""
        xp, here, answers = namespace_of(self.winners), self.winners, len(self.data)
        shape = max(self.most, min(MAX_RANK, answers + answers // ROOM)), answers + answers // ROOM
        return _Store(xp.empty(shape, dtype=here.dtype, device=here.device))

    def add(self, pivots: Indices, factor: Array) -> None:
        """Columns for pivots whose neglected covariance has this Cholesky factor."""
        chosen, known = self.data[pivots], self.rows(pivots)
        inverse = like(triangular_inverse(factor), self.winners)
        start, end = self.rank, self.rank + len(pivots)

        def add_chunk(b: slice) -> Array:
            left = covariance_between(self.kernel, chosen, self.winners[b, :], self.losers[b, :])
            left -= known @ self.columns[:start, b]
            new = inverse @ left
            self.columns[start:end, b] = new
            return to_numpy(namespace_of(new).sum(new * new, axis=0))

        explained = np.concatenate(map_chunks(add_chunk, self.winners))
        self.neglected = np.maximum(self.neglected - explained, 0.0)
        self.neglected[pivots] = 0.0
        self.pivots.append(pivots)
        self.rank = end

    def rows(self, which: Indices) -> AnyArray:
        """Rows of the basis so far."""
        return columns_at(self.columns[: self.rank, :], which).T

    def finished(self, allowed: float) -> StoredBasis:
        """The basis, with no more columns than what may be neglected asks for."""
        pivots = np.concatenate([np.empty(0, dtype=np.intp), *self.pivots])
        whole = LowRank(TallMatrix(self.columns[: self.rank, :].T), pivots, self.neglected)
        found, factor = whole.neglecting(allowed), self.factor
        rank = len(found.pivots)
        if factor is not None and rank < self.rank:
            factor = np.asfortranarray(factor[:rank, :rank])
        self.store.answers, self.store.rank = len(self.data), max(self.store.rank, rank)
        return StoredBasis(found.basis, found.pivots, found.neglected, self.store, factor)


class _Continued(_Growing):
    """A basis of the first answers, with rows for the others, as it grows further."""

    def __init__(self, kernel: Kernel, data: Comparisons, most: int, start: LowRank) -> None:
        self.start, known = start, len(start.basis)
        super().__init__(kernel, data, most, start.basis.rows)
        self.candidates = min(CANDIDATES, FEWER_CANDIDATES * (len(data) - known))
        self.pivots, self.rank = [start.pivots], len(start.pivots)
        self.neglected[:known] = start.neglected
        remembered = start.factor if isinstance(start, StoredBasis) else None
        self.factor = start.basis[start.pivots] if remembered is None else remembered
        if known < len(data):
            self._add_rows(slice(known, len(data)), self.factor)

    def _memory(self) -> _Store:
        """That of the basis which is continued, or a copy of it."""
        start = self.start
        if isinstance(start, StoredBasis) and start.store.take(start, len(self.data)):
            return start.store
        store = super()._memory()
        store.columns[: len(start.pivots), : len(start.basis)] = start.basis.rows.T
        return store

    def _add_rows(self, new: slice, factor: Array) -> None:
        """Rows for new answers."""
        chosen, winners, losers = self.data[self.start.pivots], self.winners[new, :], self.losers[new, :]
        left = to_numpy(covariance_between(self.kernel, chosen, winners, losers))
        rows = triangular_solution(factor, left)
        self.columns[: self.rank, new] = like(rows, self.columns)
        self.neglected[new] = np.maximum(self.neglected[new] - np.sum(rows**2, axis=0), 0.0)

    def add(self, pivots: Indices, factor: Array) -> None:
        """As for any basis; and the rows of the pivots are remembered."""
        rank, known = self.rank, to_numpy(self.rows(pivots))
        super().add(pivots, factor)
        whole = np.zeros((self.rank, self.rank), order="F")
        whole[:rank, :rank], whole[rank:, :rank], whole[rank:, rank:] = self.factor, known, factor
        self.factor = whole
