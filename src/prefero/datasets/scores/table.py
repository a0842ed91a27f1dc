"""Scores in a table: which trajectory each row is of, and its reward in two units.

mean, std             the reward and its uncertainty, comparable between tables: 0 is the reward of a
                      trajectory that has the average features of those that the reward was taught with
standardized          how far the reward is above the average of the scored trajectories, in standard
                      deviations of the reward over them, as the page has it
standardized_std      the uncertainty of that difference, in the same unit
acceptable            the probability that the trajectory is acceptable, of a reward that knows what is

The other columns are those of the scored table, without the features of the reward, or else the trajectory's
id and its index; of a window also its episode and its steps.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.files import csv_text, written_atomically
from prefero._support.optional import need
from prefero.datasets.columns import Columns
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.extraction.match_reward import log_transforms_in
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.formats.tables import TABLE_SUFFIXES, id_column

TRAJECTORY, INDEX = "trajectory", "index"


@dataclass(frozen=True, eq=False)
class Scores:
    """The reward of M trajectories.

    Args:
        mean: The expected reward, (M,).
        std: Its standard deviation, (M,).
        standardized: How far it is above the average of the M trajectories, in standard deviations of the
            reward over them, (M,).
        standardized_std: The standard deviation of that difference, in the same unit, (M,).
        acceptable: The probability of being acceptable, (M,); None where nobody said what is.
    """

    mean: Array
    std: Array
    standardized: Array
    standardized_std: Array
    acceptable: Array | None = field(default=None, kw_only=True)

    @property
    def columns(self) -> Columns:
        """The scores that there are, by name."""
        found: Columns = {name: getattr(self, name) for name in SCORES}
        return found if self.acceptable is None else found | {ACCEPTABLE: self.acceptable}


ACCEPTABLE = "acceptable"
SCORES = tuple(one.name for one in fields(Scores) if one.name != ACCEPTABLE)  # of every reward


def score_columns(table: FeatureTable, scores: Scores) -> Columns:
    """The columns of the table of scores, (M,) each."""
    return {**row_columns(table, scores.columns), **scores.columns}


def row_columns(table: FeatureTable, scores: Collection[str] = ()) -> Columns:
    """Which trajectory a row is of; of a table, all its columns that are not features of the reward."""
    columns, windows = table.dataset.score_columns(), table.at_origin()
    if not columns:
        return _id_columns(table)
    encoded = {one.column for one in table.categories}
    omitted = {*table.names, *encoded, *log_transforms_in(table.names), *scores}
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
    dataset = table.dataset
    indices = np.array(table.numbers) + (dataset.first_row if isinstance(dataset, FeatureDataset) else 0)
    if any(table.segments) or table.ids == tuple(map(str, indices.tolist())):
        return {}
    return {INDEX: indices}


def _numbers(ids: Sequence[str]) -> npt.NDArray[Any]:
    whole = [int(name) for name in ids if name.isdecimal() and str(int(name)) == name]
    return np.array(whole if len(whole) == len(ids) else ids)


def check_score_table(path: Path) -> None:
    """An error, before any work is done, if a table of scores cannot have this path."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"scores are written as {' or '.join(TABLE_SUFFIXES)}, but --out is {path}")


def write_score_table(path: Path, columns: Columns) -> None:
    """Write the scores to a CSV or Parquet file, whole or not at all."""
    with score_table_writer(path) as write:
        write(columns)


@contextmanager
def score_table_writer(
    path: Path, types: Mapping[str, Any] | None = None
) -> Iterator[Callable[[Columns], None]]:
    """A function that writes some more rows; the file is there, whole, when all are written.

    `types` are Arrow's types of columns; those of others are found in the first rows.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_atomically(path) as file, ExitStack() as opened:
        if path.suffix.lower() == ".csv":
            yield _CsvRows(file).write
        else:
            yield _ParquetRows(file, types or {}, opened).write


@dataclass
class _CsvRows:
    file: BinaryIO
    begun: bool = False

    def write(self, columns: Columns) -> None:
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        named = (dict(zip(columns, row, strict=True)) for row in rows)
        self.file.write(csv_text(list(columns), named, header=not self.begun).encode())
        self.begun = True


@dataclass
class _ParquetRows:
    file: BinaryIO
    types: Mapping[str, Any]
    opened: ExitStack  # closes the writer
    writer: Any = None

    def write(self, columns: Columns) -> None:
        arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
        types = (
            self.types if self.writer is None else {field.name: field.type for field in self.writer.schema}
        )
        # a whole number that is missing somewhere was read as a float, NaN
        arrays = {
            name: arrow.array(values, types.get(name), from_pandas=name in types)
            for name, values in columns.items()
        }
        table = arrow.table(arrays)
        if self.writer is None:
            self.writer = self.opened.enter_context(parquet.ParquetWriter(self.file, table.schema))
        self.writer.write_table(table)
