"""A world made of a Gymnasium environment and a function that computes features of an episode."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.rendering.environments import drawn_by_mujoco, make_renderable
from prefero.rendering.scenes import Scene, Window
from prefero.worlds.base import TASK_DESCRIPTION, ActionSpace, Feature, World

FeatureFunction = Callable[[Array, Array], npt.ArrayLike]


class GymnasiumWorld(World):
    """A world made of a Gymnasium environment, whose episodes all begin with the same state.

    Its action space is a bounded Box, Discrete or MultiDiscrete. With `render_mode="rgb_array"` it is shown
    as videos.

    Args:
        env: Its id, or a function that makes it.
        feature_function: Computes the features of an episode from its observations (T + 1, ...) and its
            actions (T, A).
        feature_names: Their names.
        max_steps: The longest episode; one that terminates earlier counts up to its end.
        segments: Into how many equal segments an episode is divided, each with one action.
        seed: With which every episode begins.
        name: Of the world.
        task_description: Tells people what to do.
        subject: Names what they judge.
    """

    def __init__(
        self,
        env: str | Callable[..., Any],
        feature_function: FeatureFunction,
        feature_names: Sequence[str],
        *,
        max_steps: int = 100,
        segments: int = 5,
        seed: int = 0,
        name: str | None = None,
        task_description: str = TASK_DESCRIPTION,
        subject: str = "",
    ) -> None:
        if not 1 <= segments <= max_steps:
            raise ValueError(f"an episode of {max_steps} steps has 1 to {max_steps} segments, not {segments}")
        self._make, self._feature_function, self._seed = partial(_make, env), feature_function, seed
        self.env = self._make()
        self.action_space = _action_space(self.env.action_space, segments)
        self.name = name or (env if isinstance(env, str) else "gymnasium world")
        self.task_description, self.subject = task_description, subject
        self.features = tuple(Feature(feature, "", "") for feature in feature_names)
        self.options = {
            "max_steps": max_steps,
            "segments": segments,
            "seed": seed,
            "feature_names": list(feature_names),
        }
        self.physics = f"gymnasium {need('gymnasium', extra='worlds').__version__}"
        self.horizon, self._segments = max_steps, segments
        self.time_step = 1 / float(self.env.metadata.get("render_fps") or 30)

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Run an episode for every action sequence."""
        rows = [np.asarray(self._feature_function(*self._episode(row)), dtype=float) for row in actions]
        wrong = [row.shape for row in rows if row.shape != (len(self.features),)]
        if wrong:
            raise ValueError(
                f"there are {len(self.features)} feature names, so the feature function must return as many "
                f"numbers, but it returned shape {wrong[0]}"
            )
        return np.stack(rows), np.zeros((len(actions), 1, 0, 3))

    def _episode(self, action: Array) -> tuple[Array, Array]:
        observations = np.stack(list(self._observations(self.env, action)))
        controls = self.controls(action)[: len(observations) - 1]
        return observations, controls.reshape(len(controls), -1)

    def _observations(self, env: Any, action: Array) -> Iterator[Array]:
        """The observations before the first and after every step."""
        yield np.asarray(env.reset(seed=self._seed)[0], dtype=float)
        for control in self.controls(action):
            observation, _, terminated, truncated, _ = env.step(control)
            yield np.asarray(observation, dtype=float)
            if terminated or truncated:
                return

    def controls(self, action: Array) -> Array:
        """The environment's action at every step, in the shape and type of its action space."""
        space = self.env.action_space
        segment = np.arange(self.horizon) * self._segments // self.horizon
        controls: Array = action.reshape(self._segments, *space.shape)[segment].astype(space.dtype)
        return controls

    def render_video(self, actions: Array, fps: float, width: int, height: int) -> Iterator[Image]:
        """The frames that the environment renders, at its own rate and size."""
        del fps, width, height
        env = make_renderable(self._make, gl=drawn_by_mujoco(self.env))
        try:
            for _ in self._observations(env, self.action_space.check(actions)):
                yield np.asarray(env.render())
        finally:
            env.close()

    @property
    def scene(self) -> Scene:
        """An empty scene: the environment renders itself."""
        return Scene((), Window(0.0, 1.0, 0.0, 1.0), frame_time=self.time_step)


def _make(env: str | Callable[..., Any], **options: Any) -> Any:
    if not callable(env):
        return need("gymnasium", extra="worlds").make(env, **options)
    try:
        return env(**options)
    except TypeError as error:
        raise ValueError(
            f"the function that makes the environment must take {list(options)}: {error}"
        ) from error


def _action_space(space: Any, segments: int) -> ActionSpace:
    size = int(np.prod(space.shape or ()))
    names = tuple(f"action {i + 1} of segment {s + 1}" for s in range(segments) for i in range(size))
    counts = getattr(space, "n", None) if space.shape == () else getattr(space, "nvec", None)
    if counts is not None:  # Discrete or MultiDiscrete
        low = np.tile(np.ravel(space.start).astype(float), segments)
        return ActionSpace(names, low, low + np.tile(np.ravel(counts), segments) - 1, discrete=True)
    bounded = getattr(space, "low", None) is not None and np.all(np.isfinite([space.low, space.high]))
    if not bounded:
        raise ValueError(
            "an environment's action space must be Discrete, MultiDiscrete or a bounded Box, but it is "
            f"{space}: wrap the environment, for example with gymnasium.wrappers.RescaleAction"
        )
    low, high = (np.tile(np.ravel(bound).astype(float), segments) for bound in (space.low, space.high))
    return ActionSpace(names, low, high)
