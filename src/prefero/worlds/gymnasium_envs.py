"""The worlds as Gymnasium environments, for training policies in them.

Nobody knows the reward before a person has taught it, so the reward is always 0; when an episode ends,
`info["features"]` holds its features, of which a learned reward is a function. The time is part of the
observation, and an episode ends by itself at the world's horizon: what comes after is of no value.
"""

from abc import abstractmethod
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array
from prefero.rendering.canvas import Canvas, canvas_for
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import driver, tosser
from prefero.worlds.base import World
from prefero.worlds.driver import Driver
from prefero.worlds.golf import COURSE, Golf
from prefero.worlds.mujoco.rollout import engine
from prefero.worlds.tosser import Tosser

Values = npt.NDArray[np.float64]
Image = npt.NDArray[np.uint8]
Info = dict[str, Any]


def box(low: npt.ArrayLike, high: npt.ArrayLike) -> gymnasium.Space[Values]:
    """A space of real vectors."""
    space: gymnasium.Space[Any] = gymnasium.spaces.Box(
        np.asarray(low, float), np.asarray(high, float), dtype=np.float64
    )
    return space


class WorldEnvironment(gymnasium.Env[Values, Values]):
    """What the environments share: episodes that are recorded, and pictures of them."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012
    world: World

    def __init__(self, render_mode: str | None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is None or 'rgb_array', but is {render_mode!r}")
        self.render_mode = render_mode
        self._canvas: Canvas | None = None
        self._controls: list[Array] = []

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Values, Info]:
        """A new episode; `options` are described by each environment."""
        super().reset(seed=seed)
        self._controls = []
        self.begin(dict(options or {}))
        return self.observe(), {}

    def step(self, action: Values) -> tuple[Values, float, bool, bool, Info]:
        """One control; the reward is 0, and the last step tells the features."""
        if self.over():
            raise RuntimeError("the episode is over: call reset() to begin another one")
        if not self.action_space.contains(np.asarray(action, dtype=float)):
            raise ValueError(f"actions lie in {self.action_space}, but this is {action!r}")
        self._controls.append(np.array(action, dtype=float))
        self.advance(self._controls[-1])
        info: Info = {"features": self.trajectory().features} if self.over() else {}
        return self.observe(), 0.0, self.over(), False, info

    def trajectory(self) -> Trajectory:
        """The episode that has ended, with its controls as actions."""
        if not self.over():
            raise RuntimeError("the episode is not over: a trajectory's features are those of the whole")
        features, poses = self.noted()
        return Trajectory(np.concatenate(self._controls), features, poses.astype(np.float32))

    def render(self) -> Image | None:
        """The scene as it is now."""
        if self.render_mode is None:
            return None
        if self._canvas is None:
            self._canvas = canvas_for(self.world.scene)
        return self._canvas.render(self.pose())

    @abstractmethod
    def over(self) -> bool:
        """Has the episode ended?"""

    @abstractmethod
    def begin(self, options: Info) -> None:
        """Start an episode."""

    @abstractmethod
    def advance(self, control: Array) -> None:
        """One step."""

    @abstractmethod
    def observe(self) -> Values:
        """What a policy sees."""

    @abstractmethod
    def pose(self) -> Array:
        """The moving parts now, (P, 3 or 7)."""

    @abstractmethod
    def noted(self) -> tuple[Array, Array]:
        """Features and poses of the whole episode."""


class DriverEnvironment(WorldEnvironment):
    """Steer and accelerate for 50 steps of a tenth of a second.

    Observation: x, y, heading and speed of this car and of the other one, and the share of the time gone.
    `reset` always begins alike. Options of `make`: `features`, as for the world.
    """

    def __init__(self, features: driver.FeatureSet = "plain", render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.world: Driver = Driver(features)
        self.metadata = {**self.metadata, "render_fps": round(1 / driver.TIME_STEP)}
        self.action_space = box([-1.0, -1.0], [1.0, 1.0])
        farthest = np.array([6.0, 6.0, np.pi / 2 + 6.0, 1.0])  # a car drives at most 5 m, and turns 5 rad
        self.observation_space = box([*-farthest, *-farthest, 0.0], [*farthest, *farthest, 1.0])

    def begin(self, options: Info) -> None:
        """Both cars where they always start."""
        _no_more(options)
        self._states = [driver.START]

    def advance(self, control: Array) -> None:
        """One Euler step."""
        self._states.append(driver.step(self._states[-1], control))

    def over(self) -> bool:
        """After 50 steps."""
        return len(self._states) > self.world.horizon

    def observe(self) -> Values:
        """Both cars, and the time."""
        gone = len(self._states) - 1
        return np.concatenate([self._states[-1], driver.OTHER[gone], [gone / self.world.horizon]])

    def pose(self) -> Array:
        """Both cars."""
        pose: Array = self.world.poses(np.stack(self._states))[-1]
        return pose

    def noted(self) -> tuple[Array, Array]:
        """Of all states."""
        states = np.stack(self._states)
        return self.world.note(states[1:]), self.world.poses(states)


class TosserEnvironment(WorldEnvironment):
    """Move the hand: two motors, 40 steps of a twentieth of a second.

    Observation: the five positions and velocities, and the share of the time gone. `reset` draws a random
    start, or takes the one in `options={"start": five numbers}`. Options of `make`: `features`, as for the
    world.
    """

    def __init__(
        self, features: tuple[str, ...] = ("range", "flips"), render_mode: str | None = None
    ) -> None:
        super().__init__(render_mode)
        self.world: Tosser = Tosser(features)
        self.metadata = {**self.metadata, "render_fps": round(1 / (tosser.HOLD * tosser.TIME_STEP))}
        self.action_space = box([-1.0, -1.0], [1.0, 1.0])
        self._most = np.array([20.0] * 5 + [1000.0] * 5 + [1.0])
        self.observation_space = box([*-self._most[:-1], 0.0], self._most)
        self._data = engine().MjData(self.world.model)

    def begin(self, options: Info) -> None:
        """At rest, where the options say or by chance."""
        low, high = self.world.actions.low[:5], self.world.actions.high[:5]
        start = np.asarray(options.pop("start", self.np_random.uniform(low, high)), dtype=float)
        _no_more(options)
        if start.shape != (5,) or not np.all((start >= low) & (start <= high)):
            raise ValueError(f"a start is five numbers between {low} and {high}, but this is {start}")
        engine().mj_resetData(self.world.model, self._data)
        self._data.qpos[:] = start
        self._places = [start]

    def advance(self, control: Array) -> None:
        """The control is held for 25 steps of the physics."""
        self._data.ctrl[:] = control
        for _ in range(tosser.HOLD):
            engine().mj_step(self.world.model, self._data)
            self._places.append(self._data.qpos.copy())

    def over(self) -> bool:
        """After two seconds."""
        return len(self._places) > self.world.horizon

    def observe(self) -> Values:
        """Positions, velocities and time."""
        gone = (len(self._places) - 1) / self.world.horizon
        seen = np.concatenate([self._data.qpos, self._data.qvel, [gone]])
        observed: Values = np.clip(seen, -self._most, self._most)
        return observed

    def pose(self) -> Array:
        """Hand and capsule."""
        pose: Array = self.world.poses(self._places[-1])
        return pose

    def noted(self) -> tuple[Array, Array]:
        """Of all places."""
        places = np.stack(self._places)
        return self.world.note(places[None])[0], self.world.poses(places[:: tosser.SEEN_EVERY])


class GolfEnvironment(WorldEnvironment):
    """One putt: an episode is a single step whose action is the speed and angle of the shot.

    Observation: where the ball lies, x and y, before and after.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.world: Golf = Golf()
        self.action_space = box(self.world.actions.low, self.world.actions.high)
        self.observation_space = box([COURSE[0], COURSE[2]], [COURSE[1], COURSE[3]])

    def begin(self, options: Info) -> None:
        """The ball on the tee."""
        _no_more(options)
        self._shot: Trajectory | None = None

    def advance(self, control: Array) -> None:
        """The whole shot."""
        self._shot = self.world.rollout(control)

    def over(self) -> bool:
        """After the shot."""
        return self._shot is not None

    def observe(self) -> Values:
        """Where the ball lies."""
        return np.zeros(2) if self._shot is None else self.world.places(self._shot)

    def pose(self) -> Array:
        """Ready to swing straight ahead, or after the shot."""
        if self._shot is None:
            ready = self.world.start(np.array([[1.0, 0.0]]))
            return self.world.poses(ready[0, 1 : 1 + self.world.model.nq])
        pose: Array = self._shot.poses[-1]
        return pose

    def noted(self) -> tuple[Array, Array]:
        """Of the shot."""
        assert self._shot is not None
        return self._shot.features, self._shot.poses


def _no_more(options: Info) -> None:
    if options:
        raise ValueError(f"reset does not know the options {sorted(options)}")
