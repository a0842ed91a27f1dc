"""Scores of whole episodes, ready to be written into a copy of their dataset.

quality            the expected fraction of the other episodes that are worse, from 0 to 1
mean, std          the reward's posterior mean and standard deviation of an episode: the same at every step of
                   it, and NaN at the steps of an episode that has no score
terminal reward    a learned reward in place of the dataset's own: 0 at every step, and the mean at the last
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import inside
from prefero.datasets.episode import BadEpisode

ORIGINAL = "original_reward"
Advance = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class EpisodeScores:
    """The mean and the standard deviation of episodes, by their ids.

    Args:
        episodes: Mean and standard deviation of each.
        steps: How many steps each has, where that is known.
        replace_reward: Whether the scores also replace the dataset's own reward.
        quality: The fraction of the other episodes that are worse than each, if that is written too.
    """

    episodes: dict[str, tuple[float, float]]
    steps: dict[str, int]  # how long each was when its features were extracted, where that is known
    replace_reward: bool = False
    quality: dict[str, float] = field(default_factory=dict)

    def quality_of(self, episodes: Sequence[str]) -> Array | None:
        """The quality of these episodes; NaN for those without a score. None if none is written."""
        known = [self.quality.get(episode, np.nan) for episode in episodes]
        return np.array(known, dtype=float) if self.quality else None

    def of(self, episodes: Sequence[str]) -> tuple[Array, Array]:
        """The means and the standard deviations of these episodes; NaN for those without a score."""
        without = [episode for episode in episodes if episode not in self.episodes]
        if without and self.replace_reward:
            raise BadEpisode(
                without[0],
                "it has no score, so its reward cannot be replaced: repair it, remove it from the dataset, "
                "or omit --replace-reward (replace_reward=False)",
            )
        rows = [self.episodes.get(episode, (np.nan, np.nan)) for episode in episodes]
        mean, std = np.array(rows, dtype=float).reshape(-1, 2).T
        return mean, std

    def check_length(self, episode: str, steps: int) -> None:
        """An error unless an episode is as long as when its features were extracted.

        Args:
            episode: Its id.
            steps: How many it has now.

        Raises:
            BadEpisode: If that is another number.
        """
        before = self.steps.get(episode, steps)
        if before != steps:
            raise BadEpisode(
                episode,
                f"it has {steps} steps, but had {before} when its features were extracted: repeat that",
            )


def terminal_reward(mean: float, steps: int) -> Array:
    """Rewards of an episode's steps that add up to its mean: 0, and the mean at the last step."""
    rewards = np.zeros(steps)
    rewards[-1:] = mean
    return rewards


def check_new_columns(names: Sequence[str], existing: Sequence[str], dataset: str) -> None:
    """An error if a dataset already has a column of one of these names."""
    taken = [name for name in names if name in existing]
    if taken:
        raise ValueError(
            f"{dataset} has a column {taken[0]!r} already, as a copy with scores does: score the original "
            "dataset, or rename that column"
        )


# --- copying ----------------------------------------------------------------------------------------------


def files_in(folder: Path) -> Iterator[Path]:
    """Every file in a folder and below it, in order; links are followed, and an error if one leads out."""
    seen: set[Path] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        own = Path(place).relative_to(folder)
        inner = [inside(folder, own / name, "a folder") for name in sorted(folders)]
        folders[:] = [path.name for path in inner if path.resolve() not in seen]  # a link may lead upwards
        seen.update(path.resolve() for path in (*inner, folder))
        for name in files:
            inside(folder, own / name, "a file")
        yield from (path for path in (Path(place) / name for name in sorted(files)) if path.is_file())


def copy_missing(source: Path, target: Path, advance: Advance) -> None:
    """Copy, byte for byte, every file that the target does not have yet; permissions are not copied."""
    for path in files_in(source):
        place = target / path.relative_to(source)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
        advance(1)
