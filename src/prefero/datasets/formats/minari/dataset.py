"""Minari datasets, by their id or in a folder; HDF5 and Arrow, read with the package minari.

An episode has T + 1 observations and T actions. Where they are dictionaries or tuples, their numbers are put
side by side; images among them are no states, and are shown as the video. The environment that a dataset
names can be recovered, and plays the recorded actions again from the recorded seed to be rendered. That runs
the environment's code, so it is done only with `render` or `trust`.
"""

import json
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.datasets.base import DatasetFormat, EpisodeDataset
from prefero.datasets.columns import as_label
from prefero.datasets.episode import BadEpisode, Episode, StepRange
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.formats.minari.environment import recover_at, recover_environment
from prefero.datasets.formats.minari.write_scores import DAMAGE, METADATA, id_at, write_copy
from prefero.datasets.formats.observations import at_step, is_numeric, leaves, side_by_side, stack
from prefero.datasets.media.images import (
    ALL_CAMERAS,
    CAMERA_HELP,
    NO_VIDEO,
    as_image,
    choose_cameras,
    is_image,
    joined_views,
)
from prefero.datasets.outcomes import Reduction
from prefero.datasets.scores.scores import Advance, EpisodeScores
from prefero.rendering.environments import (
    drawn_by_mujoco,
    first_image,
    make_renderable,
    reason_without_images,
)

REPLAY_TOLERANCE = 1e-3  # how far a replay may be from the recorded states, relative to their size


@dataclass(frozen=True, kw_only=True)
class MinariOptions(FormatOptions):
    """How a Minari dataset is opened.

    Args:
        videos: See `FormatOptions`.
        trust: See `FormatOptions`.
        step_seconds: How long a step lasts; with `render` or `trust` as the environment says, else 1.
        render: Render videos with the environment of the dataset.
        camera: The image observations that are shown side by side, by their names, separated by commas; "all"
            is all of them, "none" no videos, and without a name it is the first.
    """

    step_seconds: float | None = option(
        None, "How long a step lasts, in seconds; with --render or --trust as the environment says, else 1."
    )
    render: bool = option(False, "Render videos with the environment of the dataset.")
    camera: str | None = option(None, CAMERA_HELP)

    def for_comparing(self) -> "MinariOptions":
        """All cameras, unless one is chosen."""
        return replace(super().for_comparing(), camera=self.camera or ALL_CAMERAS)


class MinariDataset(EpisodeDataset, DatasetFormat):
    """A Minari dataset by id or folder.

    Its videos are the images among its observations, those of `camera` if it is given; with `render`
    its environment is recovered and renders them instead.
    """

    format_name = "minari"
    description = "a Minari dataset (a folder with data/metadata.json, or the id of one on this machine)"
    options_type = MinariOptions
    root: Path

    def __init__(self, place: str | Path, options: MinariOptions | None = None) -> None:
        self.options = options = options or MinariOptions()
        seconds = options.step_seconds
        if seconds is not None and not 0 < seconds < np.inf:
            raise ValueError(f"a step must last a positive time, but step_seconds is {seconds}")
        folder = data_folder(Path(place)) or local_folder(str(place))
        if folder is None:
            raise ValueError(
                f"{str(place)!r} is neither a folder with a Minari dataset nor the id of a local one: "
                "minari list local lists those there are, and minari download ID fetches others"
            )
        self.root = folder.resolve()
        self.files = tuple(sorted(path for path in self.root.rglob("*") if path.is_file()))
        opened = self._opened()
        self.name = str(opened.id)
        self.ids = tuple(map(str, opened.episode_indices.tolist()))
        self.cameras = self._choose_cameras(dict(leaves(opened.observation_space)))
        self.render = options.render and options.videos != "ignore"
        if self.render:
            self._check_render(opened)  # before a question is about what cannot be shown
        self.has_video = self.render or bool(self.cameras)
        if not self.has_video and options.videos != "ignore" and opened.env_spec is not None:
            self.no_video = (
                f"{self.name} has no images. With --render (render=True) its environment draws them, whose "
                "code then runs"
            )
        self.step_seconds = self._environment_step_seconds(opened) if seconds is None else seconds
        known = replace(options, step_seconds=self.step_seconds)  # the environment is not recovered again
        self.spec = DatasetSpec.of("minari", self.root, known)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """A folder with Minari's metadata, or the id of a dataset that is on this machine."""
        place = Path(path)
        if place.exists():
            return place.is_dir() and data_folder(place) is not None
        return find_spec("minari") is not None and local_folder(path) is not None

    @classmethod
    def code_run(cls, path: str, options: FormatOptions) -> str:
        """The environment, if it is to be rendered."""
        folder = data_folder(Path(path))
        return _environment_of(folder) if folder is not None and getattr(options, "render", False) else ""

    def _opened(self) -> Any:
        minari = need("minari", extra="datasets")
        try:
            return minari.MinariDataset(str(self.root))
        except DAMAGE as error:
            raise ValueError(
                f"{self.root} is a damaged Minari dataset, or of another version: {error!r}"
            ) from error

    def _choose_cameras(self, spaces: dict[str, Any]) -> tuple[str, ...]:
        if not any(is_numeric(space) for space in spaces.values()):
            raise ValueError(f"{self.name} observes no numbers, so no features can be extracted of it")
        cameras = [key for key, space in spaces.items() if is_image(space.shape or (), space.dtype)]
        return choose_cameras(cameras, NO_VIDEO if self.options.videos == "ignore" else self.options.camera)

    def _environment_step_seconds(self, opened: Any) -> float:
        """How long a step lasts, as the environment says if it may run; otherwise 1 s."""
        if opened.env_spec is None:
            return 1.0
        if not (self.options.trust or self.options.render):
            self.notices += (
                f"{self.name} does not say how long a step lasts, so 1 s is assumed: give --step-seconds, or "
                f"--trust to ask {_environment_of(self.root)}, whose code then runs",
            )
            return 1.0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                environment = recover_environment(opened)
            except Exception:  # another package's environment may fail in any way
                return 1.0
            rate = environment.metadata.get("render_fps")
            environment.close()
        return 1.0 / float(rate) if rate else 1.0

    # --- episodes -----------------------------------------------------------------------------------------

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
            raise BadEpisode(name, f"its observations or actions are not numbers: {error}") from error
        if not states.shape[1]:
            raise BadEpisode(name, "its observations are images, and hold no other numbers")
        return Episode(name, states, actions, rewards, self.step_seconds, state_names, action_names)

    def _recorded(self, opened: Any, number: int) -> Any:
        """Minari's own episode, complete."""
        name = self.ids[number]
        try:
            (about,) = opened.storage.get_episode_metadata([int(name)])
            recorded = opened[number]
            steps, expected = len(recorded.rewards), int(about.get("total_steps", len(recorded.rewards)))
        except DAMAGE as error:
            raise BadEpisode(name, f"it cannot be read from {self.root}: {error!r}") from error
        if steps != expected:
            raise BadEpisode(name, f"it should have {expected} steps, but {self.root} has {steps} of it")
        return recorded

    def label_column(self, name: str) -> tuple[str, ...] | None:
        """What the metadata of each episode say, such as its seed."""
        storage = self._opened().storage
        found = [about.get(name) for about in storage.get_episode_metadata(list(map(int, self.ids)))]
        return None if all(value is None for value in found) else tuple(map(as_label, found))

    def outcome_column(self, name: str, reduce: Reduction) -> tuple[Any, ...] | None:
        """The metadata of episodes, or what is recorded at each step: rewards, terminations, infos."""
        opened = self._opened()
        about = list(opened.storage.get_episode_metadata(list(map(int, self.ids))))
        if any(name in one for one in about):
            return tuple(one.get(name) for one in about)
        steps = (self._steps_of(opened, number) for number in range(len(self)))
        found = [one.get(name, one.get(f"infos/{name}")) for one in steps]
        known = any(values is not None for values in found)
        return tuple(None if values is None else reduce(values) for values in found) if known else None

    def outcome_names(self) -> tuple[str, ...]:
        """Those of the first episode."""
        opened = self._opened()
        (about,) = opened.storage.get_episode_metadata([int(self.ids[0])])
        return tuple(dict.fromkeys([*about, *self._steps_of(opened, 0)]))

    def _steps_of(self, opened: Any, number: int) -> dict[str, list[Any]]:
        """What is recorded at each step of an episode, by name; nothing of one that is damaged."""
        try:
            recorded = self._recorded(opened, number)
        except BadEpisode:  # it is reported where its numbers are read
            return {}
        steps = {name: getattr(recorded, name) for name in ("rewards", "terminations", "truncations")}
        steps |= {f"infos/{name}": values for name, values in leaves(recorded.infos or {})}
        return {name: np.asarray(values).tolist() for name, values in steps.items()}

    # --- videos -------------------------------------------------------------------------------------------

    def frames(self, number: int, steps: StepRange | None) -> tuple[Iterator[Image], float]:
        """The recorded images, or what the recovered environment renders as it plays the actions again."""
        shown = self._replay(number, steps) if self.render else self._recorded_images(number, steps)
        return shown, 1 / self.step_seconds

    def _recorded_images(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        recorded = self._recorded(self._opened(), number)
        first, last = steps or (0, len(recorded.rewards))
        seen = dict(leaves(recorded.observations))
        return joined_views([map(as_image, map(np.asarray, seen[key][first:last])) for key in self.cameras])

    def _replay(self, number: int, steps: StepRange | None) -> Iterator[Image]:
        opened = self._opened()
        recorded, states = self._recorded(opened, number), self._episode(opened, number).states
        (about,) = opened.storage.get_episode_metadata([int(self.ids[number])])
        first, last = steps or (0, len(recorded.rewards))
        environment = self._environment(opened)
        try:
            observation, _ = environment.reset(seed=about.get("seed"), options=about.get("options"))
            for step in range(last):
                self._compare(observation, states[step], number, step)
                if step >= first:
                    yield np.asarray(environment.render())
                observation = environment.step(at_step(recorded.actions, step))[0]
        except BadEpisode:
            raise
        except Exception as error:  # another package's environment may fail in any way
            raise BadEpisode(self.ids[number], f"played again, its environment fails: {error!r}") from error
        finally:
            environment.close()

    def _environment(self, opened: Any) -> Any:
        """The recovered environment as one that renders, in a process of its own where MuJoCo draws it."""
        try:
            plain = recover_environment(opened)
            plain.close()
            return make_renderable(partial(recover_at, str(self.root)), gl=drawn_by_mujoco(plain))
        except Exception as error:  # another package's environment may fail in any way
            reason = reason_without_images(error)
            raise ValueError(f"the environment of {self.name} cannot be recovered: {reason}") from error

    def _check_render(self, opened: Any) -> None:
        environment = self._environment(opened)
        try:
            first_image(environment)
        except Exception as error:  # another package's environment may fail in any way
            reason = reason_without_images(error)
            raise ValueError(f"the environment of {self.name} cannot be rendered: {reason}") from error
        finally:
            environment.close()

    def _compare(self, observation: Any, recorded: Array, number: int, step: int) -> None:
        state, limit = side_by_side(stack([observation]), "state")[0][0], 1 + np.abs(recorded).max()
        if state.shape != recorded.shape or np.max(np.abs(state - recorded)) > REPLAY_TOLERANCE * limit:
            raise BadEpisode(
                self.ids[number],
                f"played again, it differs from the recording at step {step}, so its video would show "
                "something else: the seed does not determine what the environment does, or it is of "
                "another version",
            )

    # --- scores -------------------------------------------------------------------------------------------

    def check_score_copy(self, folder: Path) -> None:
        """In Minari's own folder, the path of a dataset is its id."""
        id_at(folder, self.name)

    def write_scores(self, scores: EpisodeScores, folder: Path, final_path: Path, advance: Advance) -> None:
        """Write a copy with the scores among the infos of every episode."""
        write_copy(self.root, self.ids, scores, folder, final_path, advance)


def _environment_of(folder: Path) -> str:
    """The environment that the metadata name, in words."""
    about = json.loads((folder / METADATA).read_text(encoding="utf-8"))
    try:
        named = json.loads(about["env_spec"])["entry_point"]
    except (KeyError, TypeError, ValueError):
        named = about.get("env_spec")
    return f"the environment {named!r}"


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
