"""A world of one's own: any Gymnasium environment, with a function that notes features of an episode."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.rendering.scenes import Scene, Window
from prefero.worlds.base import Actions, Feature, World

Note = Callable[[Array, Array], npt.ArrayLike]


class GymnasiumWorld(World):
    """Episodes of a Gymnasium environment, always from the same start.

    environment   an id, or a function that makes the environment; its actions are a bounded Box
    note          features of an episode from its observations (T + 1, ...) and its actions (T, A)
    features      the names of what `note` returns
    steps         how long an episode lasts; one that ends before counts up to where it ended
    segments      into how many equal parts a plan is divided, each with one action
    seed          of the environment's start

    An environment that can render (`render_mode="rgb_array"`) can be filmed.
    """

    def __init__(
        self,
        environment: str | Callable[..., Any],
        note: Note,
        features: Sequence[str],
        *,
        steps: int = 100,
        segments: int = 5,
        seed: int = 0,
        name: str | None = None,
    ) -> None:
        if not 1 <= segments <= steps:
            raise ValueError(f"a plan has between 1 and {steps} segments (its steps), but here {segments}")
        self._environment, self._note, self._seed = environment, note, seed
        self.env = self._made()
        space = self.env.action_space
        self.actions = _actions_of(space, segments)
        self.name = name or (environment if isinstance(environment, str) else "world of one's own")
        self.features = tuple(Feature(feature, "", "") for feature in features)
        self.options = {"steps": steps, "segments": segments, "seed": seed, "features": list(features)}
        self.physics = f"gymnasium {need('gymnasium', extra='worlds').__version__}"
        self.horizon, self._segments = steps, segments
        self.time_step = 1 / float(self.env.metadata.get("render_fps") or 30)

    def _made(self, **options: Any) -> Any:
        if callable(self._environment):
            try:
                return self._environment(**options)
            except TypeError as error:
                raise ValueError(
                    f"the function that makes the environment must take {list(options)}: {error}"
                ) from error
        return need("gymnasium", extra="worlds").make(self._environment, **options)

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Play every plan."""
        rows = [np.asarray(self._note(*self._episode(row)), dtype=float) for row in actions]
        wrong = [row.shape for row in rows if row.shape != (len(self.features),)]
        if wrong:
            raise ValueError(
                f"there are {len(self.features)} names of features, so `note` must return as many numbers, "
                f"but it returned shape {wrong[0]}"
            )
        return np.stack(rows), np.zeros((len(actions), 1, 0, 3))

    def _episode(self, action: Array) -> tuple[Array, Array]:
        observations = np.stack(list(self._play(self.env, action)))
        controls = self.controls(action)[: len(observations) - 1]
        return observations, controls.reshape(len(controls), -1)

    def _play(self, env: Any, action: Array) -> Iterator[Array]:
        """Observations, before the first and after every step."""
        yield np.asarray(env.reset(seed=self._seed)[0], dtype=float)
        for control in self.controls(action):
            observation, _, terminated, truncated, _ = env.step(control)
            yield np.asarray(observation, dtype=float)
            if terminated or truncated:
                return

    def controls(self, action: Array) -> Array:
        """The control of every step, in the shape and kind that the environment wants."""
        space = self.env.action_space
        segment = np.arange(self.horizon) * self._segments // self.horizon
        controls: Array = action.reshape(self._segments, *space.shape)[segment].astype(space.dtype)
        return controls

    def film(self, actions: Array, rate: float, width: int, height: int) -> Iterator[npt.NDArray[np.uint8]]:
        """What the environment renders; its own rate and size are kept."""
        del rate, width, height
        env = self._made(render_mode="rgb_array")
        try:
            for _ in self._play(env, self.actions.check(actions)):
                yield np.asarray(env.render())
        finally:
            env.close()

    @property
    def scene(self) -> Scene:
        """Nothing is drawn: what there is to see, the environment renders."""
        return Scene((), Window(0.0, 1.0, 0.0, 1.0), frame_time=self.time_step)


def _actions_of(space: Any, segments: int) -> Actions:
    bounded = getattr(space, "low", None) is not None and np.all(np.isfinite([space.low, space.high]))
    if not bounded:
        raise ValueError(
            f"an environment's actions must be a Box with finite bounds, but they are {space}: wrap it, "
            "for example with gymnasium.wrappers.RescaleAction"
        )
    low, high = (np.tile(np.ravel(bound).astype(float), segments) for bound in (space.low, space.high))
    size = int(np.prod(space.shape))
    names = tuple(f"action {i + 1} of segment {s + 1}" for s in range(segments) for i in range(size))
    return Actions(names, low, high)
