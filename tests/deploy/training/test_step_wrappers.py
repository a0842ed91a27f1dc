"""Environments with a reward of steps: each step gets the reward of the state before it and of its action."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from prefero import (
    Pool,
    Reward,
    RewardFromPreferences,
    StepReward,
    VectorRewardFromPreferences,
)
from prefero._support.arrays import Array
from prefero.deploy.compiled.cautious_steps import DRAWS
from taught_learners import reward_of_pairs

LENGTH = 4


class Drift(gymnasium.Env[Any, Any]):
    """A place that actions move; it returns the same array at every step, changed in place."""

    observation_space = Box(-100.0, 100.0, (2,), np.float64)
    action_space = Box(-1.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.steps = self.np_random.normal(size=2), 0
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.place += [float(action[0]), 0.5]
        return self.place, 0.25, self.steps == LENGTH, False, {}


class InParts(Drift):
    """The same with a dictionary of observations."""

    observation_space: Any = Dict({name: Box(-100, 100, (1,), np.float64) for name in "ab"})

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        place, info = super().reset(seed=seed, options=options)
        return in_parts(place), info

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        place, *rest = super().step(action)
        return (in_parts(place), *rest)  # type: ignore[return-value]


def in_parts(place: Array) -> dict[str, Array]:
    return {"a": place[:1].copy(), "b": place[1:].copy()}


@pytest.fixture(scope="module")
def reward() -> Reward:
    pool = Pool.from_gymnasium(lambda **_: Drift(), ["steps"], episodes=12, clips="never")
    return reward_of_pairs(pool, np.tile([0.0, 1.0, 1.0, 0.0], 3))


def random_actions(steps: int) -> Array:
    return np.random.default_rng(0).uniform(-1.0, 1.0, (steps, 1))


def played(env: Any, actions: Array) -> tuple[Array, list[float]]:
    """The states before each step, and the rewards."""
    state, _ = env.reset(seed=3)
    states, rewards = [], []
    for action in actions:
        states.append(
            np.concatenate([np.ravel(x) for x in state.values()] if isinstance(state, dict) else [state])
        )
        state, given, *_, info = env.step(action)
        assert info["original_reward"] == 0.25
        rewards.append(given)
    return np.array(states), rewards


@pytest.mark.parametrize("kind", [Drift, InParts])
def test_each_step_gets_the_reward_of_its_state_and_action(reward: Reward, kind: type[Drift]) -> None:
    actions = random_actions(LENGTH)
    states, rewards = played(RewardFromPreferences(kind(), reward), actions)
    assert rewards == pytest.approx(StepReward.of(reward)(states, actions), abs=1e-9)


def test_caution_subtracts_standard_deviations(reward: Reward) -> None:
    actions = random_actions(LENGTH)
    states, rewards = played(RewardFromPreferences(Drift(), reward, caution=1.5), actions)
    mean, std = StepReward.of(reward).predict(states, actions)
    assert (mean - rewards) / std == pytest.approx(1.5, rel=3 / np.sqrt(2 * DRAWS))


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_vector_environments_get_the_same(reward: Reward, mode: AutoresetMode) -> None:
    envs = VectorRewardFromPreferences(SyncVectorEnv([Drift] * 3, autoreset_mode=mode), reward)
    step = StepReward.of(reward)
    before, _ = envs.reset(seed=1)
    before = before.copy()
    resetting = np.zeros(3, dtype=bool)
    for _ in range(2 * LENGTH + 2):
        actions = envs.action_space.sample()
        after, rewards, done, _, _ = envs.step(actions)
        assert rewards == pytest.approx(np.where(resetting, 0.0, step(before, actions)), abs=1e-9)
        resetting = done & (mode == AutoresetMode.NEXT_STEP)
        if mode == AutoresetMode.DISABLED and done.any():
            after, _ = envs.reset(options={"reset_mask": done})
        before = after.copy()


def test_other_reward_types_are_still_there(reward: Reward) -> None:
    actions = random_actions(LENGTH)
    states, rewards = played(RewardFromPreferences(Drift(), reward, reward_type="dense"), actions)
    assert sum(rewards) == pytest.approx(StepReward.of(reward)(states, actions).mean(), abs=1e-9)
    _, rewards = played(RewardFromPreferences(Drift(), reward, reward_type="sparse"), actions)
    assert rewards[:-1] == [0.0] * (LENGTH - 1)


def test_another_environment_is_refused(reward: Reward) -> None:
    env = RewardFromPreferences(gymnasium.make("Pendulum-v1"), reward)
    with pytest.raises(ValueError, match="about 2 states"):
        env.reset()
