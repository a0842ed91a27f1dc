"""Features in Parquet files: whole ones for people, and parts of unfinished work to go on from.

    episode, number    which episode a row is of: its id, and its place in the dataset
    first, last        which of its steps, if it is a part
    steps              how many steps that is
    ...                a column for each feature

The file says in its metadata which columns are noted, which of them are to be used, what was left out and
why, and from what it was made: a key. Parts are kept beside the file until it is whole, and are used again
only under the same key.
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
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.datasets.base import StepRange, segment_id
from prefero.datasets.formats.tables import METADATA

ABOUT = ("episode", "number", "first", "last", "steps")


@dataclass
class FeatureRows:
    """Features of some episodes, row by row, and what was left out of them."""

    names: tuple[str, ...] = ()
    ids: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    parts: list[StepRange | None] = field(default_factory=list)
    steps: list[int | None] = field(default_factory=list)  # None where nobody knows
    values: list[list[float]] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # since they are damaged
    short: dict[str, str] = field(default_factory=dict)  # for a window

    @property
    def missing(self) -> dict[str, str]:
        """Every episode of which there is no row, with the reason."""
        return self.left_out | self.short

    def add(
        self, episode: str, number: int, part: StepRange | None, steps: int, noted: dict[str, float]
    ) -> None:
        """One row more; all have the same features."""
        reserved = [name for name in noted if name in ABOUT]
        if reserved:
            raise ValueError(f"a feature cannot be called {reserved[0]!r}: rename it")
        self.agree(tuple(noted), segment_id(episode, part))
        self.ids.append(episode)
        self.numbers.append(number)
        self.parts.append(part)
        self.steps.append(steps)
        self.values.append(list(noted.values()))

    def agree(self, names: tuple[str, ...], where: str) -> None:
        """An error unless these are the features that there are so far."""
        if self.names and names != self.names:
            raise ValueError(
                f"all episodes must have the same features, but those of {where} are {', '.join(names)}, and "
                f"before it there were {', '.join(self.names)}"
            )
        self.names = names

    @classmethod
    def join(cls, parts: Iterable["FeatureRows"]) -> Self:
        """Several as one."""
        whole = cls()
        for part in parts:
            if part.values:
                whole.agree(part.names, segment_id(part.ids[0], part.parts[0]))
            for name in ("ids", "numbers", "parts", "steps", "values"):
                getattr(whole, name).extend(getattr(part, name))
            whole.left_out |= part.left_out
            whole.short |= part.short
        return whole


def write_rows(path: Path, rows: FeatureRows, key: str, recipe: dict[str, Any] | None = None) -> None:
    """Into a Parquet file, whole or not at all; the recipe opens the dataset again that the rows are of."""
    arrow = need("pyarrow", extra="datasets")
    values = np.array(rows.values, dtype=float).reshape(len(rows.ids), len(rows.names))
    columns: dict[str, Any] = {
        "episode": arrow.array(rows.ids, arrow.string()),
        "number": arrow.array(rows.numbers, arrow.int64()),
        "first": arrow.array([part and part[0] for part in rows.parts], arrow.int64()),
        "last": arrow.array([part and part[1] for part in rows.parts], arrow.int64()),
        "steps": arrow.array(rows.steps, arrow.int64()),
    }
    columns |= {name: values[:, i] for i, name in enumerate(rows.names)}
    missing = {"left_out": rows.left_out, "short": rows.short}
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"key": key, "recipe": recipe, "noted": rows.names, "names": rows.names, **missing}
    _write(path, arrow.table(columns), about)


def _write(path: Path, table: Any, about: dict[str, Any]) -> None:
    memory = io.BytesIO()
    described = table.replace_schema_metadata({METADATA: json.dumps(about).encode()})
    need("pyarrow.parquet", extra="datasets").write_table(described, memory, compression="zstd")
    write_atomically(path, memory.getvalue())


def publish(path: Path, features: Array, names: Sequence[str]) -> None:
    """Say in a finished file which features are to be used, and add those that were made of others."""
    table = need("pyarrow.parquet", extra="datasets").read_table(path)
    about = json.loads(table.schema.metadata[METADATA])
    for name, values in zip(names, features.T, strict=True):
        if name not in table.column_names:
            table = table.append_column(name, need("pyarrow", extra="datasets").array(values))
    _write(path, table, about | {"names": list(names)})


def read_rows(path: Path, key: str) -> FeatureRows | None:
    """What `write_rows` wrote under this key; what is damaged, or of another key, is as good as none."""
    parquet = need("pyarrow.parquet", extra="datasets")
    try:
        table = parquet.read_table(path)
        about = json.loads((table.schema.metadata or {})[METADATA])
        if about["key"] != key:
            return None
        names: Sequence[str] = about["noted"]
        values = np.column_stack([table[name].to_numpy() for name in names]) if names else np.empty((0, 0))
        firsts, lasts = table["first"].to_pylist(), table["last"].to_pylist()
        return FeatureRows(
            tuple(names),
            table["episode"].to_pylist(),
            table["number"].to_pylist(),
            [None if first is None else (first, last) for first, last in zip(firsts, lasts, strict=True)],
            table["steps"].to_pylist(),
            values.tolist(),
            dict(about["left_out"]),
            dict(about["short"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


@dataclass(frozen=True)
class FeatureCache:
    """A file to be, and the parts of it that are done; without a path nothing is kept."""

    path: Path | None
    key: str
    recipe: dict[str, Any] | None = None

    @property
    def _folder(self) -> Path:
        assert self.path is not None
        return self.path.with_name(f".{self.path.name}.parts")

    def whole(self) -> FeatureRows | None:
        """The finished work, if it was done before."""
        return None if self.path is None else read_rows(self.path, self.key)

    def part(self, start: int) -> FeatureRows | None:
        """The part that begins with this episode, if it was done before."""
        return None if self.path is None else read_rows(self._folder / f"{start:09d}.parquet", self.key)

    def keep(self, start: int, rows: FeatureRows) -> None:
        """A part that is done."""
        if self.path is not None:
            write_rows(self._folder / f"{start:09d}.parquet", rows, self.key)

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """Whoever stops the work meanwhile is told that it is not lost."""
        try:
            yield
        except KeyboardInterrupt:
            if self.path is not None and self._folder.is_dir():
                warnings.warn(
                    f"what is done of {self.path} is kept: the same call goes on there", stacklevel=2
                )
            raise

    def finish(self, rows: FeatureRows) -> None:
        """All of it is done; the parts are not needed any more."""
        if self.path is not None:
            write_rows(self.path, rows, self.key, self.recipe)
            shutil.rmtree(self._folder, ignore_errors=True)
