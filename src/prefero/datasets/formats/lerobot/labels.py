"""Columns of a LeRobot dataset that say something of each episode, such as the policy that acted.

Version 3.0 has such columns in meta/episodes/*/*.parquet, version 2.x in meta/episodes.jsonl. In both a
column of the frames' tables may say it instead; then its value in the first frame of an episode counts.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from prefero._support.optional import need
from prefero._support.unpacking import check_parquet
from prefero.datasets.columns import as_label
from prefero.datasets.formats.lerobot.episode_index import EpisodeEntry


def read_labels(folder: Path, entries: Sequence[EpisodeEntry], column: str) -> tuple[str, ...] | None:
    """The label of each episode; None if there is no such column."""
    sources = (_jsonl_values(folder, column), _episode_values(folder, column), _frame_values(entries, column))
    found = next((values for values in map(dict, sources) if values), None)
    return None if found is None else tuple(as_label(found.get(entry.episode)) for entry in entries)


def _jsonl_values(folder: Path, column: str) -> Iterator[tuple[int, Any]]:
    path = folder / "meta" / "episodes.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        row = json.loads(line) if line.strip() else {}
        if column in row:
            yield int(row["episode_index"]), row[column]


def _episode_values(folder: Path, column: str) -> Iterator[tuple[int, Any]]:
    for path in sorted((folder / "meta" / "episodes").glob("*/*.parquet")):
        yield from _rows(path, column)


def _frame_values(entries: Sequence[EpisodeEntry], column: str) -> Iterator[tuple[int, Any]]:
    """The last frame comes first, so that the value of the first frame is kept."""
    for path in dict.fromkeys(entry.path for entry in entries if entry.path.is_file()):
        yield from reversed(list(_rows(path, column)))


def _rows(path: Path, column: str) -> Iterator[tuple[int, Any]]:
    """Episode and value of each row, if the file has the column."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    try:
        if column in parquet.read_schema(path).names:
            check_parquet(parquet, path, ("episode_index", column))
            table = parquet.read_table(path, columns=["episode_index", column])
            yield from zip(table["episode_index"].to_pylist(), table[column].to_pylist(), strict=True)
    except (arrow.ArrowException, OSError):
        return  # a damaged file is reported where its episodes are read
