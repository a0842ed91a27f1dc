"""Progress files for LeRobot's reward-aligned behavior cloning (RA-BC): one row for each frame of a dataset.

    index             the number of the frame in the dataset
    episode_index     its episode
    frame_index       its number in the episode
    progress_sparse   the progress at this frame (`prefero.deploy.scoring.frame_progress`)

RA-BC weighs a frame by how much the progress grows over the next frames: fully where it grows, not at all
where it falls. Episodes without progress are left out; LeRobot gives their frames the usual weight.
"""

import io
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.datasets.base import EpisodeDataset
from prefero.datasets.columns import Columns

SUFFIX = ".parquet"


def check_progress_file(path: Path) -> None:
    """An error, before any work is done, if a progress file cannot have this path."""
    if path.suffix.lower() != SUFFIX:
        raise ValueError(f"progress is written as {SUFFIX}, which LeRobot reads, but --rabc is {path}")


def progress_columns(dataset: EpisodeDataset, progress: Mapping[int, Array]) -> Columns:
    """The columns of a progress file, from the progress of all frames of episodes, by their numbers."""
    lengths = [len(values) for values in progress.values()]
    return {
        "index": np.concatenate([dataset.frame_indices(number) for number in progress]),
        "episode_index": np.repeat([int(dataset.ids[number]) for number in progress], lengths),
        "frame_index": np.concatenate([np.arange(length) for length in lengths]),
        "progress_sparse": np.concatenate(list(progress.values())).astype(np.float32),
    }


def write_progress(path: Path, dataset: EpisodeDataset, progress: Mapping[int, Array]) -> None:
    """Write a progress file, whole or not at all.

    Args:
        path: The Parquet file.
        dataset: A LeRobot dataset.
        progress: Of the frames of each episode, (T,), by the episodes' numbers.
    """
    check_progress_file(path)
    table = need("pyarrow", extra="datasets").table(progress_columns(dataset, progress))
    memory = io.BytesIO()
    need("pyarrow.parquet", extra="datasets").write_table(table, memory)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, memory.getvalue())
