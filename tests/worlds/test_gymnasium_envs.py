"""The environments pass Gymnasium's checks, and an episode in one is a trajectory of its world."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import prefero.worlds
from prefero._support.arrays import Array
from prefero.worlds import make
from prefero.worlds.golf import Golf
from prefero.worlds.gymnasium_envs import (
    DriverEnv,
    GolfEnv,
    TosserEnv,
    WorldEnv,
)

IDS = {"driver": "prefero/Driver-v0", "tosser": "prefero/Tosser-v0", "golf": "prefero/Golf-v0"}
KINDS: dict[str, type[WorldEnv]] = {
    "driver": DriverEnv,
    "tosser": TosserEnv,
    "golf": GolfEnv,
}
LENGTHS = {"driver": 50, "tosser": 40, "golf": 1}

every_one = pytest.mark.parametrize("name", IDS)


def made(name: str, **options: Any) -> WorldEnv:
    """The environment itself, without the wrappers that check calls before it can."""
    env = gymnasium.make(IDS[name], **options).unwrapped
    assert isinstance(env, WorldEnv)
    return env


def played(env: WorldEnv, controls: Array, **options: Any) -> list[tuple[Any, ...]]:
    env.reset(**options)
    return [env.step(control) for control in controls]


def random_controls(name: str, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    if name == "golf":
        return Golf.action_space.sample(1, rng)
    return rng.uniform(-1.0, 1.0, (LENGTHS[name], 2))


# --- Gymnasium's checks -----------------------------------------------------------------------------------


@every_one
@pytest.mark.parametrize("mode", [None, "rgb_array"])
# Speed and angle have physical units.
@pytest.mark.filterwarnings("ignore:.*we recommend using a symmetric and normalized space")
def test_gymnasiums_own_checks_pass(name: str, mode: str | None) -> None:
    check_env(gymnasium.make(IDS[name], render_mode=mode).unwrapped)


def test_importing_the_worlds_registers_them() -> None:
    code = (
        "import gymnasium, prefero.worlds\n"
        f"for id in {list(IDS.values())}:\n"
        "    env = gymnasium.make(id)\n"
        "    env.reset(seed=0)\n"
        "    print(env.spec.id, env.step(env.action_space.sample())[1])\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stdout.splitlines() == [f"{known} 0.0" for known in IDS.values()]


def test_every_built_in_world_has_an_environment() -> None:
    assert set(prefero.worlds.BUILT_IN) == set(IDS)
    assert set(IDS.values()) <= set(gymnasium.registry)


@every_one
def test_an_episode_has_its_length_no_reward_and_features_at_the_end(name: str) -> None:
    env = made(name)
    steps = played(env, random_controls(name), seed=1)
    assert len(steps) == LENGTHS[name]
    assert {reward for _, reward, *_ in steps} == {0.0}
    assert [terminated for _, _, terminated, _, _ in steps] == [False] * (LENGTHS[name] - 1) + [True]
    assert not any(truncated for *_, truncated, _ in steps)
    assert all(info == {} for *_, info in steps[:-1])
    assert set(steps[-1][-1]) == {"features"}
    assert steps[-1][-1]["features"].shape == (len(make(name).features),)


@every_one
def test_observations_lie_in_their_space(name: str) -> None:
    env = made(name)
    first, info = env.reset(seed=3)
    assert info == {}
    for control in random_controls(name):
        seen, *_ = env.step(control)
        assert env.observation_space.contains(seen)
    assert env.observation_space.contains(first)


@every_one
def test_the_seed_decides_the_episode(name: str) -> None:
    env, controls = made(name), random_controls(name)
    first, again = (played(env, controls, seed=7) for _ in range(2))
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one[0], other[0])
    np.testing.assert_array_equal(first[-1][-1]["features"], again[-1][-1]["features"])


def test_only_tosser_has_a_random_start() -> None:
    for name, random in {"driver": False, "tosser": True, "golf": False}.items():
        env = made(name)
        first, second = (env.reset(seed=seed)[0] for seed in (1, 2))
        assert np.array_equal(first, second) != random


@every_one
def test_episodes_follow_each_other(name: str) -> None:
    env, controls = made(name), random_controls(name)
    played(env, random_controls(name, seed=9), seed=5)
    fresh = played(made(name), controls, seed=5)
    after = played(env, controls, seed=5)
    np.testing.assert_array_equal(fresh[-1][-1]["features"], after[-1][-1]["features"])


@every_one
def test_many_at_once(name: str) -> None:
    envs = gymnasium.make_vec(IDS[name], num_envs=2)
    observations, _ = envs.reset(seed=4)
    assert observations.shape[0] == 2
    controls = random_controls(name)
    for control in controls:
        _, rewards, terminated, _, info = envs.step(np.stack([control, control]))
        assert not rewards.any()
    assert terminated.all()
    np.testing.assert_array_equal(
        info["features"][0], played(made(name), controls, seed=4)[-1][-1]["features"]
    )
    envs.close()


# --- the same trajectory as in the world ------------------------------------------------------------------


@pytest.mark.parametrize("features", ["plain", "shaped"])
def test_a_drive_is_the_worlds(features: Any) -> None:
    world, env = make("driver", features=features), DriverEnv(features)
    plan = world.action_space.sample(1, np.random.default_rng(1))[0]
    wanted = world.rollout(plan)
    last = played(env, np.repeat(plan.reshape(5, 2), 10, axis=0))[-1]
    np.testing.assert_allclose(last[-1]["features"], wanted.features, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(env.trajectory().poses, wanted.poses, atol=1e-6)
    np.testing.assert_allclose(env.trajectory().features, wanted.features, rtol=1e-12, atol=1e-12)
    assert env.trajectory().actions.shape == (100,)


@pytest.mark.parametrize("seed", range(3))
def test_a_toss_is_the_worlds_to_the_last_bit(seed: int) -> None:
    names = ("range", "flips", "altitude", "basket distance")
    world, env = make("tosser", features=names), TosserEnv(names)
    action = world.action_space.sample(1, np.random.default_rng(seed))[0]
    wanted = world.rollout(action)
    controls = np.zeros((40, 2))
    controls[6], controls[7] = action[5:7], action[7:9]  # steps 150 to 174, and 175 to 199
    last = played(env, controls, options={"start": action[:5]})[-1]
    np.testing.assert_array_equal(last[-1]["features"], wanted.features)
    np.testing.assert_array_equal(env.trajectory().poses, wanted.poses)


def test_a_putt_is_the_worlds_to_the_last_bit() -> None:
    world, env = make("golf"), GolfEnv()
    wanted = world.rollout([1.3, -20.0])
    seen, *_, info = played(env, np.array([[1.3, -20.0]]))[0]
    np.testing.assert_array_equal(info["features"], [1.3, -20.0])
    np.testing.assert_array_equal(env.trajectory().poses, wanted.poses)
    np.testing.assert_array_equal(seen, wanted.poses[-1, 2, :2].astype(float))
    assert env.reset()[0].tolist() == [0.0, 0.0]


def test_the_driver_observes_both_cars_and_the_time() -> None:
    env = DriverEnv()
    first = env.reset()[0]
    np.testing.assert_allclose(first, [0, -0.3, np.pi / 2, 0.4, 0.17, 0, np.pi / 2, 0.41, 0.0])
    seen, *_ = env.step(np.array([0.5, 1.0]))
    np.testing.assert_allclose(seen[:4], [0.0, -0.26, np.pi / 2 + 0.02, 0.46], atol=1e-12)
    np.testing.assert_allclose(seen[4:], [0.17, 0.041, np.pi / 2, 0.41, 0.02])


def test_the_tosser_observes_positions_velocities_and_the_time() -> None:
    env, start = TosserEnv(), np.array([0.1, -0.3, 0.05, -0.08, 1.0])
    np.testing.assert_array_equal(env.reset(options={"start": start})[0], [*start, 0, 0, 0, 0, 0, 0])
    seen, *_ = env.step(np.zeros(2))
    assert seen[-1] == 0.025
    assert seen[2] < 0.05  # the capsule falls
    assert seen[7] < 0.0


def test_a_random_start_of_the_tosser_is_inside_the_worlds_bounds() -> None:
    env, bounds = TosserEnv(), make("tosser").action_space
    starts = np.stack([env.reset(seed=seed)[0][:5] for seed in range(50)])
    assert np.all((starts >= bounds.low[:5]) & (starts <= bounds.high[:5]))
    assert np.all(np.ptp(starts, axis=0) > 0.7 * (bounds.high - bounds.low)[:5])


# --- rendering --------------------------------------------------------------------------------------------


@every_one
def test_a_rendered_image_shows_what_happens(name: str) -> None:
    env = made(name, render_mode="rgb_array")
    env.reset(seed=1)
    before = env.render()
    assert before is not None
    assert before.dtype == np.uint8
    assert before.shape == (360, 480, 3)
    assert len(np.unique(before.astype(int) @ [65536, 256, 1])) > 5
    np.testing.assert_array_equal(env.render(), before)
    for control in random_controls(name)[:5]:
        env.step(control)
    after = env.render()
    assert after is not None
    assert not np.array_equal(after, before)


@every_one
def test_without_a_render_mode_there_is_no_image(name: str) -> None:
    env = KINDS[name]()  # type: ignore[call-arg]
    env.reset()
    assert env.render() is None


@every_one
@pytest.mark.parametrize("mode", ["human", "ansi", ""])
def test_other_render_modes_are_refused(name: str, mode: str) -> None:
    with pytest.raises(ValueError, match=f"render_mode .*'rgb_array', .*'{mode}'"):
        KINDS[name](render_mode=mode)


# --- what is refused --------------------------------------------------------------------------------------


@every_one
def test_after_the_end_there_is_no_step(name: str) -> None:
    env = made(name)
    played(env, random_controls(name))
    with pytest.raises(RuntimeError, match=r"episode is over: .*reset\(\)"):
        env.step(random_controls(name)[0])


@every_one
def test_before_the_end_there_is_no_trajectory(name: str) -> None:
    env = made(name)
    env.reset()
    with pytest.raises(RuntimeError, match="episode is not over"):
        env.trajectory()


@every_one
@pytest.mark.parametrize(
    "action", [[9.0, 99.0], [0.0], [0.0, 0.0, 0.0], [np.nan, 0.0], [1.0, np.inf], [[1.0, 0.0]], 0.0]
)
def test_bad_actions_are_refused_and_change_nothing(name: str, action: Any) -> None:
    env = made(name)
    first, _ = env.reset(seed=0)
    with pytest.raises(ValueError, match="actions lie in Box"):
        env.step(action)
    np.testing.assert_array_equal(env.observe(), first)


@every_one
def test_unknown_options_of_reset_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"no options \['gravity', 'wind'\]"):
        made(name).reset(options={"wind": 3, "gravity": 0})


@pytest.mark.parametrize("start", [[0.0] * 4, [0.0] * 6, [0.0] * 5, [0, 0, 0, np.nan, 0], 3.0, None])
def test_impossible_starts_are_refused(start: Any) -> None:
    with pytest.raises(ValueError, match="five numbers between"):
        TosserEnv().reset(options={"start": start})


def test_options_of_a_world_are_options_of_its_environment() -> None:
    env = made("tosser", features=("altitude",))
    assert played(env, np.zeros((40, 2)))[-1][-1]["features"].shape == (1,)
    with pytest.raises(ValueError, match="no feature 'beauty'"):
        made("tosser", features=("beauty",))
    with pytest.raises(ValueError, match="plain and shaped"):
        made("driver", features="pretty")


def test_options_are_left_as_they_were() -> None:
    options = {"start": [0.0, 0.0, 0.0, -0.08, 0.0]}
    TosserEnv().reset(options=options)
    assert list(options) == ["start"]


@every_one
def test_gymnasium_wants_a_reset_before_the_first_step(name: str) -> None:
    env = gymnasium.make(IDS[name])
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(env.action_space.sample())
