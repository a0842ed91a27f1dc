"""Simulated users like people: the table's frequencies, and rewards of the right structures."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

from prefero import Pool
from prefero._support.arrays import Array
from prefero.simulation import users
from prefero.simulation.like_people import NOISES, STRUCTURES, Traits, traits_of
from prefero.simulation.tasks import make_task, world_task
from prefero.simulation.users import SimulatedUser
from prefero.worlds import make

SEEDS = 4000
every_structure = pytest.mark.parametrize("structure", STRUCTURES)


@cache
def many() -> list[Traits]:
    return [traits_of(seed) for seed in range(SEEDS)]


def seed_of(structure: str) -> int:
    """The first person with this structure."""
    return next(seed for seed in range(SEEDS) if traits_of(seed).structure == structure)


def rows(count: int = 40, features: int = 3, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((count, features))


def mixed_difference(reward: users.RewardFunction, i: int, j: int) -> Array:
    """f(x + a + b) - f(x + a) - f(x + b) + f(x) for steps along two features: 0 if their effects add up."""
    x, a, b = rows(), 0.7 * np.eye(3)[i], -1.1 * np.eye(3)[j]
    difference: Array = reward(x + a + b) - reward(x + a) - reward(x + b) + reward(x)
    return difference


# --- the table --------------------------------------------------------------------------------------------


def assert_frequencies(counted: Mapping[Any, int], weights: Mapping[Any, float]) -> None:
    """Every count is in an interval that a binomial count leaves once in a million."""
    assert counted.keys() <= weights.keys()
    for name, weight in weights.items():
        low, high = stats.binom.interval(1 - 1e-6, SEEDS, weight / sum(weights.values()))
        assert low <= counted[name] <= high, name


def test_structures_and_errors_are_as_frequent_as_the_table_says() -> None:
    assert_frequencies(Counter(one.structure for one in many()), STRUCTURES)
    assert_frequencies(Counter((one.noise, one.lapse_rate) for one in many()), NOISES)


def test_errors_do_not_depend_on_the_structure() -> None:
    careful = Counter((one.structure == "linear", one.noise < 0.25) for one in many())
    table = [[careful[linear, low] for low in (True, False)] for linear in (True, False)]
    assert stats.chi2_contingency(table).pvalue > 1e-4


def test_the_noises_are_the_measured_ones() -> None:
    noises: dict[float, float] = {}
    for (noise, _), weight in NOISES.items():
        noises[noise] = noises.get(noise, 0.0) + weight
    measured = {0.03: 0.17, 0.1: 0.05, 0.2: 0.17, 0.3: 0.26, 0.55: 0.25, 1.0: 0.10}
    assert noises == pytest.approx(measured)
    assert 0.04 <= sum(lapse * weight for (_, lapse), weight in NOISES.items()) <= 0.06


# --- the rewards ------------------------------------------------------------------------------------------


@every_structure
@pytest.mark.parametrize("features", [1, 2, 9])
def test_the_reward_has_standard_deviation_1_over_the_pool(structure: str, features: int) -> None:
    pool = Pool(5.0 + 3.0 * rows(60, features))
    user = SimulatedUser.like_people(seed_of(structure), pool)
    assert np.std(user.reward(pool.scaled)) == pytest.approx(1.0)


@every_structure
def test_without_a_pool_the_reward_has_standard_deviation_1_over_normal_features(structure: str) -> None:
    reward = SimulatedUser.like_people(seed_of(structure)).reward
    assert np.std(reward(rows(20_000, 4, seed=8))) == pytest.approx(1.0, abs=0.15)


@every_structure
def test_the_reward_depends_on_the_seed_and_the_row_alone(structure: str) -> None:
    seed = seed_of(structure)
    user, again = SimulatedUser.like_people(seed), SimulatedUser.like_people(seed)
    other = SimulatedUser.like_people(seed + SEEDS)
    x = rows()
    before = user.reward(x)
    user.reward(rows(features=5))
    again.reward(rows(7, features=2))
    np.testing.assert_array_equal(user.reward(x), before)
    np.testing.assert_array_equal(again.reward(x), before)
    np.testing.assert_allclose(user.reward(x[5:7]), before[5:7])
    assert not np.allclose(other.reward(x), before)


def test_the_user_has_the_traits_of_the_seed_with_a_pool_and_without() -> None:
    for seed in range(20):
        user, with_pool = SimulatedUser.like_people(seed), SimulatedUser.like_people(seed, Pool(rows()))
        assert (user.noise, user.lapse_rate) == (with_pool.noise, with_pool.lapse_rate) == traits_of(seed)[1:]


def test_a_linear_reward_is_linear_and_only_that_one() -> None:
    x, step = rows(), rows(seed=1)
    bends = {}
    for structure in STRUCTURES:
        reward = SimulatedUser.like_people(seed_of(structure)).reward
        bends[structure] = float(np.max(np.abs(reward(x + step) + reward(x - step) - 2 * reward(x))))
    assert bends.pop("linear") < 1e-12
    assert min(bends.values()) > 0.01


def test_in_linear_and_additive_rewards_the_effects_of_features_add_up_and_in_others_not() -> None:
    for structure in STRUCTURES:
        reward = SimulatedUser.like_people(seed_of(structure)).reward
        mixed = [np.max(np.abs(mixed_difference(reward, i, j))) for i, j in ((0, 1), (0, 2), (1, 2))]
        assert (max(mixed) < 1e-10) == (structure in ("linear", "additive")), structure


def test_a_mixed_reward_is_half_linear() -> None:
    """The judge: the part of the variance that a least-squares line leaves is at most the smooth half."""
    x = rows(4000, 3, seed=5)
    seeds = [seed for seed in range(400) if traits_of(seed).structure == "linear+rbf"]
    left = []
    for seed in seeds:
        y = SimulatedUser.like_people(seed).reward(x)
        design = np.column_stack([x, np.ones(len(x))])
        left.append(np.var(y - design @ np.linalg.lstsq(design, y, rcond=None)[0]))
    assert 0.1 < np.mean(left) < 0.5


@pytest.mark.parametrize(("features", "theta"), [(1, 0.4), (3, 0.2)])
def test_smooth_rewards_have_the_covariance_of_the_rbf_kernel(features: int, theta: float) -> None:
    x = rows(6, features, seed=2)
    draws = np.array([users.smooth(features, theta, np.random.default_rng(n))(x) for n in range(SEEDS)])
    squared = np.sum((x[:, None, :] - x) ** 2, axis=2)
    np.testing.assert_allclose(draws.T @ draws / SEEDS, np.exp(-theta * squared), atol=5 * np.sqrt(2 / SEEDS))
    np.testing.assert_allclose(draws.mean(axis=0), 0.0, atol=5 / np.sqrt(SEEDS))


def test_an_rbf_reward_draws_theta_for_its_number_of_features() -> None:
    """The covariance over draws is the average of the kernels with theta .2, .6 and 2, divided by d."""
    x = rows(5, 4, seed=3)
    draws = np.array([users.rbf(4, np.random.default_rng(n))(x) for n in range(SEEDS)])
    squared = np.sum((x[:, None, :] - x) ** 2, axis=2)
    expected = np.mean([np.exp(-theta / 4 * squared) for theta in (0.2, 0.6, 2.0)], axis=0)
    np.testing.assert_allclose(draws.T @ draws / SEEDS, expected, atol=5 * np.sqrt(2 / SEEDS))


# --- tasks ------------------------------------------------------------------------------------------------


def test_a_task_like_people_has_a_user_who_errs_as_people_do() -> None:
    for seed in range(5):
        task = make_task("like-people", features=3, trajectories=40, test_size=5, seed=seed)
        own = SimulatedUser.like_people(seed, task.pool)
        assert (task.user.noise, task.user.lapse_rate) == (own.noise, own.lapse_rate)
        np.testing.assert_array_equal(task.user.reward(task.pool.scaled), own.reward(task.pool.scaled))


def test_what_is_given_replaces_what_is_drawn() -> None:
    task = make_task("like-people", trajectories=20, test_size=4, noise=0.7, lapse_rate=0.0, margin=0.2)
    assert (task.user.noise, task.user.lapse_rate, task.user.margin) == (0.7, 0.0, 0.2)


def test_other_tasks_have_the_usual_errors() -> None:
    task = make_task("linear", trajectories=20, test_size=4)
    assert (task.user.noise, task.user.lapse_rate, task.user.margin) == (0.1, 0.0, 0.0)


def test_a_person_may_teach_in_a_world() -> None:
    task = world_task(make("driver"), "like-people", trajectories=30, test_size=5, seed=3, progress=False)
    assert (task.user.noise, task.user.lapse_rate) == traits_of(3)[1:]
    assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)
