"""A table that is read some rows at a time, so that it may be larger than the memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefero._support.arrays import Indices
from prefero._support.optional import need
from prefero.datasets.formats.tables import TableDataset, TableOptions, damage_named, table_read

ROWS = 50_000  # rows that are read at a time
CSV_BYTES = 2**23  # of a CSV file, so many bytes


@dataclass(frozen=True)
class TableChunks:
    """The rows of a CSV or Parquet file, in chunks.

    path      of the file
    options   how its chunks are opened
    count     of its rows
    """

    path: Path
    options: TableOptions
    count: int

    @classmethod
    def of(cls, path: Path, options: TableOptions | None = None) -> "TableChunks":
        """The rows are counted, which for a CSV file means that it is read once."""
        opened = options or TableOptions()
        if path.suffix.lower() == ".csv":
            return cls(path, opened, sum(batch.num_rows for batch in _batches(path)))
        with damage_named(path):
            return cls(path, opened, need("pyarrow.parquet", extra="datasets").read_metadata(path).num_rows)

    @property
    def is_large(self) -> bool:
        """Whether the table has more rows than are read at a time."""
        return self.count > ROWS

    def __iter__(self) -> Iterator[TableDataset]:
        """The chunks, each as a dataset of its own that knows where in the file it begins."""
        arrow, first = need("pyarrow", extra="datasets"), 0
        for batch in _batches(self.path):
            read = table_read(arrow.Table.from_batches([batch]), self.path, first)
            yield TableDataset(self.path, self.options, read)
            first += batch.num_rows

    @property
    def types(self) -> dict[str, Any]:
        """Arrow's types of the columns; of a column of categories, that of its values."""
        schema = next(_batches(self.path)).schema
        return {field.name: getattr(field.type, "value_type", field.type) for field in schema}

    def take(self, rows: Indices) -> TableDataset:
        """Some rows of the table, by their sorted indices."""
        arrow, found, first = need("pyarrow", extra="datasets"), [], 0
        for batch in _batches(self.path):
            inside = rows[(rows >= first) & (rows < first + batch.num_rows)]
            found.append(arrow.Table.from_batches([batch]).take(inside - first))
            first += batch.num_rows
        return TableDataset(self.path, self.options, table_read(arrow.concat_tables(found), self.path))


def _batches(path: Path) -> Iterator[Any]:
    """Arrow's record batches of a file, each with some rows of it."""
    with damage_named(path):
        if path.suffix.lower() == ".csv":
            csv = need("pyarrow.csv", extra="datasets")
            with csv.open_csv(path, csv.ReadOptions(block_size=CSV_BYTES)) as reader:
                yield from (batch for batch in reader if batch.num_rows)
        else:
            with need("pyarrow.parquet", extra="datasets").ParquetFile(path) as file:
                yield from file.iter_batches(ROWS)
