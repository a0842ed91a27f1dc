"""Scores written back: a copy of a dataset, whole or not at all, with what a reward says of its episodes."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from prefero._support.progress_bar import progress as shown
from prefero.datasets.base import Dataset
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.formats.lerobot.dataset import LeRobot
from prefero.datasets.formats.lerobot.write_scores import write_lerobot
from prefero.datasets.formats.minari.dataset import Minari
from prefero.datasets.formats.minari.write_scores import id_at, write_minari
from prefero.datasets.formats.tables import read_table
from prefero.datasets.registry import Revisited
from prefero.datasets.scores.scores import Scores, files_in


def write_scores(
    gathered: FeatureTable,
    mean: npt.ArrayLike,
    std: npt.ArrayLike,
    folder: str | Path,
    *,
    replace_reward: bool = False,
    progress: bool | None = None,
) -> None:
    """A copy of the LeRobot or Minari dataset that was gathered, with the scores of its episodes as columns.

    The folder must not exist, and the dataset itself is never touched. Each step of an episode has the
    episode's mean and standard deviation; episodes that have no score, since they were left out, have NaN.
    With `replace_reward` the learned reward also takes the place of the dataset's own, which is kept as
    original_reward: 0 at every step, and the mean at an episode's last one.
    """
    folder = Path(folder)
    source = check_copy(gathered.dataset, folder)
    scores = _scores(gathered, source, mean, std, replace_reward)
    scores.of([int(number) for number in source.ids])  # which is an error if one lacks what it must have
    total = sum(1 for _ in files_in(source.folder))
    with _built(folder) as place, shown(f"writing {folder}", total, progress) as advance:
        if isinstance(source, LeRobot):
            write_lerobot(source, scores, place, advance)
        else:
            write_minari(source, scores, place, folder, advance)


def check_copy(dataset: Dataset, folder: Path, windows: Windows | None = None) -> LeRobot | Minari:
    """The dataset that would be copied; an error where scores cannot go back, or the folder cannot be."""
    source = dataset.source if isinstance(dataset, Revisited) else dataset
    if not isinstance(source, LeRobot | Minari):
        raise ValueError(
            f"scores are written back into LeRobot and Minari datasets, and {source.name} is none: keep them "
            "in a table, --out scores.parquet"
        )
    if windows is not None or (isinstance(dataset, Revisited) and any(dataset.parts)):
        raise ValueError(
            "scores of windows are not written back, since a window's score is not that of its episode: keep "
            "them in a table, --out scores.parquet"
        )
    if folder.exists() or folder.is_symlink():
        raise ValueError(f"{folder} is there already, and nothing is overwritten: choose another folder")
    if folder.resolve().is_relative_to(source.folder.resolve()):
        raise ValueError(f"{folder} is inside the dataset that it would be a copy of: choose another folder")
    if isinstance(source, Minari):
        id_at(folder, source.name)
    return source


def _scores(
    gathered: FeatureTable,
    source: LeRobot | Minari,
    mean: npt.ArrayLike,
    std: npt.ArrayLike,
    replace_reward: bool,
) -> Scores:
    """By the numbers that the dataset itself gives its episodes."""
    if any(gathered.parts):
        raise ValueError("these are scores of windows, and only those of whole episodes are written back")
    pairs = np.column_stack([np.asarray(mean, dtype=float), np.asarray(std, dtype=float)])
    if pairs.shape != (len(gathered), 2) or not np.isfinite(pairs).all():
        raise ValueError(
            f"{len(gathered)} episodes were noted, so there are as many finite means and standard deviations,"
            f" but these have shape {pairs.shape}, or are not finite"
        )
    numbers, steps = _places(gathered)
    episodes = [int(source.ids[number]) for number in numbers]
    known = {e: int(n) for e, n in zip(episodes, steps, strict=True) if n is not None and n == n}
    values = zip(episodes, pairs.tolist(), strict=True)
    return Scores({episode: (mean, std) for episode, (mean, std) in values}, known, replace_reward)


def _places(gathered: FeatureTable) -> tuple[list[int], list[float | None]]:
    """Which episode of the dataset each row is of, and how many steps that had when it was noted."""
    dataset = gathered.dataset
    if not isinstance(dataset, Revisited):
        steps = [None] * len(gathered) if gathered.steps is None else gathered.steps.tolist()
        return list(gathered.numbers), steps
    assert dataset.recipe is not None
    steps = read_table(Path(dataset.recipe["path"]))[0]["steps"].tolist()
    return [dataset.numbers[row] for row in gathered.numbers], [steps[row] for row in gathered.numbers]


@contextmanager
def _built(folder: Path) -> Iterator[Path]:
    """A folder to fill, which gets its name when all went well, and of which nothing is left otherwise."""
    new = [parent for parent in folder.parents if not parent.exists()]
    folder.parent.mkdir(parents=True, exist_ok=True)
    place = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    try:
        place.mkdir()
        yield place
        place.rename(folder)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        for parent in new:
            with suppress(OSError):  # others may have put something there
                parent.rmdir()
        raise
