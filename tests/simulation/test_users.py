"""Simulated users: how often they answer what, against the formulas of the noise convention."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy import stats

from prefero._support.arrays import Array
from prefero.simulation import users
from prefero.simulation.users import SimulatedUser

COUNT = 4000


def first_feature(x: Array) -> Array:
    return x[:, 0]


def shares(user: SimulatedUser, difference: float, seed: int = 0) -> dict[str, float]:
    """How often each answer is given to a question whose rewards differ by `difference`."""
    rng = np.random.default_rng(seed)
    left, right = np.array([0.3 + difference]), np.array([0.3])
    counted = Counter(user.answer(left, right, rng) for _ in range(COUNT))
    return {choice: counted[choice] / COUNT for choice in ("left", "right", "equal")}


def close_to(expected: float) -> Any:
    """Within four standard errors of a share."""
    return pytest.approx(expected, abs=4 * np.sqrt(0.25 / COUNT))


@pytest.mark.parametrize("noise", [0.1, 1.0])
@pytest.mark.parametrize("ratio", [-2.0, -0.5, 0.0, 0.7, 1.5])
def test_the_left_one_is_preferred_as_often_as_the_noise_convention_says(noise: float, ratio: float) -> None:
    """P = Phi(difference / (sqrt(2) noise)), the paper's sigma."""
    found = shares(SimulatedUser(first_feature, noise), ratio * noise)
    assert found["left"] == close_to(stats.norm.cdf(ratio / np.sqrt(2)))
    assert found["equal"] == 0.0


@pytest.mark.parametrize("ratio", [-1.0, 0.0, 0.5])
def test_differences_that_look_smaller_than_the_margin_are_called_equal(ratio: float) -> None:
    noise, margin = 0.5, 0.6
    found = shares(SimulatedUser(first_feature, noise, margin), ratio)
    scale = np.sqrt(2) * noise
    assert found["left"] == close_to(stats.norm.sf((margin - ratio) / scale))
    assert found["right"] == close_to(stats.norm.cdf((-margin - ratio) / scale))
    assert found["equal"] == close_to(
        stats.norm.cdf((margin - ratio) / scale) - stats.norm.cdf((-margin - ratio) / scale)
    )


@pytest.mark.parametrize("lapse_rate", [0.0, 0.3, 1.0])
def test_a_lapse_is_a_coin(lapse_rate: float) -> None:
    found = shares(SimulatedUser(first_feature, 0.01, lapse_rate=lapse_rate), 1.0)
    assert found["right"] == close_to(lapse_rate / 2)
    assert found["equal"] == 0.0


def test_a_lapse_is_any_of_three_answers_where_there_are_ties() -> None:
    found = shares(SimulatedUser(first_feature, 0.01, margin=0.2, lapse_rate=0.6), 1.0)
    assert found["right"] == close_to(0.2)
    assert found["equal"] == close_to(0.2)


def test_the_same_generator_gives_the_same_answers() -> None:
    assert shares(SimulatedUser(first_feature), 0.05, seed=3) == shares(
        SimulatedUser(first_feature), 0.05, seed=3
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"noise": 0.0}, "noise must be"),
        ({"noise": np.nan}, "noise must be"),
        ({"margin": -0.1}, "margin must be 0"),
        ({"lapse_rate": -0.1}, "lapse_rate .*-0.1"),
        ({"lapse_rate": 1.1}, "lapse_rate .*1.1"),
        ({"lapse_rate": np.nan}, "lapse_rate .*between 0 and 1"),
    ],
)
def test_impossible_people_are_refused(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SimulatedUser(first_feature, **options)


def third_difference(reward: users.RewardFunction, x: Array, step: Array) -> Array:
    """0 for a polynomial of degree two, along any line."""
    values: Array = reward(x + 3 * step) - 3 * reward(x + 2 * step) + 3 * reward(x + step) - reward(x)
    return values


@pytest.mark.parametrize("kind", users.REWARD_KINDS)
def test_rewards_have_the_shape_their_name_says(kind: str) -> None:
    rng = np.random.default_rng(1)
    reward = users.REWARD_KINDS[kind](3, rng)
    x, step = rng.standard_normal((50, 3)), rng.standard_normal((50, 3))
    second = reward(x + step) + reward(x - step) - 2 * reward(x)
    assert reward(x).shape == (50,)
    assert bool(np.allclose(second, 0.0, atol=1e-9)) == (kind == "linear")
    assert bool(np.allclose(third_difference(reward, x, step), 0.0, atol=1e-9)) == (kind != "bumpy")


def test_a_bumpy_reward_is_highest_where_its_best_bump_is() -> None:
    line = np.linspace(-1.7, 1.7, 3401)[:, None]
    reward = users.bumpy(1, np.random.default_rng(2), bumps=4)(line)
    assert reward.max() == pytest.approx(5.0, rel=1e-3)  # scores 2, 3, 4, 5
    assert reward.min() >= 0.0


@pytest.mark.parametrize("kind", users.REWARD_KINDS)
def test_a_reward_of_unit_size_has_deviation_one_over_the_trajectories(kind: str) -> None:
    rng = np.random.default_rng(3)
    features = rng.standard_normal((100, 2))
    reward = users.REWARD_KINDS[kind](2, rng)
    scaled = users.with_unit_std(reward, features)
    assert np.std(scaled(features)) == pytest.approx(1.0)
    assert np.corrcoef(scaled(features), reward(features))[0, 1] == pytest.approx(1.0)


# --- targets ----------------------------------------------------------------------------------------------

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
SCORES = np.array([2.0, 9.0, 5.0])


def test_a_row_is_worth_what_the_best_target_near_it_gives() -> None:
    rng = np.random.default_rng(4)
    rows = rng.uniform(-0.5, 2.5, (40, 2))
    wanted = [
        max(s * np.exp(-np.sum((row - p) ** 2) / (2 * 0.45**2)) for p, s in zip(PLACES, SCORES, strict=True))
        for row in rows
    ]
    np.testing.assert_allclose(users.on_targets(PLACES, SCORES)(rows), wanted)


def test_the_middle_of_a_target_has_its_score() -> None:
    np.testing.assert_allclose(users.on_targets(PLACES, SCORES, reach=0.1)(PLACES), SCORES)


def test_the_worth_falls_with_the_distance_and_slower_with_more_reach() -> None:
    away = np.column_stack([1.0 + np.linspace(0.0, 1.0, 20), np.zeros(20)])
    near, far = (users.on_targets(PLACES[1:2], SCORES[1:2], reach)(away) for reach in (0.25, 0.5))
    assert np.all(np.diff(near) < 0)
    assert np.all(far[1:] > near[1:])


def test_a_reward_that_is_the_same_everywhere_has_no_unit() -> None:
    with pytest.raises(ValueError, match="same for every trajectory"):
        users.with_unit_std(lambda x: np.ones(len(x)), np.zeros((5, 2)))
