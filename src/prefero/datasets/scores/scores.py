"""Scores of whole episodes, ready to be written into a copy of their dataset.

quality            the expected fraction of the other episodes that are worse, from 0 to 1
acceptable         the probability that an episode is acceptable, of a reward that knows what is
mean, std          the reward's posterior mean and standard deviation of an episode: the same at every step of
                   it, and NaN at the steps of an episode that has no score
terminal reward    a learned reward in place of the dataset's own: 0 at every step, and the mean at the last
"""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import inside
from prefero.datasets.episode import BadEpisode

ORIGINAL = "original_reward"
Advance = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class EpisodeScores:
    """Scores of episodes, by their ids.

    Args:
        episodes: The scores of each by name: mean, std, and quality and acceptable if they are written too.
        steps: How many steps each had when its features were extracted, where that is known.
        replace_reward: Whether the means also replace the dataset's own reward.
    """

    episodes: dict[str, dict[str, float]]
    steps: dict[str, int]
    replace_reward: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scores."""
        return tuple(next(iter(self.episodes.values()), ()))

    def of(self, episodes: Sequence[str]) -> dict[str, Array]:
        """Each score of these episodes, (M,); NaN for those without one."""
        without = [episode for episode in episodes if episode not in self.episodes]
        if without and self.replace_reward:
            raise BadEpisode(
                without[0],
                "it has no score, so its reward cannot be replaced: repair it, remove it from the dataset, "
                "or omit --replace-reward (replace_reward=False)",
            )
        known = [self.episodes.get(episode, {}) for episode in episodes]
        return {name: np.array([one.get(name, np.nan) for one in known]) for name in self.names}

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
