"""A large pool as a tree of ever smaller groups of similar trajectories, under every component of a mixture.

    z        (M, q)   an embedding: Var[f(x_i) - f(x_j)] / scale^2 = |z_i - z_j|^2 + a rest
    slack    (M,)     the standard deviation of the rest is at most slack_i + slack_j
    mean     (M,)     E[f(x)] / scale
    order    (M,)     trajectories such that every group is a range of them
    level             groups of about the same size, each with four of the next level in it; those of the last
                      level are single trajectories

Of a group the tree keeps the center of its embeddings, the radius around it, and the range of its means. The
triangle inequality then bounds the standard deviation of the difference of any two trajectories in two
groups.
"""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.parallel import blocks_of, map_parallel
from prefero.acquisition.base import Component
from prefero.models.linalg import leading_pivots, triangular_inverse
from prefero.models.posterior import Distribution, Gaussian

SAMPLE = 1000  # trajectories whose covariances determine an embedding
WORST = 300  # further ones, those that the first embedding explains least
MAX_RANK = 64
NEGLECTED = 1e-6  # of the noise's variance: directions with less are left out of an embedding
FEW = 6  # columns of an embedding that groups are made by
FIRST_GROUPS = 64  # of the first level, at least
BLOCK = 4096


@dataclass(frozen=True, eq=False)
class Embedding:
    """The trajectories of a pool under one component, in units of the person's noise."""

    component: Component
    z: Array
    slack: Array
    mean: Array

    @classmethod
    def of(cls, weight: float, gaussian: Gaussian, x: Array, rng: np.random.Generator) -> "Embedding":
        """From some of the trajectories, and once more with those that these explain least."""
        sample = rng.choice(len(x), min(SAMPLE, len(x)), replace=False)
        found = cls._from_sample(weight, gaussian, x, sample)
        worst = np.argsort(-found.slack, kind="stable")[:WORST]
        return cls._from_sample(weight, gaussian, x, np.union1d(sample, worst))

    @classmethod
    def _from_sample(cls, weight: float, gaussian: Gaussian, x: Array, sample: Indices) -> "Embedding":
        scale, kernel = gaussian.probit.scale, gaussian.kernel
        _, known = gaussian.project(x[sample])
        covariance = kernel(x[sample], x[sample]) - known @ known.T
        smallest = max(NEGLECTED * scale**2, 1e-12 * float(covariance.diagonal().max()))
        place, factor = leading_pivots(covariance, smallest, MAX_RANK)
        pivots, learned, whitening = x[sample[place]], known[place], triangular_inverse(factor).T

        def embedded(b: slice) -> tuple[Array, Array, Array]:
            mean, along = gaussian.project(x[b])
            z: Array = (kernel(x[b], pivots) - along @ learned.T) @ whitening
            variance = kernel.diagonal(x[b]) - np.sum(along**2, axis=1) - np.sum(z**2, axis=1)
            return z / scale, np.sqrt(np.maximum(variance, 0.0)) / scale, mean / scale

        parts = map_parallel(embedded, blocks_of(len(x), BLOCK))
        z, slack, mean = (np.concatenate(part) for part in zip(*parts, strict=True))
        return cls(Component(weight, gaussian.probit), z, slack, mean)


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of one level under one component."""

    center: Array  # (G, q)
    radius: Array  # (G,)
    low: Array  # (G,) of the means
    high: Array  # (G,)


@dataclass(frozen=True, eq=False)
class Level:
    """The groups of one level: the range of each, and what every component says of them."""

    starts: Indices  # (G,) of the ranges in the tree's order
    ends: Indices
    components: list[Groups]

    @classmethod
    def of(cls, embeddings: list[Embedding], order: Indices, starts: Indices, ends: Indices) -> "Level":
        """For these ranges of the tree's order."""
        return cls(starts, ends, map_parallel(lambda e: _groups(e, order, starts, ends), embeddings))


@dataclass(frozen=True, eq=False)
class PoolTree:
    """The levels of groups, from few large ones to single trajectories."""

    order: Indices
    components: list[Component]
    levels: list[Level]

    @classmethod
    def of(cls, belief: Distribution, x: Array) -> "PoolTree":
        """For the trajectories of a pool, (M, d), in the units of the belief."""
        rng = np.random.default_rng(len(x))
        embeddings = [Embedding.of(weight, part, x, rng) for weight, part in belief.components]
        coordinates = np.concatenate(
            [
                e.component.weight**0.5 * np.column_stack([e.mean, e.z[:, :FEW]]).astype(np.float32)
                for e in embeddings
            ],
            axis=1,
        )
        order, ranges = _split(coordinates)
        levels = [Level.of(embeddings, order, starts, ends) for starts, ends in ranges]
        return cls(order, [e.component for e in embeddings], levels)


def children_of(level: Level, below: Level, groups: Indices) -> tuple[Indices, Indices]:
    """The groups of the next level inside each of some groups: the first, and how many."""
    first = np.searchsorted(below.starts, level.starts[groups])
    last = np.searchsorted(below.starts, level.ends[groups])
    return first, last - first


def _split(coordinates: Array) -> tuple[Indices, list[tuple[Indices, Indices]]]:
    """An order in which similar rows are near each other, and the ranges of the groups of every level."""
    count = len(coordinates)
    order, bounds = np.arange(count), np.array([0, count])
    levels = []
    while len(bounds) - 1 < count:
        for _ in range(2):
            bounds = _halved(coordinates, order, bounds)
        if len(bounds) > FIRST_GROUPS or len(bounds) - 1 == count:
            levels.append((bounds[:-1], bounds[1:]))
    return order, levels


def _halved(coordinates: Array, order: Indices, bounds: Indices) -> Indices:
    """Every range split at the median of the coordinate that varies most in it; `order` is changed."""
    sizes = np.diff(bounds)
    rows = coordinates[order]
    starts = bounds[:-1]
    mean = np.add.reduceat(rows, starts, axis=0) / sizes[:, None]
    variance = np.add.reduceat(rows**2, starts, axis=0) / sizes[:, None] - mean**2
    group = np.repeat(np.arange(len(sizes)), sizes)
    key = rows[np.arange(len(rows)), variance.argmax(axis=1)[group]]
    order[:] = order[np.lexsort((key, group))]
    middles = starts + sizes // 2
    return np.unique(np.concatenate([bounds, middles]))


def _groups(embedding: Embedding, order: Indices, starts: Indices, ends: Indices) -> Groups:
    sizes = ends - starts
    z, slack, mean = embedding.z[order], embedding.slack[order], embedding.mean[order]
    if len(sizes) == len(order):
        return Groups(z, slack, mean, mean)
    center = np.add.reduceat(z, starts, axis=0) / sizes[:, None]
    apart = np.sqrt(np.sum((z - np.repeat(center, sizes, axis=0)) ** 2, axis=1)) + slack
    reduce = (np.maximum.reduceat(v, starts) for v in (apart, -mean, mean))
    radius, below, high = reduce
    return Groups(center, radius, -below, high)
