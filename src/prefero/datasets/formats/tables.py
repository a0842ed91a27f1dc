"""Tables and NumPy archives: features that are noted already, or the states themselves.

A table has one row for each trajectory and one column for each feature. It is a pandas frame, a mapping of
columns, or a CSV or Parquet file. A column called id, episode, trajectory or name says which is which.

An archive (.npz, or a mapping of arrays) holds one of two things:

    features (M, d), and if you like names (d,) and ids (M,)
    states (M, T, s), and if you like actions (M, T, a), rewards (M, T), lengths (M,) of unequal episodes,
        seconds of a step, state_names (s,), action_names (a,) and ids (M,)
"""

import json
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.files import HEADER, UNREADABLE
from prefero._support.optional import need
from prefero.datasets.base import (
    BadEpisode,
    Dataset,
    Episode,
    EpisodeDataset,
    FeatureDataset,
    StepRange,
    fingerprint,
    segment_id,
)

IDS = ("id", "episode", "trajectory", "name")
TABLES = (".csv", ".parquet")
METADATA = b"prefero features"  # a table that `prefero features` wrote says here which columns are features

Columns = dict[str, npt.NDArray[Any]]


# --- tables -----------------------------------------------------------------------------------------------


def read_table(path: Path) -> tuple[Columns, dict[str, Any] | None]:
    """The columns of a CSV or Parquet file, and what it says about itself if `prefero features` wrote it."""
    if path.suffix.lower() not in TABLES:
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


def parts_in(columns: Columns) -> list[StepRange | None]:
    """Which steps each row of a table of ours is about; None for all of them."""
    pairs = zip(columns["first"].tolist(), columns["last"].tolist(), strict=True)
    return [None if first != first or first is None else (int(first), int(last)) for first, last in pairs]


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


def table_dataset(
    table: Any, features: Sequence[str] | None = None, *, ids: str | None = None, name: str = "table"
) -> FeatureDataset:
    """Features from a table: all columns of numbers but that of the ids, or those that are named."""
    recipe, about = None, None
    if isinstance(table, str | Path):
        path = Path(table)
        columns, about = read_table(path)
        name, recipe = path.stem, {"kind": "table", "path": str(path.resolve()), "features": features}
    else:
        columns = columns_of(table)
    if about is not None:
        rows = zip(columns["episode"].tolist(), parts_in(columns), strict=True)
        columns["episode"] = np.array([segment_id(episode, part) for episode, part in rows])
    column = id_column(columns, ids)
    labels = _labels(columns, column)
    noted = about["names"] if about is not None else [c for c in columns if c != column]
    chosen = list(features or noted)
    return FeatureDataset(name, numbers_in(columns, chosen), tuple(chosen), labels, recipe=recipe)


def id_column(columns: Columns, wanted: str | None, known: Sequence[str] = IDS) -> str | None:
    """The column that says which trajectory a row is of."""
    if wanted is not None and wanted not in columns:
        raise ValueError(f"there is no column {wanted!r}: the columns are {', '.join(columns)}")
    return wanted or next((c for c in columns if c.lower() in known), None)


def _labels(columns: Columns, column: str | None) -> tuple[str, ...]:
    rows = len(next(iter(columns.values()), ()))
    if column is None:
        return tuple(map(str, range(rows)))
    labels = tuple(map(str, columns[column].tolist()))
    if len(set(labels)) != len(labels):
        raise ValueError(
            f"every row is one trajectory, but column {column!r} has some {_repeated(labels)!r} more than "
            "once: keep states step by step in a .npz archive with states (trajectories, steps, numbers)"
        )
    return labels


def _repeated(labels: Sequence[str]) -> str:
    seen = set[str]()
    return next(label for label in labels if label in seen or seen.add(label))  # type: ignore[func-returns-value]


def numbers_in(columns: Columns, chosen: Sequence[str]) -> Array:
    """The chosen columns as (M, d) numbers; what is missing is not a number."""
    unknown = [name for name in chosen if name not in columns]
    if unknown or not chosen:
        what = f"there is no column {unknown[0]!r}" if unknown else "there are no columns of features"
        raise ValueError(f"{what}: the columns are {', '.join(columns)}")
    return np.column_stack([_numbers(name, columns[name]) for name in chosen])


def _numbers(name: str, values: npt.NDArray[Any]) -> Array:
    try:
        return np.asarray([np.nan if value is None else value for value in values.tolist()], dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {name!r} does not hold numbers: name the columns that are features, without it"
        ) from error


# --- archives ---------------------------------------------------------------------------------------------


def read_npz(path: Path) -> Columns:
    """The arrays of a NumPy archive; it may hold no pickles."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return dict(archive.items())
    except FileNotFoundError:
        raise
    except (*UNREADABLE, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or is no NumPy archive: {error}") from error


def holds_pool(path: Path) -> bool:
    """Is a .npz file a pool of Prefero's own? A damaged one may be."""
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{HEADER}.npy" in archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return True


def in_memory(table: Any, ids: str | None = None) -> Dataset:
    """A pandas frame or a mapping of columns, or a mapping of arrays as an archive holds them."""
    archive = isinstance(table, Mapping) and ("states" in table or np.ndim(table.get("features", 0)) == 2)
    return archive_dataset(table) if archive else table_dataset(table, ids=ids)


def archive_dataset(archive: Any, features: Sequence[str] | None = None, *, name: str = "archive") -> Dataset:
    """Features or states from a NumPy archive, or from a mapping of arrays like it."""
    recipe = None
    if isinstance(archive, str | Path):
        path = Path(archive)
        arrays = read_npz(path)
        name, recipe = path.stem, {"kind": "archive", "path": str(path.resolve()), "features": features}
        if HEADER in arrays:
            raise ValueError(f"{path} is a pool of Prefero's own: Pool.load reads it, and prefero teach does")
    else:
        arrays = columns_of(archive)
    if "states" in arrays:
        if features:
            recipe = None
        return Arrays(name, arrays, recipe)
    if "features" not in arrays:
        raise ValueError(f"an archive holds features or states, but this one holds {', '.join(arrays)}")
    return _noted(name, arrays, features, recipe)


def _noted(
    name: str, arrays: Columns, chosen: Sequence[str] | None, recipe: dict[str, Any] | None
) -> FeatureDataset:
    matrix = np.asarray(arrays["features"], dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"features have shape (trajectories, features), but these have {matrix.shape}")
    names = _words(arrays, "names") or tuple(f"feature {i + 1}" for i in range(matrix.shape[1]))
    ids = _words(arrays, "ids") or tuple(map(str, range(len(matrix))))
    if len(names) != matrix.shape[1] or len(ids) != len(matrix):
        raise ValueError(f"features of shape {matrix.shape} have {len(names)} names and {len(ids)} ids")
    if chosen:
        matrix, names = numbers_in(dict(zip(names, matrix.T, strict=True)), chosen), tuple(chosen)
    return FeatureDataset(name, matrix, names, ids, recipe=recipe)


def _words(arrays: Columns, key: str) -> tuple[str, ...]:
    return tuple(map(str, np.atleast_1d(arrays[key]).tolist())) if key in arrays else ()


class Arrays(EpisodeDataset):
    """States and actions in arrays, one row for each episode."""

    def __init__(self, name: str, arrays: Columns, recipe: dict[str, Any] | None = None) -> None:
        self.name, self.recipe = name, recipe
        self.files = (Path(recipe["path"]),) if recipe else ()
        self.states = _cube("states", arrays["states"])
        count, steps, _ = self.states.shape
        self.actions = _cube("actions", arrays.get("actions", np.zeros((count, steps, 0))))
        self.rewards = arrays.get("rewards")
        self.lengths = np.asarray(arrays.get("lengths", np.full(count, self.actions.shape[1])), dtype=int)
        self.seconds = float(np.ravel(arrays.get("seconds", 1.0))[0])
        self.state_names, self.action_names = _words(arrays, "state_names"), _words(arrays, "action_names")
        self.ids = _words(arrays, "ids") or tuple(map(str, range(count)))
        for key in ("actions", "rewards", "lengths", "ids"):
            if key in arrays and len(arrays[key]) != count:
                raise ValueError(f"there are states of {count} episodes, but {key} of {len(arrays[key])}")
        if not 0 < self.seconds < np.inf:
            raise ValueError(f"a step lasts a positive time, but {name} says {self.seconds} s")

    def contents(self) -> list[Any]:
        """The numbers themselves, unless words say where they are."""
        if self.recipe:
            return []
        numbers = self.states, self.actions, self.lengths, () if self.rewards is None else self.rewards
        return [*map(fingerprint, numbers), self.seconds, self.state_names, self.action_names, self.ids]

    def episode(self, number: int) -> Episode:
        """One row."""
        self.check_number(number)
        last, more = int(self.lengths[number]), self.states.shape[1] - self.actions.shape[1]
        if not 0 <= last <= self.actions.shape[1]:
            raise BadEpisode(
                self.ids[number], f"its length is {last}, but the arrays have {self.actions.shape[1]} steps"
            )
        return Episode(
            self.ids[number],
            self.states[number, : last + more],
            self.actions[number, :last],
            None if self.rewards is None else self.rewards[number, :last],
            self.seconds,
            self.state_names,
            self.action_names,
        )


def _cube(what: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 3 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{what} are numbers of shape (episodes, steps, {what}), but these have shape {array.shape}"
        )
    return array
