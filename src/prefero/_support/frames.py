"""Tables in memory, by the names of their columns: pandas and polars frames, Arrow tables, and mappings.

None of these libraries is imported: a frame is what has `columns` (Arrow: `column_names`) and gives each by
its name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Rows = npt.ArrayLike | Mapping[str, Any]  # one row a trajectory: an array, or a table with named columns


def column_keys(table: Any) -> dict[str, Any] | None:
    """The columns' names as texts, with what the table itself calls them; None if it is not a table.

    An error if two columns have the same name: nobody could tell which of them is meant.
    """
    names = getattr(table, "column_names", None) or getattr(table, "columns", None)
    if isinstance(table, Mapping):
        names = list(table)
    elif names is None or not hasattr(table, "__getitem__"):
        return None
    check_different(list(map(str, names)), "the table")
    return {str(name): name for name in names}


def check_different(names: Sequence[str], table: str) -> None:
    """An error if two columns of a table have the same name."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{table} has more than one column {twice[0]!r}: give each its own name")


def column_values(table: Any, key: Any) -> npt.NDArray[Any]:
    """The values of one column, by what the table calls it."""
    return np.asarray(decoded(table[key]))


def decoded(column: Any) -> Any:
    """A column of Arrow without its dictionary: NumPy would lose the missing values of one with it."""
    values = getattr(getattr(column, "type", None), "value_type", None)
    return column if values is None or not hasattr(column.type, "ordered") else column.cast(values)


def declared_levels(column: Any) -> tuple[list[Any], bool] | None:
    """The levels of a column that its table calls categorical, and whether they have an order.

    That is a categorical column of pandas or a dictionary of Arrow; None for any other.
    """
    kind: Any = getattr(column, "dtype", None)
    if hasattr(kind, "categories") and hasattr(kind, "ordered"):
        return list(kind.categories), bool(kind.ordered)
    kind = getattr(column, "type", None)
    if hasattr(kind, "ordered") and hasattr(kind, "value_type"):
        chunks = getattr(column, "chunks", [column])
        return (chunks[0].dictionary.to_pylist() if chunks else []), bool(kind.ordered)
    return None


def index_of(table: Any) -> tuple[str, ...] | None:
    """The index of a pandas frame, if it says more than the rows' numbers and tells them apart."""
    index = getattr(table, "index", None)
    if index is None or callable(index):
        return None
    rows = list(index)
    if rows == list(range(len(rows))) or len(set(rows)) != len(rows):
        return None
    return tuple("/".join(map(str, row)) if isinstance(row, tuple) else str(row) for row in rows)
