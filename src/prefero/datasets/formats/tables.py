"""Tables of features: CSV and Parquet files, pandas frames and mappings of columns.

A table has one row for each trajectory and one column for each feature. A column called id, episode,
trajectory or name says which trajectory it is. A table that `prefero features` wrote also says which of its
columns are features, and which episodes and steps of which dataset its rows are of, so that their videos can
be shown.
"""

import json
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.optional import need
from prefero.datasets.base import (
    Columns,
    Dataset,
    DatasetFormat,
    DatasetSpec,
    FeatureDataset,
    FormatOptions,
    Origin,
)
from prefero.datasets.episode import StepRange, segment_id
from prefero.datasets.registry import open_spec, spec_from_json

ID_COLUMNS = ("id", "episode", "trajectory", "name")
TABLE_SUFFIXES = (".parquet", ".csv")
METADATA = b"prefero.features"  # the key of the metadata that `prefero features` writes


@dataclass(frozen=True, kw_only=True)
class TableOptions(FormatOptions):
    """How a table is opened; `ids` is the column of the trajectories' ids."""

    ids: str | None = None


class TableDataset(FeatureDataset, DatasetFormat):
    """A table of features in a file. One that `prefero features` wrote shows the videos of its dataset."""

    format_name = "table"
    description = "a table (.csv, .parquet)"
    options_type = TableOptions

    def __init__(self, path: str | Path, options: TableOptions | None = None) -> None:
        path, options = Path(path), options or TableOptions()
        self.columns_read, about = read_table(path)
        columns, names = dict(self.columns_read), None
        if about is not None:
            rows = zip(columns["episode"].tolist(), _segments(columns), strict=True)
            columns["episode"] = np.array([segment_id(episode, segment) for episode, segment in rows])
            names = about["features"]
        ids = id_column(columns, options.ids)
        names = [name for name in columns if name != ids] if names is None else names
        super().__init__(path.stem, columns, row_ids(columns, ids), names=names)
        self.files = (path.resolve(),)
        self.spec = DatasetSpec.of("table", path.resolve(), options)
        if about is not None and about["dataset"] is not None:
            self.origin = _origin(path, self.columns_read, about["dataset"], options.trust)
        if self.origin is not None and options.videos != "ignore":
            self.has_video = self.origin.dataset.has_video

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A file with the suffix of a table."""
        return Path(path).suffix.lower() in TABLE_SUFFIXES and Path(path).is_file()

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> "TableDataset":
        """Read the table."""
        assert isinstance(options, TableOptions)
        return cls(path, options)

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The table, and what opening the dataset reads that it was extracted from."""
        return self.files + (() if self.origin is None else self.origin.dataset.index_files)

    def score_columns(self) -> Columns:
        """All columns, as they are in the file."""
        return self.columns_read

    # --- videos of the dataset that the features were extracted from --------------------------------------

    def check_video(self, number: int) -> None:
        """`BadEpisode` if the dataset's own video is missing or damaged."""
        if self.origin is not None:
            self.origin.dataset.check_video(self.origin.numbers[number])

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """Where the dataset's own clip of a row is cut to."""
        if self.origin is None or steps is not None:
            return super().clip_path(number, folder, steps)
        return self.origin.dataset.clip_path(
            self.origin.numbers[number], folder, self.origin.segments[number]
        )

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The dataset's own clip of a row."""
        if self.origin is None or steps is not None:
            return super().cut_clip(number, folder, steps)
        return self.origin.dataset.cut_clip(self.origin.numbers[number], folder, self.origin.segments[number])


def table_in_memory(table: Any, ids: str | None = None, name: str = "table") -> FeatureDataset:
    """A pandas frame or a mapping of columns as a dataset; `ids` is the column of the trajectories' ids."""
    columns = columns_of(table)
    column = id_column(columns, ids)
    names = [name for name in columns if name != column]
    return FeatureDataset(name, columns, row_ids(columns, column), names=names)


def _origin(path: Path, columns: Columns, spec: Any, trust: bool) -> Origin | None:
    """Where the rows of a table were extracted from; a warning if that cannot be opened or has changed."""
    try:
        dataset: Dataset = open_spec(spec_from_json(spec), trust=trust)
    except (ValueError, OSError, TypeError, KeyError, AttributeError) as error:  # a stranger's options
        warnings.warn(f"{path} has features, but their videos are not shown: {error}", stacklevel=4)
        return None
    numbers = columns["number"].tolist()
    if [dataset.ids[n] if n < len(dataset) else None for n in numbers] != columns["episode"].tolist():
        warnings.warn(
            f"{path} has features of {dataset.name}, which has changed since they were extracted, so its "
            "videos are not shown: extract them again",
            stacklevel=4,
        )
        return None
    steps = [None if count is None or count != count else int(count) for count in columns["steps"].tolist()]
    return Origin(dataset, tuple(numbers), tuple(_segments(columns)), tuple(steps))


def _segments(columns: Columns) -> list[StepRange | None]:
    """Which steps each row of a table of features is of; None for all of them."""
    pairs = zip(columns["first"].tolist(), columns["last"].tolist(), strict=True)
    return [None if first is None or first != first else (int(first), int(last)) for first, last in pairs]


# --- reading ----------------------------------------------------------------------------------------------


def read_table(path: Path) -> tuple[Columns, dict[str, Any] | None]:
    """The columns of a CSV or Parquet file, and the metadata if `prefero features` wrote it."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"a table is a .csv or .parquet file, but this is {path}")
    arrow = need("pyarrow", extra="datasets")
    try:
        if path.suffix.lower() == ".csv":
            table = need("pyarrow.csv", extra="datasets").read_csv(path)
        else:
            table = need("pyarrow.parquet", extra="datasets").read_table(path)
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is damaged or is no table: {error}") from error
    twice = [name for name, count in Counter(table.column_names).items() if count > 1]
    if twice:
        raise ValueError(f"{path} has more than one column {twice[0]!r}: give each its own name")
    columns = {name: table[name].to_numpy() for name in table.column_names}
    about = (table.schema.metadata or {}).get(METADATA)
    return columns, None if about is None else dict(json.loads(about))


def columns_of(table: Any) -> Columns:
    """The columns of a pandas frame or of a mapping."""
    if isinstance(table, Mapping):
        return {str(name): np.asarray(values) for name, values in table.items()}
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return {str(name): np.asarray(table[name]) for name in table.columns}
    raise ValueError(
        f"a table is a pandas frame, a mapping of columns, or a .csv or .parquet file, but this is "
        f"{type(table).__name__}"
    )


def id_column(columns: Columns, wanted: str | None, known: Sequence[str] = ID_COLUMNS) -> str | None:
    """The column that says which trajectory a row is of."""
    if wanted is not None and wanted not in columns:
        raise ValueError(f"there is no column {wanted!r}: the columns are {', '.join(columns)}")
    return wanted or next((c for c in columns if c.lower() in known), None)


def row_ids(columns: Columns, column: str | None) -> tuple[str, ...]:
    """The ids of the rows: those in a column, or their numbers."""
    if column is None:
        return tuple(map(str, range(len(next(iter(columns.values()), ())))))
    ids = tuple(map(str, columns[column].tolist()))
    repeated = [one for one, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ValueError(
            f"every row is one trajectory, but column {column!r} has {repeated[0]!r} more than once: keep "
            "states step by step in a .npz archive with states (trajectories, steps, numbers)"
        )
    return ids
