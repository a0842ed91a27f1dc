"""The feature cache: features in Parquet files, and batches of an unfinished extraction to resume from.

    episode, number    which episode a row is of: its id, and its number in the dataset
    first, last        which of its steps, if it is a segment: the first, and the one after the last
    steps              how many steps that is
    ...                a column for each feature

The file's metadata say which columns were extracted, which of them are features to be used, which episodes
have no row and why, and a key: a digest of all that determines the features. Batches are kept beside the file
until it is finished, and are used again only under the same key.
"""

import io
import json
import shutil
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import cache_folder, write_atomically
from prefero._support.optional import need
from prefero.datasets.base import Dataset
from prefero.datasets.episode import BadEpisode, StepRange, segment_id
from prefero.datasets.format_options import DatasetSpec
from prefero.datasets.formats.tables import METADATA
from prefero.trajectories.categories import Categories
from prefero.trajectories.feature_spec import FeatureSpec, of_both, spec_from_json, spec_to_json

ROW_COLUMNS = ("episode", "number", "first", "last", "steps")


@dataclass
class FeatureRows:
    """Features of some episodes, row by row, and the episodes that have no row."""

    names: tuple[str, ...] = ()
    ids: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    segments: list[StepRange | None] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)  # None where that is not known
    values: list[list[float]] = field(default_factory=list)
    bad: dict[str, str] = field(default_factory=dict)  # episodes that cannot be used, with the reason
    short: dict[str, str] = field(default_factory=dict)  # episodes that are too short for a window
    spec: FeatureSpec | None = None  # how they were computed, where that is known

    @property
    def skipped(self) -> dict[str, str]:
        """Every episode that has no row, with the reason."""
        return self.bad | self.short

    def stop_at_bad(self, skip_bad: bool) -> None:
        """An error at the first bad episode, unless bad ones are skipped."""
        if self.bad and not skip_bad:
            episode, reason = next(iter(self.bad.items()))
            raise BadEpisode(episode, reason).with_skip_hint()

    def add(
        self, episode: str, number: int, segment: StepRange | None, steps: int, features: dict[str, float]
    ) -> None:
        """One row more; all rows have the same features."""
        reserved = [name for name in features if name in ROW_COLUMNS]
        if reserved:
            raise ValueError(f"a feature cannot be called {reserved[0]!r}: rename it")
        self.check_names(tuple(features), segment_id(episode, segment))
        self.ids.append(episode)
        self.numbers.append(number)
        self.segments.append(segment)
        self.steps.append(steps)
        self.values.append(list(features.values()))

    def check_names(self, names: tuple[str, ...], row: str) -> None:
        """An error unless these are the names of the features so far."""
        if self.names and names != self.names:
            raise ValueError(
                f"all episodes must have the same features, but those of {row} are {', '.join(names)}, and "
                f"before it there were {', '.join(self.names)}"
            )
        self.names = names

    @classmethod
    def join(cls, batches: Iterable["FeatureRows"]) -> Self:
        """Several batches as one."""
        joined = cls()
        for batch in batches:
            if batch.values:
                joined.check_names(batch.names, segment_id(batch.ids[0], batch.segments[0]))
            for name in ("ids", "numbers", "segments", "steps", "values"):
                getattr(joined, name).extend(getattr(batch, name))
            joined.bad |= batch.bad
            joined.short |= batch.short
            joined.spec = of_both(joined.spec, batch.spec)
        return joined


# --- files ------------------------------------------------------------------------------------------------


def cache_path(dataset: Dataset) -> Path:
    """The file in Prefero's cache for the features of a dataset."""
    return cache_folder() / "features" / f"{dataset.cache_name}.parquet"


def write_rows(
    path: Path,
    rows: FeatureRows,
    key: str,
    spec: DatasetSpec | None = None,
    categories: Sequence[Categories] = (),
) -> None:
    """Write rows to a Parquet file, whole or not at all; the spec opens the dataset that they are of."""
    arrow = need("pyarrow", extra="datasets")
    values = np.array(rows.values, dtype=float).reshape(len(rows.ids), len(rows.names))
    columns: dict[str, Any] = {
        "episode": arrow.array(rows.ids, arrow.string()),
        "number": arrow.array(rows.numbers, arrow.int64()),
        "first": arrow.array([segment and segment[0] for segment in rows.segments], arrow.int64()),
        "last": arrow.array([segment and segment[1] for segment in rows.segments], arrow.int64()),
        "steps": arrow.array(rows.steps, arrow.int64()),
    }
    columns |= {name: values[:, i] for i, name in enumerate(rows.names)}
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {
        "key": key,
        "dataset": spec and spec.to_json(),
        "extracted": rows.names,
        "features": rows.names,
        "categories": [one.to_json() for one in categories],
        "bad": rows.bad,
        "short": rows.short,
        "feature_spec": spec_to_json(rows.spec),
    }
    _write(path, arrow.table(columns), about)


def _write(path: Path, table: Any, about: dict[str, Any]) -> None:
    memory = io.BytesIO()
    described = table.replace_schema_metadata({METADATA: json.dumps(about).encode()})
    need("pyarrow.parquet", extra="datasets").write_table(described, memory, compression="zstd")
    write_atomically(path, memory.getvalue())


def choose_features(
    path: Path,
    features: Array,
    names: Sequence[str],
    spec: FeatureSpec | None = None,
    categories: Sequence[Categories] = (),
) -> None:
    """Say in a finished file which features are to be used, and add those that are not in it yet."""
    table = need("pyarrow.parquet", extra="datasets").read_table(path)
    about = json.loads(table.schema.metadata[METADATA])
    for name, values in zip(names, features.T, strict=True):
        if name not in table.column_names:
            table = table.append_column(name, need("pyarrow", extra="datasets").array(values))
    chosen = {
        "features": list(names),
        "feature_spec": spec_to_json(spec),
        "categories": [one.to_json() for one in categories],
    }
    _write(path, table, about | chosen)


def read_rows(path: Path, key: str) -> FeatureRows | None:
    """What `write_rows` wrote under this key; None if the file is missing, damaged, or of another key."""
    if not path.is_file():
        return None
    parquet = need("pyarrow.parquet", extra="datasets")
    try:
        with parquet.ParquetFile(
            path
        ) as file:  # read_table would import much more, pandas too if it is there
            table = file.read()
        about = json.loads((table.schema.metadata or {})[METADATA])
        if about["key"] != key:
            return None
        names: Sequence[str] = about["extracted"]
        values = np.column_stack([table[name].to_numpy() for name in names]) if names else np.empty((0, 0))
        firsts, lasts = table["first"].to_pylist(), table["last"].to_pylist()
        return FeatureRows(
            tuple(names),
            table["episode"].to_pylist(),
            table["number"].to_pylist(),
            [None if first is None else (first, last) for first, last in zip(firsts, lasts, strict=True)],
            table["steps"].to_pylist(),
            values.tolist(),
            dict(about["bad"]),
            dict(about["short"]),
            spec_from_json(about["feature_spec"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class FeatureCache:
    """The file that features are kept in, and the batches that are finished; without a path none are kept."""

    path: Path | None
    key: str
    spec: DatasetSpec | None = None

    @property
    def _folder(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f".{self.path.name}.batches")

    def finished(self) -> FeatureRows | None:
        """All rows, if they were extracted before."""
        return None if self.path is None else read_rows(self.path, self.key)

    def batch(self, start: int) -> FeatureRows | None:
        """The batch that begins with this episode, if it was extracted before."""
        return None if self.path is None else read_rows(self._folder / f"{start:09d}.parquet", self.key)

    def keep_batch(self, start: int, rows: FeatureRows) -> None:
        """Keep a batch."""
        if self.path is not None:
            write_rows(self._folder / f"{start:09d}.parquet", rows, self.key)

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Tell a user who stops the extraction that it can be resumed."""
        try:
            yield
        except KeyboardInterrupt:
            if self.path is not None and self._folder.is_dir():
                warnings.warn(
                    f"the finished batches of {self.path} are kept: the same call resumes there", stacklevel=2
                )
            raise

    def finish(self, rows: FeatureRows) -> None:
        """Keep all rows; the batches are not needed any more."""
        if self.path is not None:
            write_rows(self.path, rows, self.key, self.spec)
            shutil.rmtree(self._folder, ignore_errors=True)
