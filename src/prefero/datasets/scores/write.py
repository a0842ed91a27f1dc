"""Scores written into a copy of their dataset, whole or not at all."""

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import numpy.typing as npt

from prefero._support.progress_bar import progress as progress_bar
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.features.extraction.windows import Windows
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.registry import formats
from prefero.datasets.scores.scores import EpisodeScores, files_in


def write_scores(
    table: FeatureTable,
    mean: npt.ArrayLike,
    std: npt.ArrayLike,
    folder: str | Path,
    *,
    replace_reward: bool = False,
    quality: npt.ArrayLike | None = None,
    acceptable: npt.ArrayLike | None = None,
    progress: bool | None = None,
) -> None:
    """Write a copy of the dataset that features were extracted from, with the scores of its episodes.

    The dataset itself is never changed. Each step of an episode gets the episode's mean and standard
    deviation; NaN in episodes without a score.

    Args:
        table: The features that were scored.
        mean: The mean of each row.
        std: The standard deviation of each row.
        folder: The folder of the copy, which must not exist.
        replace_reward: Also replace the dataset's own reward, which is kept as original_reward: 0 at every
            step, and the mean at an episode's last one.
        quality: The quality of each row, which is written too; `prefero.deploy.scoring.quality` computes it.
        acceptable: The probability that each row is acceptable, which is written too.
        progress: Show a progress bar; None shows it on a terminal.
    """
    folder = Path(folder)
    source = check_score_copy(table.dataset, folder)
    given = {"mean": mean, "std": std, "quality": quality, "acceptable": acceptable}
    columns = {name: values for name, values in given.items() if values is not None}
    scores = _episode_scores(table.at_origin(), columns, replace_reward)
    scores.of(source.ids)  # which is an error if an episode needs a score and has none
    total = sum(1 for _ in files_in(source.root)) if source.root else 1
    with _new_folder(folder) as place, progress_bar(f"writing {folder}", total, progress) as advance:
        source.write_scores(scores, place, folder, advance)


def check_score_copy(dataset: Dataset, folder: Path, windows: Windows | None = None) -> EpisodeDataset:
    """The dataset that would be copied; an error if a copy with scores cannot be written there."""
    source = dataset if dataset.origin is None else dataset.origin.dataset
    if not isinstance(source, EpisodeDataset) or not source.writes_scores():
        raise ValueError(
            f"{source.name} cannot be copied with scores, which only these formats can: "
            f"{', '.join(writable_formats())}. Write the scores to a table, --out scores.parquet"
        )
    if windows is not None or (dataset.origin is not None and any(dataset.origin.segments)):
        raise ValueError(
            "scores of windows are not written into a copy, since a window's score is not its episode's: "
            "write them to a table, --out scores.parquet"
        )
    if folder.exists() or folder.is_symlink():
        raise ValueError(f"{folder} exists already, and nothing is overwritten: choose another folder")
    if source.root is not None and folder.resolve().is_relative_to(source.root.resolve()):
        raise ValueError(f"{folder} is inside the dataset that it would be a copy of: choose another folder")
    source.check_score_copy(folder)
    return source


def writable_formats() -> list[str]:
    """The formats of which a copy with scores can be written."""
    return [one.format_name for one in formats() if issubclass(one, EpisodeDataset) and one.writes_scores()]


def _episode_scores(
    table: FeatureTable, columns: dict[str, npt.ArrayLike], replace_reward: bool
) -> EpisodeScores:
    if any(table.segments):
        raise ValueError("these are scores of windows, and only those of whole episodes are written back")
    values = np.column_stack([np.asarray(column, dtype=float) for column in columns.values()])
    if len(values) != len(table) or not np.isfinite(values).all():
        raise ValueError(
            f"{len(table)} episodes need as many finite means and standard deviations, but these have shape "
            f"{values.shape}, or are not finite"
        )
    steps = {} if table.steps is None else dict(zip(table.ids, table.steps.tolist(), strict=True))
    rows = [dict(zip(columns, row, strict=True)) for row in values.tolist()]
    return EpisodeScores(dict(zip(table.ids, rows, strict=True)), steps, replace_reward)


@contextmanager
def _new_folder(folder: Path) -> Iterator[Path]:
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
            with suppress(OSError):  # another process may have put something there
                parent.rmdir()
        raise
