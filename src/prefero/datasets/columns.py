"""Columns of a table: their values as numbers, as labels, and what else they hold."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array

Columns = dict[str, npt.NDArray[Any]]


def as_label(value: object) -> str:
    """A value of a column of labels as a text; "" where it is missing."""
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, list | tuple | np.ndarray):
        return ", ".join(map(as_label, value))
    return "" if value is None else str(value)


def matrix_columns(features: Array, names: Sequence[str]) -> Columns:
    """The columns of a matrix of features (M, d), by their names."""
    if len(set(names)) != len(names) or len(names) != features.shape[1]:
        raise ValueError(f"{features.shape[1]} features need as many different names, but have {list(names)}")
    return dict(zip(names, features.T, strict=True))


def numbers_of(name: str, values: npt.NDArray[Any]) -> Array:
    """A column as numbers, or an error that says what it holds instead."""
    numbers = as_numbers(values)
    if numbers is None:
        raise ValueError(
            f"column {name!r} does not hold numbers ({example_of(values)}): choose the columns that are "
            "features, without it"
        )
    return numbers


def as_numbers(values: npt.NDArray[Any]) -> Array | None:
    """A column as numbers, NaN where a value is missing; None if it holds texts, dates or anything else."""
    if values.dtype.kind in "fiub":
        return values.astype(float)
    if values.dtype.kind in "mM":
        return None
    try:
        return np.asarray([np.nan if _is_missing(value) else value for value in values.tolist()], dtype=float)
    except (TypeError, ValueError):
        return None


def example_of(values: npt.NDArray[Any]) -> str:
    """The first value of a column that is not a number, for a message; "empty" if there is none."""
    for value in values.tolist() if values.dtype.kind not in "mM" else values.astype(str).tolist():
        if not _is_missing(value) and as_numbers(np.array([value], dtype=object)) is None:
            return repr(value) if isinstance(value, str) else str(value)
    return "empty"


def _is_missing(value: object) -> bool:
    return value is None or type(value).__name__ == "NAType"  # which pandas has in columns with gaps
