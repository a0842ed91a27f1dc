"""Rewards of the default features that are updated with every step: the same as those computed anew."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import (
    FeatureOptions,
    Pool,
    Reward,
    RewardFromPreferences,
    VectorRewardFromPreferences,
)
from prefero._support.arrays import Array
from prefero.datasets import Episode
from prefero.datasets.features.embeddings import running_statistics
from prefero.datasets.features.embeddings.running_statistics import RunningStatistics
from prefero.datasets.features.embeddings.statistics import candidate_names, candidates
from prefero.deploy.online.prefix_rewards import PrefixRewards
from prefero.deploy.online.statistics import OnlineStatistics
from taught_learners import reward_of_pairs

WINDOW = 4


class Wander(gymnasium.Env[Any, Any]):
    """A place that moves by itself and by actions, in single precision; its lengths differ."""

    observation_space = Box(-100.0, 100.0, (2,), np.float32)
    action_space = Box(-1.0, 1.0, (1,), np.float32)
    metadata = {"render_fps": 5}  # noqa: RUF012

    def __init__(self, length: int = 11) -> None:
        self.length = length

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.steps = self.np_random.normal(size=2).astype(np.float32), 0
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.place += np.array([action[0], self.np_random.normal()], dtype=np.float32)
        return self.place, 0.25, False, self.steps == self.length, {}


@pytest.fixture(scope="module", params=[None, WINDOW], ids=["whole episodes", "windows"])
def reward(request: pytest.FixtureRequest) -> Reward:
    options = FeatureOptions([], window=request.param)
    pool = Pool.from_gymnasium(lambda **_: Wander(), options, episodes=12, clips="never")
    return reward_of_pairs(pool, np.tile([0.0, 1.0, 1.0, 0.0], 3))


def increases(reward: Reward, states: list[Any], actions: list[Any]) -> Array:
    """The increases of the rewards of all prefixes, computed anew."""
    spec = reward.feature_spec
    assert spec is not None
    names = spec.state_names, spec.action_names
    whole = Episode("", np.array(states), np.array(actions), None, spec.step_seconds, *names)
    return np.diff(PrefixRewards.of(reward)(whole), prepend=0.0)


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 4), st.integers(0, 3))
@settings(max_examples=40, deadline=None)
def test_running_statistics_are_those_of_the_steps_so_far(seed: int, length: int, s: int, a: int) -> None:
    rng = np.random.default_rng(seed)
    states, actions = rng.normal(3.0, 2.0, (length + 1, s)), rng.normal(size=(length, a))
    states[rng.integers(length + 1)] = states[0]
    names = tuple(f"s{i}" for i in range(s)), tuple(f"a{i}" for i in range(a))
    center, seconds = rng.normal(size=s + a), 0.05
    running = RunningStatistics(*names, center, seconds, 2, candidate_names(*names))
    running.begin(np.stack([states[0], states[0]]))
    some = [name for name in candidate_names(*names) if rng.random() < 0.5] or ["duration"]
    alone = RunningStatistics(*names, center, seconds, None, some)
    for _ in range(2):  # the second episode begins anew
        alone.begin(states[0])
        for t in range(length):
            alone.step(actions[t], states[t + 1])
    for t in range(length):
        running.step(np.stack([actions[t], -actions[t]]), np.stack([states[t + 1], -states[t + 1]]))
        so_far = Episode("", states[: t + 2], actions[: t + 1], None, seconds, *names)
        expected = candidates(so_far, center)
        assert running.names == list(expected) == candidate_names(*names)
        assert running.rows()[0] == pytest.approx(np.array([*expected.values()]), rel=1e-9, abs=1e-9)
    assert alone.rows() == pytest.approx(np.array([expected[name] for name in some]), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("count", [None, 2])
def test_an_episode_may_be_longer_than_the_table_of_factors(
    monkeypatch: pytest.MonkeyPatch, count: int | None
) -> None:
    monkeypatch.setattr(running_statistics, "MOST_TABULATED", 100)
    rng, names = np.random.default_rng(0), (("s",), ("a",))
    states, actions = rng.normal(size=(301, 1)), rng.normal(size=(300, 1))
    running = RunningStatistics(*names, np.zeros(2), 0.1, count, candidate_names(*names))
    running.begin(np.broadcast_to(states[0], (*running.shape, 1)))
    for t in range(300):
        running.step(actions[t], states[t + 1])
        if t + 1 in (63, 64, 65, 99, 100, 101, 300):
            so_far = Episode("", states[: t + 2], actions[: t + 1], None, 0.1, *names)
            expected = np.array([*candidates(so_far, np.zeros(2)).values()])
            assert np.atleast_2d(running.rows())[-1] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_an_environment_gives_the_increases_of_its_prefixes(reward: Reward) -> None:
    env = RewardFromPreferences(Wander(), reward, reward_type="dense")
    assert isinstance(env._online, OnlineStatistics)
    rng = np.random.default_rng(0)
    for episode in range(3):  # the second and third begin anew
        states = [env.reset(seed=episode)[0].copy()]
        actions: list[Any] = []
        given_rewards: list[float] = []
        over = False
        while not over:
            actions.append(rng.uniform(-1, 1, 1).astype(np.float32))
            state, given_reward, _, over, _ = env.step(actions[-1])
            states.append(state.copy())
            given_rewards.append(given_reward)
        assert given_rewards == pytest.approx(increases(reward, states, actions), abs=1e-9)


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_several_environments_of_different_lengths(reward: Reward, mode: AutoresetMode) -> None:
    lengths = (3, 11, 6)
    several = SyncVectorEnv([lambda n=n: Wander(n) for n in lengths], autoreset_mode=mode)  # type: ignore[misc]
    envs = VectorRewardFromPreferences(several, reward, reward_type="dense")
    rng, first = np.random.default_rng(0), envs.reset(seed=4)[0]
    states: list[list[Any]] = [[row.copy()] for row in first]
    actions: list[list[Any]] = [[] for _ in lengths]
    given_rewards: list[list[float]] = [[] for _ in lengths]
    for _ in range(20):
        chosen = rng.uniform(-1, 1, (3, 1)).astype(np.float32)
        now, rewards, _, over, infos = envs.step(chosen)
        for n in range(3):
            if len(actions[n]) == lengths[n]:  # this step was its reset
                assert given_rewards[n] == pytest.approx(increases(reward, states[n], actions[n]), abs=1e-9)
                assert rewards[n] == 0.0 or mode is not AutoresetMode.NEXT_STEP
                states[n], actions[n], given_rewards[n] = [now[n].copy()], [], []
                continue
            final = over[n] and mode is AutoresetMode.SAME_STEP
            states[n].append((infos["final_obs"][n] if final else now[n]).copy())
            actions[n].append(chosen[n])
            given_rewards[n].append(float(rewards[n]))
            if final:
                assert given_rewards[n] == pytest.approx(increases(reward, states[n], actions[n]), abs=1e-9)
                states[n], actions[n], given_rewards[n] = [now[n].copy()], [], []
        if mode is AutoresetMode.DISABLED and over.any():
            now, _ = envs.reset(options={"reset_mask": over})
            for n in np.flatnonzero(over).tolist():
                assert given_rewards[n] == pytest.approx(increases(reward, states[n], actions[n]), abs=1e-9)
                states[n], actions[n], given_rewards[n] = [now[n].copy()], [], []


def test_another_observation_is_refused(reward: Reward) -> None:
    env = RewardFromPreferences(gymnasium.make("Pendulum-v1"), reward, reward_type="dense")
    with pytest.raises(ValueError, match=r"2 states, .*3"):
        env.reset(seed=0)
