"""Golf: the arm strikes the ball, targets can be hit, and only a nonlinear reward prefers a middle one."""

import json
import sys
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.rendering.canvas_3d import Canvas3D
from prefero.rendering.labels import boxes_around, overlap
from prefero.rendering.scenes import Mesh
from prefero.simulation.users import SimulatedUser, on_targets, with_unit_std
from prefero.worlds import make
from prefero.worlds.golf import Golf, Target, swing
from prefero.worlds.mujoco import fetch, golf_renderer
from prefero.worlds.mujoco.fetch import AIM, SWING

ROOT = Path(__file__).resolve().parents[2]
MIDDLE = ("red", "orange", "yellow", "black", "teal", "blue")
SLOWEST, FASTEST = [0.6, -35.0], [2.2, 35.0]


def polar(places: Array) -> tuple[Array, Array]:
    """Distances in metres, and directions in degrees."""
    return np.hypot(places[..., 0], places[..., 1]), np.rad2deg(np.arctan2(places[..., 1], places[..., 0]))


def pool_positions(golf: Golf, pool: Pool) -> Array:
    assert pool.trajectories is not None
    return golf.ball_positions(pool.trajectories)


def on(places: Array, target: Target, slack: float = 0.0) -> Any:
    """Does the ball rest on the disc?"""
    return np.hypot(*(places - target.position).T) <= 0.14 + slack


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
    painted = fetch.build(lambda spec: golf_renderer._add_course(spec, 64, 48))
    assert painted.ngeom == model.ngeom + 1 + len(golf.targets)  # only in the model that is rendered


# --- where the ball goes ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def straight(golf: Golf) -> tuple[Array, Array]:
    """25 speeds, and how far the ball goes."""
    speeds = np.linspace(0.6, 2.2, 25)
    return speeds, golf.ball_positions(golf.rollout(np.column_stack([speeds, np.full(25, 0.0)])))[:, 0]


def test_the_distance_rises_with_the_speed(straight: tuple[Array, Array]) -> None:
    assert np.all(np.diff(straight[1]) > 0.05)


def test_the_distance_is_smooth_in_the_speed(straight: tuple[Array, Array]) -> None:
    speeds, distances = straight
    curve = np.polynomial.Polynomial.fit(speeds, distances, 5)
    assert np.abs(curve(speeds) - distances).max() < 0.02


def test_the_distances_are_the_documented_ones(straight: tuple[Array, Array]) -> None:
    assert straight[1][0] == pytest.approx(0.44, rel=0.03)
    assert straight[1][-1] == pytest.approx(4.06, rel=0.03)


def test_the_ball_goes_where_the_putter_aims(golf: Golf, golf_pool: Pool) -> None:
    _, directions = polar(pool_positions(golf, golf_pool))
    np.testing.assert_allclose(directions, golf_pool.features[:, 1], atol=0.1)


def test_the_distance_does_not_depend_on_the_angle(golf: Golf, golf_pool: Pool) -> None:
    distances = polar(pool_positions(golf, golf_pool))[0].reshape(11, 11)
    assert np.ptp(distances, axis=1).max() < 0.01
    assert np.all(np.diff(distances, axis=0) > 0.1)


def test_every_ball_is_at_rest_at_the_end(golf: Golf, golf_pool: Pool) -> None:
    assert golf_pool.trajectories is not None
    ball = golf_pool.trajectories.poses[:, :, golf.scene.index("ball")]
    np.testing.assert_allclose(ball[:, -1], ball[:, -3], atol=1e-6)


def test_the_same_shot_gives_the_same_trajectory(golf: Golf) -> None:
    first, again = golf.rollout([1.7, 13.0]), golf.rollout([[0.9, 0.0], [1.7, 13.0]])[1]
    np.testing.assert_array_equal(first.poses, again.poses)


def test_features_are_the_action(golf_pool: Pool) -> None:
    assert golf_pool.trajectories is not None
    np.testing.assert_array_equal(golf_pool.features, golf_pool.trajectories.actions)


def test_ball_positions_are_predicted_without_simulation(golf: Golf, golf_pool: Pool) -> None:
    off = golf.predict_ball_positions(golf_pool.features) - pool_positions(golf, golf_pool)
    assert np.hypot(*off.T).max() < 0.015


# --- targets ----------------------------------------------------------------------------------------------


def shot_at(golf: Golf, target: Target) -> Array:
    """The shot that should land on a target's middle, or as near as the arm can play."""
    speeds = np.linspace(0.6, 2.2, 2001)
    distances, _ = polar(golf.predict_ball_positions(np.column_stack([speeds, np.zeros(2001)])))
    return np.array([speeds[np.argmin(np.abs(distances - target.distance))], target.angle])


def test_every_target_can_be_hit(golf: Golf) -> None:
    shots = np.stack([shot_at(golf, target) for target in golf.targets])
    for place, target in zip(golf.ball_positions(golf.rollout(shots)), golf.targets, strict=True):
        assert on(place, target), target.name


def test_there_are_eight_targets_of_different_names_and_colors(golf: Golf) -> None:
    assert len(golf.targets) == 8
    assert len({target.name for target in golf.targets}) == len({t.color for t in golf.targets}) == 8
    assert golf.target_radius == 0.14
    assert {target.name for target in golf.targets} > set(MIDDLE)


def test_targets_do_not_overlap(golf: Golf) -> None:
    for one, other in combinations(golf.targets, 2):
        assert np.hypot(*(one.position - other.position)) > 2 * 0.14, (one.name, other.name)


def test_targets_lie_inside_what_can_be_reached(golf: Golf, straight: tuple[Array, Array]) -> None:
    for target in golf.targets:
        distance, direction = polar(target.position)
        assert straight[1][0] < distance < straight[1][-1]
        assert -35.0 < direction < 35.0
        assert (distance, direction) == pytest.approx((target.distance, target.angle))


def test_targets_are_drawn_where_they_are(golf: Golf) -> None:
    parts = {part.name: part for part in golf.scene.parts}
    for target in golf.targets:
        part = parts[f"{target.name} target"]
        (disc,) = part.shapes
        assert isinstance(disc, Mesh)
        assert (part.label, part.moves, disc.color) == (target.name, False, target.color)
        reach = np.hypot(*(disc.vertices[:, :2] - target.position).T)
        assert reach.max() == pytest.approx(0.14)
        assert 0.0 < disc.vertices[:, 2].max() < 0.005


def directions(count: int) -> Array:
    turns = 2 * np.pi * (np.arange(count) + 0.5) / count
    return np.column_stack([np.cos(turns), np.sin(turns)])


def test_no_linear_reward_is_highest_on_a_middle_target(golf: Golf, golf_pool: Pool) -> None:
    places = pool_positions(golf, golf_pool)
    highest = {int(np.argmax(golf_pool.scaled @ weights)) for weights in directions(720)}
    assert len(highest) == 4  # the corners
    for target in golf.targets:
        if target.name in MIDDLE:
            assert not any(on(places[index], target) for index in highest), target.name


def test_nor_is_one_that_cares_for_speed_or_angle_alone(golf: Golf, golf_pool: Pool) -> None:
    """Such a reward is highest all along an edge of what can be reached."""
    grid = np.arange(121).reshape(11, 11)
    edge = np.unique(np.concatenate([grid[0], grid[-1], grid[:, 0], grid[:, -1]]))
    places = pool_positions(golf, golf_pool)[edge]
    for target in golf.targets:
        assert target.name not in MIDDLE or not np.any(on(places, target)), target.name


def test_a_learned_reward_is_highest_on_a_middle_target(golf: Golf, golf_pool: Pool) -> None:
    """Somebody wants the ball on the black target, or near it, and says so 25 times."""
    target = next(target for target in golf.targets if target.name == "black")
    nearness = on_targets(target.position[None], np.array([9.0]), reach=0.8)
    wish = with_unit_std(
        lambda x: nearness(golf.predict_ball_positions(golf_pool.scaling.inverse(x))), golf_pool.scaled
    )
    person, rng, learner = SimulatedUser(wish), np.random.default_rng(0), Learner(golf_pool)
    for _ in range(25):
        question = learner.ask(purpose="best")
        left, right = golf_pool.scaled[question.left], golf_pool.scaled[question.right]
        learner.tell(question, person.answer(left, right, rng))
    best = learner.reward().best(golf_pool).index
    assert on(pool_positions(golf, golf_pool)[best], target, slack=0.14)


# --- the scene --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_moving_parts_are_drawn_where_mujoco_has_them(golf: Golf, seed: int) -> None:
    rng, data = np.random.default_rng(seed), mujoco.MjData(golf.model)
    turn = Rotation.random(random_state=seed).as_quat(scalar_first=True)
    data.qpos[:] = [*rng.uniform(-1.0, 1.0, 2), *rng.uniform(-1.0, 3.0, 3), *turn]
    mujoco.mj_forward(golf.model, data)
    poses = golf.poses(data.qpos.copy())
    assert [part.name for part in golf.scene.moving] == ["forearm", "putter", "ball"]
    for pose, body in zip(poses, ("robot0:forearm_roll_link", "robot0:wrist_flex_link", "ball"), strict=True):
        wanted = golf.model.body(body).id
        np.testing.assert_allclose(pose[:3], data.xpos[wanted], atol=1e-9)
        sign = np.sign(pose[3:] @ data.xquat[wanted])
        np.testing.assert_allclose(sign * pose[3:], data.xquat[wanted], atol=1e-9)


def test_the_part_of_the_putter_is_drawn_around_its_head(golf: Golf) -> None:
    """In the middle of a swing, the vertices of the head's mesh are the corners of MuJoCo's box."""
    data = mujoco.MjData(golf.model)
    data.qpos[:2] = [0.3, 0.2]
    mujoco.mj_forward(golf.model, data)
    head = golf.model.geom("head")
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = data.geom_xpos[head.id] + (signs * head.size) @ data.geom_xmat[head.id].reshape(3, 3).T
    index = golf.scene.index("putter")
    pose = golf.poses(data.qpos.copy())[index]
    turn = Rotation.from_quat(pose[3:], scalar_first=True)
    boxes = [s for s in golf.scene.moving[index].shapes if isinstance(s, Mesh) and len(s.vertices) == 8]
    found = [np.sort(turn.apply(box.vertices) + pose[:3], axis=0) for box in boxes]
    assert sum(np.allclose(places, np.sort(corners, axis=0), atol=1e-9) for places in found) == 1


@pytest.mark.parametrize("width", [720, 360])
def test_every_target_has_its_label_and_none_covers_a_target_or_the_ball(
    golf: Golf, golf_pool: Pool, width: int
) -> None:
    for index in range(0, len(golf_pool), len(golf_pool) // 5):
        poses = golf_pool.trajectory(index).poses.astype(float)
        canvas = Canvas3D(golf.scene, width, 2 * width // 3, poses)
        boxes = [text.get_window_extent().extents for text in canvas.labels]
        assert {text.get_text() for text in canvas.labels} == {target.name for target in golf.targets}
        flipped = [
            [left, 2 * width // 3 - top, right, 2 * width // 3 - low] for left, low, right, top in boxes
        ]
        ball = boxes_around(canvas.pixels_of(poses[:, 2, :3]), 0.01 * width)
        targets = np.array([canvas.pixels_of(target_rim(target)) for target in golf.targets])
        seen = np.concatenate([ball, np.concatenate([targets.min(axis=1), targets.max(axis=1)], axis=1)])
        assert not any(overlap(np.array(box), seen).any() for box in flipped)


def target_rim(target: Target) -> Array:
    turn = np.linspace(0, 2 * np.pi, 33)
    ring = target.position + 0.14 * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.column_stack([ring, np.zeros(33)])


def test_the_drawing_is_small_enough_for_the_browser(golf: Golf, golf_pool: Pool) -> None:
    assert len(json.dumps(golf.scene.to_json(), separators=(",", ":"))) < 500_000
    replay = golf.scene.replay(golf_pool.trajectory(0).poses)
    assert len(json.dumps(replay, separators=(",", ":"))) < 40_000


# --- the robot's files ------------------------------------------------------------------------------------


def test_the_robots_files_are_not_in_the_repository() -> None:
    kinds = {".stl", ".obj", ".msh", ".dae", ".ply", ".mjb", ".glb"}
    ours = [top for top in ROOT.iterdir() if not top.name.startswith(".")]
    files = [file for top in ours for file in (top, *top.rglob("*")) if file.is_file()]
    assert len(files) > 50
    assert [file.name for file in files if file.suffix.lower() in kinds] == []


def test_the_robots_files_come_with_their_package() -> None:
    assert "gymnasium_robotics" in fetch.model_file().parts
    assert ROOT / "src" not in fetch.model_file().parents


def without_files(folder: Path) -> Any:
    return SimpleNamespace(submodule_search_locations=[str(folder)])


@pytest.mark.parametrize("installed", [False, True])
def test_without_the_robots_files_it_says_what_to_install(
    installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "find_spec", lambda _: without_files(tmp_path) if installed else None)
    with pytest.raises(MissingExtra, match=r"Fetch robot's model files.*pip install .*\[worlds\]'"):
        make("golf")


def test_without_mujoco_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"'mujoco', which is not installed: .*\[worlds\]"):
        make("golf")
