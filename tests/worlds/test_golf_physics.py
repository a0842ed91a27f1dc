"""The physics of golf: the arm, the putter and the ball, against a plain loop of MuJoCo's steps."""

from typing import Any, NamedTuple

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.worlds.golf import Golf, swing
from prefero.worlds.mujoco import fetch
from prefero.worlds.mujoco.fetch import AIM, SWING

SLOWEST, FASTEST = [0.6, -35.0], [2.2, 35.0]


# --- a plain loop of steps --------------------------------------------------------------------------------


class Recorded(NamedTuple):
    """What happened in a shot, step by step."""

    positions: Array  # (T, nq)
    velocities: Array  # (T, nv)
    torques: Array  # (T, 2)
    touching: list[set[tuple[str, str]]]

    @property
    def strike(self) -> int:
        """The first step at which putter and ball touch."""
        return next(n for n, pairs in enumerate(self.touching) if ("ball", "head") in pairs)


def looped(golf: Golf, action: list[float], controls: Array | None = None) -> Recorded:
    model, data = golf.model, mujoco.MjData(golf.model)
    controls = golf.controls(np.array([action]))[0] if controls is None else controls
    mujoco.mj_setState(model, data, golf.start(np.array([action]))[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    names = [model.geom(number).name for number in range(model.ngeom)]
    rows = []
    for control in controls:
        data.ctrl[:] = control
        mujoco.mj_step(model, data)
        touching = {(min(names[a], names[b]), max(names[a], names[b])) for a, b in data.contact.geom}
        rows.append((data.qpos.copy(), data.qvel.copy(), data.actuator_force.copy(), touching))
    positions, velocities, torques, pairs = zip(*rows, strict=True)
    return Recorded(np.array(positions), np.array(velocities), np.array(torques), list(pairs))


@pytest.fixture(scope="module", params=[SLOWEST, FASTEST], ids=["slowest", "fastest"])
def shot(golf: Golf, request: pytest.FixtureRequest) -> tuple[list[float], Recorded]:
    return request.param, looped(golf, request.param)


def test_the_putter_strikes_the_ball_which_lies_still_until_then(
    shot: tuple[list[float], Recorded],
) -> None:
    _, seen = shot
    ball = seen.positions[:, -7:-4]
    np.testing.assert_allclose(ball[: seen.strike, :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(ball[: seen.strike, 2], 0.0335, atol=5e-4)  # it settles on the soft floor
    moving = np.hypot(*seen.velocities[:, -6:-4].T) > 1e-6
    assert int(np.argmax(moving)) >= seen.strike
    assert np.hypot(*ball[-1, :2]) > 0.4


def test_the_wrist_has_the_speed_of_the_shot_as_it_meets_the_ball(
    golf: Golf, shot: tuple[list[float], Recorded]
) -> None:
    (speed, _), seen = shot
    joint = golf.model.joint(SWING)
    assert seen.velocities[seen.strike, joint.dofadr[0]] == pytest.approx(speed, rel=0.01)
    assert abs(seen.positions[seen.strike, joint.qposadr[0]]) < 0.08


def test_the_forearm_keeps_its_aim(golf: Golf, shot: tuple[list[float], Recorded]) -> None:
    (_, angle), seen = shot
    roll = seen.positions[:, golf.model.joint(AIM).qposadr[0]]
    np.testing.assert_allclose(np.rad2deg(roll), -angle, atol=0.05)


def test_the_wrist_swings_from_behind_the_ball_to_past_it(
    golf: Golf, shot: tuple[list[float], Recorded]
) -> None:
    _, seen = shot
    wrist = seen.positions[:, golf.model.joint(SWING).qposadr[0]]
    assert wrist[0] == pytest.approx(-0.7, abs=1e-3)
    assert wrist[-1] == pytest.approx(0.6, abs=1e-3)
    assert np.all((wrist > -0.705) & (wrist < 0.605))


def test_the_motors_stay_within_their_limits(shot: tuple[list[float], Recorded]) -> None:
    assert 1.0 < np.abs(shot[1].torques).max() < 25.0


def test_nothing_touches_but_ball_and_floor_and_ball_and_putter(shot: tuple[list[float], Recorded]) -> None:
    assert set.union(*shot[1].touching) == {("ball", "floor"), ("ball", "head")}


def test_the_ball_comes_to_rest_on_the_floor(shot: tuple[list[float], Recorded]) -> None:
    _, seen = shot
    assert np.abs(seen.velocities[-100:, -6:]).max() < 1e-6
    assert seen.positions[-1, -5] == pytest.approx(0.0335, abs=5e-4)


def test_a_rollout_is_this_loop_to_the_last_bit(golf: Golf, shot: tuple[list[float], Recorded]) -> None:
    action, seen = shot
    poses = golf.rollout(action).poses
    np.testing.assert_array_equal(poses[1:], golf.poses(seen.positions[39::40]).astype(np.float32))


def test_without_a_swing_the_ball_stays(golf: Golf) -> None:
    start = golf.start(np.array([[1.0, 10.0]]))[0, 1:]
    joints = [golf.model.joint(number).qposadr[0] for number in golf.model.actuator_trnid[:, 0]]
    seen = looped(golf, [1.0, 10.0], np.tile(4000.0 * start[joints], (1500, 1)))
    assert set.union(*seen.touching) == {("ball", "floor")}
    np.testing.assert_allclose(seen.positions[:, -7:-5], 0.0, atol=1e-9)
    np.testing.assert_allclose(seen.positions[:, joints], np.tile(start[joints], (1500, 1)), atol=1e-4)


# --- the swing that is asked for --------------------------------------------------------------------------


@given(st.floats(0.6, 2.2))
def test_the_swing_is_smooth_and_steady_around_the_tee(speed: float) -> None:
    time = np.arange(0.0, 5.6, 0.001)
    angle, rate, change = (row[0] for row in swing(np.array([[speed]]), time))
    assert (angle[0], rate[0], angle[-1], rate[-1], change[-1]) == (-0.7, 0.0, 0.6, 0.0, 0.0)
    np.testing.assert_allclose(rate[np.abs(angle) < 0.08], speed, rtol=1e-9)
    jumps = np.abs(np.diff(change)) > 1e-9
    assert jumps.sum() == 3  # gathers, keeps, loses speed, rests
    smooth = ~(jumps[1:] | jumps[:-1])
    middle = (angle[2:] - angle[:-2]) / 0.002
    np.testing.assert_allclose(middle[smooth], rate[1:-1][smooth], atol=1e-9)
    bends = (rate[2:] - rate[:-2]) / 0.002
    np.testing.assert_allclose(bends[smooth], change[1:-1][smooth], atol=1e-9)


# --- the model --------------------------------------------------------------------------------------------


def test_the_physics_is_set_as_published(golf: Golf) -> None:
    option = golf.model.opt
    assert (option.timestep, option.impratio, option.iterations, option.tolerance) == (0.001, 10.0, 50, 1e-10)
    assert option.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert option.cone == mujoco.mjtCone.mjCONE_ELLIPTIC


@pytest.mark.parametrize(
    ("name", "condim", "friction", "solref"),
    [
        ("roll", 6, [0.6, 0.6, 0.003, 0.002, 0.002], [0.02, 1.0]),
        ("strike", 3, [0.1, 0.1], [0.03, 1.0]),
    ],
)
def test_the_ball_touches_as_published(
    golf: Golf, name: str, condim: int, friction: list[float], solref: list[float]
) -> None:
    pair = golf.model.pair(name)
    assert pair.dim[0] == condim
    assert pair.friction[: len(friction)].tolist() == friction
    assert pair.solref.tolist() == solref
    if name == "strike":
        assert pair.solimp[:2].tolist() == [0.99, 0.99]


def test_only_two_pairs_can_touch(golf: Golf) -> None:
    assert golf.model.npair == 2
    assert not golf.model.geom_contype.any()
    assert not golf.model.geom_conaffinity.any()


@pytest.mark.parametrize("name", [AIM, SWING])
def test_the_motors_are_as_published(golf: Golf, name: str) -> None:
    model = golf.model
    joint, motor = model.joint(name), model.actuator(name)
    assert model.dof_damping[joint.dofadr[0]] == 5.0
    assert model.dof_armature[joint.dofadr[0]] == 1.0
    assert not joint.limited[0]
    assert motor.trnid[0] == joint.id
    assert motor.gainprm[0] == 1.0
    assert motor.biasprm[:3].tolist() == [0.0, -4000.0, -400.0]
    assert motor.forcelimited[0]
    assert motor.forcerange.tolist() == [-25.0, 25.0]


def test_the_arm_has_two_joints_and_the_ball_is_free(golf: Golf) -> None:
    model = golf.model
    assert [model.joint(number).name for number in range(2)] == [AIM, SWING]
    assert model.jnt_type.tolist() == [3, 3, 0]  # two hinges and a free one
    assert model.neq == model.nmocap == 0


def test_gravity_is_compensated_for_the_robot_and_not_for_the_ball(golf: Golf) -> None:
    weightless = {golf.model.body(number).name for number in np.flatnonzero(golf.model.body_gravcomp == 1.0)}
    bodies = {golf.model.body(number).name for number in range(1, golf.model.nbody)}
    assert bodies - weightless == {"ball"}


def at_rest(golf: Golf) -> Any:
    data = mujoco.MjData(golf.model)
    mujoco.mj_forward(golf.model, data)
    return data


def test_the_forearm_hangs_over_the_tee_and_the_wrist_swings_along_the_line_of_play(golf: Golf) -> None:
    data = at_rest(golf)
    aim, wrist = golf.model.joint(AIM).id, golf.model.joint(SWING).id
    np.testing.assert_allclose(data.xanchor[[aim, wrist], :2], 0.0, atol=1e-9)
    np.testing.assert_allclose(data.xaxis[aim], [0, 0, -1], atol=1e-9)
    np.testing.assert_allclose(data.xaxis[wrist], [0, -1, 0], atol=1e-9)
    np.testing.assert_allclose(data.xpos[golf.model.body("ball").id], [0, 0, 0.0335], atol=1e-9)


def test_the_robot_stands_beside_the_line_of_play(golf: Golf) -> None:
    """Its base lies well to one side, and its torso is lifted."""
    data = at_rest(golf)
    base, torso = (golf.model.body(f"robot0:{name}").id for name in ("base_link", "torso_lift_link"))
    assert np.hypot(*data.xpos[base][:2]) > 0.4
    assert abs(data.xpos[base][0]) < 0.05
    assert data.xpos[torso][2] - data.xpos[base][2] > 0.386


def test_putter_and_ball_have_the_published_sizes(golf: Golf) -> None:
    model, data = golf.model, at_rest(golf)
    ball, shaft, head = (model.geom(name) for name in ("ball", "shaft", "head"))
    assert (ball.size[0], model.body("ball").mass[0]) == (0.0335, pytest.approx(0.046))
    assert (shaft.type[0], 2 * shaft.size[1]) == (mujoco.mjtGeom.mjGEOM_CAPSULE, pytest.approx(0.5))
    assert sorted(2 * head.size) == pytest.approx([0.012, 0.06, 0.1])
    extent = np.abs(data.geom_xmat[head.id].reshape(3, 3)) @ head.size
    np.testing.assert_allclose(2 * extent, [0.012, 0.1, 0.06], atol=1e-9)  # thin along the line of play
    assert data.geom_xpos[head.id][2] - extent[2] == pytest.approx(0.012, abs=1e-4)


def test_the_putter_weighs_what_was_published(golf: Golf) -> None:
    """What the arm with the putter weighs more than the arm alone: a head of 0.35 kg, and some shaft."""
    bare = mujoco.MjSpec.from_file(str(fetch.model_file())).compile()
    more = (
        golf.model.body_subtreemass[golf.model.body("robot0:gripper_link").id]
        - (bare.body_subtreemass[bare.body("robot0:gripper_link").id])
    )
    assert 0.35 < more < 0.5


def test_the_targets_are_not_in_the_physics(golf: Golf) -> None:
    model = golf.model
    geoms = {model.geom(number).name for number in range(model.ngeom)}
    assert {name for name in geoms if not name.startswith("robot0:")} == {"floor", "shaft", "head", "ball"}
    words = {word for number in range(model.nbody) for word in model.body(number).name.split()}
    assert not words & {target.name for target in golf.targets}
