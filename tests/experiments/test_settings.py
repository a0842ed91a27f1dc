"""Settings: the tasks are those that are stated, in numbers."""

import json
from collections.abc import Iterator

import numpy as np
import pytest

from prefero import Pool, worlds
from prefero._support.arrays import Array
from prefero.experiments import settings
from prefero.experiments.settings import Setting
from prefero.simulation.like_people import traits_of
from prefero.simulation.tasks import TEST_SET_SEED, Task
from prefero.worlds.golf import Golf

SMALL = {"trajectories": 30, "test_size": 6, "questions": 5}
every_setting = pytest.mark.parametrize(
    ("world", "truth"), [("driver", "linear"), ("driver", "quadratic"), ("tosser", "quadratic")]
)


def fresh(setting: Setting, seed: int) -> Task:
    """The task made anew, and not remembered from another test."""
    settings._task.cache_clear()
    return setting.task(seed)


def monomials(x: Array) -> Array:
    """Every x_i, and every x_i x_j once."""
    d = x.shape[1]
    return np.column_stack([x, *(x[:, i] * x[:, j] for i in range(d) for j in range(i, d))])


@every_setting
def test_features_are_standardised_on_the_pool(world: str, truth: str) -> None:
    pool = Setting(world, truth, **SMALL).task(3).pool
    np.testing.assert_allclose(pool.scaled.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(pool.scaled.std(axis=0), 1.0)
    raw = Pool.simulate(world, 30, 3).features
    np.testing.assert_allclose(pool.scaled, (raw - raw.mean(axis=0)) / raw.std(axis=0), atol=1e-12)


@every_setting
def test_rewards_have_a_standard_deviation_of_1_on_the_pool(world: str, truth: str) -> None:
    task = Setting(world, truth, **SMALL).task(3)
    assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)


@every_setting
def test_rewards_are_of_the_family_that_is_stated(world: str, truth: str) -> None:
    task = Setting(world, truth, **SMALL).task(3)
    x = np.random.default_rng(0).standard_normal((60, len(task.pool.names)))
    terms, rewards = x if truth == "linear" else monomials(x), task.user.reward(x)
    found, residual, *_ = np.linalg.lstsq(terms, rewards, rcond=None)
    assert residual == pytest.approx(0.0, abs=1e-18)
    assert np.all(found != 0)


@every_setting
def test_the_test_set_is_from_another_pool_and_its_answers_are_noiseless(world: str, truth: str) -> None:
    task = Setting(world, truth, **SMALL).task(3)
    asked, tested = (set(map(tuple, x.tolist())) for x in (task.pool.features, task.test_set.features))
    other = Pool.simulate(world, 30, 3 + TEST_SET_SEED).features
    assert len(tested) == 6
    assert not asked & tested
    assert tested <= set(map(tuple, other.tolist()))
    raw = task.pool.features
    worth = task.user.reward((task.test_set.features - raw.mean(axis=0)) / raw.std(axis=0))
    wanted = [worth[i] - worth[j] for i in range(6) for j in range(i + 1, 6)]
    np.testing.assert_allclose(task.test_set.differences, wanted, atol=1e-9)


def test_the_user_has_the_noise_the_margin_and_the_lapse_rate_of_the_setting() -> None:
    user = Setting("driver", "linear", 0.3, 0.2, 0.4, **SMALL).task(0).user
    assert (user.noise, user.lapse_rate, user.margin) == (0.3, 0.2, 0.4)


def test_users_like_people_have_errors_of_their_own() -> None:
    for seed in range(3):
        user = Setting("driver", "like-people", trajectories=20, test_size=4).task(seed).user
        assert (user.noise, user.lapse_rate) == traits_of(seed)[1:]


def test_the_noise_of_a_user_does_not_change_what_is_wanted() -> None:
    quiet, loud = (Setting("driver", "linear", noise, **SMALL).task(0) for noise in (0.1, 1.0))
    np.testing.assert_array_equal(quiet.pool.features, loud.pool.features)
    np.testing.assert_array_equal(quiet.test_set.differences, loud.test_set.differences)


@every_setting
def test_the_seed_decides_the_task(world: str, truth: str) -> None:
    setting = Setting(world, truth, **SMALL)
    first, again, other = (fresh(setting, seed) for seed in (1, 1, 2))
    assert first is not again
    np.testing.assert_array_equal(first.pool.features, again.pool.features)
    np.testing.assert_array_equal(first.test_set.differences, again.test_set.differences)
    x = first.pool.scaled
    np.testing.assert_array_equal(first.user.reward(x), again.user.reward(x))
    assert not np.array_equal(first.pool.features, other.pool.features)
    assert not np.allclose(first.user.reward(x), other.user.reward(x))


def test_a_setting_survives_a_file() -> None:
    setting = Setting("driver", "linear", lapse_rate=0.1, **SMALL)
    assert Setting(**json.loads(json.dumps(setting.to_json()))) == setting


@pytest.mark.parametrize(("world", "truth"), [("driver", "targets"), ("driver", "wavy"), ("moon", "linear")])
def test_there_is_no_task_of_another_kind(world: str, truth: str) -> None:
    with pytest.raises(ValueError, match=r"only golf has targets|no kind of reward 'wavy'|no world 'moon'"):
        Setting(world, truth, **SMALL).task(0)


# --- golf -------------------------------------------------------------------------------------------------


@pytest.fixture
def quick_golf(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A robot that is given how far shots go: to compute that takes seconds."""
    robot = Golf()
    vars(robot)["_distances"] = np.array([0.6, 2.2]), np.array([0.5, 4.0])
    monkeypatch.setattr(worlds, "make", {"golf": robot}.__getitem__)
    yield
    settings._task.cache_clear()


@pytest.mark.usefixtures("quick_golf")
def test_golf_is_a_grid_and_the_same_for_everybody_but_people_differ() -> None:
    setting = Setting("golf", "targets", trajectories=9, test_size=2, questions=5)
    first, other = (fresh(setting, seed) for seed in (0, 7))
    shots = first.pool.features
    speeds, angles = (sorted(set(column.round(9).tolist())) for column in shots.T)
    assert len(speeds) * len(angles) == len(shots) == 9
    assert {tuple(s) for s in shots.round(9).tolist()} == {(s, a) for s in speeds for a in angles}
    for values in (speeds, angles):
        np.testing.assert_allclose(np.diff(values), values[1] - values[0], atol=1e-6)
    np.testing.assert_array_equal(shots, other.pool.features)
    assert not np.allclose(first.user.reward(first.pool.scaled), other.user.reward(first.pool.scaled))
    assert not np.allclose(first.test_set.differences, other.test_set.differences)
    for task in (first, other):
        assert np.std(task.user.reward(task.pool.scaled)) == pytest.approx(1.0)


def test_golf_has_as_many_speeds_as_angles() -> None:
    assert len(Golf.action_space.grid(Golf.pool_size)) == Golf.pool_size == 20**2
