"""A matrix of very many rows and a few hundred columns, worked on in chunks of rows.

    rows      (N, r)   the matrix, of NumPy or of another library of the array API standard, perhaps on a GPU
    vectors            of length N or r: always of NumPy, for the likelihood of answers is computed there

Products with it need no other array of its size: a chunk at a time, on all cores where it is of NumPy.
"""

from collections.abc import Callable
from functools import reduce
from typing import TypeVar

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, like, like_indices, namespace_of, to_numpy
from prefero._support.parallel import chunks_of, core_count, map_parallel

R = TypeVar("R")
CHUNK = {"cpu": 2048, "gpu": 65536}  # rows, at most
PANEL = 192  # columns of a triangular matrix that are multiplied together


def row_chunks(rows: AnyArray) -> list[slice]:
    """Chunks of rows; where they are of NumPy, as many and as large for each core."""
    count = rows.shape[0]
    if not isinstance(rows, np.ndarray):
        return chunks_of(count, CHUNK["gpu"])
    rounds = -(-count // (CHUNK["cpu"] * core_count()))
    return chunks_of(count, -(-count // (rounds * core_count()))) if count else []


def map_chunks(function: Callable[[slice], R], rows: AnyArray) -> list[R]:
    """The function of every chunk of rows, on all cores where the rows are of NumPy."""
    chunks = row_chunks(rows)
    return map_parallel(function, chunks) if isinstance(rows, np.ndarray) else [function(b) for b in chunks]


def columns_at(matrix: AnyArray, which: Indices) -> AnyArray:
    """Some columns of a matrix."""
    if isinstance(matrix, np.ndarray):
        return matrix[:, which]  # np.take would copy all of a matrix that is a view of another
    return namespace_of(matrix).take(matrix, like_indices(which, matrix), axis=1)


class TallMatrix:
    """A tall matrix with the products that inference needs."""

    def __init__(self, rows: AnyArray) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, which: Indices) -> Array:
        """Some of the rows."""
        return to_numpy(columns_at(self.rows.T, which)).T

    def __deepcopy__(self, memo: object) -> "TallMatrix":
        """Itself: it is never changed."""
        return self

    @property
    def shape(self) -> tuple[int, int]:
        """N and r."""
        return len(self), int(self.rows.shape[1])

    @property
    def size(self) -> int:
        """N r."""
        return len(self) * self.shape[1]

    def __matmul__(self, vector: Array) -> Array:
        """The product with a vector, (N,)."""
        return to_numpy(self.rows @ like(vector, self.rows))

    def times(self, right: Array) -> Array:
        """The product with a matrix, (N, m)."""
        # of the two ways to write a product with few columns, this one takes BLAS half the time
        left = like(right.T, self.rows)
        chunks = map_chunks(lambda b: to_numpy(left @ self.rows[b, :].T), self.rows)
        return np.concatenate(chunks, axis=1).T

    @property
    def T(self) -> "Transposed":  # noqa: N802
        """What multiplies vectors of length N."""
        return Transposed(self)

    def gram(self, weights: Array) -> Array:
        """rows.T diag(weights) rows, (r, r)."""
        given = like(weights, self.rows)
        if weights.min(initial=0.0) < 0:
            return self._added(lambda b: self.rows[b, :].T @ (given[b, None] * self.rows[b, :]))
        root = namespace_of(self.rows).sqrt(given)

        def product(b: slice) -> AnyArray:
            scaled = root[b, None] * self.rows[b, :]
            return scaled.T @ scaled  # a product with its own transpose takes half the time

        return self._added(product)

    def squared_norms(self, lower: Array) -> Array:
        """|lower @ row|^2 for every row, (N,), where `lower` is lower triangular.

        In single precision, to about five digits.
        """
        xp = namespace_of(self.rows)
        left, panels = xp.astype(like(lower, self.rows), xp.float32), chunks_of(len(lower), PANEL)

        def norms(b: slice) -> Array:
            columns = xp.astype(self.rows[b, :].T, xp.float32)
            total = xp.zeros(columns.shape[1], dtype=xp.float64, device=columns.device)
            for panel in panels:  # above the triangle there are only zeros
                along = left[panel, : panel.stop] @ columns[: panel.stop, :]
                along *= along
                total += xp.sum(along, axis=0, dtype=xp.float64)
            return to_numpy(total)

        return np.concatenate([np.empty(0), *map_chunks(norms, self.rows)])

    def _added(self, product: Callable[[slice], AnyArray]) -> Array:
        """The sum over the chunks; each core adds up its own, so that few of them are in memory."""
        here, chunks = isinstance(self.rows, np.ndarray), row_chunks(self.rows)
        cores = min(core_count() if here else 1, len(chunks))

        def total(own: list[slice]) -> AnyArray:
            return reduce(lambda found, b: found + product(b), own[1:], product(own[0]))

        return to_numpy(sum(map_parallel(total, [chunks[first::cores] for first in range(cores)])))


class Transposed:
    """The transpose of a tall matrix."""

    def __init__(self, matrix: TallMatrix) -> None:
        self.matrix = matrix

    def __matmul__(self, vector: Array) -> Array:
        """The product with a vector, (r,)."""
        rows = self.matrix.rows
        return to_numpy(rows.T @ like(vector, rows))
