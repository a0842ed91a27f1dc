"""NumPy archives (.npz files, or mappings of arrays) of features, or of states.

features (M, d), and optionally names (d,) and ids (M,)
states (M, T, s), and optionally actions (M, T, a), rewards (M, T), lengths (M,) of unequal episodes,
    step_seconds, state_names (s,), action_names (a,) and ids (M,)

Both may have labels of the trajectories, (M,) each: policy, task, start, seed or success.
"""

import warnings
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.commands import prefero_command
from prefero._support.files import HEADER, UNREADABLE, missing_file
from prefero._support.names import did_you_mean, listed, nearest
from prefero._support.unpacking import TooLargeError, check_zip
from prefero.datasets.base import Dataset, DatasetFormat, EpisodeDataset, array_digest
from prefero.datasets.columns import Columns, as_label, matrix_columns
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.format_options import DatasetSpec, FormatOptions
from prefero.datasets.formats.tables import columns_of, table_in_memory
from prefero.datasets.outcomes import Reduction

FEATURE_KEYS = ("features", "names", "ids")
STATE_KEYS = ("states", "actions", "rewards", "lengths", "step_seconds", "state_names", "action_names", "ids")
LABEL_KEYS = ("policy", "task", "start", "seed", "success")


class ArchiveDataset(EpisodeDataset, DatasetFormat):
    """States and actions in arrays, one row for each episode. `open` also reads archives of features."""

    format_name = "archive"
    description = "a NumPy archive (.npz)"

    def __init__(self, name: str, arrays: Columns) -> None:
        self.name = name
        self.states = _array_3d("states", arrays["states"])
        count, steps, _ = self.states.shape
        self.actions = _array_3d("actions", arrays.get("actions", np.zeros((count, steps, 0))))
        self.rewards = arrays.get("rewards")
        self.lengths = np.asarray(arrays.get("lengths", np.full(count, self.actions.shape[1])), dtype=int)
        self.step_seconds = float(np.ravel(arrays.get("step_seconds", 1.0))[0])
        self.state_names, self.action_names = _texts(arrays, "state_names"), _texts(arrays, "action_names")
        self.ids = _texts(arrays, "ids") or tuple(map(str, range(count)))
        self.labels = _labels(arrays, count)
        steps = (count, self.actions.shape[1])
        self.by_step = {key: values for key, values in arrays.items() if np.shape(values) == steps}
        for key in ("actions", "rewards", "lengths", "ids"):
            if key in arrays and len(arrays[key]) != count:
                raise ValueError(f"there are states of {count} episodes, but {key} of {len(arrays[key])}")
        if not 0 < self.step_seconds < np.inf:
            raise ValueError(f"a step must last a positive time, but in {name} it is {self.step_seconds} s")

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A file with the suffix of a NumPy archive."""
        return Path(path).suffix == ".npz" and Path(path).is_file()

    @classmethod
    def open(cls, path: str, options: FormatOptions) -> Dataset:
        """Read the archive: a dataset of episodes if it has states, otherwise of features."""
        place = Path(path)
        arrays = _read_npz(place)
        if HEADER in arrays:
            raise ValueError(
                f"{path} is a pool file, not a dataset: read it with Pool.load, or type  "
                f"{prefero_command('teach', path)}"
            )
        dataset = archive_in_memory(arrays, place.stem)
        dataset.files = (place.resolve(),)
        dataset.spec = DatasetSpec.of("archive", place.resolve(), options)
        return dataset

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """The texts of an array with one value for each episode."""
        values = self.labels.get(name)
        return None if values is None else tuple(map(as_label, values.tolist()))

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """An array with one value for each episode, or with one for each step, such as rewards."""
        values = self.by_step.get(name)
        if values is None:
            own = self.labels.get(name)
            return None if own is None else tuple(own.tolist())
        steps = zip(values.tolist(), self.lengths.tolist(), strict=True)
        return tuple(reduce(row[:length]) for row, length in steps)

    def outcome_names(self) -> tuple[str, ...]:
        """The arrays with a value for each episode or step."""
        return (*self.labels, *self.by_step)

    def version_parts(self) -> list[Any]:
        """The numbers themselves, unless a spec says where they are."""
        if self.spec:
            return []
        numbers = self.states, self.actions, self.lengths, () if self.rewards is None else self.rewards
        names = self.state_names, self.action_names, self.ids
        return [*map(array_digest, numbers), self.step_seconds, *names]

    def episode(self, number: int) -> Episode:
        """One row of the arrays."""
        self.check_number(number)
        last, final_states = int(self.lengths[number]), self.states.shape[1] - self.actions.shape[1]
        if not 0 <= last <= self.actions.shape[1]:
            raise BadEpisode(
                self.ids[number], f"its length is {last}, but the arrays have {self.actions.shape[1]} steps"
            )
        return Episode(
            self.ids[number],
            self.states[number, : last + final_states],
            self.actions[number, :last],
            None if self.rewards is None else self.rewards[number, :last],
            self.step_seconds,
            self.state_names,
            self.action_names,
        )


def in_memory(table: Any, ids: str | None = None) -> Dataset:
    """A pandas frame or a mapping of columns, or a mapping of arrays as an archive has them, as a dataset."""
    archive = isinstance(table, Mapping) and ("states" in table or np.ndim(table.get("features", 0)) == 2)
    return archive_in_memory(table) if archive else table_in_memory(table, ids)


def archive_in_memory(archive: Any, name: str = "archive") -> Dataset:
    """A mapping of arrays, as an archive has them, as a dataset of features or of episodes."""
    arrays = columns_of(archive)
    if "states" in arrays:
        _check_keys(name, arrays, (*STATE_KEYS, *LABEL_KEYS))
        return ArchiveDataset(name, arrays)
    if "features" not in arrays:
        raise ValueError(f"an archive has features or states, but this one has {listed(tuple(arrays))}")
    _check_keys(name, arrays, (*FEATURE_KEYS, *LABEL_KEYS))
    return _feature_dataset(name, arrays)


def _check_keys(name: str, arrays: Columns, known: Sequence[str]) -> None:
    """A misspelt key is an error, since it would be left out; a line says which other arrays are."""
    unknown = [key for key in arrays if key not in known]
    absent = [key for key in known if key not in arrays]
    for key in unknown:
        if nearest(key, absent) is not None:
            raise ValueError(f"{name} has an array {key!r}, which is not known{did_you_mean(key, absent)}")
    if unknown:
        warnings.warn(
            f"{name}: these arrays are not used: {listed(unknown)}; the known ones are {', '.join(known)}",
            stacklevel=4,
        )


def _feature_dataset(name: str, arrays: Columns) -> FeatureDataset:
    matrix = np.asarray(arrays["features"], dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"features have shape (trajectories, features), but these have {matrix.shape}")
    given = _texts(arrays, "names")
    names = given or tuple(f"feature {i + 1}" for i in range(matrix.shape[1]))
    ids = _texts(arrays, "ids") or tuple(map(str, range(len(matrix))))
    if len(names) != matrix.shape[1] or len(ids) != len(matrix):
        raise ValueError(f"features of shape {matrix.shape} have {len(names)} names and {len(ids)} ids")
    columns = matrix_columns(matrix, names)
    dataset = FeatureDataset(name, {**_labels(arrays, len(matrix)), **columns}, ids, names=names)
    dataset.names_given = bool(given)
    return dataset


# --- arrays -----------------------------------------------------------------------------------------------


def _read_npz(path: Path) -> Columns:
    """The arrays of a NumPy archive, which may contain no pickles."""
    try:
        check_zip(path, str(path))
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return dict(archive.items())
    except FileNotFoundError as error:
        raise missing_file(path) from error
    except TooLargeError:
        raise
    except (*UNREADABLE, zipfile.BadZipFile) as error:
        raise ValueError(f"{path} is damaged or is no NumPy archive: {error}") from error


def _texts(arrays: Columns, key: str) -> tuple[str, ...]:
    return tuple(map(str, np.atleast_1d(arrays[key]).tolist())) if key in arrays else ()


def _labels(arrays: Columns, count: int) -> Columns:
    """The arrays with one value for each trajectory that are not ids."""
    return {key: values for key, values in arrays.items() if values.shape == (count,) and key != "ids"}


def _array_3d(what: str, values: npt.ArrayLike) -> npt.NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 3 or array.dtype.kind not in "fiub":
        raise ValueError(
            f"{what} are numbers of shape (episodes, steps, {what}), but these have shape {array.shape}"
        )
    return array
