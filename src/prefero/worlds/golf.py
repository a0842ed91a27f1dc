"""Golf: the Fetch robot putts a ball; what it varies, and what is noted, are the speed and angle of the shot.

    speed      of the wrist as the putter meets the ball, radians a second
    angle      to which it aims, degrees, left positive
    place      where the ball comes to rest, metres from the tee: x ahead, y to the left

Eight targets lie on the green. They are painted on it and no more: neither physics nor models know them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.scenes import Camera, Mesh, Part, Scene, quaternion_product, surface_of_revolution
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.base import Actions, Feature, World
from prefero.worlds.mujoco import fetch
from prefero.worlds.mujoco.meshes import meshes_of
from prefero.worlds.mujoco.renderer import Frame, frames_from
from prefero.worlds.mujoco.rollout import engine, run, state_size, version

STEPS = 5600  # the hardest shot rests after 5.1 seconds
SEEN_EVERY = 40
BACKSWING, STEADY, FOLLOW_THROUGH = -0.7, 0.08, 0.6  # wrist angles; its speed is steady around the tee
SPEEDS, ANGLES = (0.6, 2.2), (-35.0, 35.0)
TARGET_RADIUS = 0.14

GREEN, ROUGH = "#5d9e57", "#dfe7df"
COURSE = (-0.8, 4.4, -2.6, 2.6)  # the green: from and to along x, then along y
CAMERA = Camera(eye=(-2.1, -2.3, 3.3), target=(1.5, -0.25, 0.2), fov=42.0)


@dataclass(frozen=True)
class Target:
    """A disc on the green, in polar coordinates about the tee."""

    name: str
    color: str
    distance: float
    angle: float

    @property
    def place(self) -> Array:
        """Its middle, (x, y)."""
        turn = np.deg2rad(self.angle)
        return self.distance * np.array([np.cos(turn), np.sin(turn)])


TARGETS = (  # two in the far corners of what can be reached, six where no linear reward has its maximum
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
    cacheable = True
    actions = Actions(("speed", "angle"), np.array([SPEEDS[0], ANGLES[0]]), np.array([SPEEDS[1], ANGLES[1]]))
    features = (
        Feature("speed", "rad/s", "speed of the wrist as the putter meets the ball"),
        Feature("angle", "degrees", "where it aims, left positive"),
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
        states = run(self.model, start, self.controls(actions))
        seen = np.concatenate([start[:, None], states[:, SEEN_EVERY - 1 :: SEEN_EVERY]], axis=1)
        return actions.copy(), self.poses(seen[..., 1 : 1 + self.model.nq])

    def start(self, actions: Array) -> Array:
        """Aimed, with the putter drawn back and the ball on the tee: (N, 2) -> (N, S)."""
        states = np.zeros((len(actions), state_size(self.model)))
        states[:, 1 : 1 + self.model.nq] = self.model.qpos0
        states[:, 1 + self._of_joint(fetch.AIM)] = _roll(actions)
        states[:, 1 + self._of_joint(fetch.SWING)] = BACKSWING
        return states

    def controls(self, actions: Array) -> Array:
        """What the motors are told at every step: the swing's torque by feedback and by foresight."""
        angle, speed, acceleration = swing(actions[:, :1], fetch.TIME_STEP * np.arange(STEPS, dtype=float))
        foresight = self._inertia * acceleration + fetch.JOINT_DAMPING * speed
        told = np.empty((len(actions), STEPS, 2))
        told[:, :, self.model.actuator(fetch.AIM).id] = fetch.STIFFNESS * _roll(actions)[:, None]
        told[:, :, self.model.actuator(fetch.SWING).id] = (
            fetch.STIFFNESS * angle + fetch.DAMPING * speed + foresight
        )
        return told

    def poses(self, positions: Array) -> Array:
        """Poses of forearm, putter and ball from the joints' positions: (..., nq) -> (..., 3, 7)."""
        roll = 0.5 * positions[..., self._of_joint(fetch.AIM)]
        flex = 0.5 * positions[..., self._of_joint(fetch.SWING)]
        none = np.zeros_like(roll)
        resting = self._at_rest
        forearm = quaternion_product(
            resting.xquat[self._forearm], np.stack([np.cos(roll), np.sin(roll), none, none], axis=-1)
        )
        wrist = quaternion_product(forearm, np.stack([np.cos(flex), none, np.sin(flex), none], axis=-1))
        places = (np.broadcast_to(resting.xpos[b], (*roll.shape, 3)) for b in (self._forearm, self._wrist))
        arm = [np.concatenate(pair, axis=-1) for pair in zip(places, (forearm, wrist), strict=True)]
        return np.stack([*arm, positions[..., -7:]], axis=-2)

    def place_of(self, actions: Array) -> Array:
        """Where shots would rest, (N, 2) -> (N, 2), worked out from 65 simulated ones."""
        speeds, distances = self._distances
        turn = np.deg2rad(actions[:, 1])
        distance = np.interp(actions[:, 0], speeds, distances)
        places: Array = distance[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
        return places

    @cached_property
    def _distances(self) -> tuple[Array, Array]:
        speeds = np.linspace(*SPEEDS, 65)
        shots = self.rollout(np.column_stack([speeds, np.zeros_like(speeds)]))
        return speeds, self.places(shots)[:, 0]

    def film(self, actions: Array, rate: float, width: int, height: int) -> Iterator[Frame]:
        """One shot, drawn by MuJoCo's renderer; where there is no GL library, `NoRenderer`."""
        speed, angle = self.actions.check(actions)
        words = [repr(float(value)) for value in (speed, angle, rate)]
        return frames_from(
            "prefero.worlds.mujoco.golf_renderer", [*words, str(width), str(height)], width, height
        )

    def places(self, trajectory: Trajectory) -> Array:
        """Where the ball rests at the end, (..., 2)."""
        return trajectory.poses[..., -1, self.scene.index("ball"), :2].astype(float)

    @cached_property
    def scene(self) -> Scene:
        """Robot, putter, ball, green and targets."""
        moving = {"forearm": self._forearm, "putter": self._wrist, "ball": self._ball}
        return Scene(
            (
                Part("green", (_ground(),)),
                *(_painted(target) for target in TARGETS),
                Part("robot", tuple(meshes_of(self.model, 0))),
                *(
                    Part(name, tuple(meshes_of(self.model, body)), moves=True)
                    for name, body in moving.items()
                ),
            ),
            CAMERA,
            frame_time=SEEN_EVERY * fetch.TIME_STEP,
            background=ROUGH,
        )

    def _of_joint(self, name: str) -> int:
        return int(self.model.joint(name).qposadr[0])

    @cached_property
    def _at_rest(self) -> Any:
        data = engine().MjData(self.model)
        engine().mj_forward(self.model, data)
        return data

    @cached_property
    def _inertia(self) -> float:
        """What the wrist's motor has to turn."""
        whole = np.zeros((self.model.nv, self.model.nv))
        engine().mj_fullM(self.model, self._at_rest, whole)
        joint = int(self.model.joint(fetch.SWING).dofadr[0])
        return float(whole[joint, joint])


def _roll(actions: Array) -> Array:
    """The forearm's axis points down, so that it turns the other way round."""
    return -np.deg2rad(actions[:, 1])


def swing(speed: Array, time: Array) -> tuple[Array, Array, Array]:
    """Angle, speed and acceleration of a wrist that strikes at `speed` (N, 1): three arrays (N, T).

    It gathers speed evenly from the backswing, keeps it around the tee, and loses it evenly after.
    """
    run_up, run_out = -STEADY - BACKSWING, FOLLOW_THROUGH - STEADY
    gain, loss = speed**2 / (2 * run_up), speed**2 / (2 * run_out)
    steady = speed / gain
    slowing = steady + 2 * STEADY / speed
    phases = [time < steady, time < slowing, time < slowing + speed / loss]
    since, after = time - steady, time - slowing
    angle = np.select(
        phases,
        [
            BACKSWING + gain * time**2 / 2,
            speed * since - STEADY,
            STEADY + speed * after - loss * after**2 / 2,
        ],
        FOLLOW_THROUGH,
    )
    rate = np.select(phases, [gain * time, speed + 0 * time, speed - loss * after], 0.0)
    change = np.select(phases, [gain + 0 * time, 0 * since, 0 * after - loss], 0.0)
    return angle, rate, change


def _ground() -> Mesh:
    x0, x1, y0, y1 = COURSE
    return Mesh(
        np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]]),
        np.array([[0, 1, 2], [0, 2, 3]]),
        GREEN,
    )


def _painted(target: Target) -> Part:
    """A thin disc, a millimetre over the green so that it is seen."""
    vertices, faces = surface_of_revolution([TARGET_RADIUS, 0.0], [0.0, 0.0], sides=32)
    middle = np.array([*target.place, 0.001])
    return Part(f"{target.name} target", (Mesh(vertices + middle, faces, target.color),), label=target.name)
