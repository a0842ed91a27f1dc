"""Scores in a table: which trajectory each row is of, and its reward in two units.

mean, std             the reward and its uncertainty, comparable between tables: 0 is the reward of a
                      trajectory that has the average features of those that the reward was taught with
standardized          how far the reward is above the average of the scored trajectories, in standard
                      deviations of the reward over them, as the page has it
standardized_std      the uncertainty of that difference, in the same unit

The other columns are those of the scored table, without the features of the reward, or else the trajectory's
id and its index; of a window also its episode and its steps.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.files import csv_text, write_atomically
from prefero._support.optional import need
from prefero.datasets.columns import Columns
from prefero.datasets.features.match_reward import log_transforms_in
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.formats.tables import TABLE_SUFFIXES, id_column

TRAJECTORY, INDEX = "trajectory", "index"
MEAN, STD, STANDARDIZED, STANDARDIZED_STD = SCORES = ("mean", "std", "standardized", "standardized_std")


def score_columns(
    table: FeatureTable,
    mean: npt.ArrayLike,
    std: npt.ArrayLike,
    standardized: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> Columns:
    """The columns of the table of scores, (M,) each; `standardized` has the mean and standard deviation."""
    scores = [np.asarray(values) for values in (mean, std, *(standardized or ()))]
    return {**_row_columns(table), **dict(zip(SCORES, scores, strict=False))}


def _row_columns(table: FeatureTable) -> Columns:
    """Which trajectory a row is of; of a table, all its columns that are not features of the reward."""
    columns, windows = table.dataset.score_columns(), table.at_origin()
    if not columns:
        return _id_columns(table)
    encoded = {one.column for one in table.categories}
    omitted = {*table.names, *encoded, *log_transforms_in(table.names), *SCORES}
    kept = {name: values for name, values in columns.items() if name not in omitted}
    rows = {name: values[list(table.numbers)] for name, values in kept.items()}
    if id_column(kept, None) is not None and not any(windows.segments):
        return rows | {name: values for name, values in _index_column(table).items() if name not in rows}
    return _id_columns(windows) | rows


def _id_columns(table: FeatureTable) -> Columns:
    """The ids, as numbers if they all are, and the indices; of a window, its episode and its steps too."""
    columns: Columns = {TRAJECTORY: _numbers(table.ids)}
    columns |= _index_column(table)
    if any(table.segments):
        columns["episode"] = _numbers([table.dataset.ids[number] for number in table.numbers])
        columns["first"], columns["last"] = np.array([segment or (0, 0) for segment in table.segments]).T
    return columns


def _index_column(table: FeatureTable) -> Columns:
    """The index of each row's trajectory in what is scored, unless its id says that already."""
    if any(table.segments) or table.ids == tuple(map(str, table.numbers)):
        return {}
    return {INDEX: np.array(table.numbers)}


def _numbers(ids: Sequence[str]) -> npt.NDArray[Any]:
    whole = [int(name) for name in ids if name.isdecimal() and str(int(name)) == name]
    return np.array(whole if len(whole) == len(ids) else ids)


def check_score_table(path: Path) -> None:
    """An error, before any work is done, if a table of scores cannot have this path."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"scores are written as {' or '.join(TABLE_SUFFIXES)}, but --out is {path}")


def write_score_table(path: Path, columns: Columns) -> None:
    """Write the scores to a CSV or Parquet file, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix.lower() == ".csv":
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        write_atomically(
            path, csv_text(list(columns), (dict(zip(columns, row, strict=True)) for row in rows))
        )
        return
    memory, table = io.BytesIO(), need("pyarrow", extra="datasets").table(columns)
    need("pyarrow.parquet", extra="datasets").write_table(table, memory)
    write_atomically(path, memory.getvalue())
