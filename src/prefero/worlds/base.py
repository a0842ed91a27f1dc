"""The interface of a world: bounded actions in, trajectories with named features out, and a scene to draw.

actions     (A,) or (N, A)    the action sequence of one trajectory, or a batch of them
horizon                       steps of a trajectory
time_step                     seconds per step
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Image
from prefero._support.names import did_you_mean
from prefero.rendering.scenes import Scene
from prefero.trajectories.signals import Signal
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.signals import scene_signals

TASK_DESCRIPTION = "Decide what you want, and judge the trajectories by that."

TOLERANCE = 1e-9  # actions may be out of bounds by this much, from rounding


@dataclass(frozen=True)
class Feature:
    """A number that describes a trajectory.

    Args:
        name: Its name.
        unit: Its unit; "" if it has none.
        meaning: What it measures, in a few words.
    """

    name: str
    unit: str
    meaning: str


@dataclass(frozen=True, eq=False)
class ActionSpace:
    """The box of actions that a world takes.

    Args:
        names: Of the A numbers.
        low: The smallest values, (A,).
        high: The largest values, (A,).
        discrete: Whether actions are whole numbers, each a choice, with no order.
    """

    names: tuple[str, ...]
    low: Array
    high: Array
    discrete: bool = False

    def __len__(self) -> int:
        return len(self.names)

    def check(self, actions: npt.ArrayLike) -> Array:
        """`actions` as an array (A,) or (N, A) inside the bounds, or an error that names the wrong one."""
        try:
            values = np.asarray(actions, dtype=float)
        except (TypeError, ValueError) as error:
            raise ValueError(f"actions must be numbers: {error}") from error
        if values.ndim not in (1, 2) or values.shape[-1] != len(self) or len(values) == 0:
            raise ValueError(
                f"an action has {len(self)} numbers ({', '.join(self.names)}), so actions have shape "
                f"({len(self)},) or (trajectories, {len(self)}), but these have {values.shape}"
            )
        low, high = self.low - TOLERANCE, self.high + TOLERANCE
        inside = (values >= low) & (values <= high)  # false for NaN
        if not inside.all():
            *row, column = (int(n) for n in np.argwhere(~inside)[0])
            raise ValueError(
                f"action {self.names[column]!r} must be between {self.low[column]:g} and "
                f"{self.high[column]:g}, but is {values[(*row, column)]:g}"
                + (f" in row {row[0]}" if row else "")
            )
        if self.discrete and np.any(np.abs(values - values.round()) > TOLERANCE):
            raise ValueError(f"these actions are choices, and so whole numbers, but some are not: {values}")
        clipped: Array = np.clip(values.round() if self.discrete else values, self.low, self.high)
        return clipped

    def sample(self, count: int, rng: np.random.Generator) -> Array:
        """Uniformly random actions.

        Args:
            count: How many.
            rng: Draws them.

        Returns:
            The actions, (count, A).
        """
        if self.discrete:
            low, high = self.low.astype(int), self.high.astype(int)
            return rng.integers(low, high, (count, len(self)), endpoint=True).astype(float)
        return rng.uniform(self.low, self.high, (count, len(self)))

    def grid(self, count: int) -> Array:
        """The largest even grid of at most `count` actions, corners included."""
        if self.discrete:
            raise ValueError("these actions are choices, of which there is no even grid: use random actions")
        side = int(np.floor(count ** (1 / len(self)) + 1e-9))
        if side < 2:
            raise ValueError(
                f"a grid over {len(self)} actions has at least {2 ** len(self)} points, but {count} were "
                "asked for: ask for more, or use random actions"
            )
        axes = [np.linspace(low, high, side) for low, high in zip(self.low, self.high, strict=True)]
        return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(self))


class World(ABC):
    """A simulator: it turns actions into trajectories, and describes its scene."""

    name: str
    options: Mapping[str, Any]  # with these, `make` makes the same world again
    physics: str  # the version of the dynamics: it changes whenever the same actions may lead elsewhere
    action_space: ActionSpace
    features: tuple[Feature, ...]
    horizon: int
    time_step: float
    task_description: str = TASK_DESCRIPTION  # what to do, in a sentence for the people who teach
    subject: str = ""  # whose motion is judged, as questions name it: "the blue car"
    length_unit: str = ""  # of the scene, where it is known
    pool_size: int = 1000  # trajectories in a pool for teaching
    pool_sampling: Literal["random", "grid"] = "random"  # their actions: random, or on an even grid
    cacheable: bool = False  # whether name, options and physics determine every trajectory

    @property
    @abstractmethod
    def scene(self) -> Scene:
        """What is drawn of the world."""

    @abstractmethod
    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Features (N, d) and poses (N, T, P, k) of valid actions (N, A)."""

    def features_of(self, actions: Array) -> Array | None:  # noqa: ARG002
        """The features (N, d) of valid actions (N, A), if they need no simulation; None if they do."""
        return None

    def signals(self, trajectory: Trajectory) -> list[Signal]:
        """What a person may look at over time: by default where the moving parts of the scene are.

        Args:
            trajectory: One trajectory of this world.

        Returns:
            The signals.
        """
        return scene_signals(self.scene, trajectory.poses, self.length_unit)

    def rollout(self, actions: npt.ArrayLike) -> Trajectory:
        """One trajectory for one action sequence (A,), a batch for a batch (N, A)."""
        checked = self.action_space.check(actions)
        features, poses = self.simulate(np.atleast_2d(checked))
        batch = Trajectory(np.atleast_2d(checked), features, poses.astype(np.float32))
        return batch if checked.ndim == 2 else batch[0]

    @property
    def duration(self) -> float:
        """Seconds that a trajectory lasts."""
        return self.horizon * self.time_step

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features, in their order."""
        return tuple(feature.name for feature in self.features)


@runtime_checkable
class RendersVideo(Protocol):
    """A world that renders its own video, instead of having its scene drawn."""

    def render_video(self, actions: Array, fps: float, width: int, height: int) -> Iterator[Image]:
        """Frames of one trajectory.

        Args:
            actions: Its actions, (A,).
            fps: Frames per second.
            width: Of a frame, in pixels.
            height: Of a frame, in pixels.

        Returns:
            The frames, (height, width, 3) each.
        """
        ...


def select_features(known: Mapping[str, Feature], wanted: Sequence[str]) -> tuple[Feature, ...]:
    """The features of these names, or an error that lists the known ones."""
    wanted = [wanted] if isinstance(wanted, str) else wanted
    unknown = [name for name in wanted if name not in known]
    if unknown or not wanted or len(set(wanted)) != len(wanted):
        guess = did_you_mean(unknown[0], known) if unknown else ""
        what = f"there is no feature {unknown[0]!r}" if unknown else f"features are {list(wanted)}"
        raise ValueError(f"{what}{guess or ':'} choose one or more of {', '.join(known)}, each once")
    return tuple(known[name] for name in wanted)
