"""Recorded episodes of an environment, in Prefero's cache: what was played, and perhaps its video.

    000012.npz   states, actions and rewards of episode 12, and `taken`: its actions as the policy gave them
    000012.mp4   its video, if that was recorded while it was played

An episode that is recorded is read from here, so it is the same whenever it is read, also if the policy or
the environment draws random numbers. The actions as they were given can be played again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.files import ArchiveError, read_archive, write_archive
from prefero.datasets.base import clip_name
from prefero.datasets.episode import Episode
from prefero.datasets.formats.observations import leaves

TAKEN = "taken "  # before the name of each array of actions


class Recording(NamedTuple):
    """An episode, and the actions as they were given to the environment, by the keys that lead to each."""

    episode: Episode
    taken: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, episode: Episode, taken: Any) -> "Recording":
        """`taken` is a sequence of actions: an array, or a dictionary or tuple of arrays."""
        return cls(episode, {name: np.asarray(array) for name, array in leaves(taken)})


class Recordings:
    """The recorded episodes in one folder, by their numbers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def video(self, number: int) -> Path:
        """The file of an episode's video, whether it is there or not."""
        return self.folder / clip_name(number)

    def _file(self, number: int) -> Path:
        return self.video(number).with_suffix(".npz")

    def read(self, number: int) -> Recording | None:
        """A recorded episode; None if it was not recorded, or the file is damaged."""
        try:
            header, arrays = read_archive(self._file(number))
            taken = {name.removeprefix(TAKEN): arrays[name] for name in arrays if name.startswith(TAKEN)}
            episode = Episode(
                header["id"],
                arrays["states"],
                arrays["actions"],
                arrays["rewards"],
                header["step_seconds"],
                tuple(header["state_names"]),
                tuple(header["action_names"]),
            )
            return Recording(episode, taken)
        except (ArchiveError, OSError, KeyError, TypeError, ValueError):
            return None

    def write(self, number: int, recording: Recording) -> None:
        """Keep an episode."""
        episode = recording.episode
        assert episode.rewards is not None  # an environment gives some at every step
        header = {
            "id": episode.id,
            "step_seconds": episode.step_seconds,
            "state_names": episode.state_names,
            "action_names": episode.action_names,
        }
        arrays = {"states": episode.states, "actions": episode.actions, "rewards": episode.rewards}
        taken = {TAKEN + name: array for name, array in recording.taken.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_archive(self._file(number), header, arrays | taken)
