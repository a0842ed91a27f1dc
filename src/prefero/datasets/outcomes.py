"""Outcomes: what a column says of how well each episode went, where the dataset has a value for every step.

success         of booleans: true if any step is
next.reward     of other columns: the last value
sum(COLUMN)     first, last, min, max, sum or mean of all steps, if that is wanted instead
"""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Reduction = Callable[[Sequence[Any]], Any]  # the values of an episode's steps as one value

_REDUCED = re.compile(r"(first|last|min|max|sum|mean)\((.+)\)")


def at_end(values: Sequence[Any]) -> Any:
    """Of booleans whether any is true; of other values the last that is there."""
    known = known_values(values)
    if known and all(isinstance(value, bool) for value in known):
        return any(known)
    return known[-1] if known else None


def reduction_of(column: str) -> tuple[str, Reduction]:
    """The column's own name, and how the values of an episode become one: `sum(reward)` names both."""
    found = _REDUCED.fullmatch(column.strip())
    if found is None:
        return column, at_end
    word, name = found.groups()
    if word in ("first", "last"):
        place = 0 if word == "first" else -1
        return name, lambda values: (known_values(values) or [None])[place]
    reduce: Callable[[Any], Any] = getattr(np, word)

    def reduced(values: Sequence[Any]) -> Any:
        known = known_values(values)
        try:
            return reduce(known).item() if known else None
        except TypeError as error:
            raise ValueError(
                f"{column!r} needs numbers, but {name!r} has {known[0]!r}: take last({name})"
            ) from error

    return name, reduced


def known_values(values: Sequence[Any]) -> list[Any]:
    """Without missing values; a list of one number is that number."""
    single = [_single(value) for value in values]
    return [value for value in single if value is not None and value == value]


def _single(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    while isinstance(value, list | tuple) and len(value) == 1:
        value = value[0]
    return value
