"""Driver: a car on a three-lane road while another one cuts in; 2-D, without a physics engine.

    state     (..., 4)   x and y in m, heading in rad, speed in m/s
    control   (..., 2)   steer (the curvature of the path, in 1/m), acceleration in m/s^2

It is a model of a road, about 1:20: a lane is 0.17 m wide and a car 0.12 m long. The road and the other car's
maneuver are those of the public environment that the paper cites (Sadigh et al., 2016): explicit Euler steps
of a tenth of a second, friction 1.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.scenes import Part, Polygon, Scene, Window, rectangle
from prefero.trajectories.signals import Signal
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import ActionSpace, Feature, World

FeatureSet = Literal["plain", "shaped"]

TIME_STEP, FRICTION = 0.1, 1.0
SEGMENTS, HOLD = 5, 10  # an action sequence is five controls, each held for ten steps
START = np.array([0.0, -0.3, np.pi / 2, 0.4])
OTHER_START = np.array([0.17, 0.0, np.pi / 2, 0.41])
OTHER_SCRIPT = ((0.0, 0.41), (1.0, 0.41), (-1.0, 0.41), (0.0, 0.533), (0.0, 0.533))  # ten steps each
LANE = 0.17

CAR_LENGTH, CAR_WIDTH = 0.12, 0.06
VIEW = Window(-0.75, 0.75, -0.55, 0.95, follow="car")
ROAD = (-5.0, 6.0)  # from and to along y: farther than any car gets
MEADOW, BAND, TUFTS = 3.0, 0.5, 300  # half its width, the width of a band, and how many tufts grow on it
BLADES = np.array(
    [[-0.012, 0], [-0.022, 0.024], [-0.006, 0.01], [0, 0.034], [0.006, 0.01], [0.022, 0.024], [0.012, 0]]
)
MOWN, TUFT = "#98bd7d", "#7ba35f"
GRASS, ASPHALT, PAINT, FENCE = "#8fb573", "#4a4e54", "#e8e6df", "#7a5c43"
CAR, OTHER_CAR, GLASS = "#2f7fd1", "#e6e6e6", "#1d2733"

FEATURES: dict[str, tuple[Feature, ...]] = {
    "plain": (
        Feature("lane distance", "m", "mean distance to the closest lane's center"),
        Feature("speed", "m/s", "mean speed"),
        Feature("heading", "rad", "mean deviation of the heading from straight ahead"),
        Feature("car distance", "m", "mean distance to the other car"),
    ),
    "shaped": (
        Feature("lane keeping", "", "mean of exp(-30 d^2), d to the closest lane's center"),
        Feature("speed error", "m^2/s^2", "mean of (speed - 1)^2"),
        Feature("straightness", "", "mean sine of the heading"),
        Feature("closeness", "", "mean of exp(-(7 dx^2 + 3 dy^2)) to the other car"),
    ),
}


def step(state: Array, control: Array) -> Array:
    """One Euler step of every car in the batch: (..., 4), (..., 2) -> (..., 4)."""
    heading, speed = state[..., 2], state[..., 3]
    rate = np.stack(
        [
            speed * np.cos(heading),
            speed * np.sin(heading),
            speed * control[..., 0],
            control[..., 1] - FRICTION * speed,
        ],
        axis=-1,
    )
    moved: Array = state + TIME_STEP * rate
    return moved


def drive(start: Array, controls: Array) -> Array:
    """The states before the first and after every step: controls (..., T, 2) -> (..., T + 1, 4)."""
    states = [np.broadcast_to(start, (*controls.shape[:-2], 4))]
    for control in np.moveaxis(controls, -2, 0):
        states.append(step(states[-1], control))
    return np.stack(states, axis=-2)


OTHER = drive(OTHER_START, np.repeat(np.array(OTHER_SCRIPT), HOLD, axis=0))  # (51, 4)


def plain_features(states: Array) -> Array:
    """The features that the paper describes: (..., 50, 4) -> (..., 4)."""
    return np.stack([values.mean(axis=-1) for values in _plain_values(states)], axis=-1)


def _plain_values(states: Array) -> list[Array]:
    """What they are the means of, at the last T steps: (..., T, 4) -> four arrays (..., T)."""
    x, y, heading, speed = np.moveaxis(states, -1, 0)
    other = OTHER[-x.shape[-1] :]
    return [_lane_distance(x), speed, heading - np.pi / 2, np.hypot(x - other[:, 0], y - other[:, 1])]


def shaped_features(states: Array) -> Array:
    """The features of earlier work with linear rewards: (..., 50, 4) -> (..., 4)."""
    x, y, heading, speed = np.moveaxis(states, -1, 0)
    features = [
        np.exp(-30 * _lane_distance(x) ** 2),
        (speed - 1) ** 2,
        np.sin(heading),
        np.exp(-(7 * (x - OTHER[1:, 0]) ** 2 + 3 * (y - OTHER[1:, 1]) ** 2)),
    ]
    return np.stack([values.mean(axis=-1) for values in features], axis=-1)


def _lane_distance(x: Array) -> Array:
    """Distance to the closest lane's center; the lanes are evenly spaced, so rounding finds the closest."""
    closest = np.clip(np.round(x / LANE), -1, 1) * LANE
    distance: Array = np.abs(x - closest)
    return distance


FEATURE_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "plain": plain_features,
    "shaped": shaped_features,
}


class Driver(World):
    """A car on a three-lane road while another one cuts in from the right.

    Lengths are in meters of a model road, about 1:20: a lane is 0.17 m wide and a car 0.12 m long. An action
    sequence is five controls (steer, acceleration), each held for a second.

    Args:
        features: "plain" are those that the paper describes; "shaped" are those of earlier work, chosen so
            that a linear reward drives well.
    """

    name = "driver"
    task_description = "Decide how the blue car should drive, and judge the drives by that."
    subject = "the blue car"
    cacheable = True
    physics = "driver 1"
    action_space = ActionSpace(
        tuple(f"{what} {second}" for second in range(1, SEGMENTS + 1) for what in ("steer", "acceleration")),
        np.full(2 * SEGMENTS, -1.0),
        np.full(2 * SEGMENTS, 1.0),
    )
    horizon = SEGMENTS * HOLD
    time_step = TIME_STEP

    def __init__(self, features: FeatureSet = "plain") -> None:
        if features not in get_args(FeatureSet):
            raise ValueError(
                f"driver has the feature sets {' and '.join(get_args(FeatureSet))}, but not {features!r}"
            )
        self.options = {"features": features}
        self.features = FEATURES[features]
        self.compute_features = FEATURE_FUNCTIONS[features]

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Drive every action sequence."""
        states = drive(START, self.controls(actions))
        return self.compute_features(states[..., 1:, :]), self.poses(states)

    def controls(self, actions: Array) -> Array:
        """The controls of every step: (..., 10) -> (..., 50, 2)."""
        return np.repeat(actions.reshape(*actions.shape[:-1], SEGMENTS, 2), HOLD, axis=-2)

    def signals(self, trajectory: Trajectory) -> list[Signal]:
        """The plain features' values at every step, the position, and the controls."""
        controls = self.controls(trajectory.actions)
        states, times = drive(START, controls), TIME_STEP * np.arange(self.horizon + 1.0)
        plain = zip(FEATURES["plain"], _plain_values(states), strict=True)
        return [
            *(Signal(feature.name, feature.unit, times, values) for feature, values in plain),
            Signal("across the road", "m", times, states[:, 0]),
            Signal("along the road", "m", times, states[:, 1]),
            Signal("steer", "1/m", times[:-1], controls[:, 0]),
            Signal("acceleration", "m/s^2", times[:-1], controls[:, 1]),
        ]

    def poses(self, states: Array) -> Array:
        """Poses of both cars from this one's states: (..., T, 4) -> (..., T, 2, 3)."""
        others = np.broadcast_to(OTHER[: states.shape[-2], :3], (*states.shape[:-1], 3))
        return np.stack([states[..., :3], others], axis=-2)

    @cached_property
    def scene(self) -> Scene:
        """The road, seen from above."""
        road = Part("road", (rectangle(-2 * LANE, 2 * LANE, *ROAD, ASPHALT), *_road_markings()))
        return Scene(
            (_meadow(), road, _car("car", CAR), _car("other car", OTHER_CAR)),
            VIEW,
            frame_time=TIME_STEP,
            background=GRASS,
            main_part="car",
        )


def _meadow() -> Part:
    """Bands and tufts of grass: a car that has left the road is seen to move."""
    bands = [rectangle(-MEADOW, MEADOW, y, y + BAND, MOWN) for y in np.arange(*ROAD, 2 * BAND).tolist()]
    evenly = np.arange(1, TUFTS + 1)[:, None] * [0.7549, 0.5698] % 1  # spread over the unit square
    places = evenly * [2 * MEADOW, ROAD[1] - ROAD[0]] + [-MEADOW, ROAD[0]]
    tufts = [Polygon(place + BLADES, TUFT) for place in places]
    return Part("meadow", (*bands, *tufts))


def _road_markings() -> list[Polygon]:
    """Fences, solid lines at the edges, and dashed lines between the lanes."""
    fences = [rectangle(x - 0.008, x + 0.008, *ROAD, FENCE) for x in (-2 * LANE, 2 * LANE)]
    edges = [rectangle(x - 0.004, x + 0.004, *ROAD, PAINT) for x in (-1.5 * LANE, 1.5 * LANE)]
    dashes = [
        rectangle(x - 0.004, x + 0.004, y, y + 0.1, PAINT)
        for x in (-LANE / 2, LANE / 2)
        for y in np.arange(*ROAD, 0.2).tolist()
    ]
    return [*fences, *edges, *dashes]


def _car(name: str, color: str) -> Part:
    """A car that points along its own x axis."""
    long, wide = CAR_LENGTH / 2, CAR_WIDTH / 2
    right = np.array([[-long, -wide], [0.7 * long, -wide], [long, -0.75 * wide]])
    body = np.concatenate([right, right[::-1] * [1, -1]])
    windows = rectangle(0.1 * long, 0.45 * long, -0.75 * wide, 0.75 * wide, GLASS)
    rear = rectangle(-0.7 * long, -0.45 * long, -0.7 * wide, 0.7 * wide, GLASS)
    return Part(name, (Polygon(body, color), windows, rear), moves=True, trail=True)
