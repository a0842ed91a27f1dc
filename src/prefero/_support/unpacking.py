"""A limit on what compressed files become: a few megabytes of somebody else's can be made of terabytes.

The sizes are those that a file states in its directory, before anything of it is unpacked.
"""

import os
import zipfile
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

VARIABLE = "PREFERO_MAX_UNPACKED"
LIMIT = 2**30  # bytes
RATIO = 20  # times its own size a file may become in any case: what was measured is seldom compressed so far
BYTES_PER_VALUE = 8  # of a table in memory, at least: few bytes of a Parquet file can say the same many times


class TooLargeError(ValueError):
    """A file would become larger than the limit."""


def check_unpacked(name: str, packed: int, unpacked: int) -> None:
    """`TooLargeError` if a file becomes larger than the limit, and much larger than it is."""
    limit = _limit()
    if unpacked > max(limit, RATIO * packed):
        raise TooLargeError(
            f"{name} has {packed / 1e6:,.1f} MB and would become {unpacked / 1e6:,.0f} MB, more than the "
            f"limit of {limit / 1e6:,.0f} MB: if you trust it, set {VARIABLE}={unpacked} (bytes)"
        )


def check_zip(file: Path | BinaryIO, name: str) -> None:
    """The same for a zip file, such as one of NumPy's."""
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
    packed = sum(member.compress_size for member in members)
    check_unpacked(name, packed, sum(member.file_size for member in members))
    if not isinstance(file, Path):
        file.seek(0)


def check_parquet(parquet: Any, path: Path, columns: Collection[str] | None = None) -> None:
    """The same for a Parquet file, of which only these columns are read; `parquet` is pyarrow's module."""
    about = parquet.read_metadata(path)
    row_groups = [about.row_group(number) for number in range(about.num_row_groups)]
    chunks = [rows.column(number) for rows in row_groups for number in range(rows.num_columns)]
    wanted = [one for one in chunks if columns is None or one.path_in_schema.partition(".")[0] in columns]
    unpacked = sum(max(one.total_uncompressed_size, BYTES_PER_VALUE * one.num_values) for one in wanted)
    check_unpacked(str(path), path.stat().st_size, unpacked)


def _limit() -> int:
    given = os.environ.get(VARIABLE, "")
    if given and not given.isdecimal():
        raise ValueError(f"{VARIABLE} is a number of bytes, but this is {given!r}")
    return int(given or LIMIT)
