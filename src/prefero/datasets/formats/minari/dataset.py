"""Minari's datasets, by their id or in a folder; HDF5 and Arrow alike, read with the package minari.

Observations come as T + 1 and actions as T of them. Where they are dictionaries or tuples, their numbers are
put side by side; pictures among them are left out, and are shown as a film. An environment that the dataset
names can be recovered, and plays the recorded actions again from the recorded seed to be has_video.
"""

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.datasets.base import BadEpisode, Episode, EpisodeDataset, StepRange
from prefero.datasets.formats.minari.environment import recover_environment
from prefero.datasets.media.images import as_image, choose_camera, is_image

METADATA = "metadata.json"
APART = 1e-3  # how far a replay may be from what was recorded, beside the size of the states
DAMAGE = (OSError, KeyError, ValueError, AssertionError, TypeError, IndexError, RuntimeError, StopIteration)


def data_folder(folder: Path) -> Path | None:
    """Where in a folder the data of a Minari dataset are, if it is one."""
    for place in (folder / "data", folder):
        try:
            about = json.loads((place / METADATA).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(about, dict) and "data_format" in about:
            return place
    return None


def local_folder(dataset: str) -> Path | None:
    """The folder of a dataset that Minari has on this machine, by its id; nothing is downloaded."""
    minari_path = need("minari.storage.datasets_root_dir", extra="datasets").get_dataset_path(dataset)
    return data_folder(Path(minari_path))


class Minari(EpisodeDataset):
    """A Minari dataset by id or folder.

    What is shown are the pictures among its observations, those of `camera` if there are several; `render`
    recovers its environment to film the episodes instead.
    """

    def __init__(
        self,
        place: str | Path,
        *,
        seconds: float | None = None,
        render: bool = False,
        camera: str | None = None,
    ) -> None:
        if seconds is not None and not 0 < seconds < np.inf:
            raise ValueError(f"a step lasts a positive time, but seconds is {seconds}")
        folder = data_folder(Path(place)) or local_folder(str(place))
        if folder is None:
            raise ValueError(
                f"{str(place)!r} is neither a folder with a Minari dataset nor the id of one that is here: "
                "minari list local shows those there are, and minari download ID brings others"
            )
        self.folder, self.render = folder.resolve(), render
        self.files = tuple(sorted(path for path in self.folder.rglob("*") if path.is_file()))
        opened = self._opened()
        self.name = str(opened.id)
        self.ids = tuple(map(str, opened.episode_indices.tolist()))
        spaces = dict(_leaves(opened.observation_space, ""))
        if not any(_is_numbers(space) for space in spaces.values()):
            raise ValueError(f"{self.name} observes no numbers, of which features could be noted")
        cameras = [key for key, space in spaces.items() if is_image(space.shape or (), space.dtype)]
        self.camera = choose_camera(cameras, camera)
        if render:
            self._check_render(opened)  # before anybody is asked about what cannot be shown
        self.has_video = render or self.camera is not None
        self.seconds = self._step_time(opened) if seconds is None else seconds
        self.recipe = {
            "kind": "minari",
            "path": str(self.folder),
            "seconds": self.seconds,
            "render": render,
            "camera": camera,
        }

    def _opened(self) -> Any:
        minari = need("minari", extra="datasets")
        try:
            return minari.MinariDataset(str(self.folder))
        except DAMAGE as error:
            raise ValueError(
                f"{self.folder} is a damaged Minari dataset, or of another version: {error!r}"
            ) from error

    def _step_time(self, opened: Any) -> float:
        """Seconds of a step, as the environment says; 1 where it cannot be asked."""
        if opened.env_spec is None:
            return 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                environment = recover_environment(opened)
            except Exception:  # environments of others fail in ways of their own
                return 1.0
            rate = environment.metadata.get("render_fps")
            environment.close()
        return 1.0 / float(rate) if rate else 1.0

    def episode(self, number: int) -> Episode:
        """Read one episode."""
        self.check_number(number)
        (found,) = self.read([number])
        if isinstance(found, BadEpisode):
            raise found
        return found

    def read(self, numbers: Iterable[int]) -> Iterator[Episode | BadEpisode]:
        """Several episodes, each read when it is its turn."""
        opened = self._opened()
        for number in numbers:
            try:
                yield self._episode(opened, number)
            except BadEpisode as error:
                yield error

    def _episode(self, opened: Any, number: int) -> Episode:
        name = self.ids[number]
        recorded = self._recorded(opened, number)
        try:
            states, state_names = side_by_side(recorded.observations, "state")
            actions, action_names = side_by_side(recorded.actions, "action")
            rewards = np.asarray(recorded.rewards, dtype=float)
        except (TypeError, ValueError) as error:
            raise BadEpisode(name, f"its observations or actions are no numbers: {error}") from error
        if not states.shape[1]:
            raise BadEpisode(name, "its observations hold no numbers that are not pictures")
        return Episode(name, states, actions, rewards, self.seconds, state_names, action_names)

    def _recorded(self, opened: Any, number: int) -> Any:
        """What was recorded, all of it."""
        name = self.ids[number]
        try:
            (about,) = opened.storage.get_episode_metadata([int(name)])
            recorded = opened[number]
            steps, told = len(recorded.rewards), int(about.get("total_steps", len(recorded.rewards)))
        except DAMAGE as error:
            raise BadEpisode(name, f"it cannot be read from {self.folder}: {error!r}") from error
        if steps != told:
            raise BadEpisode(name, f"it should have {told} steps, but {self.folder} holds {steps} of it")
        return recorded

    # --- films --------------------------------------------------------------------------------------------

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The recorded pictures, or what the recovered environment renders as it plays the actions again."""
        if not self.has_video:
            raise ValueError(f"{self.name} has no films: open it with render=True to recover its environment")
        shown = self._replayed(number, steps) if self.render else self._recorded_pictures(number, steps)
        return shown, 1 / self.seconds

    def _recorded_pictures(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        recorded = self._recorded(self._opened(), number)
        first, last = steps or (0, len(recorded.rewards))
        seen = dict(_leaves(recorded.observations, ""))[self.camera or ""]
        return (as_image(np.asarray(picture)) for picture in seen[first:last])

    def _replayed(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        opened = self._opened()
        recorded, wanted = self._recorded(opened, number), self._episode(opened, number).states
        (about,) = opened.storage.get_episode_metadata([int(self.ids[number])])
        first, last = steps or (0, len(recorded.rewards))
        environment = self._environment(opened)
        try:
            seen, _ = environment.reset(seed=about.get("seed"), options=about.get("options"))
            for step in range(last):
                self._compare(seen, wanted[step], number, step)
                if step >= first:
                    yield np.asarray(environment.render())
                seen = environment.step(_at(recorded.actions, step))[0]
        except BadEpisode:
            raise
        except Exception as error:  # environments of others fail in ways of their own
            raise BadEpisode(self.ids[number], f"played again, its environment fails: {error!r}") from error
        finally:
            environment.close()

    def _environment(self, opened: Any) -> Any:
        try:
            return recover_environment(opened, render_mode="rgb_array")
        except Exception as error:  # environments of others fail in ways of their own
            raise ValueError(f"the environment of {self.name} cannot be recovered: {error}") from error

    def _check_render(self, opened: Any) -> None:
        environment = self._environment(opened)
        try:
            first_image(environment)
        except Exception as error:  # environments of others fail in ways of their own
            raise ValueError(f"the environment of {self.name} cannot be rendered: {error}") from error
        finally:
            environment.close()

    def _compare(self, seen: Any, wanted: Array, number: int, step: int) -> None:
        state = side_by_side(_once(seen), "state")[0][0]
        if state.shape != wanted.shape or np.max(np.abs(state - wanted)) > APART * (1 + np.abs(wanted).max()):
            raise BadEpisode(
                self.ids[number],
                f"played again, it differs from what was recorded at step {step}: it cannot be has_video",
            )


def first_image(environment: Any) -> Image:
    """How an environment looks at the start; an error where what renders it is not installed."""
    environment.reset(seed=0)
    picture = np.asarray(environment.render())
    if picture.dtype != np.uint8 or picture.ndim != 3:
        raise ValueError(f"it renders no picture, but {picture.dtype} of shape {picture.shape}")
    return picture


def _is_numbers(space: Any) -> bool:
    """Is what such a space holds taken for numbers? Of bytes with sides, pictures are made."""
    shape, dtype = space.shape, np.dtype(space.dtype or object)
    return shape is not None and dtype.kind in "fiub" and not (dtype == np.uint8 and len(shape) > 1)


def _once(value: Any) -> Any:
    """A single observation as a course of one."""
    if isinstance(value, Mapping):
        return {key: _once(part) for key, part in value.items()}
    return tuple(map(_once, value)) if isinstance(value, tuple) else np.asarray(value)[None]


def _at(values: Any, step: int) -> Any:
    """One step of a course."""
    if isinstance(values, Mapping):
        return {key: _at(part, step) for key, part in values.items()}
    return tuple(_at(part, step) for part in values) if isinstance(values, tuple) else values[step]


def side_by_side(values: Any, kind: str) -> tuple[Array, tuple[str, ...]]:
    """The numbers of courses that may be dictionaries or tuples, as (T, n), with their names."""
    columns: list[Array] = []
    names: list[str] = []
    for name, part in _leaves(values, ""):
        array = np.asarray(part)
        picture = array.dtype == np.uint8 and array.ndim > 2
        if array.dtype.kind in "fiub" and not picture:
            columns.append(array.reshape(len(array), int(np.prod(array.shape[1:]))).astype(float))
            names += _numbered(name or kind, columns[-1].shape[1], alone=bool(name))
    return (np.concatenate(columns, axis=1) if columns else np.zeros((0, 0))), tuple(names)


def _numbered(name: str, count: int, *, alone: bool) -> list[str]:
    """A name for each of several numbers; a single one may have the name itself."""
    return [name] if alone and count == 1 else [f"{name} {i + 1}" for i in range(count)]


def _leaves(values: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Every array, or every space, in dictionaries and tuples, with the keys that lead to it."""
    inside = getattr(values, "spaces", values)
    if isinstance(inside, Mapping):
        pairs: Iterable[tuple[str, Any]] = ((str(key), part) for key, part in inside.items())
    elif isinstance(inside, tuple):
        pairs = ((str(i + 1), part) for i, part in enumerate(inside))
    else:
        yield name, values
        return
    for key, part in pairs:
        yield from _leaves(part, f"{name}.{key}" if name else key)
