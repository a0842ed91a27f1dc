"""The posterior seen from a pool: means, variances and covariances of the rewards of its trajectories.

    x            (M, d)    features of the pool, in the units that the posterior was fitted to
    mean         (M,)      E[f(x)] under one component of the mixture
    learned      (M, r)    Cov[f(x_i), f(x_j)] = k(x_i, x_j) - learned_i . learned_j

A tile is a rectangle of the M x M square of pairs, given by a slice of rows and a slice of columns.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import AnyArray, Array, Indices, as_probabilities, namespace_of, one_thread
from prefero._support.parallel import chunks_of
from prefero.acquisition.base import Component, PairMoments
from prefero.kernels import Kernel
from prefero.models.linear import ZeroKernel
from prefero.models.posterior.gaussian import Distribution, Gaussian

WHOLE = slice(None)


@dataclass(frozen=True, eq=False)
class Projection:
    """One component of the posterior, projected onto a pool."""

    component: Component
    kernel: Kernel  # for differences
    x: AnyArray
    mean: AnyArray
    variance: AnyArray
    diagonal: AnyArray  # (M,) of k(x, x) - learned learned^T; no variance where the anchor is left out
    learned: AnyArray

    @classmethod
    def of(cls, weight: float, gaussian: Gaussian, x: AnyArray) -> "Projection":
        """Project a component onto the pool."""
        xp = namespace_of(x)
        mean, learned = gaussian.project(x)
        kernel, known = gaussian.kernel.for_differences, xp.sum(learned * learned, axis=1)
        variance = xp.clip(gaussian.kernel.diagonal(x) - known, min=0.0)
        component = Component(weight, gaussian.probit)
        return cls(component, kernel, x, mean, variance, kernel.diagonal(x) - known, learned)

    def taken(self, order: AnyArray) -> "Projection":
        """The same of some trajectories, in another order."""
        take = namespace_of(self.x).take
        return self.changed(lambda array: take(array, order, axis=0))

    def rows(self, rows: slice) -> "Projection":
        """The same of a range of the trajectories."""
        return self.changed(lambda array: array[rows, ...])

    def followed_by(self, other: "Projection") -> "Projection":
        """These trajectories, and then those of another projection of the same component."""
        concat = namespace_of(self.x).concat
        mine, others = (
            (view.x, view.mean, view.variance, view.diagonal, view.learned) for view in (self, other)
        )
        return Projection(self.component, self.kernel, *map(concat, zip(mine, others, strict=True)))

    def changed(self, change: Callable[[AnyArray], AnyArray]) -> "Projection":
        """With every array changed in the same way."""
        arrays = (self.x, self.mean, self.variance, self.diagonal, self.learned)
        return Projection(self.component, self.kernel, *map(change, arrays))

    def split(self, place: int) -> tuple["Projection", "Projection"]:
        """The same of the first trajectories, and of the others."""
        return self.rows(slice(place)), self.rows(slice(place, None))

    @property
    def is_certain(self) -> bool:
        """Whether the reward is known under this component."""
        return isinstance(self.kernel, ZeroKernel)

    def gap_variance(self, other: "Projection") -> AnyArray:
        """Var[f(x_i) - f(y_j)] for the y of another projection.

        It is one 0 for all where the reward is certain. Rounding may leave it slightly below 0.
        """
        if self.is_certain:
            return self.learned[:1, :] @ self.learned[:1, :].T
        covariance = self.kernel(self.x, other.x)
        covariance -= self.learned @ other.learned.T
        covariance *= -2.0
        covariance += self.diagonal[:, None]
        covariance += other.diagonal[None, :]
        return covariance

    def pairs_with(self, other: "Projection") -> PairMoments:
        """What an acquisition function sees of these pairs; gap variances may be slightly below 0."""
        return PairMoments(
            self.component.weight,
            self.component.probit,
            self.mean[:, None],
            other.mean[None, :],
            self.gap_variance(other),
        )

    def pairs(self, rows: slice, columns: slice) -> PairMoments:
        """The same of a tile."""
        return self.rows(rows).pairs_with(self.rows(columns))


def projections(belief: Distribution, x: AnyArray) -> list[Projection]:
    """Every component of a posterior, projected onto a pool."""
    return [Projection.of(weight, gaussian, x) for weight, gaussian in belief.components]


def moments_of(views: list[Projection], places: Indices) -> list[PairMoments]:
    """Means and variances of the rewards of pairs of rows, (Q, 2), under every component."""
    a, b = places.T
    return [
        PairMoments(
            view.component.weight,
            view.component.probit,
            view.mean[a],
            view.mean[b],
            np.maximum(view.diagonal[a] + view.diagonal[b] - 2.0 * _covariance(view, a, b), 0.0),
        )
        for view in views
    ]


def tiles_of(count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of the count x count square in tiles."""
    sides = chunks_of(count, size)
    return ((rows, columns) for place, rows in enumerate(sides) for columns in sides[place:])


def _covariance(view: Projection, a: Indices, b: Indices) -> Array:
    """Cov[f(x_a), f(x_b)], row by row."""
    one = len(a) > 0 and bool(np.all(a == a[0]))
    prior = view.kernel(view.x[a[:1]], view.x[b])[0] if one else view.kernel.rowwise(view.x[a], view.x[b])
    covariance: Array = prior - np.sum(view.learned[a] * view.learned[b], axis=1)
    return covariance


@one_thread
def preference_probabilities(belief: Distribution, x: Array) -> Array:
    """P(the first is preferred to the second) for every pair of rows, shape (M, M)."""
    total = np.zeros((len(x), len(x)))
    for view in projections(belief, x):
        pairs = view.pairs(WHOLE, WHOLE)
        variance = np.maximum(pairs.gap_variance, 0.0)
        total += pairs.weight * pairs.probit.probabilities(pairs.gap, variance)[0]
    return as_probabilities(total)
