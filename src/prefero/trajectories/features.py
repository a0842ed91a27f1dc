"""Features of trajectories: their checks, their names, and their standardization.

features     (M, d)    one trajectory a row, one feature a column, in the user's units
scaled       (M, d)    the same, standardized: mean 0 and standard deviation 1 over a pool
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, cast

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags
from prefero._support.frames import Rows, column_keys, column_values
from prefero._support.names import MOST_SHOWN, did_you_mean, listed
from prefero.trajectories.categories import Categories, Variable, variables_of
from prefero.trajectories.step_features import step_blocks

SQUARABLE = 1e-100  # numbers from here to its reciprocal can be squared and summed
CONSTANT = 1e-9  # a standard deviation this small relative to the values is rounding


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
            + (": for a single feature, use features[:, None]; for a single trajectory, features[None, :]")
            * (matrix.ndim == 1)
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


def location_and_scale(features: Array) -> tuple[Array, Array, Flags]:
    """Mean and standard deviation of every feature, and whether it varies by more than rounding."""
    largest = np.abs(features).max(axis=0)
    extreme = (largest > 1 / SQUARABLE) | ((largest < SQUARABLE) & (largest > 0))
    unit = np.where(extreme, largest, 1.0)  # so that no square overflows or vanishes
    center, scale = (features / unit).mean(axis=0), (features / unit).std(axis=0)
    return center * unit, scale * unit, scale > CONSTANT * np.abs(center)


def log_name(name: str) -> str:
    """The name of a feature's logarithm."""
    return f"log({name})"


def name_in_log(name: str) -> str | None:
    """The feature that this is the logarithm of, by its name; None if it is no logarithm."""
    return name[4:-1] if name.startswith("log(") and name.endswith(")") else None


@dataclass(frozen=True)
class Scaling:
    """Standardization of features, scaled = (features - center) / scale, and their names.

    Args:
        names: The names of the d features.
        center: The mean of each feature.
        scale: The standard deviation of each feature. The features of a category's levels have one scale, the
            root of the sum of their variances, so that any two levels are equally far from each other, and
            the category counts as much as a number does. So do the features of one block of step features.
        categories: The columns of categories that some of the features encode.
    """

    names: tuple[str, ...]
    center: tuple[float, ...]
    scale: tuple[float, ...]
    categories: tuple[Categories, ...] = ()

    def __repr__(self) -> str:
        return f"Scaling({len(self.names)} features: {listed(self.names, MOST_SHOWN)})"

    def __post_init__(self) -> None:
        sizes = {len(self.names), len(self.center), len(self.scale)}
        if len(sizes) > 1 or not all(np.isfinite(self.center)) or not all(0 < s < np.inf for s in self.scale):
            raise ValueError(
                "every feature needs a name, a center and a positive scale, "
                f"but they are {self.names}, {self.center} and {self.scale}"
            )
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"feature names must differ from each other, but are {list(self.names)}")

    def some(self, places: Sequence[int]) -> "Scaling":
        """Of these features alone."""
        names = tuple(self.names[place] for place in places)
        categories = tuple(one for one in self.categories if set(one.names) <= set(names))
        center, scale = (tuple(one[place] for place in places) for one in (self.center, self.scale))
        return Scaling(names, center, scale, categories)

    @classmethod
    def of(
        cls,
        features: Array,
        names: Sequence[str] | None = None,
        categories: Sequence[Categories] = (),
        *,
        allow_constant: bool = False,
    ) -> Self:
        """The scaling to mean 0 and standard deviation 1 over these trajectories.

        Args:
            features: (M, d), in your own units.
            names: Of the features; None numbers them.
            categories: The columns of categories that some of the features encode.
            allow_constant: Give a constant feature the scale 1; otherwise it is an error.

        Returns:
            The scaling.

        Raises:
            ValueError: If a feature is constant and may not be.
        """
        labels = (
            tuple(names) if names is not None else tuple(f"feature {i}" for i in range(features.shape[1]))
        )
        center, scale, varies = location_and_scale(features)
        for columns in (list(one.features) for one in variables_of(labels, categories) if one.is_one_hot):
            scale[columns], varies[columns] = np.sqrt(np.sum(scale[columns] ** 2)), varies[columns].any()
        for block in map(list, step_blocks(labels).values()):  # whose proportions matter
            scale[block], varies[block] = np.sqrt(np.sum(scale[block] ** 2)), varies[block].any()
        flat = np.flatnonzero(~varies)
        if len(flat) and not allow_constant:
            column = int(flat[0])
            raise ValueError(
                f"feature {labels[column]!r} is {center[column]:g} for every trajectory, so no answer can "
                "tell anything about it: drop that column, or add trajectories in which it differs"
            )
        scales = tuple(np.where(varies, scale, 1.0).tolist())
        return cls(labels, tuple(center.tolist()), scales, tuple(categories))

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The features as people see them: the features of one category are one variable."""
        return variables_of(self.names, self.categories)

    def __call__(self, features: Rows) -> Array:
        """Scaled features, after checking that they are these features; of a frame, by its columns' names."""
        scaled: Array = (self.matrix(features) - np.array(self.center)) / np.array(self.scale)
        return scaled

    def matrix(self, features: Rows) -> Array:
        """These features, not scaled, (M, d): the columns of an array, or those of a frame by name.

        A frame may have more columns, in any order; one that lacks a feature is an error. Of a category it
        has the column itself, or the features that encode it.
        """
        keys = column_keys(features)
        if keys is not None:
            wanted = {*self.names, *(one.column for one in self.categories)}
            columns = {name: column_values(features, keys[name]) for name in keys if name in wanted}
            columns |= self.encoded(columns)
            self._check_columns([*(keys | columns)])
            return feature_matrix(np.column_stack([columns[name] for name in self.names]), self.names)
        matrix = feature_matrix(cast(npt.ArrayLike, features))
        if matrix.shape[1] != len(self.names):
            raise ValueError(
                f"wanted {len(self.names)} features ({listed(self.names)}), but got {matrix.shape[1]}"
            )
        return matrix

    def encoded(self, columns: Mapping[str, npt.NDArray[Any]]) -> dict[str, Array]:
        """The features that encode categories, where a frame has their columns."""
        found: dict[str, Array] = {}
        for one in self.categories:
            if one.column in columns:
                one.check(columns[one.column].tolist())
                encoded = one.encode(columns[one.column].tolist())
                found |= dict(zip(one.names, encoded.T, strict=True))
        return found

    def _check_columns(self, known: Sequence[str]) -> None:
        missing = next((name for name in self.names if name not in known), None)
        if missing is None:
            return
        raw, column = name_in_log(missing), self._column_of(missing)
        if column is not None:
            why = f"add a column {column.column!r} with one of {listed(column.levels)} in each row"
        elif raw is not None and raw in known:
            why = f"it has {raw!r} itself: add a column {missing!r} with its logarithm"
        elif log_name(missing) in known:
            why = f"it has the logarithm, {log_name(missing)!r}: add a column {missing!r} without it"
        else:
            why = f"its columns are {listed(known)}{did_you_mean(missing, known)}"
        raise ValueError(f"wanted the features {listed(self.names)}, but the table lacks {missing!r}: {why}")

    def _column_of(self, name: str) -> Categories | None:
        return next((one for one in self.categories if name in one.names), None)

    def check_names(self, names: tuple[str, ...], of: str) -> None:
        """Raise an error unless `names` are the names of these features.

        Args:
            names: The names to compare.
            of: What has those names, for the error.

        Raises:
            ValueError: If they differ.
        """
        if names != self.names:
            raise ValueError(f"wanted the features {listed(self.names)}, but {of} has {listed(names)}")

    def inverse(self, scaled: Array) -> Array:
        """Features in the user's units again."""
        raw: Array = scaled * np.array(self.scale) + np.array(self.center)
        return raw

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {
            "names": list(self.names),
            "center": list(self.center),
            "scale": list(self.scale),
            "categories": [one.to_json() for one in self.categories],
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """What `to_json` wrote."""
        names = tuple(values["names"])
        if not all(isinstance(name, str) for name in names):
            raise ValueError(f"features have texts as names, but these are {list(names)}")
        categories = tuple(Categories.from_json(one) for one in values["categories"])
        return cls(names, tuple(values["center"]), tuple(values["scale"]), categories)


def check_same_shape(a: Array, b: Array) -> None:
    """An error unless a and b can be compared row by row."""
    if a.shape != b.shape:
        raise ValueError(f"a and b are compared row by row, but have shapes {a.shape} and {b.shape}")
