"""Recorded episodes of an environment, in Prefero's cache: what was played, and perhaps its video.

    000012.npz   states, actions and rewards of episode 12; `taken`: its actions as the policy gave them; and
                 `told`: flags and numbers among the infos of each step, such as is_success
    000012.mp4   its video, if that was recorded while it was played

An episode that is recorded is read from here, so it is the same whenever it is read, also if the policy or
the environment draws random numbers. The actions as they were given can be played again.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.files import ArchiveError, read_archive, write_archive
from prefero.datasets.base import clip_name
from prefero.datasets.episode import Episode
from prefero.datasets.formats.observations import leaves

TAKEN = "taken "  # before the name of each array of actions
TOLD = "told "  # before the name of each info


class Recording(NamedTuple):
    """An episode, and the actions as they were given to the environment, by the keys that lead to each.

    `told` are infos by name, (T,) each; none in the files of earlier versions.
    """

    episode: Episode
    taken: Mapping[str, npt.NDArray[Any]]
    told: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, episode: Episode, taken: Any, infos: Sequence[Mapping[str, float]]) -> "Recording":
        """`taken` is a sequence of actions: an array, or a dictionary or tuple of arrays."""
        actions = {name: np.asarray(array) for name, array in leaves(taken)}
        return cls(episode, actions, {name: _told(infos, name) for name in dict.fromkeys(chain(*infos))})


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
        if not self._file(
            number
        ).is_file():  # the common case of a first visit, without a message for a person
            return None
        try:
            header, arrays = read_archive(self._file(number))
            episode = Episode(
                header["id"],
                arrays["states"],
                arrays["actions"],
                arrays["rewards"],
                header["step_seconds"],
                tuple(header["state_names"]),
                tuple(header["action_names"]),
            )
            return Recording(episode, _named(arrays, TAKEN), _named(arrays, TOLD))
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
        told = {TOLD + name: array for name, array in recording.told.items()}
        self.folder.mkdir(parents=True, exist_ok=True)
        write_archive(self._file(number), header, arrays | taken | told)


def _named(arrays: Mapping[str, npt.NDArray[Any]], prefix: str) -> dict[str, npt.NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _told(infos: Sequence[Mapping[str, float]], name: str) -> npt.NDArray[Any]:
    """An info of each step; where a step has none, a flag is False and a number NaN."""
    known = [info[name] for info in infos if name in info]
    if all(isinstance(value, bool) for value in known):
        return np.array([bool(info.get(name, False)) for info in infos])
    return np.array([float(info.get(name, np.nan)) for info in infos])
