"""Scores of whole episodes, on their way back into the dataset that the episodes are of.

mean, std     what a reward says of an episode: the same at every step of it, and not a number at the
              steps of an episode that has no score
terminal_reward       a reward in place of the dataset's own: 0 at every step, and the mean at the last one
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.base import BadEpisode

ORIGINAL = "original_reward"
Advance = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Scores:
    """The mean and the standard deviation of episodes, by the number that their dataset gives them."""

    episodes: dict[int, tuple[float, float]]
    steps: dict[int, int]  # how long each was when it was noted, where that is known
    replace_reward: bool = False

    def of(self, episodes: Sequence[int]) -> tuple[Array, Array]:
        """The means and the standard deviations of these episodes."""
        without = [episode for episode in episodes if episode not in self.episodes]
        if without and self.replace_reward:
            raise BadEpisode(
                str(without[0]),
                "it has no score, so its reward cannot be replaced: repair it or take it out of the dataset, "
                "or leave out --replace-reward (replace_reward=False)",
            )
        rows = [self.episodes.get(episode, (np.nan, np.nan)) for episode in episodes]
        mean, std = np.array(rows, dtype=float).reshape(-1, 2).T
        return mean, std

    def check(self, episode: int, steps: int) -> None:
        """An error unless an episode is as long as it was when it was noted."""
        before = self.steps.get(episode, steps)
        if before != steps:
            raise BadEpisode(
                str(episode),
                f"it has {steps} steps, but had {before} when its features were noted: note them again",
            )


def terminal_reward(mean: float, steps: int) -> Array:
    """What each step of an episode is given, so that all together they are given the mean."""
    given = np.zeros(steps)
    given[-1:] = mean
    return given


def check_free(names: Sequence[str], there: Sequence[str], dataset: str) -> None:
    """An error if a dataset has columns already that are called as those to be added."""
    taken = [name for name in names if name in there]
    if taken:
        raise ValueError(
            f"{dataset} has {taken[0]!r} already, as a copy with scores does: score the dataset that it is a "
            "copy of, or rename that column"
        )


# --- copying ----------------------------------------------------------------------------------------------


def files_in(folder: Path) -> Iterator[Path]:
    """Every file in a folder and below, links followed, in order."""
    for place, folders, files in os.walk(folder, followlinks=True):
        folders.sort()
        yield from (path for path in (Path(place) / name for name in sorted(files)) if path.is_file())


def copy_missing(source: Path, target: Path, advance: Advance) -> None:
    """Copy, byte for byte, every file that is not there yet; nobody's permissions come along."""
    for path in files_in(source):
        place = target / path.relative_to(source)
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)
        advance(1)
