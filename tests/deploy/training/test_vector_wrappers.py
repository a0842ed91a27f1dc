"""The wrapper of vector environments: every episode gets its own reward, in every mode of resetting."""

from typing import Any

import numpy as np
import pytest
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorRecordEpisodeStatistics

from deploy.walk_environment import (
    BONUS,
    Walk,
    expected_reward,
    features_of,
    random_actions,
    run_episode,
)
from prefero import Reward, RewardFromPreferences, VectorRewardFromPreferences
from prefero._support.arrays import Array

LENGTHS = (3, 1, 5)
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode))


@every_mode
def test_vector_environments_need_nothing_but_the_file(described: Reward, mode: AutoresetMode) -> None:
    actions = random_actions(6, seed=4)
    alone = RewardFromPreferences(Walk(6), described)
    last = run_episode(alone, actions)[-1][1]
    envs = VectorRewardFromPreferences(SyncVectorEnv([lambda: Walk(6)] * 2, autoreset_mode=mode), described)
    rewards = [step[1] for step in run_episode(envs, np.stack([actions, -actions], axis=1))]
    assert rewards[-1][0] == pytest.approx(last)
    assert rewards[-1][1] != pytest.approx(last)


def vector(mode: AutoresetMode, kind: Any = SyncVectorEnv) -> Any:
    return kind([lambda n=n: Walk(n, cut=n == 3) for n in LENGTHS], autoreset_mode=mode)


def ends(env: Any, actions: Array, mode: AutoresetMode) -> list[tuple[int, float, Array]]:
    """Of every episode that ended: which environment's, what it was given, and the actions it used."""
    found = []
    given, used = np.zeros(len(LENGTHS)), [[] for _ in LENGTHS]  # type: ignore[var-annotated]
    fresh = np.zeros(len(LENGTHS), dtype=bool)  # the next step only resets
    env.reset()
    for action in actions:
        _, rewards, terminated, truncated, _ = env.step(action)
        over = terminated | truncated
        assert not rewards[fresh].any()
        for n in np.flatnonzero(~fresh):
            given[n] += rewards[n]
            used[n].append(action[n])
            if over[n]:
                found.append((int(n), float(given[n]), np.array(used[n])))
                given[n], used[n] = 0.0, []
        fresh = over if mode is AutoresetMode.NEXT_STEP else np.zeros_like(over)
        if mode is AutoresetMode.DISABLED and over.any():
            env.reset(options={"reset_mask": over})
    return found


@every_mode
@pytest.mark.parametrize(
    ("features", "reward_type"), [(features_of, "sparse"), (features_of, "dense"), ("info:summary", "sparse")]
)
def test_in_a_vector_every_episode_gets_its_own_reward(
    reward: Reward, mode: AutoresetMode, features: Any, reward_type: Any
) -> None:
    env = VectorRewardFromPreferences(vector(mode), reward, features, reward_type=reward_type, caution=0.5)
    actions = np.random.default_rng(3).uniform(-1, 1, (15, 3, 1))
    found = ends(env, actions, mode)
    for number, total, used in found:
        assert len(used) == LENGTHS[number]
        assert total == pytest.approx(expected_reward(reward, used, 0.5))
    rounds = [n + (mode is AutoresetMode.NEXT_STEP) for n in LENGTHS]
    assert len(found) == sum((15 + (mode is AutoresetMode.NEXT_STEP)) // r for r in rounds)


@every_mode
def test_a_vector_of_wrapped_environments_is_a_wrapped_vector(reward: Reward, mode: AutoresetMode) -> None:
    inside = SyncVectorEnv(
        [lambda n=n: RewardFromPreferences(Walk(n, cut=n == 3), reward, features_of) for n in LENGTHS],  # type: ignore[misc]
        autoreset_mode=mode,
    )
    outside = VectorRewardFromPreferences(vector(mode), reward, features_of)
    actions = np.random.default_rng(4).uniform(-1, 1, (12, 3, 1))
    for first, second in zip(ends(inside, actions, mode), ends(outside, actions, mode), strict=True):
        assert first[:2] == pytest.approx(second[:2])


def test_a_vector_in_processes_gets_the_same_rewards(reward: Reward) -> None:
    mode, actions = AutoresetMode.NEXT_STEP, np.random.default_rng(5).uniform(-1, 1, (9, 3, 1))
    here = VectorRewardFromPreferences(vector(mode), reward, "info:summary")
    there = VectorRewardFromPreferences(vector(mode, AsyncVectorEnv), reward, "info:summary")
    try:
        for first, second in zip(ends(here, actions, mode), ends(there, actions, mode), strict=True):
            assert first[:2] == second[:2]
    finally:
        there.close()


@every_mode
def test_a_vectors_own_rewards_stay_in_its_infos(reward: Reward, mode: AutoresetMode) -> None:
    env = VectorRewardFromPreferences(vector(mode), reward, features_of)
    env.reset()
    _, given, _, _, infos = env.step(np.zeros((3, 1)))
    np.testing.assert_array_equal(infos["original_reward"], [BONUS] * 3)
    np.testing.assert_array_equal(infos["_original_reward"], [True] * 3)
    np.testing.assert_allclose(given, [0.0, expected_reward(reward, np.zeros((1, 1))), 0.0])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_monitors_of_a_vector_record_the_rewards_that_they_see(reward: Reward, mode: AutoresetMode) -> None:
    counted = VectorRecordEpisodeStatistics(VectorRewardFromPreferences(vector(mode), reward, features_of))
    inside = VectorRewardFromPreferences(VectorRecordEpisodeStatistics(vector(mode)), reward, features_of)
    actions = np.random.default_rng(6).uniform(-1, 1, (9, 3, 1))
    wanted = [given for _, given, _ in ends(counted, actions, mode)]
    np.testing.assert_allclose(counted.return_queue, wanted)
    found = ends(inside, actions, mode)
    assert inside.env.return_queue == pytest.approx([BONUS * LENGTHS[n] for n, _, _ in found])  # type: ignore[attr-defined]
    assert [given for _, given, _ in found] == pytest.approx(wanted)
