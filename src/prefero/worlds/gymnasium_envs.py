"""The worlds as Gymnasium environments, for training policies in them.

The reward is unknown before it is learned, so it is always 0; at the last step of an episode,
`info["features"]` holds its features, of which a learned reward is a function. The observation
includes the time, so an episode is terminated, not truncated, at the world's horizon.
"""

from abc import abstractmethod
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero.rendering.canvas import Canvas, canvas_for
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import driver, tosser
from prefero.worlds.driver import Driver
from prefero.worlds.golf import COURSE, Golf
from prefero.worlds.mujoco.rollout import engine
from prefero.worlds.tosser import Tosser

Values = npt.NDArray[np.float64]
Info = dict[str, Any]


def box(low: npt.ArrayLike, high: npt.ArrayLike) -> gymnasium.Space[Values]:
    """A space of real vectors."""
    space: gymnasium.Space[Any] = gymnasium.spaces.Box(
        np.asarray(low, float), np.asarray(high, float), dtype=np.float64
    )
    return space


class WorldEnv(gymnasium.Env[Values, Values]):
    """What the environments have in common: they record the episode and render the world's scene.

    states     what the world's poses follow from, before the first step and after every one
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 25}  # noqa: RUF012
    world: Driver | Tosser | Golf

    def __init__(self, render_mode: str | None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ValueError(f"render_mode is None or 'rgb_array', but is {render_mode!r}")
        self.render_mode = render_mode
        self._canvas: Canvas | None = None
        self._controls: list[Array] = []
        self._states: list[Array] = []

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Values, Info]:
        """A new episode; `options` are described by each environment."""
        super().reset(seed=seed)
        self._controls = []
        self.start_episode(dict(options or {}))
        return self.observe(), {}

    def step(self, action: Values) -> tuple[Values, float, bool, bool, Info]:
        """One step; the reward is 0, and the last step's info has the features."""
        if self.terminated():
            raise RuntimeError("the episode is over: call reset() to start another one")
        if not self.action_space.contains(np.asarray(action, dtype=float)):
            raise ValueError(f"actions lie in {self.action_space}, but this is {action!r}")
        self._controls.append(np.array(action, dtype=float))
        self.advance(self._controls[-1])
        info: Info = {"features": self.trajectory().features} if self.terminated() else {}
        return self.observe(), 0.0, self.terminated(), False, info

    def trajectory(self) -> Trajectory:
        """The finished episode, with its controls as actions."""
        if not self.terminated():
            raise RuntimeError("the episode is not over: features are those of a whole trajectory")
        features, poses = self.features_and_poses()
        return Trajectory(np.concatenate(self._controls), features, poses.astype(np.float32))

    def render(self) -> Image | None:
        """The scene at the current step, with the paths so far."""
        if self.render_mode is None:
            return None
        if self._canvas is None:
            self._canvas = canvas_for(self.world.scene)
        past = self.past_poses()
        return self._canvas.render(past[-1], past, arrived=self.terminated())

    def terminated(self) -> bool:
        """Whether the episode has ended."""
        return len(self._states) > self.world.horizon

    def past_poses(self) -> Array:
        """The poses of the moving parts from the start up to now, (T, P, 3 or 7)."""
        return self.world.poses(np.stack(self._states))

    @abstractmethod
    def start_episode(self, options: Info) -> None:
        """Set the initial state."""

    @abstractmethod
    def advance(self, control: Array) -> None:
        """Simulate one step."""

    @abstractmethod
    def observe(self) -> Values:
        """The observation."""

    @abstractmethod
    def features_and_poses(self) -> tuple[Array, Array]:
        """Features and poses of the whole episode."""


class DriverEnv(WorldEnv):
    """Steer and accelerate for 50 steps of a tenth of a second.

    Observation: x, y, heading and speed of this car and of the other one, and the elapsed fraction of the
    time. Every episode has the same start. Options of `make`: `features`, as for the world.
    """

    def __init__(self, features: driver.FeatureSet = "plain", render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.world: Driver = Driver(features)
        self.metadata = {**self.metadata, "render_fps": round(1 / driver.TIME_STEP)}
        self.action_space = box([-1.0, -1.0], [1.0, 1.0])
        farthest = np.array([6.0, 6.0, np.pi / 2 + 6.0, 1.0])  # a car drives at most 5 m, and turns 5 rad
        self.observation_space = box([*-farthest, *-farthest, 0.0], [*farthest, *farthest, 1.0])

    def start_episode(self, options: Info) -> None:
        """Both cars at their start."""
        _check_no_options(options)
        self._states = [driver.START]

    def advance(self, control: Array) -> None:
        """One Euler step."""
        self._states.append(driver.step(self._states[-1], control))

    def observe(self) -> Values:
        """Both cars, and the time."""
        steps = len(self._states) - 1
        return np.concatenate([self._states[-1], driver.OTHER[steps], [steps / self.world.horizon]])

    def features_and_poses(self) -> tuple[Array, Array]:
        """Of the whole drive."""
        return self.world.compute_features(np.stack(self._states[1:])), self.past_poses()


class TosserEnv(WorldEnv):
    """Move the hand: two motors, 40 steps of a twentieth of a second.

    Observation: the five positions and velocities, and the elapsed fraction of the time. `reset` draws a
    random start, or takes the one in `options={"start": five numbers}`. Options of `make`: `features`, as for
    the world.
    """

    def __init__(
        self, features: tuple[str, ...] = ("range", "flips"), render_mode: str | None = None
    ) -> None:
        super().__init__(render_mode)
        self.world: Tosser = Tosser(features)
        self.metadata = {**self.metadata, "render_fps": round(1 / (tosser.HOLD * tosser.TIME_STEP))}
        self.action_space = box([-1.0, -1.0], [1.0, 1.0])
        self._bound = np.array([20.0] * 5 + [1000.0] * 5 + [1.0])
        self.observation_space = box([*-self._bound[:-1], 0.0], self._bound)
        self._data = engine().MjData(self.world.model)

    def start_episode(self, options: Info) -> None:
        """At rest, at the start in the options or at a random one."""
        low, high = self.world.action_space.low[:5], self.world.action_space.high[:5]
        start = np.asarray(options.pop("start", self.np_random.uniform(low, high)), dtype=float)
        _check_no_options(options)
        if start.shape != (5,) or not np.all((start >= low) & (start <= high)):
            raise ValueError(f"a start is five numbers between {low} and {high}, but this is {start}")
        engine().mj_resetData(self.world.model, self._data)
        self._data.qpos[:] = start
        self._states = [start]

    def advance(self, control: Array) -> None:
        """The control is held for 25 steps of the physics."""
        self._data.ctrl[:] = control
        for _ in range(tosser.HOLD):
            engine().mj_step(self.world.model, self._data)
            self._states.append(self._data.qpos.copy())

    def observe(self) -> Values:
        """Positions, velocities and time."""
        elapsed = (len(self._states) - 1) / self.world.horizon
        values = np.concatenate([self._data.qpos, self._data.qvel, [elapsed]])
        clipped: Values = np.clip(values, -self._bound, self._bound)
        return clipped

    def features_and_poses(self) -> tuple[Array, Array]:
        """Of the whole toss."""
        qpos = np.stack(self._states)
        return self.world.compute_features(qpos[None])[0], self.world.poses(qpos[:: tosser.RECORD_EVERY])


class GolfEnv(WorldEnv):
    """One putt: an episode is a single step whose action is the speed and angle of the shot.

    Observation: the position of the ball, x and y.
    """

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(render_mode)
        self.world: Golf = Golf()
        self.action_space = box(self.world.action_space.low, self.world.action_space.high)
        self.observation_space = box([COURSE[0], COURSE[2]], [COURSE[1], COURSE[3]])

    def start_episode(self, options: Info) -> None:
        """The ball on the tee."""
        _check_no_options(options)
        self._shot: Trajectory | None = None

    def advance(self, control: Array) -> None:
        """The whole shot."""
        self._shot = self.world.rollout(control)

    def terminated(self) -> bool:
        """After the shot."""
        return self._shot is not None

    def observe(self) -> Values:
        """The position of the ball."""
        return np.zeros(2) if self._shot is None else self.world.ball_positions(self._shot)

    def past_poses(self) -> Array:
        """Ready to swing straight ahead, or the whole shot."""
        if self._shot is None:
            ready = self.world.start(np.array([[1.0, 0.0]]))
            return self.world.poses(ready[:, 1 : 1 + self.world.model.nq])
        return self._shot.poses.astype(float)

    def features_and_poses(self) -> tuple[Array, Array]:
        """Of the shot."""
        assert self._shot is not None
        return self._shot.features, self._shot.poses


def _check_no_options(options: Info) -> None:
    if options:
        raise ValueError(f"reset has no options {sorted(options)}")
