"""A copy of a Minari dataset, HDF5, Arrow or Parquet, with scores among its infos.

    infos/prefero_mean, infos/prefero_std    (T + 1,)  as infos are: of the reset, and then of every step
    prefero_mean, prefero_std                          of each episode, in its metadata
    prefero_quality, prefero_acceptable                both likewise, if they are written
    rewards                                  (T,)      if they are replaced: 0, and the mean at the last step
    infos/original_reward                    (T + 1,)  the replaced rewards; 0 at the reset

The copy is a folder that holds `data`, so Minari finds it by its id if it is in Minari's own folder. An
episode that cannot be read stays as it is, if it has no score.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.datasets.episode import BadEpisode
from prefero.datasets.scores.scores import (
    ORIGINAL,
    Advance,
    EpisodeScores,
    check_new_columns,
    copy_missing,
)

PREFIX = "prefero_"  # before the name of a score
METADATA = "metadata.json"
MAIN = "main_data.hdf5"
NO_DATA = ("_", ".", METADATA)  # files that Minari does not read
DAMAGE = (OSError, KeyError, ValueError, AssertionError, TypeError, IndexError, RuntimeError, StopIteration)

Infos = dict[str, Array]


def write_copy(
    source: Path,
    episodes: Sequence[str],
    scores: EpisodeScores,
    folder: Path,
    final_path: Path,
    advance: Advance,
) -> None:
    """Write a copy of the data in `source` into an empty folder, which gets its `final_path` afterwards."""
    about = json.loads((source / METADATA).read_text(encoding="utf-8"))
    name = str(about["dataset_id"])
    about["dataset_id"] = id_at(final_path, name)
    data = folder / "data"
    copy_missing(source, data, advance)
    add = _add_hdf5 if about["data_format"] == "hdf5" else _add_arrow
    add(data, episodes, scores, name)
    (data / METADATA).write_text(json.dumps(about), encoding="utf-8")
    metadata = [_metadata(scores, episode) for episode in scores.episodes]
    storage = need("minari.dataset.minari_storage", extra="datasets").MinariStorage.read(data.resolve())
    storage.update_episode_metadata(metadata, [int(episode) for episode in scores.episodes])
    # which also updates the dataset's size


def _metadata(scores: EpisodeScores, episode: str) -> dict[str, float]:
    return {PREFIX + name: value for name, value in scores.episodes[episode].items()}


def id_at(path: Path, known: str) -> str:
    """The id of a dataset at this path: in Minari's own folder the path there, elsewhere the one it has."""
    root = need("minari.storage.datasets_root_dir", extra="datasets").get_dataset_path("").resolve()
    if not path.resolve().is_relative_to(root):
        return known
    name = path.resolve().relative_to(root).as_posix()
    try:
        need("minari.dataset.minari_dataset", extra="datasets").parse_dataset_id(name)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"in Minari's own folder a dataset's path is its id, which ends in a version, but this would be "
            f"{name!r}: use {str(path) + '-v0'!r}"
        ) from error
    return name


def _infos(scores: EpisodeScores, episode: str, rewards: Array) -> tuple[Infos, Array]:
    """The infos to add to an episode, (T + 1,), and its rewards, (T,)."""
    steps = len(rewards)
    scores.check_length(episode, steps)
    known = scores.of([episode])
    infos: Infos = {PREFIX + name: np.full(steps + 1, value) for name, (value,) in known.items()}
    if not scores.replace_reward:
        return infos, rewards
    infos[ORIGINAL] = np.concatenate([np.zeros(1, dtype=rewards.dtype), rewards])
    exact = rewards.dtype if rewards.dtype.kind == "f" else np.dtype(float)
    given = np.zeros(steps)
    given[-1:] = known["mean"]
    return infos, given.astype(exact)


def _pass_over(episode: str, scores: EpisodeScores, name: str, error: BaseException) -> None:
    """An episode that cannot be read is an error only if it has a score."""
    if episode in scores.episodes:
        raise BadEpisode(episode, f"it cannot be read from {name}: {error!r}") from error


# --- HDF5 -------------------------------------------------------------------------------------------------


def _add_hdf5(data: Path, episodes: Sequence[str], scores: EpisodeScores, name: str) -> None:
    """Add to every episode in the file."""
    with need("h5py", extra="datasets").File(data / MAIN, "r+") as file:
        for episode in episodes:
            try:
                stored = file[f"episode_{episode}"]
                rewards = stored["rewards"][:]
            except DAMAGE as error:
                _pass_over(episode, scores, name, error)
                continue
            infos, given = _infos(scores, episode, rewards)
            place = stored.require_group("infos")
            check_new_columns(list(infos), list(place), name)
            for key, values in infos.items():
                place.create_dataset(key, data=values, chunks=True, maxshape=(None,))
            if scores.replace_reward:
                del stored["rewards"]
                stored.create_dataset("rewards", data=given, chunks=True, maxshape=(None,))


# --- Arrow and Parquet ------------------------------------------------------------------------------------


def _add_arrow(data: Path, episodes: Sequence[str], scores: EpisodeScores, name: str) -> None:
    """Write the file of every episode again."""
    for episode in episodes:
        try:
            (path,) = (p for p in (data / episode).iterdir() if not p.name.startswith(NO_DATA))
            table = _read(path)
            rewards = table["rewards"].to_numpy()
            there = [field.name for field in table["infos"].type] if "infos" in table.column_names else []
        except (*DAMAGE, need("pyarrow", extra="datasets").ArrowException) as error:
            _pass_over(episode, scores, name, error)
            continue
        infos, given = _infos(scores, episode, rewards[:-1])  # the last row has only an observation
        check_new_columns(list(infos), there, name)
        table = _with_infos(table, infos)
        if scores.replace_reward:
            table = _with_column(table, "rewards", np.append(given, np.zeros(1, dtype=given.dtype)))
        _write(path, table)


def _with_infos(table: Any, infos: Infos) -> Any:
    arrow = need("pyarrow", extra="datasets")
    fields, arrays = [], []
    if "infos" in table.column_names:
        old = table["infos"].combine_chunks()
        fields, arrays = list(old.type), old.flatten()
    made = {key: arrow.array(values) for key, values in infos.items()}
    fields = [*fields, *(arrow.field(key, array.type) for key, array in made.items())]
    return _with_column(
        table, "infos", arrow.StructArray.from_arrays([*arrays, *made.values()], fields=fields)
    )


def _with_column(table: Any, name: str, values: Any) -> Any:
    """A table with this column, in its place or at the end."""
    arrow = need("pyarrow", extra="datasets")
    column = values if isinstance(values, arrow.Array) else arrow.array(values)
    if name not in table.column_names:
        return table.append_column(name, column)
    return table.set_column(table.column_names.index(name), name, column)


def _read(path: Path) -> Any:
    if path.suffix == ".parquet":
        return need("pyarrow.parquet", extra="datasets").ParquetFile(path).read()
    arrow = need("pyarrow", extra="datasets")
    return need("pyarrow.ipc", extra="datasets").open_file(arrow.BufferReader(path.read_bytes())).read_all()


def _write(path: Path, table: Any) -> None:
    """As one batch, since for Minari a batch is an episode."""
    whole = table.combine_chunks()
    if path.suffix == ".parquet":
        need("pyarrow.parquet", extra="datasets").write_table(whole, path)
        return
    with need("pyarrow.ipc", extra="datasets").new_file(str(path), whole.schema) as file:
        for batch in whole.to_batches():
            file.write_batch(batch)
