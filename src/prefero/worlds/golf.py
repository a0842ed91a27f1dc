"""Golf: the Fetch robot putts a ball; its actions, and its features, are the speed and angle of the shot.

    speed       of the wrist when the putter strikes the ball, in radians per second
    angle       at which it aims, in degrees, left positive
    position    where the ball comes to rest, in meters from the tee: x ahead, y to the left

Eight targets are drawn on the green. They belong to the scene only: the physics does not know them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.geometry import quaternion_product, surface_of_revolution
from prefero.rendering.scenes import Camera, Mesh, Part, Scene
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import ActionSpace, Feature, World
from prefero.worlds.mujoco import fetch
from prefero.worlds.mujoco.meshes import meshes_of
from prefero.worlds.mujoco.rollout import engine, rollout, state_size, version

STEPS = 5600  # the hardest shot rests after 5.1 seconds
RECORD_EVERY = 40  # steps from one recorded pose to the next
BACKSWING, STEADY, FOLLOW_THROUGH = -0.7, 0.08, 0.6  # wrist angles; constant speed below STEADY
SPEEDS, ANGLES = (0.6, 2.2), (-35.0, 35.0)
TARGET_RADIUS = 0.14

GREEN, ROUGH = "#5d9e57", "#dfe7df"
COURSE = (-0.8, 4.4, -2.6, 2.6)  # the green: from and to along x, then along y
CAMERA = Camera(eye=(-2.69, -2.87, 5.15), target=(1.6, -0.4, 0.2), fov=27.0, name="from a corner")
OTHER_CAMERAS = (
    Camera(eye=(7.4, 0.0, 3.6), target=(1.5, 0.0, 0.1), fov=32.0, name="from the front"),
    Camera(eye=(1.7, 0.0, 9.5), target=(1.7, 0.0, 0.0), fov=33.0, name="from above"),
    Camera(eye=(1.7, -7.0, 2.6), target=(1.7, 0.0, 0.2), fov=36.0, name="from the side"),
)


@dataclass(frozen=True)
class Target:
    """A disc on the green, in polar coordinates about the tee."""

    name: str
    color: str
    distance: float
    angle: float

    @property
    def position(self) -> Array:
        """Its center, (x, y)."""
        angle = np.deg2rad(self.angle)
        return self.distance * np.array([np.cos(angle), np.sin(angle)])


TARGETS = (  # two in the far corners of the reachable area, six where no linear reward has its maximum
    Target("red", "#d13a3a", 1.0, -22.0),
    Target("orange", "#e8832a", 1.25, 12.0),
    Target("yellow", "#ecc92f", 1.9, 27.0),
    Target("black", "#26292e", 2.0, -6.0),
    Target("teal", "#2fb5b0", 2.6, -25.0),
    Target("blue", "#2c62c9", 2.95, 9.0),
    Target("purple", "#7d3fb0", 3.75, -31.5),
    Target("pink", "#e57bb4", 3.75, 31.5),
)


class Golf(World):
    """The Fetch robot putts; the features of a shot are its action: speed and angle."""

    name = "golf"
    task_description = "Decide which target you like, and judge the shots by that."
    subject = "the ball"
    length_unit = "m"
    cacheable = True
    pool_size = 400  # a grid of 20 speeds and 20 angles: a shot takes long to simulate
    pool_sampling = "grid"
    action_space = ActionSpace(
        ("speed", "angle"), np.array([SPEEDS[0], ANGLES[0]]), np.array([SPEEDS[1], ANGLES[1]])
    )
    features = (
        Feature("speed", "rad/s", "speed of the wrist when the putter strikes the ball"),
        Feature("angle", "degrees", "direction of the shot, left positive"),
    )
    horizon = STEPS
    time_step = fetch.TIME_STEP
    targets = TARGETS
    target_radius = TARGET_RADIUS

    def __init__(self) -> None:
        self.options: Mapping[str, Any] = {}
        self.model = fetch.build()
        self.physics = f"{version()}, {fetch.package_version()}, golf 1"
        self._forearm, self._wrist, self._ball = (
            self.model.body(name).id for name in (fetch.FOREARM, fetch.WRIST, "ball")
        )

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Play every shot."""
        start = self.start(actions)
        states = rollout(self.model, start, self.controls(actions))
        recorded = np.concatenate([start[:, None], states[:, RECORD_EVERY - 1 :: RECORD_EVERY]], axis=1)
        return self.features_of(actions), self.poses(recorded[..., 1 : 1 + self.model.nq])

    def features_of(self, actions: Array) -> Array:
        """The actions themselves."""
        return actions.copy()

    def start(self, actions: Array) -> Array:
        """The initial states: aimed, the putter drawn back, the ball on the tee: (N, 2) -> (N, S)."""
        states = np.zeros((len(actions), state_size(self.model)))
        states[:, 1 : 1 + self.model.nq] = self.model.qpos0
        states[:, 1 + self._position_index(fetch.AIM)] = _roll(actions)
        states[:, 1 + self._position_index(fetch.SWING)] = BACKSWING
        return states

    def controls(self, actions: Array) -> Array:
        """The motors' controls at every step, with feedforward torque for the swing: (N, 2) -> (N, T, 2)."""
        angle, speed, acceleration = swing(actions[:, :1], fetch.TIME_STEP * np.arange(STEPS, dtype=float))
        feedforward = self._inertia * acceleration + fetch.JOINT_DAMPING * speed
        controls = np.empty((len(actions), STEPS, 2))
        controls[:, :, self.model.actuator(fetch.AIM).id] = fetch.STIFFNESS * _roll(actions)[:, None]
        controls[:, :, self.model.actuator(fetch.SWING).id] = (
            fetch.STIFFNESS * angle + fetch.DAMPING * speed + feedforward
        )
        return controls

    def poses(self, qpos: Array) -> Array:
        """Poses of forearm, putter and ball from the joint positions: (..., nq) -> (..., 3, 7)."""
        roll = 0.5 * qpos[..., self._position_index(fetch.AIM)]
        flex = 0.5 * qpos[..., self._position_index(fetch.SWING)]
        zero = np.zeros_like(roll)
        rest = self._rest_data
        forearm = quaternion_product(
            rest.xquat[self._forearm], np.stack([np.cos(roll), np.sin(roll), zero, zero], axis=-1)
        )
        wrist = quaternion_product(forearm, np.stack([np.cos(flex), zero, np.sin(flex), zero], axis=-1))
        origins = (np.broadcast_to(rest.xpos[b], (*roll.shape, 3)) for b in (self._forearm, self._wrist))
        arm = [np.concatenate(pair, axis=-1) for pair in zip(origins, (forearm, wrist), strict=True)]
        return np.stack([*arm, qpos[..., -7:]], axis=-2)

    def predict_ball_positions(self, actions: Array) -> Array:
        """Where the ball would come to rest, (N, 2) -> (N, 2), interpolated from 65 simulated shots."""
        speeds, distances = _straight_shots()
        angle = np.deg2rad(actions[:, 1])
        distance = np.interp(actions[:, 0], speeds, distances)
        positions: Array = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return positions

    def ball_positions(self, trajectory: Trajectory) -> Array:
        """Where the ball came to rest, (..., 2)."""
        return trajectory.poses[..., -1, self.scene.index("ball"), :2].astype(float)

    @cached_property
    def scene(self) -> Scene:
        """Robot, putter, ball, green and targets."""
        moving = {"forearm": self._forearm, "putter": self._wrist, "ball": self._ball}
        return Scene(
            (
                Part("green", (_green(),)),
                *(_target_part(target) for target in TARGETS),
                Part("robot", tuple(meshes_of(self.model, 0))),
                *(
                    Part(name, tuple(meshes_of(self.model, body)), moves=True, trail=name == "ball")
                    for name, body in moving.items()
                ),
            ),
            CAMERA,
            frame_time=RECORD_EVERY * fetch.TIME_STEP,
            background=ROUGH,
            main_part="ball",
            other_cameras=OTHER_CAMERAS,
        )

    def _position_index(self, name: str) -> int:
        return int(self.model.joint(name).qposadr[0])

    @cached_property
    def _rest_data(self) -> Any:
        data = engine().MjData(self.model)
        engine().mj_forward(self.model, data)
        return data

    @cached_property
    def _inertia(self) -> float:
        """The moment of inertia about the wrist."""
        matrix = np.zeros((self.model.nv, self.model.nv))
        engine().mj_fullM(self.model, self._rest_data, matrix)
        joint = int(self.model.joint(fetch.SWING).dofadr[0])
        return float(matrix[joint, joint])


@cache
def _straight_shots() -> tuple[Array, Array]:
    """65 speeds and how far the ball goes: to simulate them takes seconds, so only once."""
    golf, speeds = Golf(), np.linspace(*SPEEDS, 65)
    shots = golf.rollout(np.column_stack([speeds, np.zeros_like(speeds)]))
    return speeds, golf.ball_positions(shots)[:, 0]


def _roll(actions: Array) -> Array:
    """The forearm's roll; its axis points down, hence the sign."""
    return -np.deg2rad(actions[:, 1])


def swing(speed: Array, time: Array) -> tuple[Array, Array, Array]:
    """Angle, velocity and acceleration of a wrist that strikes at `speed` (N, 1): three arrays (N, T).

    It accelerates constantly from the backswing, keeps its speed around the tee, and decelerates constantly.
    """
    run_up, run_out = -STEADY - BACKSWING, FOLLOW_THROUGH - STEADY
    gain, loss = speed**2 / (2 * run_up), speed**2 / (2 * run_out)
    steady = speed / gain  # the times at which the phases begin
    braking = steady + 2 * STEADY / speed
    phases = [time < steady, time < braking, time < braking + speed / loss]
    since, after = time - steady, time - braking
    angle = np.select(
        phases,
        [
            BACKSWING + gain * time**2 / 2,
            speed * since - STEADY,
            STEADY + speed * after - loss * after**2 / 2,
        ],
        FOLLOW_THROUGH,
    )
    velocity = np.select(phases, [gain * time, speed + 0 * time, speed - loss * after], 0.0)
    acceleration = np.select(phases, [gain + 0 * time, 0 * since, 0 * after - loss], 0.0)
    return angle, velocity, acceleration


def _green() -> Mesh:
    x0, x1, y0, y1 = COURSE
    return Mesh(
        np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
        GREEN,
    )


def _target_part(target: Target) -> Part:
    """A disc, a millimeter above the green so that it is visible."""
    vertices, faces = surface_of_revolution([TARGET_RADIUS, 0.0], [0.0, 0.0], sides=32)
    center = np.array([*target.position, 0.001])
    return Part(f"{target.name} target", (Mesh(vertices + center, faces, target.color),), label=target.name)
