"""Episodes of an environment that are recorded while it runs, perhaps with their images, and their file."""

from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from prefero._support.arrays import Image
from prefero._support.files import read_archive, write_archive
from prefero.datasets.episode import Episode, VideoSpan

MEASURES = ("states", "actions", "rewards")
MOST_PIXELS = 320  # of a side of an image


class Recorded(NamedTuple):
    """An episode, and its images before the first and after every step; none where they are not recorded."""

    episode: Episode
    images: list[Image]


class RecordedSteps(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Records states, actions and rewards of every episode, and what is rendered, made small, if wanted."""

    def __init__(self, env: gymnasium.Env[Any, Any], *, images: bool = False) -> None:
        super().__init__(env)
        if images and env.render_mode != "rgb_array":
            raise ValueError(
                "a person must see what happens, but the environment does not render images: make it with "
                'render_mode="rgb_array"'
            )
        self._with_images = images
        self._images: list[Image] = []
        for name, space in (("observations", env.observation_space), ("actions", env.action_space)):
            if not isinstance(space, gymnasium.spaces.Box) or len(space.shape) != 1:
                raise ValueError(
                    f"the {name} must be arrays of numbers with one axis, but are of {space}: use a wrapper "
                    "of Gymnasium's, such as FlattenObservation or RescaleAction"
                )
        self.finished: list[Recorded] = []
        self._states: list[Any] = []
        self._actions: list[Any] = []
        self._rewards: list[float] = []
        self._terminated = False

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Start a new episode; the one before is finished, as far as it went."""
        self._finish()
        observation, info = super().reset(seed=seed, options=options)
        self._states = [np.array(observation, dtype=float)]
        self._see()
        return observation, info

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """One step, recorded."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._actions.append(np.array(action, dtype=float))
        self._rewards.append(float(reward))
        self._states.append(np.array(observation, dtype=float))
        self._terminated = bool(terminated)
        self._see()
        return observation, reward, terminated, truncated, info

    def take(self, *, finished: bool = False) -> list[Recorded]:
        """The episodes since the last call; unless they must be finished, with the one that still runs."""
        if not finished:
            after, seen = self._states[-1:], self._images[-1:]
            self._finish()
            self._states, self._images = after, seen
        taken, self.finished = self.finished, []
        return taken

    def _see(self) -> None:
        if self._with_images:
            image = np.asarray(self.env.render())
            every = -(-max(image.shape[:2]) // MOST_PIXELS)
            self._images.append(np.ascontiguousarray(image[::every, ::every]))

    def _finish(self) -> None:
        if self._actions:
            states, actions = np.stack(self._states), np.stack(self._actions)
            seconds = 1.0 / float(self.env.metadata.get("render_fps") or 1.0)
            name = f"episode {len(self.finished)}"
            rewards = np.array(self._rewards)
            episode = Episode(name, states, actions, rewards, seconds, terminated=self._terminated)
            self.finished.append(Recorded(episode, self._images))
        self._states, self._actions, self._rewards, self._images = [], [], [], []
        self._terminated = False


def save_episodes(path: Path, episodes: list[Episode]) -> None:
    """Write episodes to an NPZ file, whole or not at all."""
    header = {
        "seconds": [one.step_seconds for one in episodes],
        "videos": [None if one.video is None else str(one.video.path) for one in episodes],
        "terminated": [one.terminated for one in episodes],
    }
    each = [(place, one, measure) for place, one in enumerate(episodes) for measure in MEASURES]
    write_archive(path, header, {f"{measure} {place}": getattr(one, measure) for place, one, measure in each})


def load_episodes(path: Path) -> list[Episode]:
    """What `save_episodes` wrote."""
    header, arrays = read_archive(path)
    spans = [None if video is None else VideoSpan(Path(video)) for video in header["videos"]]
    episodes = []
    for place, (seconds, span, over) in enumerate(
        zip(header["seconds"], spans, header["terminated"], strict=True)
    ):
        states, actions, rewards = (arrays[f"{measure} {place}"] for measure in MEASURES)
        episodes.append(Episode(str(place), states, actions, rewards, seconds, video=span, terminated=over))
    return episodes
