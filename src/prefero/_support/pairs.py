"""Pairs of points that stand for all pairs: ordinary ones and unusual ones."""

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import first_largest

DIVERSE = 30  # points of the diverse subset


def mixed_pairs(points: Array, count: int, rng: np.random.Generator) -> Indices:
    """Pairs of two of the points or more, by index, (count, 2): half random, half of a diverse subset."""
    subset = farthest_points(points, min(DIVERSE, len(points)), int(rng.integers(len(points))))
    diverse = subset[random_pairs(len(subset), count // 2, rng)]
    return np.concatenate([random_pairs(len(points), count - count // 2, rng), diverse])


def random_pairs(size: int, count: int, rng: np.random.Generator) -> Indices:
    """Pairs of different indices below `size`, (count, 2), each with the same probability."""
    first = rng.integers(size, size=count)
    return np.column_stack([first, (first + rng.integers(1, size, size=count)) % size])


def farthest_points(points: Array, count: int, first: int) -> Indices:
    """Indices of `count` points, each the farthest from those before it."""
    chosen = [first]
    distance = np.sum((points - points[first]) ** 2, axis=1)
    while len(chosen) < count:
        chosen.append(first_largest(distance))
        distance = np.minimum(distance, np.sum((points - points[chosen[-1]]) ** 2, axis=1))
    return np.array(chosen)
