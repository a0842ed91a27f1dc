"""The MuJoCo model of golf: the Fetch robot with a putter in its gripper, a ball on a tee, and a floor.

The robot's model files come with the package gymnasium-robotics and are read from there; their license does
not allow us to redistribute them. All joints are fixed but two: the forearm hangs straight down, its roll
aims the putter, and the wrist swings it. The robot stands beside the line of play with its forearm's axis
through the tee, which is the origin; the ball is played along x.
"""

from importlib.metadata import version as version_of
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.commands import install_command
from prefero._support.optional import MissingExtra
from prefero.worlds.mujoco.rollout import engine

MODEL_FILE = Path("envs", "assets", "fetch", "reach.xml")
REMOVED_BODIES = ("robot0:mocap", "floor0", "table0", "robot0:external_camera_body_0")
AIM, SWING = "robot0:forearm_roll_joint", "robot0:wrist_flex_joint"
FOREARM, WRIST, GRIPPER = "robot0:forearm_roll_link", "robot0:wrist_flex_link", "robot0:gripper_link"

TORSO_LIFT = 0.386
REACH = 0.5016  # from the base to the forearm's axis
QUARTER_TURN = np.sqrt(0.5)  # in quaternions: cosine and sine of half a right angle
GRIP_HEIGHT = 0.5456
SHAFT, SHAFT_RADIUS, SHAFT_MASS = 0.5, 0.006, 0.1
HEAD_HEIGHT, HEAD_WIDTH, HEAD_DEPTH, HEAD_MASS, HEAD_CLEARANCE = 0.06, 0.10, 0.012, 0.35, 0.012
BALL_RADIUS, BALL_MASS = 0.0335, 0.046

STIFFNESS, DAMPING, MAX_TORQUE = 4000.0, 400.0, 25.0  # of the motors: Nm/rad, Nm s/rad, Nm
JOINT_DAMPING, ARMATURE = 5.0, 1.0
TIME_STEP = 0.001
NO_CONTACT = {"contype": 0, "conaffinity": 0}  # contacts are declared pair by pair


def package_version() -> str:
    """The version of the package that the robot's model files come with."""
    return f"gymnasium-robotics {version_of('gymnasium-robotics')}"


def model_file() -> Path:
    """The robot's model file in the installed package, or an error that says how to get it."""
    package = find_spec("gymnasium_robotics")
    folders = [] if package is None else package.submodule_search_locations or []
    for folder in folders:
        if (Path(folder) / MODEL_FILE).is_file():
            return Path(folder) / MODEL_FILE
    raise MissingExtra(
        "golf needs the Fetch robot's model files, which come with the package 'gymnasium-robotics' and are "
        f"not installed: type  {install_command(['worlds'])}",
        "worlds",
    )


def build() -> Any:
    """The compiled model."""
    spec = engine().MjSpec.from_file(str(model_file()))
    _strip_robot(spec)
    _set_posture(spec)
    _add_motors(spec)
    _add_putter(spec)
    _add_floor_and_ball(spec)
    return spec.compile()


def _strip_robot(spec: Any) -> None:
    """Keep only the robot, rigid except for two joints, without contacts and without weight."""
    for element in (*spec.equalities, *spec.excludes, *spec.lights, spec.geom("floor0")):
        spec.delete(element)
    for name in REMOVED_BODIES:
        spec.delete(spec.body(name))
    for joint in list(spec.joints):
        if joint.name not in (AIM, SWING):
            spec.delete(joint)
    for geom in spec.geoms:
        geom.contype = geom.conaffinity = 0
    for body in spec.bodies:
        body.gravcomp = 1.0


def _set_posture(spec: Any) -> None:
    """Arm out, elbow bent, forearm down; the base is turned so that the putter swings along x."""
    torso = spec.body("robot0:torso_lift_link")
    torso.pos = torso.pos + np.array([0.0, 0.0, TORSO_LIFT])
    spec.body("robot0:elbow_flex_link").quat = [QUARTER_TURN, 0, QUARTER_TURN, 0]
    spec.body(FOREARM).quat = [QUARTER_TURN, QUARTER_TURN, 0, 0]
    base = spec.body("robot0:base_link")
    base.pos, base.quat = [0.0, REACH, 0.0], [QUARTER_TURN, 0, 0, -QUARTER_TURN]


def _add_motors(spec: Any) -> None:
    """Motors with feedback: torque = control - stiffness * angle - damping * velocity, within limits."""
    mujoco = engine()
    for name in (AIM, SWING):
        joint = spec.joint(name)
        joint.damping, joint.armature, joint.limited = [JOINT_DAMPING, 0, 0], ARMATURE, False
        joint.stiffness, joint.frictionloss = [0, 0, 0], 0.0
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.gaintype, motor.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        motor.gainprm[0] = 1.0
        motor.biasprm[:3] = [0.0, -STIFFNESS, -DAMPING]
        motor.forcelimited, motor.forcerange = True, [-MAX_TORQUE, MAX_TORQUE]


def _add_putter(spec: Any) -> None:
    """A putter in the gripper, whose x axis points down and whose y axis is the wrist's.

    It is a separate body, since MuJoCo ignores the mass of geoms added to a body with a declared mass.
    """
    kinds = engine().mjtGeom
    putter = spec.body(GRIPPER).add_body(name="putter", gravcomp=1.0)
    putter.add_geom(
        name="shaft",
        type=kinds.mjGEOM_CAPSULE,
        fromto=[0, 0, 0, SHAFT, 0, 0],
        size=[SHAFT_RADIUS, 0, 0],
        mass=SHAFT_MASS,
        **NO_CONTACT,
        rgba=[0.75, 0.77, 0.8, 1],
    )
    putter.add_geom(
        name="head",
        type=kinds.mjGEOM_BOX,
        pos=[GRIP_HEIGHT - HEAD_CLEARANCE - HEAD_HEIGHT / 2, 0, 0],
        size=[HEAD_HEIGHT / 2, HEAD_WIDTH / 2, HEAD_DEPTH / 2],
        mass=HEAD_MASS,
        **NO_CONTACT,
        rgba=[0.2, 0.22, 0.26, 1],
    )


def _add_floor_and_ball(spec: Any) -> None:
    """A floor and a ball on it; the only contacts are ball with floor and ball with putter."""
    kinds, option = engine().mjtGeom, spec.option
    option.timestep, option.impratio = TIME_STEP, 10.0
    option.integrator = engine().mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = engine().mjtCone.mjCONE_ELLIPTIC
    option.iterations, option.tolerance = 50, 1e-10
    spec.worldbody.add_geom(name="floor", type=kinds.mjGEOM_PLANE, size=[10, 10, 0.1], **NO_CONTACT)
    ball = spec.worldbody.add_body(name="ball", pos=[0, 0, BALL_RADIUS])
    ball.add_freejoint()
    ball.add_geom(
        name="ball",
        type=kinds.mjGEOM_SPHERE,
        size=[BALL_RADIUS, 0, 0],
        mass=BALL_MASS,
        **NO_CONTACT,
        rgba=[1, 1, 1, 1],
    )
    spec.add_pair(
        name="roll",
        geomname1="ball",
        geomname2="floor",
        condim=6,
        friction=[0.6, 0.6, 0.003, 0.002, 0.002],
        solref=[0.02, 1],
    )
    spec.add_pair(  # with a stiffer club the final position is rough, and not even monotone in the speed
        name="strike",
        geomname1="ball",
        geomname2="head",
        condim=3,
        friction=[0.1, 0.1, 0.005, 0.0001, 0.0001],
        solref=[0.03, 1],
        solimp=[0.99, 0.99, 0.001, 0.5, 2],
    )
