"""Statistics of new columns, in every file in which a LeRobot dataset has those of its other columns.

meta/stats.json              {column: {statistic: numbers}} of all frames                   v2.0, v3.0
meta/episodes_stats.jsonl    {"episode_index": n, "stats": the same of its frames}          v2.1
meta/episodes/*/*.parquet    a row for each episode, with columns stats/COLUMN/STATISTIC    v3.0

statistics   min, max, mean, std, count, and quantiles such as q10: those that the other columns have
values       {column: {episode: (T,)}}, the new columns of the frames; episodes without a score have none
renamed      columns that have a new name in the copy, and keep their statistics
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.datasets.formats.lerobot.parquet import read_columns, readable

STATISTIC_NAME = re.compile(r"min|max|mean|std|count|q\d\d")
STATISTIC_COLUMN = re.compile("stats/[^/]+/[^/]+")  # as a column
USUAL_STATISTICS = ("min", "max", "mean", "std", "count")
HUGGING_FACE = b"huggingface"

Statistics = dict[str, list[Any]]


def statistics_of(values: Array, names: Sequence[str]) -> Statistics:
    """Statistics of a column of single numbers, each as a list with one number."""
    exact = np.asarray(values, dtype=float)
    quantiles = {n: np.quantile(exact, int(n[1:]) / 100) for n in names if n.startswith("q")}
    moments = {n: getattr(np, n)(exact) for n in names if n in ("min", "max", "mean", "std")}
    found = {n: [float(value)] for n, value in (moments | quantiles).items()}
    return {n: [len(exact)] if n == "count" else found[n] for n in names}


def statistic_names(stats: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the statistics that columns have; the usual ones where there are none."""
    kept = dict.fromkeys(n for column in stats for n in column if STATISTIC_NAME.fullmatch(n))
    return list(kept) or list(USUAL_STATISTICS)


@dataclass(frozen=True, eq=False)
class Additions:
    """New columns, frame by frame, and columns that are renamed for them."""

    values: dict[str, dict[int, Array]]
    renamed: dict[str, str]

    def write(self, source: Path, target: Path) -> None:
        """Write the statistics of the copy into all files in which the dataset has any."""
        whole, lines = Path("meta/stats.json"), Path("meta/episodes_stats.jsonl")
        if (source / whole).is_file():
            stats = self.with_all(read_json(source / whole))
            write_text(target / whole, json.dumps(stats, indent=4, ensure_ascii=False))
        if (source / lines).is_file():
            write_text(target / lines, "".join(f"{line}\n" for line in self._lines(source / lines)))
        for path in sorted((source / "meta" / "episodes").glob("*/*.parquet")):
            self._episodes(path, target / path.relative_to(source))

    def with_all(self, stats: dict[str, Any]) -> dict[str, Any]:
        """The statistics of all frames, with those of the new columns."""
        return self._with(stats, {key: _joined(values) for key, values in self.values.items()})

    def _lines(self, path: Path) -> Iterable[str]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                about = json.loads(line)
                stats = self.with_episode(about["stats"], int(about["episode_index"]))
                yield json.dumps(about | {"stats": stats}, ensure_ascii=False)

    def with_episode(self, stats: dict[str, Any], episode: int) -> dict[str, Any]:
        """One episode's statistics, with those of the new columns; LeRobot ignores columns that have none."""
        new = {key: by_episode[episode] for key, by_episode in self.values.items() if episode in by_episode}
        return self._with(stats, new)

    def _with(self, stats: dict[str, Any], new: dict[str, Array]) -> dict[str, Any]:
        names = statistic_names(stats.values())
        old = {self.renamed.get(key, key): value for key, value in stats.items()}
        return old | {key: statistics_of(values, names) for key, values in new.items()}

    def _episodes(self, path: Path, target: Path) -> None:
        """One file of the episode index; without statistics there is nothing to add to it."""
        arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
        with readable(path, ["episode_index"]) as columns:
            table = read_columns(path, columns)
        known = [name.split("/")[2] for name in table.column_names if STATISTIC_COLUMN.fullmatch(name)]
        if not known:
            return
        names = statistic_names([dict.fromkeys(known)])
        added = dict(self._columns(table["episode_index"].to_pylist(), names))
        table = renamed(table, self._renamed_statistic)
        for name, values in added.items():
            table = table.append_column(name, arrow.array(values, arrow.list_(_kind(arrow, name))))
        descriptions = {name: _sequence(str(_kind(arrow, name))) for name in added}
        metadata = described(table.schema.metadata, self._renamed_statistic, descriptions)
        table = table.replace_schema_metadata(metadata)
        target.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, target, compression=compression_of(path))

    def _renamed_statistic(self, column: str) -> str:
        """The name of a column of statistics in the copy."""
        if not STATISTIC_COLUMN.fullmatch(column):
            return column
        _, key, statistic = column.split("/")
        return f"stats/{self.renamed.get(key, key)}/{statistic}"

    def _columns(self, episodes: Sequence[int], names: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
        """The columns of statistics of these episodes.

        An episode without a score counts 0 frames: LeRobot, which weighs episodes by their frames when it
        aggregates their statistics, gives it no weight.
        """
        for key, by_episode in self.values.items():
            nothing = statistics_of(_joined(by_episode), names) | {"count": [0]}
            rows = [statistics_of(by_episode[e], names) if e in by_episode else nothing for e in episodes]
            yield from ((f"stats/{key}/{name}", [row[name] for row in rows]) for name in names)


def _kind(arrow: Any, column: str) -> Any:
    return arrow.int64() if column.endswith("/count") else arrow.float64()


def _sequence(kind: str) -> dict[str, Any]:
    """Hugging Face's description of a list of numbers."""
    value = {"dtype": {"double": "float64"}.get(kind, kind), "_type": "Value"}
    return {"feature": value, "_type": "Sequence"}


def _joined(by_episode: Mapping[int, Array]) -> Array:
    joined: Array = np.concatenate(list(by_episode.values()))
    return joined


# --- files ------------------------------------------------------------------------------------------------


def renamed(table: Any, name: Callable[[str], str]) -> Any:
    """A table with other names for its columns; its schema stays the same otherwise."""
    schema = [field.with_name(name(field.name)) for field in table.schema]
    arrow = need("pyarrow", extra="datasets")
    return arrow.Table.from_arrays(table.columns, schema=arrow.schema(schema, table.schema.metadata))


def described(
    metadata: Mapping[bytes, bytes] | None, name: Callable[[str], str], added: dict[str, Any]
) -> Any:
    """The metadata of a schema, in which Hugging Face's description has the columns that there are now."""
    about = json.loads((metadata or {}).get(HUGGING_FACE, b"{}"))
    features = (about.get("info") or {}).get("features")
    if not features:
        return metadata
    about["info"]["features"] = {name(key): value for key, value in features.items()} | added
    return {**(metadata or {}), HUGGING_FACE: json.dumps(about).encode()}


def compression_of(path: Path) -> str:
    """How a Parquet file is compressed."""
    about = need("pyarrow.parquet", extra="datasets").read_metadata(path)
    known = about.num_row_groups and about.num_columns
    name = about.row_group(0).column(0).compression if known else "SNAPPY"
    return "none" if name == "UNCOMPRESSED" else str(name).lower()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object."""
    return dict(json.loads(path.read_text(encoding="utf-8")))


def write_text(path: Path, text: str) -> None:
    """A text file, in a folder that is made for it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
