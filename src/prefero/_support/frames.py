"""Tables in memory, by the names of their columns: pandas and polars frames, Arrow tables, and mappings.

None of these libraries is imported: a frame is what has `columns` (Arrow: `column_names`) and gives each by
its name.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.ArrayLike | Mapping[str, Any]  # one row a trajectory: an array, or a table with named columns


def column_keys(table: Any) -> dict[str, Any] | None:
    """The columns' names as texts, with what the table itself calls them; None if it is not a table."""
    if isinstance(table, Mapping):
        return {str(name): name for name in table}
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if names is None or not hasattr(table, "__getitem__"):
        return None
    return {str(name): name for name in names}


def column_values(table: Any, key: Any) -> npt.NDArray[Any]:
    """The values of one column, by what the table calls it."""
    return np.asarray(table[key])


def index_of(table: Any) -> tuple[str, ...] | None:
    """The index of a pandas frame, if it says more than the rows' numbers and tells them apart."""
    index = getattr(table, "index", None)
    if index is None or callable(index):
        return None
    rows = list(index)
    if rows == list(range(len(rows))) or len(set(rows)) != len(rows):
        return None
    return tuple("/".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in rows)
