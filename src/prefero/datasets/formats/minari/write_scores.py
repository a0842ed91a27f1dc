"""A copy of a Minari dataset, HDF5, Arrow or Parquet, with scores among its infos.

    infos/prefero_mean, infos/prefero_std    (T + 1,)  as infos are: of the reset, and then of every step
    prefero_mean, prefero_std                          of each episode, in its metadata
    rewards                                  (T,)      if they are to be replaced: 0, and the mean at the end
    infos/original_reward                    (T + 1,)  what they were before; 0 at the reset

The copy is a folder that holds `data`, so it is found by its id where it lies in Minari's own folder. An
episode that cannot be read stays as it is, if it has no score.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.datasets.base import BadEpisode
from prefero.datasets.formats.minari.dataset import DAMAGE, METADATA, Minari
from prefero.datasets.scores.scores import (
    ORIGINAL,
    Advance,
    Scores,
    check_free,
    copy_missing,
    terminal_reward,
)

MEAN, STD = "prefero_mean", "prefero_std"
MAIN = "main_data.hdf5"
NO_DATA = ("_", ".", METADATA)  # files that Minari passes over

Infos = dict[str, Array]


def write_minari(dataset: Minari, scores: Scores, folder: Path, target: Path, advance: Advance) -> None:
    """The copy, in an empty folder that is to be called `target` in the end."""
    about = json.loads((dataset.folder / METADATA).read_text(encoding="utf-8"))
    about["dataset_id"] = id_at(target, str(about["dataset_id"]))
    data = folder / "data"
    copy_missing(dataset.folder, data, advance)
    add = _add_hdf5 if about["data_format"] == "hdf5" else _add_arrow
    add(data, [int(number) for number in dataset.ids], scores, dataset.name)
    (data / METADATA).write_text(json.dumps(about), encoding="utf-8")
    told = [{MEAN: mean, STD: std} for mean, std in scores.episodes.values()]
    storage = need("minari.dataset.minari_storage", extra="datasets").MinariStorage.read(data.resolve())
    storage.update_episode_metadata(told, list(scores.episodes))  # which measures the dataset's size, too


def id_at(target: Path, known: str) -> str:
    """What a dataset is called in this place: in Minari's own folder as its path there, else as before."""
    root = need("minari.storage.datasets_root_dir", extra="datasets").get_dataset_path("").resolve()
    if not target.resolve().is_relative_to(root):
        return known
    name = target.resolve().relative_to(root).as_posix()
    try:
        need("minari.dataset.minari_dataset", extra="datasets").parse_dataset_id(name)
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"in Minari's own folder a dataset's path is its id, which ends in a version, but this would be "
            f"{name!r}: say {str(target) + '-v0'!r}"
        ) from error
    return name


def _infos(scores: Scores, episode: int, rewards: Array) -> tuple[Infos, Array]:
    """What an episode's infos are to have, (T + 1,), and its rewards, (T,)."""
    steps = len(rewards)
    scores.check(episode, steps)
    (mean,), (std,) = scores.of([episode])
    infos = {MEAN: np.full(steps + 1, mean), STD: np.full(steps + 1, std)}
    if not scores.replace_reward:
        return infos, rewards
    infos[ORIGINAL] = np.concatenate([np.zeros(1, dtype=rewards.dtype), rewards])
    exact = rewards.dtype if rewards.dtype.kind == "f" else np.dtype(float)
    return infos, terminal_reward(mean, steps).astype(exact)


def _pass_over(episode: int, scores: Scores, name: str, error: BaseException) -> None:
    """An episode that cannot be read; that is an error if it has a score."""
    if episode in scores.episodes:
        raise BadEpisode(str(episode), f"it cannot be read from {name}: {error!r}") from error


# --- HDF5 -------------------------------------------------------------------------------------------------


def _add_hdf5(data: Path, episodes: list[int], scores: Scores, name: str) -> None:
    """Add to every episode's group."""
    with need("h5py", extra="datasets").File(data / MAIN, "r+") as file:
        for episode in episodes:
            try:
                group = file[f"episode_{episode}"]
                rewards = group["rewards"][:]
            except DAMAGE as error:
                _pass_over(episode, scores, name, error)
                continue
            infos, given = _infos(scores, episode, rewards)
            place = group.require_group("infos")
            check_free(list(infos), list(place), name)
            for key, values in infos.items():
                place.create_dataset(key, data=values, chunks=True, maxshape=(None,))
            if scores.replace_reward:
                del group["rewards"]
                group.create_dataset("rewards", data=given, chunks=True, maxshape=(None,))


# --- Arrow and Parquet ------------------------------------------------------------------------------------


def _add_arrow(data: Path, episodes: list[int], scores: Scores, name: str) -> None:
    """Write every episode's file again."""
    for episode in episodes:
        try:
            (path,) = (p for p in (data / str(episode)).iterdir() if not p.name.startswith(NO_DATA))
            table = _read(path)
            rewards = table["rewards"].to_numpy()
            there = [field.name for field in table["infos"].type] if "infos" in table.column_names else []
        except (*DAMAGE, need("pyarrow", extra="datasets").ArrowException) as error:
            _pass_over(episode, scores, name, error)
            continue
        infos, given = _infos(scores, episode, rewards[:-1])  # the last row has an observation and no more
        check_free(list(infos), there, name)
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
    """As one batch, since Minari takes a batch for an episode."""
    whole = table.combine_chunks()
    if path.suffix == ".parquet":
        need("pyarrow.parquet", extra="datasets").write_table(whole, path)
        return
    with need("pyarrow.ipc", extra="datasets").new_file(str(path), whole.schema) as file:
        for batch in whole.to_batches():
            file.write_batch(batch)
