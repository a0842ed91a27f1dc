"""The covariance of very many answered differences in a basis of bounded rank, without ever forming it.

    C            (N, N)   prior covariance of the differences: only its diagonal and r columns are computed
    basis        (N, r)   C = basis @ basis.T + rest
    pivots       (r,)     the answers whose columns were computed
    neglected    (N,)     the diagonal of the rest, a prior variance that no other difference shares

A difference is then basis_i . u + e_i, with u ~ N(0, I) and e_i ~ N(0, neglected_i) independent of all else:
variances are those of C, as in the FITC approximation, so that nothing becomes too sure. The rank is chosen
such that the neglected variances add up to no more than `TOLERANCE` variances of the noise of one answer:
all answers together would tell little about what is neglected.
`prefero.models.inference.growing_basis` computes it.
"""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices, namespace_of, to_numpy
from prefero._support.parallel import chunks_of
from prefero.models.algebra.tall_matrix import TallMatrix, map_chunks
from prefero.questions import Comparisons

FROM = 500  # answers: with fewer, nothing is neglected
TOLERANCE = 0.1  # of the neglected variances' sum, in variances of the noise
FEW_COLUMNS = 32  # that are looked at together, where the last ones may be spared


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
        """With only as many columns as this noise, no smaller than that of the basis, asks for."""
        return self.neglecting(TOLERANCE * 2.0 * noise**2)

    def neglecting(self, allowed: float) -> "LowRank":
        """Without the last columns, as far as the neglected variances add up to no more than is allowed."""
        left, rank = allowed - float(self.neglected.sum()), len(self.pivots)
        for some in reversed(chunks_of(rank, FEW_COLUMNS)):
            columns = self.basis.rows[:, some]
            explained = np.cumsum(to_numpy(namespace_of(columns).sum(columns * columns, axis=0))[::-1])
            spare = int(np.count_nonzero(explained <= left))
            left, rank = left - float(explained[-1]), rank - spare
            if spare < len(explained):
                break
        return self.of_rank(rank) if rank < len(self.pivots) else self

    def of_rank(self, rank: int) -> "LowRank":
        """With the first of the pivots only."""
        rows = self.basis.rows

        def explained(b: slice) -> Array:
            dropped = rows[b, rank:]
            return to_numpy(namespace_of(rows).sum(dropped * dropped, axis=1))

        neglected = self.neglected + np.concatenate([np.empty(0), *map_chunks(explained, rows)])
        return LowRank(TallMatrix(rows[:, :rank]), self.pivots[:rank], neglected)


def are_many(data: Comparisons) -> bool:
    """Whether there are so many answers, of one row each, that they are inferred from in a low rank."""
    return len(data) >= FROM and data.n_answers == len(data)
