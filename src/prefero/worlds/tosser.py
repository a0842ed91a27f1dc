"""Tosser: a two-joint hand strikes a falling capsule toward two baskets; planar, in MuJoCo.

    q0, q1        the hand: its height and its angle
    q2, q3, q4    the capsule: its height, its position along y and its angle, from where it hangs at rest

The world is that of the public environment that the paper cites (Bıyık and Sadigh, 2018), reimplemented.
The scene is seen along the x axis with y to the left, so that the capsule is tossed to the right.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.scenes import Capsule, Part, Scene, Window, rectangle
from prefero.worlds.base import ActionSpace, Feature, World, select_features
from prefero.worlds.mujoco.rollout import engine, rollout, state_size, version

STEPS = 1000
TIME_STEP = 0.002
FALL, FIRST, SECOND = 150, 175, 200  # until these steps: no control, the first pair, the second pair
RECORD_EVERY = 10  # steps from one recorded pose to the next
HOLD = 25  # steps of one control in the Gymnasium environment; divides FALL, FIRST and SECOND

HINGE = 0.7  # height of the hand's hinge at rest
PALM = ((0.0, 0.0), (-0.1, -0.1))  # (y, z) from the hinge
FINGER = ((-0.1, -0.1), (-0.15, -0.1))
OBJECT = (-0.08, 1.0)  # where the capsule hangs at rest
OBJECT_RADIUS, OBJECT_HALF, LIMB_RADIUS = 0.05, 0.075, 0.02
BASKETS = {"red": -1.0, "green": -1.5}
BASKET_HALF, BASKET_HEIGHT, BASKET_TILT, BASKET_SIDE, BASKET_FLOOR = 0.1, 0.12, 0.2, 0.1, 0.08

SKY, GROUND, STEEL, HAND, CAPSULE = "#f4f6f8", "#b9b2a4", "#8d949c", "#39434d", "#f0a323"
BASKET_COLORS = {"red": "#d1413a", "green": "#3a9a57"}

FEATURES = {
    "range": Feature("range", "m", "maximum horizontal range of the capsule"),
    "flips": Feature("flips", "turns", "full turns of the capsule"),
    "altitude": Feature("altitude", "m", "maximum height of the capsule"),
    "basket distance": Feature("basket distance", "m", "final distance to the nearer basket"),
}


def _line(points: tuple[tuple[float, float], ...], height: float) -> str:
    return "  ".join(f"0 {y} {z + height}" for y, z in points)


def _basket(name: str, y: float) -> str:
    return f"""
    <body name="{name} basket" pos="0 {y} 0">
      <geom class="basket" size="{LIMB_RADIUS} {BASKET_SIDE}" pos="0 {BASKET_HALF} {BASKET_HEIGHT}"
            euler="{-BASKET_TILT} 0 0"/>
      <geom class="basket" size="{LIMB_RADIUS} {BASKET_SIDE}" pos="0 {-BASKET_HALF} {BASKET_HEIGHT}"
            euler="{BASKET_TILT} 0 0"/>
      <geom class="basket" size="{LIMB_RADIUS} {BASKET_FLOOR}" pos="0 0 0.02" euler="{np.pi / 2} 0 0"/>
    </body>"""


MODEL = f"""
<mujoco model="tosser">
  <compiler angle="radian" autolimits="true"/>
  <option gravity="0 0 -9.81" timestep="{TIME_STEP}" integrator="Euler" solver="PGS" iterations="50"
          cone="pyramidal"/>
  <default>
    <geom type="capsule" density="1000" friction="1 0.005 0.0001" condim="3" margin="0.001"
          solref="0.02 1" solimp="0.8 0.8 0.01"/>
    <joint damping="1" armature="0"/>
    <default class="basket"><geom condim="1"/></default>
    <default class="object"><joint damping="0.01"/></default>
  </default>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <geom name="wall" size="{LIMB_RADIUS} 0.5" pos="0 0 0.5"/>
    <body name="hand">
      <joint name="q0" type="slide" axis="0 0 1" range="-0.6 0.25" damping="10"/>
      <joint name="q1" type="hinge" axis="1 0 0" pos="0 0 {HINGE}" range="-1.57 0.8"/>
      <geom name="palm" size="{LIMB_RADIUS}" fromto="{_line(PALM, HINGE)}"/>
      <geom name="finger" size="{LIMB_RADIUS}" fromto="{_line(FINGER, HINGE)}"/>
    </body>
    <body name="object" pos="0 {OBJECT[0]} {OBJECT[1]}" childclass="object">
      <joint name="q2" type="slide" axis="0 0 1"/>
      <joint name="q3" type="slide" axis="0 1 0"/>
      <joint name="q4" type="hinge" axis="1 0 0"/>
      <geom name="object" size="{OBJECT_RADIUS} {OBJECT_HALF}"/>
    </body>{"".join(_basket(name, y) for name, y in BASKETS.items())}
  </worldbody>
  <actuator>
    <motor joint="q0" gear="35" ctrlrange="-1 1"/>
    <motor joint="q1" gear="35" ctrlrange="-1 1"/>
  </actuator>
</mujoco>"""


class Tosser(World):
    """A two-joint hand strikes a falling capsule toward a red and a green basket.

    An action sequence is the start of hand and capsule and two pairs of motor controls.

    Args:
        features: The paper's two, or any of `range`, `flips`, `altitude` and `basket distance`.
    """

    name = "tosser"
    task_description = "Decide how the orange capsule should fly and land, and judge the tosses by that."
    subject = "the orange capsule"
    length_unit = "m"
    cacheable = True
    action_space = ActionSpace(
        (
            "hand height",
            "hand angle",
            "capsule height",
            "capsule position",
            "capsule angle",
            "first lift",
            "first turn",
            "second lift",
            "second turn",
        ),
        np.array([-0.2, -0.785, -0.1, -0.1, -1.5, -1.0, -1.0, -1.0, -1.0]),
        np.array([0.2, 0.785, 0.1, -0.07, 1.5, 1.0, 1.0, 1.0, 1.0]),
    )
    horizon = STEPS
    time_step = TIME_STEP

    def __init__(self, features: Sequence[str] = ("range", "flips")) -> None:
        self.features = select_features(FEATURES, features)
        self.options = {"features": list(self.feature_names)}
        self.physics = f"{version()}, tosser 1"
        self.model: Any = engine().MjModel.from_xml_string(MODEL)

    def simulate(self, actions: Array) -> tuple[Array, Array]:
        """Toss with every action sequence."""
        states = rollout(self.model, self.start(actions), self.controls(actions))
        qpos = np.concatenate([self.start(actions)[:, None], states], axis=1)[..., 1:6]
        return self.compute_features(qpos), self.poses(qpos[:, ::RECORD_EVERY])

    def start(self, actions: Array) -> Array:
        """The initial states, at rest: (N, 9) -> (N, S)."""
        states = np.zeros((len(actions), state_size(self.model)))
        states[:, 1:6] = actions[:, :5]
        return states

    def controls(self, actions: Array) -> Array:
        """The motors' controls at every step: (N, 9) -> (N, 1000, 2)."""
        controls = np.zeros((len(actions), STEPS, 2))
        controls[:, FALL:FIRST] = actions[:, None, 5:7]
        controls[:, FIRST:SECOND] = actions[:, None, 7:9]
        return controls

    def compute_features(self, qpos: Array) -> Array:
        """Features of q0 to q4 before the first and after every step: (N, 1001, 5) -> (N, d)."""
        height, along, angle = np.moveaxis(qpos[:, SECOND + 1 :, 2:], -1, 0)
        final = OBJECT[0] + along[:, -1]
        values = {
            "range": -along.min(axis=1),
            "flips": np.abs(np.diff(angle, axis=1)).sum(axis=1) / (2 * np.pi),
            "altitude": OBJECT[1] + height.max(axis=1),
            "basket distance": np.min([np.abs(final - y) for y in BASKETS.values()], axis=0),
        }
        return np.stack([values[name] for name in self.feature_names], axis=-1)

    def poses(self, qpos: Array) -> Array:
        """Poses of hand and capsule from q0 to q4: (..., 5) -> (..., 2, 3)."""
        q0, q1, q2, q3, q4 = np.moveaxis(qpos, -1, 0)
        hand = np.stack([np.zeros_like(q0), HINGE + q0, -q1], axis=-1)
        capsule = np.stack([-OBJECT[0] - q3, OBJECT[1] + q2, -q4], axis=-1)
        return np.stack([hand, capsule], axis=-2)

    @cached_property
    def scene(self) -> Scene:
        """Hand, capsule and baskets, from the side."""
        limbs = tuple(
            Capsule(_mirrored(start), _mirrored(end), LIMB_RADIUS, HAND) for start, end in (PALM, FINGER)
        )
        capsule = Capsule((0.0, -OBJECT_HALF), (0.0, OBJECT_HALF), OBJECT_RADIUS, CAPSULE)
        return Scene(
            (
                Part("floor", (rectangle(-4.0, 5.0, -2.0, 0.0, GROUND),)),
                Part("wall", (Capsule((0.0, 0.0), (0.0, 1.0), LIMB_RADIUS, STEEL),)),
                *(Part(f"{name} basket", _basket_shapes(name)) for name in BASKETS),
                Part("hand", limbs, moves=True),
                Part("capsule", (capsule,), moves=True, trail=True),
            ),
            Window(-0.45, 1.95, -0.12, 1.35),
            frame_time=RECORD_EVERY * TIME_STEP,
            background=SKY,
            main_part="capsule",
        )


def _mirrored(point: tuple[float, float]) -> tuple[float, float]:
    return (-point[0], point[1])


def _basket_shapes(name: str) -> tuple[Capsule, ...]:
    center, color = -BASKETS[name], BASKET_COLORS[name]
    dx, dy = BASKET_SIDE * np.sin(BASKET_TILT), BASKET_SIDE * np.cos(BASKET_TILT)
    sides = [
        Capsule(
            (center + side * (BASKET_HALF - dx), BASKET_HEIGHT - dy),
            (center + side * (BASKET_HALF + dx), BASKET_HEIGHT + dy),
            LIMB_RADIUS,
            color,
        )
        for side in (-1, 1)
    ]
    floor = Capsule((center - BASKET_FLOOR, 0.02), (center + BASKET_FLOOR, 0.02), LIMB_RADIUS, color)
    return (*sides, floor)
