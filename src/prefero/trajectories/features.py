"""Features: their names, their scaling to unit size, and diverse subsets of them.

features     (M, d)    one trajectory a row, one feature a column, in the user's units
scaled       (M, d)    the same, with mean 0 and standard deviation 1 over the pool
radius                 Poisson disk: no two chosen trajectories are closer than this
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices

CONSTANT = 1e-9  # a standard deviation this small beside the values is rounding
LARGE = 4096  # rows that are looked at together, in a search for diverse ones


def feature_matrix(features: npt.ArrayLike, names: Sequence[str] | None = None) -> Array:
    """`features` as a finite (M, d) array of numbers, or an error that says what is wrong with them."""
    try:
        matrix = np.asarray(features, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"features must be numbers, one row a trajectory and one column a feature: {error}"
        ) from error
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(
            f"features must have shape (trajectories, features), but have shape {matrix.shape}"
            + (": for a single feature, use features[:, None]" if matrix.ndim == 1 else "")
        )
    if names is not None and len(names) != matrix.shape[1]:
        raise ValueError(f"there are {matrix.shape[1]} features, but {len(names)} names: {list(names)}")
    bad = np.argwhere(~np.isfinite(matrix))
    if len(bad):
        row, column = (int(n) for n in bad[0])
        name = repr(names[column]) if names is not None else column
        raise ValueError(
            f"features must be finite, but row {row} has {matrix[row, column]} in column {name}: "
            "drop that trajectory or repair the feature"
        )
    return matrix


def units_of(features: Array) -> tuple[Array, Array, Flags]:
    """Mean and standard deviation of every feature, and whether it varies by more than rounding."""
    centre, scale = features.mean(axis=0), features.std(axis=0)
    return centre, scale, scale > CONSTANT * np.abs(centre)


@dataclass(frozen=True)
class Scaling:
    """Raw features to features of unit size, and the names of both."""

    names: tuple[str, ...]
    centre: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        sizes = {len(self.names), len(self.centre), len(self.scale)}
        if len(sizes) > 1 or not all(np.isfinite(self.centre)) or not all(0 < s < np.inf for s in self.scale):
            raise ValueError(
                "every feature needs a name, a centre and a positive scale, "
                f"but they are {self.names}, {self.centre} and {self.scale}"
            )

    @classmethod
    def of(cls, features: Array, names: Sequence[str] | None = None) -> Self:
        """Mean 0 and standard deviation 1 over these trajectories."""
        labels = (
            tuple(names) if names is not None else tuple(f"feature {i}" for i in range(features.shape[1]))
        )
        if len(set(labels)) != len(labels):
            raise ValueError(f"feature names must differ from each other, but are {list(labels)}")
        centre, scale, varies = units_of(features)
        flat = np.flatnonzero(~varies)
        if len(flat):
            column = int(flat[0])
            raise ValueError(
                f"feature {labels[column]!r} is {centre[column]:g} for every trajectory, so no answer can "
                "tell anything about it: drop that column, or add trajectories in which it differs"
            )
        return cls(labels, tuple(centre.tolist()), tuple(scale.tolist()))

    def __call__(self, features: npt.ArrayLike) -> Array:
        """Scaled features, after checking that they are these features."""
        matrix = feature_matrix(features)
        if matrix.shape[1] != len(self.names):
            raise ValueError(
                f"wanted {len(self.names)} features ({', '.join(self.names)}), but got {matrix.shape[1]}"
            )
        scaled: Array = (matrix - np.array(self.centre)) / np.array(self.scale)
        return scaled

    def back(self, scaled: Array) -> Array:
        """Features in the user's units again."""
        raw: Array = scaled * np.array(self.scale) + np.array(self.centre)
        return raw

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {"names": list(self.names), "centre": list(self.centre), "scale": list(self.scale)}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """What `to_json` wrote."""
        return cls(tuple(values["names"]), tuple(values["centre"]), tuple(values["scale"]))


def same_rows(a: Array, b: Array) -> None:
    """An error unless a and b can be compared row by row."""
    if a.shape != b.shape:
        raise ValueError(f"a and b are compared row by row, but have shapes {a.shape} and {b.shape}")


def sample_diverse(
    features: npt.ArrayLike, count: int | None = None, *, radius: float | None = None, seed: int = 0
) -> Indices:
    """Indices of a diverse subset: Poisson-disk sampling, as the paper uses for its test sets.

    Give either the `radius` that chosen rows must keep from each other, in units of the features as they
    are given, or the `count` of rows wanted, for which the largest radius is found. The rows are tried in a
    random order that `seed` decides.
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


def _disks_of_count(matrix: Array, order: Indices, count: int) -> Indices:
    """The first `count` rows at about the largest radius that leaves so many, by bisection."""
    low, high = 0.0, float(np.linalg.norm(np.ptp(matrix, axis=0))) + 1.0
    chosen = order[:count]
    for _ in range(40 if len(matrix) <= LARGE else 12):
        middle = 0.5 * (low + high)
        found = _disks(matrix, order, middle, most=count)
        if len(found) == count:
            chosen, low = found, middle
        else:
            high = middle
    return chosen


def _disks(matrix: Array, order: Indices, radius: float, most: int | None = None) -> Indices:
    """Take rows in order, a block at a time, unless they are too near to one that was taken before."""
    chosen: Indices = np.empty(0, dtype=np.intp)
    for start in range(0, len(order), LARGE):
        block = order[start : start + LARGE]
        if len(chosen):
            block = block[_far(matrix[block], matrix[chosen], radius)]
        left = None if most is None else most - len(chosen)
        taken = _disks_of_block(matrix[block], radius, left)
        chosen = np.concatenate([chosen, block[taken]])
        if len(chosen) == most:
            break
    return chosen


def _far(rows: Array, taken: Array, radius: float) -> Flags:
    """Which rows keep the radius from all that were taken; by products, since there may be many."""
    centre = taken.mean(axis=0)  # far from which the products would drown the distances
    rows, taken, nearest = rows - centre, taken - centre, np.full(len(rows), np.inf)
    for start in range(0, len(taken), LARGE):
        some = taken[start : start + LARGE]
        away = np.sum(some**2, axis=1) - 2.0 * (rows @ some.T)
        nearest = np.minimum(nearest, away.min(axis=1))
    far: Flags = nearest + np.sum(rows**2, axis=1) >= radius**2
    return far


def _disks_of_block(matrix: Array, radius: float, most: int | None) -> Indices:
    """Take rows in order, each one striking out its neighbours."""
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
