"""Driver, against a second simulator that steps one car with floats, and against published numbers."""

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero._support.arrays import Array
from prefero.rendering.scenes import Capsule, Polygon, Window
from prefero.trajectories.trajectory import Trajectory
from prefero.worlds.driver import OTHER, Driver, drive, step
from worlds.conformance import share_of_frames_with

ACTIONS = Driver().action_space.sample(5, np.random.default_rng(3))
ZERO = [0.0] * 10
FULL_AHEAD = [0.0, 1.0] * 5
FULL_TURN = [1.0, 1.0] * 5

plans = st.lists(st.floats(-1.0, 1.0), min_size=10, max_size=10)


# --- a second simulator -----------------------------------------------------------------------------------


class Car(NamedTuple):
    x: float
    y: float
    heading: float
    speed: float


def stepped(car: Car, steer: float, acceleration: float) -> Car:
    return Car(
        car.x + 0.1 * car.speed * math.cos(car.heading),
        car.y + 0.1 * car.speed * math.sin(car.heading),
        car.heading + 0.1 * car.speed * steer,
        car.speed + 0.1 * (acceleration - car.speed),
    )


def script(number: int) -> tuple[float, float]:
    """What the other car does at a step."""
    if number < 10:
        return 0.0, 0.41
    if number < 20:
        return 1.0, 0.41
    if number < 30:
        return -1.0, 0.41
    return 0.0, 0.533


def other_cars() -> list[Car]:
    cars = [Car(0.17, 0.0, math.pi / 2, 0.41)]
    for number in range(50):
        cars.append(stepped(cars[-1], *script(number)))
    return cars


def own_cars(plan: list[float]) -> list[Car]:
    cars = [Car(0.0, -0.3, math.pi / 2, 0.4)]
    for number in range(50):
        segment = number // 10
        cars.append(stepped(cars[-1], plan[2 * segment], plan[2 * segment + 1]))
    return cars


def off_lane(x: float) -> float:
    return min(abs(x - centre) for centre in (-0.17, 0.0, 0.17))


def plain_by_hand(plan: list[float]) -> list[float]:
    pairs = list(zip(own_cars(plan)[1:], other_cars()[1:], strict=True))
    rows = [
        (off_lane(a.x), a.speed, a.heading - math.pi / 2, math.hypot(a.x - b.x, a.y - b.y)) for a, b in pairs
    ]
    return [sum(column) / 50 for column in zip(*rows, strict=True)]


def shaped_by_hand(plan: list[float]) -> list[float]:
    pairs = list(zip(own_cars(plan)[1:], other_cars()[1:], strict=True))
    rows = [
        (
            math.exp(-30 * off_lane(a.x) ** 2),
            (a.speed - 1) ** 2,
            math.sin(a.heading),
            math.exp(-(7 * (a.x - b.x) ** 2 + 3 * (a.y - b.y) ** 2)),
        )
        for a, b in pairs
    ]
    return [sum(column) / 50 for column in zip(*rows, strict=True)]


@settings(max_examples=60)
@given(plans)
def test_features_are_those_of_the_second_simulator(plan: list[float]) -> None:
    np.testing.assert_allclose(Driver("plain").rollout(plan).features, plain_by_hand(plan), atol=1e-12)
    np.testing.assert_allclose(Driver("shaped").rollout(plan).features, shaped_by_hand(plan), atol=1e-12)


@settings(max_examples=40)
@given(plans)
def test_both_cars_are_drawn_where_the_second_simulator_has_them(plan: list[float]) -> None:
    poses = Driver().rollout(plan).poses
    assert poses.shape == (51, 2, 3)
    np.testing.assert_allclose(poses[:, 0], [car[:3] for car in own_cars(plan)], atol=1e-6)
    np.testing.assert_allclose(poses[:, 1], [car[:3] for car in other_cars()], atol=1e-6)


def test_a_step_of_many_cars_is_a_step_of_each() -> None:
    rng = np.random.default_rng(0)
    states, controls = rng.normal(size=(3, 5, 4)), rng.normal(size=(3, 5, 2))
    moved = step(states, controls)
    for place in np.ndindex(3, 5):
        np.testing.assert_allclose(moved[place], stepped(Car(*states[place]), *controls[place]), atol=1e-14)


# --- published numbers ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "wanted"),
    [
        (10, (0.17, 0.41, math.pi / 2, 0.41)),
        (20, (0.0953, 0.8103, 1.9808, 0.41)),
        (30, (0.0043, 1.2071, math.pi / 2, 0.41)),
        (40, (0.0043, 1.66, math.pi / 2, 0.4901)),
        (50, (0.0043, 2.1651, math.pi / 2, 0.518)),
    ],
)
def test_the_other_car_cuts_in_as_published(number: int, wanted: tuple[float, ...]) -> None:
    np.testing.assert_allclose(OTHER[number], wanted, atol=5.1e-5)


@pytest.mark.parametrize(
    ("plan", "wanted"),
    [
        (ZERO, (1.0, 0.87038, 1.0, 0.18313)),
        (FULL_AHEAD, (1.0, 0.03069, 1.0, 0.35539)),
        (FULL_TURN, (0.24461, 0.03069, -0.1194, 0.13978)),
    ],
)
def test_shaped_features_are_the_published_ones(plan: list[float], wanted: tuple[float, ...]) -> None:
    np.testing.assert_allclose(Driver("shaped").rollout(plan).features, wanted, atol=5.1e-6)


def test_a_car_without_control_coasts_to_a_stop() -> None:
    start = np.array([0.0, -0.3, np.pi / 2, 0.4])
    last = drive(start, np.zeros((50, 2)))[-1]
    np.testing.assert_allclose(last, [0.0, 0.0979, np.pi / 2, 0.0021], atol=5.1e-5)


@pytest.fixture(scope="module")
def many() -> Array:
    driver = Driver("shaped")
    features: Array = driver.simulate(driver.action_space.sample(20_000, np.random.default_rng(0)))[0]
    return features


def test_random_shaped_features_have_the_published_statistics(many: Array) -> None:
    mean, std = np.array([0.892, 0.985, 0.959, 0.240]), np.array([0.153, 0.423, 0.060, 0.153])
    rounding, error = 0.0005, std / np.sqrt(len(many))
    assert np.all(np.abs(many.mean(axis=0) - mean) < rounding + 4 * np.sqrt(2) * error)  # both are samples
    assert np.all(np.abs(many.std(axis=0) - std) < rounding + 8 * error)  # tails are heavier than a normal's


def test_random_plain_features_stay_where_they_can_be() -> None:
    driver = Driver()
    lane, speed, heading, distance = driver.simulate(
        driver.action_space.sample(20_000, np.random.default_rng(1))
    )[0].T
    assert lane.min() >= 0.0
    assert np.abs(speed).max() < 1.0
    assert np.abs(heading).max() < 5.0
    assert distance.min() > 0.0
    assert abs(heading.mean()) < 4 * heading.std() / np.sqrt(20_000)  # left is as likely as right
    assert speed.mean() == pytest.approx(own_speed_of_chance(), abs=4 * speed.std() / np.sqrt(20_000))


def own_speed_of_chance() -> float:
    """Speed is linear in the accelerations, whose mean is 0."""
    return sum(0.4 * 0.9**number for number in range(1, 51)) / 50


# --- properties -------------------------------------------------------------------------------------------


def mirrored(plan: list[float]) -> list[float]:
    return [-value if place % 2 == 0 else value for place, value in enumerate(plan)]


@settings(max_examples=60)
@given(plans)
def test_steering_the_other_way_mirrors_the_road(plan: list[float]) -> None:
    there, back = (Driver().rollout(p) for p in (plan, mirrored(plan)))
    np.testing.assert_allclose(back.poses[:, 0, 0], -there.poses[:, 0, 0], atol=1e-6)
    np.testing.assert_allclose(back.poses[:, 0, 1], there.poses[:, 0, 1], atol=1e-6)
    np.testing.assert_allclose(back.poses[:, 0, 2], np.pi - there.poses[:, 0, 2], atol=1e-6)
    np.testing.assert_allclose(back.features[:3] * [1, 1, -1], there.features[:3], atol=1e-12)


@settings(max_examples=60)
@given(plans, plans)
def test_steering_does_not_change_the_speed(plan: list[float], other: list[float]) -> None:
    mixed = [b if place % 2 == 0 else a for place, (a, b) in enumerate(zip(plan, other, strict=True))]
    speeds = [Driver().rollout(p).features[1] for p in (plan, mixed)]
    assert speeds[0] == pytest.approx(speeds[1], abs=1e-14)


@settings(max_examples=60)
@given(plans, st.integers(0, 4), st.floats(-1.0, 1.0))
def test_later_controls_do_not_change_earlier_poses(plan: list[float], segment: int, value: float) -> None:
    later = [*plan[: 2 * segment], value, value, *plan[2 * segment + 2 :]]
    first, second = (Driver().rollout(p).poses for p in (plan, later))
    np.testing.assert_array_equal(first[: 10 * segment + 1], second[: 10 * segment + 1])


@given(st.floats(-3.0, 3.0))
def test_the_closest_lane_is_the_closest_of_the_three(x: float) -> None:
    states = np.tile([x, 0.0, np.pi / 2, 0.0], (50, 1))
    assert Driver("plain").compute_features(states)[0] == pytest.approx(off_lane(x), abs=1e-12)
    assert Driver("shaped").compute_features(states)[0] == pytest.approx(
        math.exp(-30 * off_lane(x) ** 2), abs=1e-12
    )


@pytest.mark.parametrize("x", [-0.255, -0.085, 0.085, 0.255, -0.34, 0.34])
def test_half_way_between_lanes_either_is_the_closest(x: float) -> None:
    states = np.tile([x, 0.0, np.pi / 2, 0.0], (50, 1))
    assert Driver().compute_features(states)[0] == pytest.approx(off_lane(x), abs=1e-15)


# --- the drawing ------------------------------------------------------------------------------------------


def points_of(shape: Any) -> Array:
    assert isinstance(shape, Polygon)
    return shape.points


def test_the_road_has_three_lanes_between_two_fences() -> None:
    road = next(part for part in Driver().scene.parts if part.name == "road")
    assert not road.moves
    asphalt = points_of(road.shapes[0])
    assert (asphalt[:, 0].min(), asphalt[:, 0].max()) == (-0.34, 0.34)
    middles = {round(float(points_of(shape)[:, 0].mean()), 4) for shape in road.shapes[1:]}
    assert middles == {-0.34, 0.34, -0.255, 0.255, -0.085, 0.085}  # fences, edges, and lines between lanes


def test_the_road_is_drawn_as_far_as_any_car_gets() -> None:
    road = next(part for part in Driver().scene.parts if part.name == "road")
    asphalt = points_of(road.shapes[0])
    farthest = Driver().rollout([FULL_AHEAD, [0.0, -1.0] * 5]).poses[..., 1]
    assert asphalt[:, 1].min() < farthest.min()
    assert asphalt[:, 1].max() > farthest.max()


def test_a_car_points_along_its_own_x_axis_and_is_narrower_than_a_lane() -> None:
    cars = Driver().scene.moving
    assert [car.name for car in cars] == ["car", "other car"]
    for car in cars:
        body = points_of(car.shapes[0])
        length, width = np.ptp(body, axis=0)
        assert width < length < 0.17
        front, back = body[body[:, 0] > 0.9 * body[:, 0].max()], body[body[:, 0] == body[:, 0].min()]
        assert np.ptp(front[:, 1]) < np.ptp(back[:, 1])
        assert not any(isinstance(shape, Capsule) for shape in car.shapes)


def test_the_view_follows_the_own_car() -> None:
    view = Driver().scene.view
    assert isinstance(view, Window)
    assert view.follow == "car"
    assert view.left < -0.34 < 0.34 < view.right


@given(plans)
@settings(max_examples=30)
def test_the_own_car_is_in_the_picture_in_every_frame(plan: list[float]) -> None:
    world = Driver()
    assert share_of_frames_with(world.scene, world.rollout(plan).poses.astype(float), 0) == 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_own_car_is_in_the_picture_whatever_question_is_chosen(seed: int) -> None:
    """Half of the chosen questions are about cars that leave the road, and leave a window over the road."""
    world = Driver()
    view, radius = world.scene.view, world.scene.moving[0].radius
    assert isinstance(view, Window)
    actions = world.action_space.sample(world.pool_size, np.random.default_rng(seed))
    places = world.rollout(actions).poses[:, :, 0, :2].astype(float)
    assert np.mean(np.abs(places[..., 0]).max(axis=1) > 0.55) > 0.05
    left, right, bottom, top = np.moveaxis(view.edges(places), -1, 0)
    low, high = np.stack([left, bottom], axis=-1), np.stack([right, top], axis=-1)
    assert np.all((places >= low + radius) & (places <= high - radius))
    assert np.all((left <= -0.1) & (right >= 0.1))  # half of the road is in the picture, too


def test_the_taught_car_is_the_one_that_the_question_names() -> None:
    world = Driver()
    assert world.scene.main_part == "car"
    assert world.subject == "the blue car"
    red, green, blue = (int(world.scene.moving[0].color[k : k + 2], 16) for k in (1, 3, 5))
    assert blue > green > red
    assert "the blue car" in world.task_description


def test_trajectories_of_both_feature_sets_look_alike() -> None:
    plain, shaped = (Driver(features).rollout(FULL_TURN) for features in ("plain", "shaped"))
    assert isinstance(plain, Trajectory)
    np.testing.assert_array_equal(plain.poses, shaped.poses)


# --- signals ----------------------------------------------------------------------------------------------


def test_features_are_the_means_of_signals() -> None:
    """Of all steps, without the start."""
    world = Driver()
    for actions in ACTIONS:
        trajectory = world.rollout(actions)
        signals = {one.name: one.values for one in world.signals(trajectory)}
        means = [signals[name][1:].mean() for name in world.feature_names]
        np.testing.assert_allclose(means, trajectory.features, rtol=1e-12)


def test_signals_show_the_position_and_the_controls() -> None:
    world = Driver("shaped")
    trajectory = world.rollout(ACTIONS[0])
    signals = {one.name: one for one in world.signals(trajectory)}
    shown = np.column_stack([signals[name].values for name in ("across the road", "along the road")])
    np.testing.assert_allclose(shown, trajectory.poses[:, 0, :2], atol=1e-6)
    np.testing.assert_allclose(signals["steer"].values[::10], ACTIONS[0][::2])
    np.testing.assert_allclose(signals["speed"].times, np.linspace(0, 5, 51))
