"""Every world keeps the same promises; a new world is one row here."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.envs.classic_control import PendulumEnv

from prefero import Pool, worlds
from prefero._support.arrays import Array
from prefero.rendering.scenes import Window
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds import Filmed, World, from_gymnasium, make, names, register


def note_of_pendulum(observations: Array, actions: Array) -> list[float]:
    return [float(observations[:, 0].mean()), float((actions**2).mean())]


def pendulum(
    steps: int = 20, segments: int = 4, seed: int = 2, features: tuple[str, ...] = ("height", "effort")
) -> World:
    return from_gymnasium(
        PendulumEnv, note_of_pendulum, features, steps=steps, segments=segments, seed=seed, name="pendulum"
    )


class Row(NamedTuple):
    """A world, and how its batches compare with single rollouts: to the last bit, or to rounding."""

    make: Callable[[], World]
    shots: int = 6  # how many rollouts a check takes
    rounding: float = 0.0


ROWS = {
    "driver plain": Row(lambda: make("driver"), rounding=1e-12),
    "driver shaped": Row(lambda: make("driver", features="shaped"), rounding=1e-12),
    "tosser": Row(lambda: make("tosser")),
    "tosser with all features": Row(
        lambda: make("tosser", features=["range", "flips", "altitude", "basket distance"])
    ),
    "golf": Row(lambda: make("golf"), shots=3),
    "pendulum": Row(lambda: make("pendulum")),
}


@pytest.fixture(scope="module", autouse=True)
def own_worlds() -> Iterator[None]:
    register("pendulum", pendulum)
    yield
    del worlds._registered["pendulum"]


class Case(NamedTuple):
    """A world with a few of its trajectories."""

    world: World
    actions: Array
    batch: Trajectory
    rounding: float


@pytest.fixture(scope="module", params=ROWS)
def case(request: pytest.FixtureRequest) -> Case:
    row = ROWS[request.param]
    world = row.make()
    actions = world.actions.sample(row.shots, np.random.default_rng(7))
    return Case(world, actions, world.rollout(actions), row.rounding)


def assert_same(found: Trajectory, wanted: Trajectory, rounding: float) -> None:
    np.testing.assert_array_equal(found.actions, wanted.actions)
    np.testing.assert_allclose(found.features, wanted.features, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(found.poses, wanted.poses, rtol=0, atol=1e-6 if rounding else 0)


# --- what a world says of itself --------------------------------------------------------------------------


def test_a_world_says_what_it_is(case: Case) -> None:
    world = case.world
    assert world.name
    assert world.physics
    assert world.name in names()
    assert world.horizon >= 1
    assert world.seconds == pytest.approx(world.horizon * world.time_step)
    assert world.feature_names == tuple(feature.name for feature in world.features)
    assert len(set(world.feature_names)) == len(world.features) >= 2


def test_the_bounds_of_actions_are_a_box(case: Case) -> None:
    actions = case.world.actions
    assert actions.low.shape == actions.high.shape == (len(actions),) == (len(actions.names),)
    assert np.all(np.isfinite(actions.low))
    assert np.all(np.isfinite(actions.high))
    assert np.all(actions.low < actions.high)
    assert len(set(actions.names)) == len(actions)


def test_options_make_the_same_world_again(case: Case) -> None:
    options = json.loads(json.dumps(dict(case.world.options)))
    again = make(case.world.name, **options)
    assert again.features == case.world.features
    assert (again.name, again.physics) == (case.world.name, case.world.physics)
    assert dict(again.options) == dict(case.world.options) == options
    assert_same(again.rollout(case.actions[:2]), case.batch[:2], 0.0)


# --- rollouts ---------------------------------------------------------------------------------------------


def test_a_batch_has_a_row_for_every_action(case: Case) -> None:
    batch, count = case.batch, len(case.actions)
    assert len(batch) == count
    assert batch.features.shape == (count, len(case.world.features))
    assert batch.poses.shape[0] == count
    assert batch.features.dtype == np.float64
    assert str(batch.poses.dtype) == "float32"
    np.testing.assert_array_equal(batch.actions, case.actions)


def test_one_action_is_one_trajectory(case: Case) -> None:
    one = case.world.rollout(case.actions[0])
    assert one.actions.shape == (len(case.world.actions),)
    assert one.features.shape == (len(case.world.features),)
    assert one.poses.shape == case.batch.poses.shape[1:]


def test_lists_are_actions_too(case: Case) -> None:
    assert_same(case.world.rollout(case.actions[0].tolist()), case.batch[0], case.rounding)


def test_features_and_poses_are_finite(case: Case) -> None:
    assert np.all(np.isfinite(case.batch.features))
    assert np.all(np.isfinite(case.batch.poses))


def test_features_differ_from_action_to_action(case: Case) -> None:
    assert np.all(case.batch.features.std(axis=0) > 0)


def test_the_same_actions_lead_to_the_same_trajectories(case: Case) -> None:
    assert_same(case.world.rollout(case.actions), case.batch, 0.0)


def test_a_batch_equals_one_by_one(case: Case) -> None:
    for row, action in enumerate(case.actions):
        assert_same(case.world.rollout(action), case.batch[row], case.rounding)


def test_the_order_of_a_batch_does_not_matter(case: Case) -> None:
    turned = case.world.rollout(case.actions[::-1])
    assert_same(turned, case.batch[::-1], case.rounding)


def test_actions_are_left_as_they_were(case: Case) -> None:
    actions = case.actions.copy()
    case.world.rollout(actions).features[:] = 0.0
    np.testing.assert_array_equal(actions, case.actions)


def test_the_corners_of_the_box_are_allowed(case: Case) -> None:
    bounds = case.world.actions
    corners = case.world.rollout(np.stack([bounds.low, bounds.high]))
    assert np.all(np.isfinite(corners.features))
    np.testing.assert_array_equal(corners.actions, [bounds.low, bounds.high])


def test_what_is_out_of_bounds_by_rounding_is_put_back(case: Case) -> None:
    bounds = case.world.actions
    checked = bounds.check(np.stack([bounds.low - 1e-12, bounds.high + 1e-12]))
    np.testing.assert_array_equal(checked, [bounds.low, bounds.high])


# --- drawing ----------------------------------------------------------------------------------------------


def test_poses_are_of_the_scene(case: Case) -> None:
    for one in case.batch.poses:
        case.world.scene.check_poses(one)


def test_the_frames_span_the_trajectory(case: Case) -> None:
    scene = case.world.scene
    times = case.batch.poses.shape[1]
    if scene.parts:
        assert scene.frame * (times - 1) == pytest.approx(case.world.seconds)
    else:
        assert times == 1  # it films itself
        assert isinstance(case.world, Filmed)


def test_quaternions_have_unit_length(case: Case) -> None:
    if not case.world.scene.flat:
        np.testing.assert_allclose(np.linalg.norm(case.batch.poses[..., 3:], axis=-1), 1.0, atol=1e-6)


def check_shape(shape: dict[str, Any], flat: bool) -> None:
    assert shape["colour"].startswith("#")
    assert len(shape["colour"]) == 7
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


def test_the_scene_is_json_of_the_documented_shape(case: Case) -> None:
    scene = case.world.scene
    told = json.loads(json.dumps(scene.to_json(), allow_nan=False))
    assert set(told) == {"format", "dimensions", "frame", "background", "view", "parts"}
    assert (told["format"], told["dimensions"]) == (1, 2 if scene.flat else 3)
    assert told["frame"] == scene.frame > 0
    wanted = {"left", "right", "bottom", "top", "follow"} if scene.flat else {"eye", "target", "angle"}
    assert set(told["view"]) == wanted | {"kind"}
    assert told["view"]["kind"] == ("window" if scene.flat else "camera")
    for part in told["parts"]:
        assert set(part) == {"name", "moves", "label", "shapes"}
        for shape in part["shapes"]:
            check_shape(shape, scene.flat)


def test_the_view_is_not_empty(case: Case) -> None:
    view = case.world.scene.view
    if isinstance(view, Window):
        assert view.left < view.right
        assert view.bottom < view.top
    else:
        assert np.linalg.norm(np.subtract(view.eye, view.target)) > 0.1


def test_a_replay_is_json_of_the_documented_shape(case: Case) -> None:
    scene, poses = case.world.scene, case.batch.poses[0]
    told = json.loads(json.dumps(scene.replay(poses), allow_nan=False))
    assert set(told) == {"format", "frame", "poses"}
    assert (told["format"], told["frame"]) == (1, scene.frame)
    np.testing.assert_allclose(np.reshape(told["poses"], poses.shape), poses, atol=1e-4)


# --- pools ------------------------------------------------------------------------------------------------


def test_the_same_seed_is_the_same_pool_and_another_seed_another(case: Case) -> None:
    first, again, other = (
        Pool.simulate(case.world, 3, seed, cache=False, progress=False) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(first.features, again.features)
    assert first.trajectories is not None
    assert again.trajectories is not None
    assert_same(first.trajectories, again.trajectories, 0.0)
    assert not np.any(first.features == other.features)
    assert first.names == case.world.feature_names


# --- what is refused --------------------------------------------------------------------------------------


def test_actions_of_another_shape_are_refused(case: Case) -> None:
    size = len(case.world.actions)
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
        with pytest.raises(ValueError, match=rf"an action has {size} numbers .* but these have \("):
            case.world.rollout(actions)


def test_actions_out_of_bounds_are_refused_by_name(case: Case) -> None:
    bounds = case.world.actions
    for column in range(len(bounds)):
        for value in (bounds.low[column] - 1e-6, bounds.high[column] + 1e-6, np.nan, np.inf, -np.inf):
            action = case.actions[0].copy()
            action[column] = value
            with pytest.raises(ValueError, match=f"action '{bounds.names[column]}' must be between"):
                case.world.rollout(action)


def test_the_row_of_a_bad_action_is_told(case: Case) -> None:
    actions = case.actions.copy()
    actions[1, -1] = 1e6
    with pytest.raises(ValueError, match=r"but is 1e\+06 in row 1$"):
        case.world.rollout(actions)


@pytest.mark.parametrize("value", ["fast", None, {}, [1.0]])
def test_actions_that_are_not_numbers_are_refused(case: Case, value: Any) -> None:
    actions = case.actions[0].tolist()
    actions[0] = value
    with pytest.raises(ValueError, match=r"actions must be numbers|must be between"):
        case.world.rollout(actions)


# --- making worlds ----------------------------------------------------------------------------------------


def test_the_built_in_worlds_are_known() -> None:
    assert names()[:3] == ("driver", "tosser", "golf")


@pytest.mark.parametrize("name", ["", "Driver", "prefero/Driver-v0", "moon"])
def test_an_unknown_world_is_refused_with_those_there_are(name: str) -> None:
    with pytest.raises(ValueError, match=rf"there is no world '{name}': the worlds are driver, tosser, golf"):
        make(name)


@pytest.mark.parametrize(
    ("name", "known"),
    [("driver", "features"), ("tosser", "features"), ("golf", "none"), ("pendulum", "steps")],
)
def test_an_unknown_option_is_refused_with_those_there_are(name: str, known: str) -> None:
    with pytest.raises(
        ValueError, match=rf"{name} does not take these options: .*'wind'; its options: {known}"
    ):
        make(name, wind=3.0)


@pytest.mark.parametrize(
    ("name", "features", "message"),
    [
        ("driver", "pretty", "driver has the feature sets plain and shaped, but not 'pretty'"),
        ("driver", ["speed"], r"plain and shaped, but not \['speed'\]"),
        (
            "tosser",
            ["range", "beauty"],
            "there is no feature 'beauty': choose one or more of range, flips, alt",
        ),
        ("tosser", ["range", "range"], r"features are \['range', 'range'\]: choose .* each once"),
        ("tosser", [], r"features are \[\]: choose one or more"),
    ],
)
def test_features_that_there_are_not_are_refused(name: str, features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(name, features=features)


@pytest.mark.parametrize("name", ["", "driver", "tosser", "golf"])
def test_a_world_of_ones_own_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match=f"needs a name of its own, but this is '{name}'"):
        register(name, pendulum)


def test_a_registered_world_is_made_by_name_and_with_options() -> None:
    assert "pendulum" in names()
    assert len(make("pendulum").actions) == 4
    assert len(make("pendulum", segments=2).actions) == 2


def test_a_name_may_be_registered_again() -> None:
    register("pendulum", lambda: pendulum(steps=30))
    assert make("pendulum").horizon == 30
    register("pendulum", pendulum)
    assert make("pendulum").horizon == 20


def test_the_pendulum_is_driven_through_its_own_space() -> None:
    assert isinstance(PendulumEnv().action_space, spaces.Box)
    np.testing.assert_array_equal(make("pendulum").actions.high, np.full(4, 2.0))
