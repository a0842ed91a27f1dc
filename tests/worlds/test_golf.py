"""Golf: where the ball goes, targets that can be hit, and rewards that prefer a middle one."""

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero.rendering.scenes import Mesh
from prefero.simulation.users import SimulatedUser, on_targets, with_unit_std
from prefero.worlds.golf import Golf, Target

MIDDLE = ("red", "orange", "yellow", "black", "teal", "blue")


def polar(places: Array) -> tuple[Array, Array]:
    """Distances in metres, and directions in degrees."""
    return np.hypot(places[..., 0], places[..., 1]), np.rad2deg(np.arctan2(places[..., 1], places[..., 0]))


def pool_positions(golf: Golf, pool: Pool) -> Array:
    assert pool.trajectories is not None
    return golf.ball_positions(pool.trajectories)


def on(places: Array, target: Target, slack: float = 0.0) -> Any:
    """Does the ball rest on the disc?"""
    return np.hypot(*(places - target.position).T) <= 0.14 + slack


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
