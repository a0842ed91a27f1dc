"""Datasets: what robots did, read one episode at a time, whatever it is kept in.

    T            steps of an episode
    states       (T, s) or (T + 1, s)   what was seen at every step, and perhaps after the last one
    actions      (T, a)                 what was told to the robot
    rewards      (T,)                   where the dataset has any
    seconds                             of one step
    number                              an episode's place in its dataset, from 0; its id is a text
    steps                               a part of an episode: the first step, and the one after the last

Nothing is kept in memory: an episode is read when it is asked for, and a film is cut when somebody wants it.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero.datasets.media.video_files import (
    VideoError,
    check_complete,
    frame_rate,
    plays_in_browsers,
    read_frames,
)
from prefero.rendering.video import save_video

StepRange = tuple[int, int]


class BadEpisode(ValueError):
    """An episode that cannot be used; the message names it and says why."""

    def __init__(self, episode: str, why: str) -> None:
        self.episode, self.why = episode, why.rstrip(".")  # what others say often ends in one
        super().__init__(f"episode {episode}: {self.why}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Workers in other processes send it home."""
        return type(self), (self.episode, self.why)

    def or_skip(self) -> Self:
        """The same with the way out, where it may be left out."""
        return type(self)(self.episode, f"{self.why}. The others can be used with --skip-bad (skip_bad=True)")


@dataclass(frozen=True)
class Clip:
    """A piece of a film: a file, and from when to when in it, in seconds."""

    path: Path
    start: float = 0.0
    end: float | None = None  # None: the film's end


@dataclass(frozen=True, eq=False)
class Episode:
    """What a robot did, step by step; or an error that says why it cannot be used."""

    id: str
    states: Array
    actions: Array
    rewards: Array | None = None
    seconds: float = 1.0
    state_names: tuple[str, ...] = ()
    action_names: tuple[str, ...] = ()
    clip: Clip | None = None

    def __post_init__(self) -> None:
        states, actions = self._matrix("states", self.states), self._matrix("actions", self.actions)
        if not 0 < self.seconds < np.inf:
            raise BadEpisode(self.id, f"a step lasts a positive time, but here {self.seconds} s")
        if len(actions) == 0:
            raise BadEpisode(self.id, "it has no steps")
        if len(states) - len(actions) not in (0, 1):
            raise BadEpisode(
                self.id,
                f"{len(actions)} actions go with as many states or one more, but there are {len(states)}",
            )
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "actions", actions)
        if self.rewards is not None:
            rewards = self._matrix("rewards", self.rewards)
            if rewards.shape != (len(actions), 1):
                raise BadEpisode(self.id, f"{len(actions)} actions, but rewards of shape {rewards.shape}")
            object.__setattr__(self, "rewards", rewards[:, 0])
        object.__setattr__(self, "state_names", self._names("state", self.state_names, states))
        object.__setattr__(self, "action_names", self._names("action", self.action_names, actions))

    def _matrix(self, what: str, values: npt.ArrayLike) -> Array:
        """(T, n) finite numbers; a single column may come without its axis."""
        try:
            matrix = np.asarray(values, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadEpisode(self.id, f"its {what} are not numbers, or of different lengths") from error
        matrix = matrix[:, None] if matrix.ndim == 1 else matrix
        if matrix.ndim != 2:
            raise BadEpisode(self.id, f"its {what} have shape {matrix.shape}, wanted (steps, numbers)")
        bad = np.argwhere(~np.isfinite(matrix))
        if len(bad):
            step, column = (int(n) for n in bad[0])
            raise BadEpisode(
                self.id, f"its {what} are not finite: {matrix[step, column]} at step {step}, column {column}"
            )
        return matrix

    def _names(self, kind: str, names: tuple[str, ...], values: Array) -> tuple[str, ...]:
        count = values.shape[1]
        given = tuple(names) or tuple(f"{kind} {i + 1}" for i in range(count))
        if len(given) != count or len(set(given)) != count:
            raise BadEpisode(self.id, f"{count} {kind}s need as many different names, but have {list(given)}")
        return given

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def duration(self) -> float:
        """How long it lasts, in seconds."""
        return len(self) * self.seconds

    def part(self, steps: StepRange) -> Self:
        """Some of its steps, with the piece of the film that shows them."""
        first, last = steps
        if not 0 <= first < last <= len(self):
            raise ValueError(f"episode {self.id} has steps 0 to {len(self)}, but the part is {first}:{last}")
        more = len(self.states) - len(self)
        clip = self.clip and replace(
            self.clip,
            start=self.clip.start + first * self.seconds,
            end=self.clip.start + last * self.seconds,
        )
        return replace(
            self,
            id=segment_id(self.id, steps),
            states=self.states[first : last + more],
            actions=self.actions[first:last],
            rewards=None if self.rewards is None else self.rewards[first:last],
            clip=clip,
        )


def segment_id(episode: str, steps: StepRange | None) -> str:
    """The id of a part: the episode's, and which steps."""
    return episode if steps is None else f"{episode}[{steps[0]}:{steps[1]}]"


class Dataset(ABC):
    """Trajectories by number, each with an id."""

    name: str
    ids: tuple[str, ...]
    has_video: bool = False  # are there films of them, or can there be?
    recipe: dict[str, Any] | None = None  # what opens it again, if words can say it
    files: tuple[Path, ...] = ()  # whose change means another dataset
    remarks: tuple[str, ...] = ()  # what whoever opens it should know

    def __len__(self) -> int:
        return len(self.ids)

    def check_number(self, number: int) -> None:
        """An error unless there is such an episode."""
        if not 0 <= number < len(self):
            raise ValueError(f"{self.name} has episodes 0 to {len(self) - 1}, but this is {number}")

    @property
    def version(self) -> str:
        """A short text that changes when the dataset does."""
        stats = [path.stat() for path in self.files if path.exists()]
        seen = [(stat.st_size, stat.st_mtime_ns) for stat in stats]
        about = [self.recipe, self.name, len(self), seen, *self.contents()]
        return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()

    def contents(self) -> list[Any]:
        """What else tells it from others, where its recipe and its files do not say everything."""
        return []

    @abstractmethod
    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The film of an episode or of a part of it: a file that browsers play, cut if it is not there."""

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """Where `cut_clip` finds it, or would cut it to."""
        return folder / clip_name(number, steps)

    def check_video(self, number: int) -> None:
        """An error that names the trajectory if its film is missing or damaged, as far as is seen at once."""
        del number


def fingerprint(values: npt.ArrayLike) -> str:
    """A text that is another for other numbers, or other words."""
    array = np.ascontiguousarray(values)
    written = array.ravel().data if array.dtype.kind in "fiub" else repr(array.tolist()).encode()
    seen = hashlib.sha256(f"{array.dtype.str} {array.shape} ".encode())
    seen.update(written)
    return seen.hexdigest()


def clip_name(number: int, steps: StepRange | None = None) -> str:
    """What a clip's file is called."""
    part = "" if steps is None else f"-{steps[0]:06d}-{steps[1]:06d}"
    return f"{number:06d}{part}.mp4"


class EpisodeDataset(Dataset):
    """A dataset of states and actions, of which features are yet to be noted."""

    @abstractmethod
    def episode(self, number: int) -> Episode:
        """Read one episode; `BadEpisode` if it cannot be used."""

    def read(self, numbers: Iterable[int]) -> Iterator[Episode | BadEpisode]:
        """Several episodes, one after the other; those that cannot be used as their errors."""
        for number in numbers:
            try:
                yield self.episode(number)
            except BadEpisode as error:
                yield error

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The pictures of an episode or a part of it, and how many of them a second shows."""
        del steps
        raise ValueError(f"{self.name} has no films: {self.ids[number]} cannot be shown")

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The film of an episode or of a part of it, cut into `folder` if it is not there yet."""
        self.check_number(number)
        path = self.clip_path(number, folder, steps)
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            try:
                save_video(path, *self.frames(number, steps))
            except VideoError as error:
                raise BadEpisode(
                    segment_id(self.ids[number], steps), f"its film is damaged: {error}"
                ) from error
        return path


class FeatureDataset(Dataset):
    """A dataset whose features are noted already, and perhaps a film of each trajectory."""

    def __init__(
        self,
        name: str,
        features: Array,
        names: tuple[str, ...],
        ids: tuple[str, ...],
        films: tuple[Path, ...] | None = None,
        recipe: dict[str, Any] | None = None,
    ) -> None:
        self.name, self.features, self.names, self.ids = name, features, names, ids
        self.films, self.has_video, self.recipe = films, films is not None, recipe
        named = tuple(Path(recipe[key]) for key in ("path", "table") if recipe and recipe.get(key))
        self.files = named + (films or ())

    def contents(self) -> list[Any]:
        """The numbers themselves, unless words say where they are."""
        films = [str(path.resolve()) for path in self.films or ()]
        return [] if self.recipe else [fingerprint(self.features), self.names, self.ids, films]

    def check(self, number: int) -> None:
        """An error that names the trajectory if a feature of it is missing or its film is damaged."""
        bad = np.flatnonzero(~np.isfinite(self.features[number]))
        if len(bad):
            name, value = self.names[bad[0]], self.features[number, bad[0]]
            raise BadEpisode(self.ids[number], f"its feature {name!r} is {value}")
        self.check_video(number)

    def check_video(self, number: int) -> None:
        """An error that names the trajectory unless every frame of its film is there."""
        if self.films is not None:
            try:
                check_complete(self.films[number])
            except VideoError as error:
                raise BadEpisode(self.ids[number], str(error)) from error

    def clip_path(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The film itself where browsers play it, otherwise a copy in `folder` that they do."""
        self.check_number(number)
        if self.films is None:
            raise ValueError(f"{self.name} has no films: {self.ids[number]} cannot be shown")
        if steps is not None:
            raise ValueError(f"{self.name} has no steps, so a film of it has no parts: take it whole")
        try:
            return self.films[number] if plays_in_browsers(self.films[number]) else folder / clip_name(number)
        except VideoError as error:
            raise BadEpisode(self.ids[number], str(error)) from error

    def cut_clip(self, number: int, folder: Path, steps: StepRange | None = None) -> Path:
        """The film itself, or the copy, made if it is not there yet."""
        path = self.clip_path(number, folder, steps)
        if not path.is_file():
            assert self.films is not None
            folder.mkdir(parents=True, exist_ok=True)
            try:
                save_video(path, read_frames(self.films[number]), frame_rate(self.films[number]))
            except VideoError as error:
                raise BadEpisode(self.ids[number], str(error)) from error
        return path
