"""A large pool as clusters of similar trajectories, and what is known of all questions between two clusters.

    V_ij     Var[f(x_i) - f(x_j)] / scale^2 under one component
    A, B     two clusters; a and b are their centers, points of the feature space
    i, j     a trajectory of A and one of B
    radius   the largest V_ia^1/2

With u_i the reward of x_i as a vector, whose inner products are covariances, V_ij = |u_i - u_j|^2, and

    V_ij = V_ib + V_aj - V_ab - 2 (u_i - u_a) . (u_j - u_b).

So the largest V_ib and the largest V_aj give the largest V_ij but for the last term, which is at most twice
the product of the radii: of second order in the size of the clusters. For clusters of g trajectories this
takes M^2 / g variances, not M^2.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import AnyArray, like_indices, namespace_of
from prefero.acquisition.base import Box, PairMoments
from prefero.acquisition.projection import Projection, projections
from prefero.acquisition.searches.single_precision import SinglePrecision
from prefero.models.posterior.gaussian import Distribution

SAMPLE = 64  # trajectories whose covariances with the others show which are similar
LEADING = 4  # directions of these covariances, for every component
COORDINATES = 8  # of all components together, that clusters are made by


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters under one component.

    Args:
        prepared: The trajectories of all clusters, and then the centers.
        size: The number of trajectories in a cluster.
        radius: (G,).
        lowest: The smallest mean in a cluster, (G,).
        highest: The largest.
    """

    prepared: SinglePrecision
    size: int
    radius: AnyArray
    lowest: AnyArray
    highest: AnyArray

    @classmethod
    def of(cls, members: Projection, centers: Projection) -> "Clusters":
        """From the projections onto all members of the clusters, in order, and onto the centers."""
        xp, count = namespace_of(members.x), centers.x.shape[0]
        size, prepared = members.x.shape[0] // count, SinglePrecision.of(members.followed_by(centers))
        order, inside = xp.arange(count, device=members.x.device), slice(0, count * size)
        left = prepared.left.rows(inside).stacked(size, order)
        V = prepared.variances(left, prepared.right.rows(slice(count * size, None)).stacked(1, order))
        radius = xp.sqrt(xp.clip(xp.max(V[..., 0], axis=1), min=0.0) + prepared.rounding)
        return cls(prepared, size, radius, xp.min(left.mean, axis=1), xp.max(left.mean, axis=1))

    def box(self, rows: slice, columns: slice) -> Box:
        """What is known of all questions between clusters A and clusters B, (A, B)."""
        xp, middle = namespace_of(self.radius), slice(self.size * self.radius.shape[0], None)
        left, right = self.prepared.left.rows(middle), self.prepared.right.rows(middle)
        between = self.prepared.variances(left.rows(rows), right.rows(columns))
        (least, most), (other_least, other_most) = self._ranges(rows, columns), self._ranges(columns, rows)
        rest = 2.0 * self.radius[rows, None] * self.radius[None, columns] + 4.0 * self.prepared.rounding
        return Box(
            self.prepared.component,
            self.lowest[rows, None] - self.highest[None, columns],
            self.highest[rows, None] - self.lowest[None, columns],
            xp.clip(least + other_least.mT - between - rest, min=0.0),
            xp.clip(most + other_most.mT - between + rest, min=0.0),
        )

    def _ranges(self, rows: slice, columns: slice) -> tuple[AnyArray, AnyArray]:
        """The least and the largest V_ib of the trajectories of clusters A and the centers of clusters B."""
        xp, first = namespace_of(self.radius), self.size * self.radius.shape[0]
        trajectories = self.prepared.left.rows(slice(rows.start * self.size, rows.stop * self.size))
        centers = self.prepared.right.rows(slice(first + columns.start, first + columns.stop))
        V = self.prepared.variances(trajectories, centers)
        V = xp.reshape(V, (-1, self.size, V.shape[1]))
        return _folded(xp.minimum, V), _folded(xp.maximum, V)

    def questions(self, first: AnyArray, second: AnyArray) -> PairMoments:
        """Of all questions between each two clusters: (P,) and (P,) give (P, g, g)."""
        inside = slice(0, self.size * self.radius.shape[0])
        left, right = self.prepared.left.rows(inside), self.prepared.right.rows(inside)
        return self.prepared.pairs(left.stacked(self.size, first), right.stacked(self.size, second))


@dataclass(frozen=True, eq=False)
class PoolClusters:
    """G clusters of g trajectories each; to fill them, some trajectories are in two, or twice in one.

    Args:
        members: Indices of the trajectories, (G, g).
        components: The clusters under every component.
    """

    members: AnyArray
    components: list[Clusters]

    @classmethod
    def of(cls, belief: Distribution, views: Sequence[Projection], count: int) -> "PoolClusters":
        """So many clusters, a power of two, of the pool that the belief was projected onto."""
        x, xp = views[0].x, namespace_of(views[0].x)
        members = similar_rows(_coordinates(views), count)
        order = xp.reshape(members, (-1,))
        middle = xp.mean(xp.reshape(xp.take(x, order, axis=0), (*members.shape, -1)), axis=1)
        centers = projections(belief, middle)
        return cls(members, [Clusters.of(v.taken(order), c) for v, c in zip(views, centers, strict=True)])


def _folded(function: Callable[[AnyArray, AnyArray], AnyArray], V: AnyArray) -> AnyArray:
    """The minimum or maximum over the second dimension, by halves: faster than NumPy's reduction."""
    while V.shape[1] > 1:
        half = (V.shape[1] + 1) // 2
        V = function(V[:, :half, :], V[:, -half:, :])
    return V[:, 0, :]


def similar_rows(coordinates: AnyArray, count: int) -> AnyArray:
    """Clusters of similar rows, (G, g): halves along the coordinate that varies most, and halves of these."""
    xp, rows = namespace_of(coordinates), coordinates.shape[0]
    order, clusters = like_indices(np.arange(count * -(-rows // count)) % rows, coordinates), 1
    while clusters < count:
        inside = xp.reshape(xp.take(coordinates, order, axis=0), (clusters, -1, coordinates.shape[1]))
        widest = xp.argmax(xp.var(inside, axis=1), axis=1)
        within = xp.argsort(_column(inside, widest), axis=1, stable=True)
        within = within + like_indices(np.arange(clusters)[:, None] * within.shape[1], coordinates)
        order = xp.take(order, xp.reshape(within, (-1,)))
        clusters *= 2
    return xp.reshape(order, (count, -1))


def _column(inside: AnyArray, which: AnyArray) -> AnyArray:
    """One column of each of a stack of matrices: (G, n, c) and (G,) give (G, n)."""
    xp, (clusters, rows, columns) = namespace_of(inside), inside.shape
    starts = like_indices(np.arange(clusters * rows).reshape(clusters, rows) * columns, inside)
    places = xp.reshape(starts + which[:, None], (-1,))
    return xp.reshape(xp.take(xp.reshape(inside, (-1,)), places), (clusters, rows))


def _coordinates(views: Sequence[Projection]) -> AnyArray:
    """Few numbers for every trajectory, (M, c): alike where all components see two trajectories alike."""
    xp, count = namespace_of(views[0].x), views[0].x.shape[0]
    sample = np.random.default_rng(count).choice(count, min(SAMPLE, count), replace=False)
    columns = xp.concat([_leading(view, like_indices(sample, view.x)) for view in views], axis=1)
    columns = columns - xp.mean(columns, axis=0)
    _, vectors = xp.linalg.eigh(columns.T @ columns)
    return xp.astype(columns @ vectors[:, -COORDINATES:], xp.float32)


def _leading(view: Projection, sample: AnyArray) -> AnyArray:
    """The mean and the leading directions of the covariances with a sample, by what they weigh in a value."""
    xp, some = namespace_of(view.x), view.taken(sample)
    covariance = view.kernel(view.x, some.x) - view.learned @ some.learned.T
    values, vectors = xp.linalg.eigh(xp.take(covariance, sample, axis=0))
    values = xp.clip(values[-LEADING:], min=1e-9 * float(values[-1]))
    embedded = covariance @ (vectors[:, -LEADING:] / xp.sqrt(values))
    spread = 2.0 * float(xp.mean(view.diagonal)) + view.component.probit.scale**2
    return (view.component.weight / spread) ** 0.5 * xp.concat([view.mean[:, None], embedded], axis=1)
