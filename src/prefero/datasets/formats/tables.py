"""Tables of features: CSV and Parquet files, pandas frames and mappings of columns.

A table has one row for each trajectory and one column for each feature. Columns that hold no numbers are not
features, unless they hold categories. A column called id, episode, trajectory or name says which trajectory
it is; without one the index of a pandas frame does, or the first column of texts that all differ. A table
that `prefero features` wrote also says which of its columns are features, and which episodes and steps of
which dataset its rows are of, so that their videos can be shown.
"""

import json
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Image
from prefero._support.files import missing_file
from prefero._support.frames import (
    check_different,
    column_keys,
    column_values,
    declared_levels,
    decoded,
    index_of,
)
from prefero._support.names import no_such
from prefero._support.optional import need
from prefero._support.unpacking import check_parquet
from prefero.datasets.base import Dataset, DatasetFormat, Origin
from prefero.datasets.categories import Declared, declared_by_table, find_categories
from prefero.datasets.columns import Columns, as_numbers, example_of
from prefero.datasets.episode import StepRange, segment_id
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.outcomes import Reduction
from prefero.datasets.registry import open_spec
from prefero.datasets.registry import spec_from_json as dataset_spec_from_json
from prefero.trajectories.categories import Categories, level_text
from prefero.trajectories.feature_spec import spec_from_json

ID_COLUMNS = ("id", "episode", "trajectory", "name")
TABLE_SUFFIXES = (".parquet", ".csv")
METADATA = b"prefero.features"  # the key of the metadata that `prefero features` writes


@dataclass(frozen=True, kw_only=True)
class TableOptions(FormatOptions):
    """How a table is opened.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        ids: The column of the trajectories' ids.
    """

    ids: str | None = option(
        None, "The column of the trajectories' ids; by default id, episode, trajectory or name."
    )


class TableDataset(FeatureDataset, DatasetFormat):
    """A table of features in a file. One that `prefero features` wrote shows the videos of its dataset."""

    format_name = "table"
    description = "a table (.csv, .parquet)"
    options_type = TableOptions

    def __init__(
        self, path: str | Path, options: TableOptions | None = None, read: "TableRead | None" = None
    ) -> None:
        """Read the table, or take rows of it that were read already."""
        path, options = Path(path), options or TableOptions()
        self.columns_read, about, declared, self.first_row = read or read_table(path)
        columns = dict(self.columns_read)
        if about is not None:
            rows = zip(columns["episode"].tolist(), _segments(columns), strict=True)
            columns["episode"] = np.array([segment_id(episode, segment) for episode, segment in rows])
            self.feature_spec = spec_from_json(about.get("feature_spec"))
        # some rows do not tell whether texts differ in all of them
        ids = id_column(columns, options.ids) or (None if read else text_ids(columns))
        found = FeatureColumns.of(columns, declared, about, without=(ids,))
        row_names = row_ids(columns, ids, self.first_row)
        super().__init__(path.stem, columns, row_names, names=found.names, categories=found.encoded)
        found.describe(self)
        self.files = (path.resolve(),)
        self.spec = DatasetSpec.of("table", path.resolve(), options)
        if about is not None and about["dataset"] is not None:
            self.origin = _origin(path, self.columns_read, about["dataset"], options.trust)
        if self.origin is not None and options.videos != "ignore":
            self.has_video = self.origin.dataset.has_video
            self.no_video = self.origin.dataset.no_video

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A file with the suffix of a table."""
        return Path(path).suffix.lower() in TABLE_SUFFIXES and Path(path).is_file()

    @property
    def index_files(self) -> tuple[Path, ...]:
        """The table, and what opening the dataset reads that it was extracted from."""
        return self.files + (() if self.origin is None else self.origin.dataset.index_files)

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """The values of a column, or what the dataset says that the features were extracted from."""
        found, origin = super().outcome_column(name, reduce), self.origin
        if found is not None or origin is None or any(origin.segments):
            return found
        values = origin.dataset.outcome_column(name, reduce)
        return None if values is None else tuple(values[number] for number in origin.numbers)

    def outcome_names(self) -> tuple[str, ...]:
        """All columns, and those of the dataset that the features were extracted from."""
        return (*super().outcome_names(), *(self.origin.dataset.outcome_names() if self.origin else ()))

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

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """What the dataset's own video shows of a row."""
        if self.origin is None or steps is not None:
            return super().frames(number, steps)
        return self.origin.dataset.frames(self.origin.numbers[number], self.origin.segments[number])


def table_in_memory(table: Any, ids: str | None = None) -> FeatureDataset:
    """A pandas frame or a mapping of columns as a dataset; `ids` is the column of the trajectories' ids."""
    columns = columns_of(table)
    named, index = id_column(columns, ids), index_of(table)
    column = named or (text_ids(columns) if index is None else None)
    found = FeatureColumns.of(columns, declared_in(table), without=(column,))
    row_names = row_ids(columns, column) if column or index is None else index
    dataset = FeatureDataset("table", columns, row_names, names=found.names, categories=found.encoded)
    found.describe(dataset)
    return dataset


def _origin(path: Path, columns: Columns, spec: Any, trust: bool) -> Origin | None:
    """Where the rows of a table were extracted from; a warning if that cannot be opened or has changed."""
    try:
        dataset: Dataset = open_spec(dataset_spec_from_json(spec), trust=trust)
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


class TableRead(NamedTuple):
    """The columns of a file, the metadata if `prefero features` wrote it, and the declared categories.

    `first_row` says where in the file the rows begin, if they are not all of it.
    """

    columns: Columns
    about: dict[str, Any] | None
    declared: Declared
    first_row: int = 0


def read_table(path: Path) -> TableRead:
    """Read a CSV or Parquet file."""
    if path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(f"a table is a .csv or .parquet file, but this is {path}")
    if not path.is_file():
        raise missing_file(path)
    with damage_named(path):
        if path.suffix.lower() == ".csv":
            table = need("pyarrow.csv", extra="datasets").read_csv(path)
        else:
            parquet = need("pyarrow.parquet", extra="datasets")
            check_parquet(parquet, path)
            check_different(parquet.read_schema(path).names, str(path))
            table = parquet.read_table(path)
    return table_read(table, path)


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """An error that names the file, if it cannot be read."""
    arrow = need("pyarrow", extra="datasets")
    try:
        yield
    except arrow.ArrowInvalid as error:
        raise ValueError(f"{path} is damaged or is no table: {str(error).splitlines()[0]}") from error


def table_read(table: Any, path: Path, first_row: int = 0) -> TableRead:
    """What an Arrow table of a file, or of some of its rows, holds."""
    check_different(table.column_names, str(path))
    columns = {name: decoded(table[name]).to_numpy() for name in table.column_names}
    about = (table.schema.metadata or {}).get(METADATA)
    known = None if about is None else dict(json.loads(about))
    return TableRead(columns, known, declared_in(table), first_row)


def columns_of(table: Any) -> Columns:
    """The columns of a pandas frame or of a mapping."""
    keys = column_keys(table)
    if keys is None:
        raise ValueError(
            f"a table is a pandas frame, a mapping of columns, or a .csv or .parquet file, but this is "
            f"{type(table).__name__}"
        )
    return {name: column_values(table, key) for name, key in keys.items()}


def id_column(columns: Columns, wanted: str | None, known: Sequence[str] = ID_COLUMNS) -> str | None:
    """The column that says which trajectory a row is of, by its name."""
    if wanted is not None and wanted not in columns:
        raise ValueError(no_such("column", wanted, tuple(columns)))
    return wanted or next((c for c in columns if c.lower() in known), None)


def text_ids(columns: Columns) -> str | None:
    """The first column of texts that all differ, which can serve as ids."""
    return next((name for name, values in columns.items() if _tells_rows_apart(values)), None)


def _tells_rows_apart(values: npt.NDArray[Any]) -> bool:
    texts = [value for value in values.tolist() if isinstance(value, str) and value]
    return len(set(texts)) == len(values) > 1 and as_numbers(values) is None


def declared_in(table: Any) -> Declared:
    """The columns that a table itself calls categorical, with their levels."""
    found = {name: declared_levels(table[key]) for name, key in (column_keys(table) or {}).items()}
    return {
        name: (tuple(text for level in known[0] if (text := level_text(level)) is not None), known[1])
        for name, known in found.items()
        if known is not None
    }


@dataclass(frozen=True)
class FeatureColumns:
    """What the columns of a table are: numbers, categories, or no features."""

    names: list[str]  # of columns of numbers
    categories: tuple[Categories, ...]  # declared by the table, or found in it
    encoded: tuple[Categories, ...]  # that some columns of numbers encode already
    found: tuple[Categories, ...]  # those of the categories that the table does not declare
    ignored: dict[str, str]  # other columns, with an example of what they hold

    @classmethod
    def of(
        cls,
        columns: Columns,
        declared: Declared,
        about: Mapping[str, Any] | None = None,
        *,
        without: Sequence[str | None],
    ) -> "FeatureColumns":
        """Of a table's columns, without some; `about` is what `prefero features` wrote, which decides."""
        if about is not None:
            encoded = tuple(Categories.from_json(one) for one in about.get("categories", ()))
            return cls(about["features"], (), encoded, (), {})
        others = {name: values for name, values in columns.items() if name not in without}
        own = declared_by_table(others, {name: one for name, one in declared.items() if name in others})
        texts = {name: values for name, values in others.items() if not _has_numbers(values)}
        found = [find_categories(name, values) for name, values in texts.items() if name not in declared]
        new = tuple(one for one in found if one is not None)
        taken = {one.column for one in (*own, *new)}
        ignored = {name: example_of(values) for name, values in texts.items() if name not in taken}
        return cls([name for name in others if name not in ignored], (*own, *new), (), new, ignored)

    def describe(self, dataset: FeatureDataset) -> None:
        """Tell a dataset which of its columns are categories, and which are no features."""
        dataset.ignored, dataset.found = self.ignored, self.found
        dataset.encode(self.categories)


def _has_numbers(values: npt.NDArray[Any]) -> bool:
    numbers = as_numbers(values)
    return numbers is not None and (len(numbers) == 0 or not bool(np.isnan(numbers).all()))


def row_ids(columns: Columns, column: str | None, first_row: int = 0) -> tuple[str, ...]:
    """The ids of the rows: those in a column, or their numbers."""
    if column is None:
        count = len(next(iter(columns.values()), ()))
        return tuple(map(str, range(first_row, first_row + count)))
    ids = tuple(map(str, columns[column].tolist()))
    repeated = [one for one, count in Counter(ids).items() if count > 1]
    if repeated:
        raise ValueError(
            f"every row is one trajectory, but column {column!r} has {repeated[0]!r} more than once: keep "
            "states step by step in a .npz archive with states (trajectories, steps, numbers), or name the "
            "column of the ids with --ids"
        )
    return ids
