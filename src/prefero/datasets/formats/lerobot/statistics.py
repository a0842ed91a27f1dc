"""The statistics of new columns, wherever a LeRobot dataset keeps those of the others.

meta/stats.json              {column: {what: numbers}} of all frames                        v2.0, v3.0
meta/episodes_stats.jsonl    {"episode_index": n, "stats": the same of its frames}          v2.1
meta/episodes/*/*.parquet    a row for each episode, with columns stats/COLUMN/WHAT         v3.0

what       min, max, mean, std, count, and quantiles such as q10: those that the other columns have
courses    {column: {episode: (T,)}}, what is written to the frames; episodes without a score have none
renamed    columns that have a new name in the copy, and take their statistics along
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

WHAT = re.compile(r"min|max|mean|std|count|q\d\d")
STATISTIC = re.compile("stats/[^/]+/[^/]+")  # as a column
USUAL = ("min", "max", "mean", "std", "count")
HUGGING_FACE = b"huggingface"

Statistics = dict[str, list[Any]]


def statistics_of(values: Array, what: Sequence[str]) -> Statistics:
    """Statistics of a column of single numbers, each as a list of one."""
    exact = np.asarray(values, dtype=float)
    quantiles = {w: np.quantile(exact, int(w[1:]) / 100) for w in what if w.startswith("q")}
    summaries = {w: getattr(np, w)(exact) for w in what if w in ("min", "max", "mean", "std")}
    found = {w: [float(value)] for w, value in (summaries | quantiles).items()}
    return {w: [len(exact)] if w == "count" else found[w] for w in what}


def what_is_kept(stats: Iterable[Mapping[str, Any]]) -> list[str]:
    """Which statistics the columns have; those that are usual where there are none."""
    kept = dict.fromkeys(w for column in stats for w in column if WHAT.fullmatch(w))
    return list(kept) or list(USUAL)


@dataclass(frozen=True, eq=False)
class Additions:
    """New columns, frame by frame, and columns that were renamed for them."""

    courses: dict[str, dict[int, Array]]
    renamed: dict[str, str]

    def write(self, source: Path, target: Path) -> None:
        """The statistics of the copy, in all the files in which the dataset keeps any."""
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
        kept = what_is_kept(stats.values())
        old = {self.renamed.get(key, key): value for key, value in stats.items()}
        return old | {key: statistics_of(_joined(course), kept) for key, course in self.courses.items()}

    def _lines(self, path: Path) -> Iterable[str]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                about = json.loads(line)
                stats = self.with_episode(about["stats"], int(about["episode_index"]))
                yield json.dumps(about | {"stats": stats}, ensure_ascii=False)

    def with_episode(self, stats: dict[str, Any], episode: int) -> dict[str, Any]:
        """One episode's statistics, with those of the new columns; LeRobot passes over what has none."""
        kept = what_is_kept(stats.values())
        old = {self.renamed.get(key, key): value for key, value in stats.items()}
        new = {key: course[episode] for key, course in self.courses.items() if episode in course}
        return old | {key: statistics_of(values, kept) for key, values in new.items()}

    def _episodes(self, path: Path, target: Path) -> None:
        """One file about episodes; without statistics there is nothing to add to it."""
        arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
        table = parquet.read_table(path)
        what = [name.split("/")[2] for name in table.column_names if STATISTIC.fullmatch(name)]
        if not what:
            return
        added = dict(self._columns(table["episode_index"].to_pylist(), what_is_kept([dict.fromkeys(what)])))
        table = renamed(table, self._place)
        for name, values in added.items():
            table = table.append_column(name, arrow.array(values, arrow.list_(_kind(arrow, name))))
        told = {name: _sequence(str(_kind(arrow, name))) for name in added}
        table = table.replace_schema_metadata(described(table.schema.metadata, self._place, told))
        target.parent.mkdir(parents=True, exist_ok=True)
        parquet.write_table(table, target, compression=compression_of(path))

    def _place(self, column: str) -> str:
        """What a column of statistics is called in the copy."""
        if not STATISTIC.fullmatch(column):
            return column
        _, key, what = column.split("/")
        return f"stats/{self.renamed.get(key, key)}/{what}"

    def _columns(self, episodes: Sequence[int], what: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
        """The new columns about these episodes.

        An episode without a score counts 0 frames: LeRobot, which weighs episodes by their frames when it
        makes their statistics into one, gives it no weight.
        """
        for key, course in self.courses.items():
            nothing = statistics_of(_joined(course), what) | {"count": [0]}
            rows = [statistics_of(course[e], what) if e in course else nothing for e in episodes]
            yield from ((f"stats/{key}/{w}", [row[w] for row in rows]) for w in what)


def _kind(arrow: Any, column: str) -> Any:
    return arrow.int64() if column.endswith("/count") else arrow.float64()


def _sequence(kind: str) -> dict[str, Any]:
    """Hugging Face's words for a list of numbers."""
    value = {"dtype": {"double": "float64"}.get(kind, kind), "_type": "Value"}
    return {"feature": value, "_type": "Sequence"}


def _joined(course: Mapping[int, Array]) -> Array:
    joined: Array = np.concatenate(list(course.values()))
    return joined


# --- files ------------------------------------------------------------------------------------------------


def renamed(table: Any, name: Callable[[str], str]) -> Any:
    """A table with other names for its columns, and all that its schema says beside."""
    schema = [field.with_name(name(field.name)) for field in table.schema]
    arrow = need("pyarrow", extra="datasets")
    return arrow.Table.from_arrays(table.columns, schema=arrow.schema(schema, table.schema.metadata))


def described(
    metadata: Mapping[bytes, bytes] | None, name: Callable[[str], str], added: dict[str, Any]
) -> Any:
    """A schema's metadata in which Hugging Face's own description has the columns that there are now."""
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
