"""Tosser: the compiled model has the published constants, and its rollouts equal a loop of single steps."""

import sys
from typing import Any

import mujoco
import numpy as np
import pytest
from mujoco import rollout

from prefero._support.arrays import Array
from prefero._support.optional import MissingExtra
from prefero.rendering.scenes import Capsule, Part, Polygon
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import make
from prefero.worlds.tosser import Tosser

EVERYTHING = ("range", "flips", "altitude", "basket distance")
RANDOM = 300  # rollouts for statistics


@pytest.fixture(scope="module")
def tosser() -> Tosser:
    return Tosser(EVERYTHING)


@pytest.fixture(scope="module")
def many(tosser: Tosser) -> Trajectory:
    return tosser.rollout(tosser.action_space.sample(RANDOM, np.random.default_rng(0)))


def looped(model: Any, action: Array) -> Array:
    """Positions q0 to q4 before the first and after every one of 1000 steps, by a plain loop: (1001, 5)."""
    data = mujoco.MjData(model)
    data.qpos[:] = action[:5]
    places = [data.qpos.copy()]
    for number in range(1000):
        data.ctrl[:] = action[5:7] if 150 <= number < 175 else action[7:9] if 175 <= number < 200 else 0.0
        mujoco.mj_step(model, data)
        places.append(data.qpos.copy())
    return np.array(places)


@pytest.fixture(scope="module")
def few(tosser: Tosser, many: Trajectory) -> list[Array]:
    """The first five of `many`, by the loop."""
    return [looped(tosser.model, action) for action in many.actions[:5]]


# --- the model --------------------------------------------------------------------------------------------


def test_the_physics_is_set_as_published(tosser: Tosser) -> None:
    option = tosser.model.opt
    assert option.timestep == 0.002
    assert option.gravity.tolist() == [0.0, 0.0, -9.81]
    assert option.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert option.solver == mujoco.mjtSolver.mjSOL_PGS
    assert option.iterations == 50
    assert option.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL


def test_every_geom_touches_as_published(tosser: Tosser) -> None:
    model = tosser.model
    for geom in range(model.ngeom):
        assert model.geom_friction[geom].tolist() == [1.0, 0.005, 0.0001]
        assert model.geom_margin[geom] == 0.001
        assert model.geom_solref[geom].tolist() == [0.02, 1.0]
        assert model.geom_solimp[geom][:3].tolist() == [0.8, 0.8, 0.01]
        basket = "basket" in model.body(model.geom_bodyid[geom]).name
        assert model.geom_condim[geom] == (1 if basket else 3)


@pytest.mark.parametrize(
    ("name", "slides", "axis", "damping", "limits"),
    [
        ("q0", True, [0, 0, 1], 10.0, (-0.6, 0.25)),
        ("q1", False, [1, 0, 0], 1.0, (-1.57, 0.8)),
        ("q2", True, [0, 0, 1], 0.01, None),
        ("q3", True, [0, 1, 0], 0.01, None),
        ("q4", False, [1, 0, 0], 0.01, None),
    ],
)
def test_the_joints_are_as_published(
    tosser: Tosser,
    name: str,
    slides: bool,
    axis: list[float],
    damping: float,
    limits: tuple[float, float] | None,
) -> None:
    joint = tosser.model.joint(name)
    kind = mujoco.mjtJoint.mjJNT_SLIDE if slides else mujoco.mjtJoint.mjJNT_HINGE
    assert (joint.type[0], joint.axis.tolist()) == (kind, axis)
    assert joint.qposadr[0] == int(name[1])
    assert tosser.model.dof_damping[joint.dofadr[0]] == damping
    assert tosser.model.dof_armature[joint.dofadr[0]] == 0.0
    assert bool(joint.limited[0]) == (limits is not None)
    if limits:
        assert tuple(joint.range) == limits


def test_the_hand_turns_about_the_top_of_the_palm(tosser: Tosser) -> None:
    data = mujoco.MjData(tosser.model)
    mujoco.mj_forward(tosser.model, data)
    np.testing.assert_allclose(data.xanchor[tosser.model.joint("q1").id], [0.0, 0.0, 0.7], atol=1e-12)


def test_the_two_motors_have_the_published_strength(tosser: Tosser) -> None:
    model = tosser.model
    assert model.nu == 2
    assert [model.joint(joint).name for joint in model.actuator_trnid[:, 0]] == ["q0", "q1"]
    assert model.actuator_gear[:, 0].tolist() == [35.0, 35.0]
    assert model.actuator_ctrllimited.tolist() == [1, 1]
    assert model.actuator_ctrlrange.tolist() == [[-1.0, 1.0], [-1.0, 1.0]]


def capsule_ends(model: Any, data: Any, geom: int) -> Array:
    """The ends of a capsule's axis as MuJoCo has them, (2, 3)."""
    assert model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE
    axis = data.geom_xmat[geom].reshape(3, 3)[:, 2] * model.geom_size[geom][1]
    return np.stack([data.geom_xpos[geom] - axis, data.geom_xpos[geom] + axis])


def same_line(found: Array, wanted: Any) -> bool:
    """The ends of a line have no order."""
    wanted = np.asarray(wanted, dtype=float)
    return bool(np.allclose(found, wanted, atol=1e-9) or np.allclose(found[::-1], wanted, atol=1e-9))


@pytest.mark.parametrize(
    ("name", "radius", "ends"),
    [
        ("wall", 0.02, [[0, 0, 0.0], [0, 0, 1.0]]),
        ("palm", 0.02, [[0, 0, 0.7], [0, -0.1, 0.6]]),
        ("finger", 0.02, [[0, -0.1, 0.6], [0, -0.15, 0.6]]),
        ("object", 0.05, [[0, -0.08, 0.925], [0, -0.08, 1.075]]),
    ],
)
def test_every_limb_lies_where_it_was_published(
    tosser: Tosser, name: str, radius: float, ends: list[list[float]]
) -> None:
    data = mujoco.MjData(tosser.model)
    mujoco.mj_forward(tosser.model, data)
    geom = tosser.model.geom(name).id
    assert tosser.model.geom_size[geom][0] == radius
    assert same_line(capsule_ends(tosser.model, data, geom), ends)


@pytest.mark.parametrize(("name", "y"), [("red basket", -1.0), ("green basket", -1.5)])
def test_the_baskets_stand_where_they_were_published(tosser: Tosser, name: str, y: float) -> None:
    model, data = tosser.model, mujoco.MjData(tosser.model)
    mujoco.mj_forward(model, data)
    found = [
        capsule_ends(model, data, g)
        for g in range(model.ngeom)
        if model.geom_bodyid[g] == model.body(name).id
    ]
    lean, rise = 0.1 * np.sin(0.2), 0.1 * np.cos(0.2)
    wanted = [
        [[0, y + 0.1 - lean, 0.12 - rise], [0, y + 0.1 + lean, 0.12 + rise]],
        [[0, y - 0.1 + lean, 0.12 - rise], [0, y - 0.1 - lean, 0.12 + rise]],
        [[0, y - 0.08, 0.02], [0, y + 0.08, 0.02]],
    ]
    assert all(same_line(f, w) for f, w in zip(found, wanted, strict=True))
    assert all(
        model.geom_size[g][0] == 0.02
        for g in range(model.ngeom)
        if model.geom_bodyid[g] == model.body(name).id
    )


def capsule_volume(radius: float, half: float) -> float:
    return float(np.pi * radius**2 * (2 * half + 4 * radius / 3))


def test_hand_and_capsule_are_as_heavy_as_water(tosser: Tosser) -> None:
    masses = tosser.model.body("hand").mass[0], tosser.model.body("object").mass[0]
    hand = capsule_volume(0.02, 0.05 * np.sqrt(2)) + capsule_volume(0.02, 0.025)
    np.testing.assert_allclose(masses, [1000 * hand, 1000 * capsule_volume(0.05, 0.075)], rtol=1e-6)


def after_two_seconds(model: Any) -> float:
    """How far the hand has sunk when the capsule is nowhere near."""
    data = mujoco.MjData(model)
    data.qpos[3] = -3.0
    for _ in range(1000):
        mujoco.mj_step(model, data)
    return float(data.qpos[0])


def test_friction_with_the_wall_holds_the_hand_up() -> None:
    model = Tosser().model
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert [sorted(model.geom(g).name for g in contact.geom) for contact in data.contact] == [
        ["palm", "wall"]
    ]
    assert -0.1 < after_two_seconds(model) < 0.0
    model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT
    assert after_two_seconds(model) < -0.55


# --- rollouts ---------------------------------------------------------------------------------------------


def test_a_rollout_is_a_loop_of_steps_to_the_last_bit(
    tosser: Tosser, many: Trajectory, few: list[Array]
) -> None:
    model = tosser.model
    actions = many.actions[:5]
    start = np.zeros((5, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1:6] = actions[:, :5]
    controls = np.zeros((5, 1000, 2))
    controls[:, 150:175], controls[:, 175:200] = actions[:, None, 5:7], actions[:, None, 7:9]
    states, _ = rollout.rollout(model, [mujoco.MjData(model)], start, controls)
    np.testing.assert_array_equal(states[..., 1:6], np.array(few)[:, 1:])


def test_features_are_those_of_a_plain_loop(many: Trajectory, few: list[Array]) -> None:
    for places, features in zip(few, many.features, strict=False):
        seen = places[201:]  # after steps 200 to 999
        assert len(seen) == 800
        flips = sum(abs(b - a) for a, b in zip(seen[:-1, 4], seen[1:, 4], strict=True)) / (2 * np.pi)
        end = -0.08 + seen[-1, 3]
        wanted = [
            max(-q3 for q3 in seen[:, 3]),
            flips,
            1.0 + max(seen[:, 2]),
            min(abs(end - (-1.0)), abs(end - (-1.5))),
        ]
        np.testing.assert_allclose(features, wanted, rtol=1e-12)


def test_poses_are_every_tenth_of_the_positions(many: Trajectory, few: list[Array]) -> None:
    for places, poses in zip(few, many.poses, strict=False):
        seen = places[::10]
        hand = np.column_stack([np.zeros(101), 0.7 + seen[:, 0], -seen[:, 1]])
        capsule = np.column_stack([0.08 - seen[:, 3], 1.0 + seen[:, 2], -seen[:, 4]])
        np.testing.assert_allclose(poses, np.stack([hand, capsule], axis=1), atol=1e-6)


@pytest.mark.parametrize("names", [["flips"], ["basket distance", "range"], ["altitude", "flips", "range"]])
def test_any_features_can_be_chosen_in_any_order(many: Trajectory, names: list[str]) -> None:
    chosen = Tosser(names).rollout(many.actions[:5])
    columns = [EVERYTHING.index(name) for name in names]
    np.testing.assert_array_equal(chosen.features, many.features[:5, columns])
    np.testing.assert_array_equal(chosen.poses, many.poses[:5])


def test_the_papers_two_features_are_the_default() -> None:
    assert Tosser().feature_names == ("range", "flips")


def test_random_features_have_the_published_statistics(many: Trajectory) -> None:
    """Four standard errors: single rollouts differ between versions of MuJoCo, their statistics do not."""
    sampled, turned = many.features[:, 0], many.features[:, 1]
    error = 4 / np.sqrt(RANDOM)
    assert sampled.mean() == pytest.approx(0.39, abs=0.25 * error)
    assert turned.mean() == pytest.approx(0.53, abs=0.34 * error)
    assert np.median(sampled) == pytest.approx(0.32, abs=0.25 * error)
    assert sampled.std() == pytest.approx(0.25, abs=0.08)
    assert turned.std() == pytest.approx(0.34, abs=0.1)
    assert 1.0 < sampled.max() < 3.0
    assert 1.5 < turned.max() < 4.0


def test_features_stay_where_they_can_be(many: Trajectory) -> None:
    distance, turns, altitude, from_basket = many.features.T
    assert distance.min() > 0.0  # a capsule starts at q3 of -0.07 or beyond
    assert turns.min() >= 0.0
    assert altitude.min() >= 0.05  # it cannot sink into the floor by more than its radius
    assert altitude.max() < 3.0
    assert from_basket.min() >= 0.0


def test_the_controls_are_those_of_the_action(tosser: Tosser) -> None:
    controls = tosser.controls(np.arange(9.0)[None])[0]
    for number, control in enumerate(controls):
        if 150 <= number < 175:
            assert control.tolist() == [5.0, 6.0]
        elif 175 <= number < 200:
            assert control.tolist() == [7.0, 8.0]
        else:
            assert control.tolist() == [0.0, 0.0]


def test_the_bounds_are_the_published_ones(tosser: Tosser) -> None:
    wanted = [(-0.2, 0.2), (-0.785, 0.785), (-0.1, 0.1), (-0.1, -0.07), (-1.5, 1.5), *[(-1.0, 1.0)] * 4]
    assert list(zip(tosser.action_space.low, tosser.action_space.high, strict=True)) == wanted


# --- the scene --------------------------------------------------------------------------------------------


def drawn(part: Part, pose: Array) -> list[Array]:
    """The ends of the capsules of a part at a pose, (2, 2) each."""
    x, y, angle = pose
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    capsules = [shape for shape in part.shapes if isinstance(shape, Capsule)]
    return [np.array([turn @ end + [x, y] for end in (shape.start, shape.end)]) for shape in capsules]


def mirrored(ends: Array) -> Array:
    """The drawing looks along x: y to the left, z up."""
    return np.column_stack([-ends[:, 1], ends[:, 2]])


@pytest.mark.parametrize("seed", range(5))
def test_moving_parts_are_drawn_where_mujoco_has_them(tosser: Tosser, seed: int) -> None:
    places = np.random.default_rng(seed).uniform([-0.6, -1.5, -0.9, -1.6, -7], [0.2, 0.8, 0.5, 0.2, 7])
    data = mujoco.MjData(tosser.model)
    data.qpos[:] = places
    mujoco.mj_forward(tosser.model, data)
    pose, scene = tosser.poses(places), tosser.scene
    found = [line for part in scene.moving for line in drawn(part, pose[scene.index(part.name)])]
    wanted = [
        mirrored(capsule_ends(tosser.model, data, tosser.model.geom(name).id))
        for name in ("palm", "finger", "object")
    ]
    assert all(same_line(f, w) for f, w in zip(found, wanted, strict=True))


@pytest.mark.parametrize("name", ["red basket", "green basket"])
def test_the_baskets_are_drawn_where_mujoco_has_them(tosser: Tosser, name: str) -> None:
    model, data = tosser.model, mujoco.MjData(tosser.model)
    mujoco.mj_forward(model, data)
    geoms = [g for g in range(model.ngeom) if model.geom_bodyid[g] == model.body(name).id]
    part = next(part for part in tosser.scene.parts if part.name == name)
    lines = drawn(part, np.zeros(3))
    assert len(lines) == len(geoms) == 3
    for geom in geoms:
        wanted = mirrored(capsule_ends(model, data, geom))
        assert sum(same_line(line, wanted) for line in lines) == 1
    assert {shape.radius for shape in part.shapes if isinstance(shape, Capsule)} == {0.02}


def test_floor_and_wall_are_drawn_where_mujoco_has_them(tosser: Tosser) -> None:
    parts = {part.name: part for part in tosser.scene.parts}
    floor, wall = parts["floor"].shapes[0], parts["wall"].shapes[0]
    assert isinstance(floor, Polygon)
    assert isinstance(wall, Capsule)
    assert floor.points[:, 1].max() == 0.0
    assert (wall.start, wall.end, wall.radius) == ((0.0, 0.0), (0.0, 1.0), 0.02)


def test_every_geom_is_drawn_once(tosser: Tosser) -> None:
    assert sum(len(part.shapes) for part in tosser.scene.parts) == tosser.model.ngeom


# --- without the physics engine ---------------------------------------------------------------------------


def test_without_mujoco_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=r"'mujoco', .*\[worlds\]"):
        make("tosser")
    assert make("driver").rollout([0.0] * 10).features.shape == (4,)
