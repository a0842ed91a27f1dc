"""The conformance kit for worlds: one function for each promise that a world makes.

`check_world(world)` checks all of them. A world of Prefero's is one more row in test_worlds.py; a world of
another package passes the same checks.
"""

import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from prefero import Pool
from prefero._support.arrays import Array
from prefero.rendering.canvas import canvas_for
from prefero.rendering.rasterizer import Projection
from prefero.rendering.scenes import Camera, Scene, Window
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import RendersVideo, World, make, names


class Case(NamedTuple):
    """A world with a few of its trajectories."""

    world: World
    actions: Array
    batch: Trajectory
    rounding: float  # how far a batch may be from single rollouts; 0: equal to the last bit


Promise = Callable[[Case], None]
PROMISES: list[Promise] = []


def promise(check: Promise) -> Promise:
    PROMISES.append(check)
    return check


def case_of(world: World, *, rollouts: int = 6, rounding: float = 0.0) -> Case:
    actions = world.action_space.sample(rollouts, np.random.default_rng(7))
    return Case(world, actions, world.rollout(actions), rounding)


def check_world(world: World, *, rollouts: int = 6, rounding: float = 0.0) -> None:
    """Check every promise of a world that `make` knows by name."""
    case = case_of(world, rollouts=rollouts, rounding=rounding)
    for check in PROMISES:
        check(case)


def assert_same(found: Trajectory, wanted: Trajectory, rounding: float) -> None:
    np.testing.assert_array_equal(found.actions, wanted.actions)
    np.testing.assert_allclose(found.features, wanted.features, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(found.poses, wanted.poses, rtol=0, atol=1e-6 if rounding else 0)


# --- what a world says of itself --------------------------------------------------------------------------


@promise
def a_world_says_what_it_is(case: Case) -> None:
    world = case.world
    assert world.name
    assert world.physics
    assert world.name in names()
    assert world.horizon >= 1
    assert world.duration == pytest.approx(world.horizon * world.time_step)
    assert world.feature_names == tuple(feature.name for feature in world.features)
    assert len(set(world.feature_names)) == len(world.features) >= 2


@promise
def a_world_tells_people_what_to_do(case: Case) -> None:
    world = case.world
    assert world.task_description.endswith(".")
    assert 20 < len(world.task_description) <= 100  # two or three lines on a phone
    assert "\n" not in world.task_description
    assert not re.search(r"\b(two|both|better|best)\b", world.task_description)  # questions differ in that
    assert world.subject == "" or world.subject.startswith("the ")


@promise
def the_bounds_of_actions_are_a_box(case: Case) -> None:
    actions = case.world.action_space
    assert actions.low.shape == actions.high.shape == (len(actions),) == (len(actions.names),)
    assert np.all(np.isfinite(actions.low))
    assert np.all(np.isfinite(actions.high))
    assert np.all(actions.low < actions.high)
    assert len(set(actions.names)) == len(actions)


@promise
def options_make_the_same_world_again(case: Case) -> None:
    options = json.loads(json.dumps(dict(case.world.options)))
    again = make(case.world.name, **options)
    assert again.features == case.world.features
    assert (again.name, again.physics) == (case.world.name, case.world.physics)
    assert dict(again.options) == dict(case.world.options) == options
    assert_same(again.rollout(case.actions[:2]), case.batch[:2], 0.0)


# --- rollouts ---------------------------------------------------------------------------------------------


@promise
def a_batch_has_a_row_for_every_action(case: Case) -> None:
    batch, count = case.batch, len(case.actions)
    assert len(batch) == count
    assert batch.features.shape == (count, len(case.world.features))
    assert batch.poses.shape[0] == count
    assert batch.features.dtype == np.float64
    assert str(batch.poses.dtype) == "float32"
    np.testing.assert_array_equal(batch.actions, case.actions)


@promise
def one_action_is_one_trajectory(case: Case) -> None:
    one = case.world.rollout(case.actions[0])
    assert one.actions.shape == (len(case.world.action_space),)
    assert one.features.shape == (len(case.world.features),)
    assert one.poses.shape == case.batch.poses.shape[1:]


@promise
def lists_are_actions_too(case: Case) -> None:
    assert_same(case.world.rollout(case.actions[0].tolist()), case.batch[0], case.rounding)


@promise
def features_and_poses_are_finite(case: Case) -> None:
    assert np.all(np.isfinite(case.batch.features))
    assert np.all(np.isfinite(case.batch.poses))


@promise
def features_differ_from_action_to_action(case: Case) -> None:
    assert np.all(case.batch.features.std(axis=0) > 0)


@promise
def the_same_actions_lead_to_the_same_trajectories(case: Case) -> None:
    assert_same(case.world.rollout(case.actions), case.batch, 0.0)


@promise
def a_batch_equals_one_by_one(case: Case) -> None:
    for row, action in enumerate(case.actions):
        assert_same(case.world.rollout(action), case.batch[row], case.rounding)


@promise
def the_order_of_a_batch_does_not_matter(case: Case) -> None:
    turned = case.world.rollout(case.actions[::-1])
    assert_same(turned, case.batch[::-1], case.rounding)


@promise
def actions_are_left_as_they_were(case: Case) -> None:
    actions = case.actions.copy()
    case.world.rollout(actions).features[:] = 0.0
    np.testing.assert_array_equal(actions, case.actions)


@promise
def the_corners_of_the_box_are_allowed(case: Case) -> None:
    bounds = case.world.action_space
    corners = case.world.rollout(np.stack([bounds.low, bounds.high]))
    assert np.all(np.isfinite(corners.features))
    np.testing.assert_array_equal(corners.actions, [bounds.low, bounds.high])


@promise
def what_is_out_of_bounds_by_rounding_is_put_back(case: Case) -> None:
    bounds = case.world.action_space
    checked = bounds.check(np.stack([bounds.low - 1e-12, bounds.high + 1e-12]))
    np.testing.assert_array_equal(checked, [bounds.low, bounds.high])


# --- drawing ----------------------------------------------------------------------------------------------


@promise
def poses_are_of_the_scene(case: Case) -> None:
    for one in case.batch.poses:
        case.world.scene.check_poses(one)


@promise
def the_frames_span_the_trajectory(case: Case) -> None:
    scene = case.world.scene
    times = case.batch.poses.shape[1]
    if scene.parts:
        assert scene.frame_time * (times - 1) == pytest.approx(case.world.duration)
    else:
        assert times == 1  # its environment renders it
        assert isinstance(case.world, RendersVideo)


@promise
def a_pose_can_be_drawn(case: Case) -> None:
    scene = case.world.scene
    if scene.parts:  # other worlds need the packages with which their environment renders
        image = canvas_for(scene, 64, 48).render(case.batch.poses[0, -1].astype(float))
        assert image.shape == (48, 64, 3)
        assert image.dtype == np.uint8
        assert len(np.unique(image.reshape(-1, 3), axis=0)) > 1


@promise
def the_main_part_is_in_the_picture_all_the_time_and_leaves_a_trail(case: Case) -> None:
    scene = case.world.scene
    if scene.parts:
        assert scene.main_part is not None
        main = scene.index(scene.main_part)
        assert scene.moving[main].trail
        for poses in case.batch.poses.astype(float):
            assert share_of_frames_with(scene, poses, main) == 1.0


def share_of_frames_with(scene: Scene, poses: Array, part: int) -> float:
    """The fraction of the frames that show a whole part, in an image three units wide and two high."""
    return float(np.mean([is_in_picture(scene, pose, part) for pose in poses]))


def is_in_picture(scene: Scene, pose: Array, part: int) -> bool:
    radius = scene.moving[part].radius
    if scene.is_2d:
        window, (x, y) = scene.window_at(pose), pose[part, :2]
        return bool(
            window.left <= x - radius <= x + radius <= window.right
            and window.bottom <= y - radius <= y + radius <= window.top
        )
    assert isinstance(scene.view, Camera)
    projection = Projection(scene.view, 300, 200)
    camera = projection.to_camera(pose[part, :3])
    x, y = projection.to_pixels(camera)
    reach = projection.focal_length * radius / camera[2]
    return bool(camera[2] > 0 and reach <= x <= 300 - reach and reach <= y <= 200 - reach)


@promise
def quaternions_have_unit_length(case: Case) -> None:
    if not case.world.scene.is_2d:
        np.testing.assert_allclose(np.linalg.norm(case.batch.poses[..., 3:], axis=-1), 1.0, atol=1e-6)


def check_shape(shape: dict[str, Any], flat: bool) -> None:
    assert shape["color"].startswith("#")
    assert len(shape["color"]) == 7
    if shape["shape"] == "polygon":
        assert flat
        assert np.shape(shape["points"])[1:] == (2,)
        assert len(shape["points"]) >= 3
    elif shape["shape"] == "capsule":
        assert flat
        assert len(shape["start"]) == len(shape["end"]) == 2
        assert shape["radius"] > 0
    else:
        assert shape["shape"] == "mesh"
        assert not flat
        assert len(shape["vertices"]) % 3 == len(shape["faces"]) % 3 == 0
        assert 0 <= min(shape["faces"]) <= max(shape["faces"]) < len(shape["vertices"]) // 3


@promise
def the_scene_is_json_of_the_documented_shape(case: Case) -> None:
    scene = case.world.scene
    told = json.loads(json.dumps(scene.to_json(), allow_nan=False))
    documented = {"format", "dimensions", "frame_time", "background", "view", "main_part", "parts"}
    assert set(told) == documented | (set() if scene.is_2d else {"cameras"})
    assert (told["format"], told["dimensions"]) == (1, 2 if scene.is_2d else 3)
    assert told["frame_time"] == scene.frame_time > 0
    wanted = {"left", "right", "bottom", "top", "follow"} if scene.is_2d else {"eye", "target", "fov", "name"}
    assert set(told["view"]) == wanted | {"kind"}
    assert told["view"]["kind"] == ("window" if scene.is_2d else "camera")
    for part in told["parts"]:
        assert set(part) == {"name", "moves", "label", "trail", "shapes"}
        for shape in part["shapes"]:
            check_shape(shape, scene.is_2d)


@promise
def the_view_is_not_empty(case: Case) -> None:
    view = case.world.scene.view
    if isinstance(view, Window):
        assert view.left < view.right
        assert view.bottom < view.top
    else:
        assert np.linalg.norm(np.subtract(view.eye, view.target)) > 0.1


@promise
def a_replay_is_json_of_the_documented_shape(case: Case) -> None:
    scene, poses = case.world.scene, case.batch.poses[0]
    told = json.loads(json.dumps(scene.replay(poses), allow_nan=False))
    assert set(told) == {"format", "frame_time", "poses"}
    assert (told["format"], told["frame_time"]) == (1, scene.frame_time)
    np.testing.assert_allclose(np.reshape(told["poses"], poses.shape), poses, atol=1e-4)


# --- pools ------------------------------------------------------------------------------------------------


@promise
def the_default_pool_can_be_drawn(case: Case) -> None:
    world = case.world
    assert world.pool_size >= 2
    if world.pool_sampling == "grid":
        assert len(world.action_space.grid(world.pool_size)) == world.pool_size


@promise
def the_same_seed_is_the_same_pool_and_another_seed_another(case: Case) -> None:
    first, again, other = (
        Pool.simulate(case.world, 3, seed, cache=False, progress=False) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(first.features, again.features)
    assert first.trajectories is not None
    assert again.trajectories is not None
    assert_same(first.trajectories, again.trajectories, 0.0)
    assert not np.any(first.features == other.features)
    assert first.names == case.world.feature_names


@promise
def features_that_need_no_simulation_are_those_of_the_simulation(case: Case) -> None:
    known = case.world.features_of(case.actions)
    if known is not None:
        np.testing.assert_array_equal(known, case.batch.features)


# --- what is refused --------------------------------------------------------------------------------------


@promise
def actions_of_another_shape_are_refused(case: Case) -> None:
    size = len(case.world.action_space)
    wrong: list[Any] = [
        0.0,
        np.zeros(size + 1),
        np.zeros(size - 1),
        np.zeros((2, size + 1)),
        np.zeros((1, 1, size)),
        np.zeros((0, size)),
        [],
        [[]],
    ]
    for actions in wrong:
        with pytest.raises(ValueError, match=rf"an action has {size} numbers"):
            case.world.rollout(actions)


@promise
def actions_out_of_bounds_are_refused_by_name(case: Case) -> None:
    bounds = case.world.action_space
    for column in range(len(bounds)):
        for value in (bounds.low[column] - 1e-6, bounds.high[column] + 1e-6, np.nan, np.inf, -np.inf):
            action = case.actions[0].copy()
            action[column] = value
            with pytest.raises(ValueError, match=f"action '{bounds.names[column]}' must be between"):
                case.world.rollout(action)


@promise
def the_row_of_a_bad_action_is_told(case: Case) -> None:
    actions = case.actions.copy()
    actions[1, -1] = 1e6
    with pytest.raises(ValueError, match=r"but is 1e\+06 in row 1$"):
        case.world.rollout(actions)


@promise
def actions_that_are_not_numbers_are_refused(case: Case) -> None:
    values: list[Any] = ["fast", None, {}, [1.0]]
    for value in values:
        actions = case.actions[0].tolist()
        actions[0] = value
        with pytest.raises(ValueError, match=r"actions must be numbers|must be between"):
            case.world.rollout(actions)


# --- signals ----------------------------------------------------------------------------------------------


@promise
def signals_are_finite_and_have_names_of_their_own(case: Case) -> None:
    world = case.world
    found = world.signals(case.batch[0])
    assert len({one.name for one in found}) == len(found)
    for one in found:
        assert one.times.shape == one.values.shape
        assert np.isfinite(one.values).all()
        assert one.times[0] == 0
        assert (np.diff(one.times) > 0).all()
        assert one.times[-1] <= world.duration * (1 + 1e-9)
    if world.scene.moving:
        assert found
