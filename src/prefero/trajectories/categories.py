"""Categories: columns that say of which kind a trajectory is, and the features that encode them.

column     of a table, such as surface
levels     the different values of the column, as texts
one-hot    a feature for each level, called surface=sand: 1 where the column has that level, otherwise 0;
           of two levels only the second has one, since the first is its opposite
ordered    one feature, called like the column: the place of the level among all, from 0 to k - 1
variable   what a person sees as one feature: a number, or a category with all features that encode it
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.names import listed
from prefero.trajectories.step_features import block_of


@dataclass(frozen=True)
class Categories:
    """The levels of a column of categories, and how they are encoded as features.

    Args:
        column: The column's name.
        levels: Its different values, as texts; of an ordered column from the first to the last.
        ordered: Whether the levels have an order, so that one feature holds their places; otherwise each
            level has a feature of its own.
    """

    column: str
    levels: tuple[str, ...]
    ordered: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "levels", tuple(self.levels))
        if not all(self.levels) or len(self.levels) < 2 or len(set(self.levels)) != len(self.levels):
            raise ValueError(
                f"the levels of {self.column!r} are two different texts or more, but these are "
                f"{listed([repr(level) for level in self.levels])}"
            )

    @classmethod
    def parse(cls, text: str) -> Self:
        """Ordered levels as they are typed, `size:small<medium<large`.

        Args:
            text: The column, a colon, and the levels from the first to the last with < between them.

        Returns:
            The ordered categories.
        """
        column, colon, levels = text.partition(":")
        found = tuple(level.strip() for level in levels.split("<"))
        if not colon or not column.strip() or len(found) < 2 or not all(found):
            raise ValueError(
                "ordered categories are written as COLUMN:FIRST<SECOND<THIRD, as in "
                f"size:small<medium<large, but these are {text!r}"
            )
        return cls(column.strip(), found, ordered=True)

    def __str__(self) -> str:
        return f"{self.column}:{'<'.join(self.levels)}" if self.ordered else self.column

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features that encode the column."""
        if self.ordered:
            return (self.column,)
        shown = self.levels[1:] if len(self.levels) == 2 else self.levels
        return tuple(f"{self.column}={level}" for level in shown)

    def places(self, values: Iterable[Any]) -> Array:
        """The place of each value among the levels, (M,); NaN where it is missing, or is none of them."""
        place = {level: float(n) for n, level in enumerate(self.levels)}
        found = [
            np.nan if (text := level_text(value)) is None else place.get(text, np.nan) for value in values
        ]
        return np.array(found, dtype=float)

    def encode(self, values: Iterable[Any]) -> Array:
        """The features of a column's values, (M, features); NaN where a value has no place."""
        return self.features_at(self.places(values))

    def features_at(self, places: Array) -> Array:
        """The features of levels by their places, (M, features)."""
        if self.ordered:
            return places[:, None]
        known = np.arange(len(self.levels))[-len(self.names) :]
        return np.where(np.isnan(places)[:, None], np.nan, (places[:, None] == known).astype(float))

    def check(self, values: Iterable[Any]) -> None:
        """An error that names the first value that has no place."""
        for row, value in enumerate(values):
            problem = self.problem_with(value)
            if problem:
                raise ValueError(f"row {row}: {problem}")

    def problem_with(self, value: Any) -> str:
        """Why a value has no place, with the way out; nothing if it has one."""
        text = level_text(value)
        if text is None:
            return (
                f"its {self.column!r} is missing: fill it in, with a level of its own such as 'unknown' if "
                "nobody knows it"
            )
        if text in self.levels:
            return ""
        return (
            f"its {self.column!r} is {text!r}, which is not among {listed(self.levels)}: correct it if it is "
            "a misspelling, or teach with trajectories that have it"
            + (", named at its place in --ordered" if self.ordered else "")
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values for a file."""
        return {"column": self.column, "levels": list(self.levels), "ordered": self.ordered}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Self:
        """What `to_json` wrote."""
        texts = all(isinstance(text, str) for text in (values["column"], *values["levels"]))
        if not texts or not isinstance(values["ordered"], bool):
            raise ValueError(f"these are no categories: {values}")
        return cls(values["column"], tuple(values["levels"]), values["ordered"])


def level_text(value: Any) -> str | None:
    """A value of a column as a level: the same text for 1, 1.0 and "1"; None if it is missing."""
    if value is None or type(value).__name__ in ("NAType", "NaTType") or value != value:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


# --- features as people see them --------------------------------------------------------------------------


@dataclass(frozen=True)
class Variable:
    """One feature as a person sees it: a number, or a category with all features that encode it."""

    name: str  # of the feature, or of the category's column
    features: tuple[int, ...]  # their places
    categories: Categories | None = None

    @property
    def is_one_hot(self) -> bool:
        """Are its levels without an order?"""
        return self.categories is not None and not self.categories.ordered

    def values(self, features: Array) -> Array:
        """Its values in rows of features (M, d): the numbers, or the places of the levels, (M,)."""
        if not self.is_one_hot:
            values: Array = features[:, self.features[0]]
            return values
        distance = np.abs(features[:, None, self.features] - self.level_features()).sum(axis=2)
        places: Array = np.argmin(distance, axis=1).astype(float)
        return places

    def level_features(self) -> Array:
        """The features of each level of a category, (levels, features)."""
        assert self.categories is not None
        return self.categories.features_at(np.arange(len(self.categories.levels), dtype=float))

    def counts(self, features: Array) -> Indices:
        """How many rows have each level of a category, (levels,)."""
        assert self.categories is not None
        return np.bincount(self.values(features).astype(int), minlength=len(self.categories.levels))


def variables_of(names: Sequence[str], categories: Sequence[Categories]) -> tuple[Variable, ...]:
    """The variables that these features encode, in the order of their first features.

    Where some features of a category were left out, a row does not say which level it has: the others are
    then numbers by themselves. Features of steps mean nothing alone, and are no variables.
    """
    place = {name: number for number, name in enumerate(names)}
    whole = [one for one in categories if all(name in place for name in one.names)]
    inside = {name: one for one in whole for name in one.names}
    found: dict[str, Variable] = {}
    for name, number in place.items():
        one = inside.get(name)
        if block_of(name) is not None:
            continue
        if one is None:
            found[name] = Variable(name, (number,))
        else:
            found.setdefault(one.column, Variable(one.column, tuple(place[n] for n in one.names), one))
    return tuple(found.values())
