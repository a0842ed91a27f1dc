"""Poisson-disk sampling: a diverse subset of trajectories, as in the paper's test sets.

    features   (M, d)   one trajectory a row
    radius              the smallest distance between two trajectories of the subset

Rows are tried in a random order. A row is added to the subset unless it is closer than the radius to a row
that is in it already. For a given size of the subset, bisection finds the radius.
"""

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices
from prefero._support.ordering import largest_first
from prefero.trajectories.features import feature_matrix

CHUNK = 4096  # rows that are compared at a time


def sample_diverse(
    features: npt.ArrayLike, count: int | None = None, *, radius: float | None = None, seed: int = 0
) -> Indices:
    """Indices of a diverse subset, by Poisson-disk sampling. Give either `count` or `radius`.

    Args:
        features: The rows to choose from, (M, d); distances are measured in these units.
        count: How many rows are wanted; the largest radius is found for which there are so many.
        radius: The distance that chosen rows keep from each other.
        seed: Of the random order in which the rows are tried.

    Returns:
        The indices of the chosen rows.
    """
    matrix = feature_matrix(features)
    if (count is None) == (radius is None):
        raise ValueError("give either a count or a radius")
    order = np.random.default_rng(seed).permutation(len(matrix))
    if radius is not None:
        if not radius >= 0:
            raise ValueError(f"the radius must be 0 or more, but is {radius!r}")
        return _disks(matrix, order, radius)
    assert count is not None
    if not 1 <= count <= len(matrix):
        raise ValueError(f"count must be between 1 and {len(matrix)} (the rows there are), but is {count}")
    return _disks_of_count(matrix, order, count)


def diverse_best(features: npt.ArrayLike, scores: npt.ArrayLike, count: int) -> Indices:
    """`count` different rows among those of the highest scores, the highest first; fewer if there are fewer.

    The rows are the best tenth, or twice `count` if that is more. The best one is always chosen; every
    further one is the best that keeps a radius from those before it, at about the largest radius that leaves
    `count` of them.
    """
    matrix, order = feature_matrix(features), largest_first(np.asarray(scores))
    order = order[: max(2 * count, len(order) // 10)]
    some = matrix[order]
    return order[_disks_of_count(some, np.arange(len(order)), min(count, len(order)))]


def _disks_of_count(matrix: Array, order: Indices, count: int) -> Indices:
    """The first `count` rows at about the largest radius that leaves so many, by bisection."""
    low, high = 0.0, float(np.linalg.norm(np.ptp(matrix, axis=0))) + 1.0
    chosen = order[:count]
    for _ in range(40 if len(matrix) <= CHUNK else 12):
        middle = 0.5 * (low + high)
        found = _disks(matrix, order, middle, most=count)
        if len(found) == count:
            chosen, low = found, middle
        else:
            high = middle
    return chosen


def _disks(matrix: Array, order: Indices, radius: float, most: int | None = None) -> Indices:
    """Take rows in order, a chunk at a time, unless they are too near to one that was taken before."""
    chosen: Indices = np.empty(0, dtype=np.intp)
    for start in range(0, len(order), CHUNK):
        chunk = order[start : start + CHUNK]
        if len(chosen):
            chunk = chunk[_far(matrix[chunk], matrix[chosen], radius)]
        left = None if most is None else most - len(chosen)
        taken = _disks_of_chunk(matrix[chunk], radius, left)
        chosen = np.concatenate([chosen, chunk[taken]])
        if len(chosen) == most:
            break
    return chosen


def _far(rows: Array, taken: Array, radius: float) -> Flags:
    """Which rows keep the radius from all that were taken; by products, since there may be many."""
    center = taken.mean(axis=0)  # far from which the products would drown the distances
    rows, taken, nearest = rows - center, taken - center, np.full(len(rows), np.inf)
    for start in range(0, len(taken), CHUNK):
        some = taken[start : start + CHUNK]
        away = np.sum(some**2, axis=1) - 2.0 * (rows @ some.T)
        nearest = np.minimum(nearest, away.min(axis=1))
    far: Flags = nearest + np.sum(rows**2, axis=1) >= radius**2
    return far


def _disks_of_chunk(matrix: Array, radius: float, most: int | None) -> Indices:
    """Take rows in order, each one excluding its neighbors."""
    free = np.ones(len(matrix), dtype=bool)
    chosen: list[int] = []
    for row in range(len(matrix)):
        if free[row]:
            chosen.append(row)
            if len(chosen) == most:
                break
            free &= np.sum((matrix - matrix[row]) ** 2, axis=1) >= radius**2
            free[row] = False
    return np.array(chosen, dtype=np.intp)
