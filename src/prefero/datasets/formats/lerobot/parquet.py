"""Parquet files of a LeRobot dataset."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefero._support.optional import need
from prefero._support.unpacking import check_parquet
from prefero.datasets.media.video_files import damage_message


class Unreadable(ValueError):
    """A file is missing or damaged, or lacks a column."""


@contextmanager
def readable(path: Path, needed: Sequence[str]) -> Iterator[list[str]]:
    """The columns of a file, with those that are needed; what goes wrong while reading is `Unreadable`."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    if not path.is_file():
        raise Unreadable(f"{path} is missing")
    try:
        there = parquet.read_schema(path).names
        missing = [column for column in needed if column not in there]
        if missing:
            raise Unreadable(f"{path} has no column {missing[0]!r}")
        yield there
    except (arrow.ArrowException, OSError) as error:
        raise Unreadable(damage_message(path, error)) from error


def read_columns(path: Path, needed: Sequence[str], others: Sequence[str] = (), filters: Any = None) -> Any:
    """Arrow's table of these columns, and of the others as far as there are any; `filters` are pyarrow's."""
    parquet = need("pyarrow.parquet", extra="datasets")
    with readable(path, needed) as there:
        columns = [*needed, *(column for column in others if column in there)]
        check_parquet(parquet, path, columns)
        return parquet.read_table(path, columns=columns, filters=filters)
