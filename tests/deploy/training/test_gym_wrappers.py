"""The wrappers: the rewards of an episode sum to the learned reward of its features, under any wrapper."""

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

from deploy.walk_environment import (
    BONUS,
    InPlaceWalk,
    Walk,
    expected_reward,
    features_of,
    random_actions,
    run_episode,
)
from prefero import (
    Learner,
    Pool,
    PreferenceGP,
    Reward,
    RewardFromPreferences,
    VectorRewardFromPreferences,
)
from prefero._support.arrays import Array
from prefero.datasets import Episode as RecordedEpisode
from prefero.kernels import Anchored, Linear, Quadratic


def test_a_dense_reward_needs_nothing_but_the_file(described: Reward) -> None:
    env, actions = RewardFromPreferences(Walk(6), described, reward_type="dense"), random_actions(6, seed=3)
    given = [step[1] for step in run_episode(env, actions)]
    x = np.concatenate([[0.0], np.cumsum(actions[:, 0])])
    episode = RecordedEpisode("e", np.column_stack([x, np.arange(7.0)]), actions, np.full(6, BONUS), 1 / 30)
    assert sum(given) == pytest.approx(described(described.episode_features()(episode)[None])[0])
    assert np.isfinite(given).all()


# --- one environment --------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [features_of, "info:summary"])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("caution", [0.0, 1.5])
def test_a_sparse_reward_comes_at_the_last_step(
    reward: Reward, features: Any, cut: bool, caution: float
) -> None:
    env, actions = RewardFromPreferences(Walk(cut=cut), reward, features, caution=caution), random_actions(4)
    for _ in range(2):
        steps = run_episode(env, actions)
        given = [step[1] for step in steps]
        assert given[:3] == [0.0, 0.0, 0.0]
        assert given[3] == pytest.approx(expected_reward(reward, actions, caution))
        assert [step[2:4] for step in steps] == [(False, False)] * 3 + [(not cut, cut)]


def test_observations_are_copied(reward: Reward) -> None:
    kept = []

    def features(observations: Array, actions: Array) -> list[float]:
        kept.append(observations)
        return features_of(observations, actions)

    run_episode(RewardFromPreferences(InPlaceWalk(), reward, features), np.full((4, 1), 0.5))
    np.testing.assert_allclose(kept[0], [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0], [1.5, 3.0], [2.0, 4.0]])


@settings(max_examples=20)
@given(st.integers(1, 7), st.integers(0, 100), st.sampled_from([0.0, 1.0]))
def test_a_dense_reward_is_the_increase_at_every_step(
    reward: Reward, length: int, seed: int, caution: float
) -> None:
    env = RewardFromPreferences(Walk(length), reward, features_of, reward_type="dense", caution=caution)
    actions = random_actions(length, seed)
    rewards = [step[1] for step in run_episode(env, actions)]
    values = [expected_reward(reward, actions[:n], caution) for n in range(1, length + 1)]
    np.testing.assert_allclose(rewards, np.diff([0.0, *values]), atol=1e-9)
    assert sum(rewards) == pytest.approx(values[-1])


def test_the_environments_own_reward_and_info_stay(reward: Reward) -> None:
    steps = run_episode(RewardFromPreferences(Walk(), reward, features_of), random_actions(4))
    assert [step[4]["original_reward"] for step in steps] == [BONUS] * 4
    assert steps[-1][4]["summary"].shape == (2,)


@pytest.mark.parametrize("reward_type", ["sparse", "dense"])
def test_an_abandoned_episode_leaves_nothing_behind(reward: Reward, reward_type: Any) -> None:
    env, actions = (
        RewardFromPreferences(Walk(), reward, features_of, reward_type=reward_type),
        random_actions(4),
    )
    run_episode(env, actions[:2])
    assert sum(step[1] for step in run_episode(env, actions)) == pytest.approx(
        expected_reward(reward, actions)
    )


def test_an_episode_of_driver_gets_the_reward_of_its_trajectory() -> None:
    pool = Pool.simulate("driver", 40, progress=False)
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * 4)
    learner = Learner(pool, model=PreferenceGP(kernel, noise=0.1, learn=False))
    learner.tell(learner.ask(), "left")
    action = pool.trajectory(3).actions
    env = RewardFromPreferences(gymnasium.make("prefero/Driver-v0"), learner.reward(), "info:features")
    steps = run_episode(env, np.repeat(action.reshape(5, 2), 10, axis=0))
    assert steps[-1][1] == pytest.approx(learner.reward()(pool.features[[3]])[0])
    assert sum(step[1] for step in steps) == steps[-1][1]


class DictObservations(gymnasium.Env[Any, Any]):
    """Dict observations and discrete actions."""

    observation_space = Dict({"arm": Box(0.0, 9.0, (2,), np.float64), "hand": Discrete(9)})
    action_space = Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.steps = 0
        return self._observation(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return self._observation(), 0.0, self.steps == 3, False, {"action": action}

    def _observation(self) -> dict[str, Any]:
        return {"arm": np.full(2, float(self.steps)), "hand": self.steps}


def test_dict_observations_are_stacked_by_key(reward: Reward) -> None:
    seen: list[Any] = []

    def features(observations: Any, actions: Any) -> list[float]:
        seen.append((observations, actions))
        return [0.0, 0.0]

    run_episode(RewardFromPreferences(DictObservations(), reward, features), np.array([2, 0, 1]))
    ((observations, actions),) = seen
    np.testing.assert_array_equal(observations["arm"], [[0, 0], [1, 1], [2, 2], [3, 3]])
    np.testing.assert_array_equal(observations["hand"], [0, 1, 2, 3])
    np.testing.assert_array_equal(actions, [2, 0, 1])


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped", "ignore:.*not having a spec")
def test_gymnasiums_own_checks_pass(reward: Reward) -> None:
    check_env(RewardFromPreferences(Walk(), reward, features_of))


def pendulum_features(observations: Array, actions: Array) -> list[float]:
    return [float(observations[:, 0].mean()), float(np.abs(actions).mean())]


def test_the_environment_can_be_made_again_from_its_specification(reward: Reward) -> None:
    env = RewardFromPreferences(
        gymnasium.make("Pendulum-v1"), reward, pendulum_features, reward_type="dense", caution=0.5
    )
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    actions = np.linspace(-2.0, 2.0, 5)[:, None].astype(np.float32)
    given, twice = ([step[1] for step in run_episode(e, actions, seed=1)] for e in (env, again))
    np.testing.assert_array_equal(given, twice)
    assert any(given)


# --- under other wrappers ---------------------------------------------------------------------------------


def monitor(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    made: gymnasium.Env[Any, Any] = pytest.importorskip("stable_baselines3.common.monitor").Monitor(env)
    return made


every_monitor = pytest.mark.parametrize("count", [RecordEpisodeStatistics, monitor])


@every_monitor
@pytest.mark.parametrize("reward_type", ["sparse", "dense"])
def test_a_monitor_outside_records_the_learned_reward(reward: Reward, count: Any, reward_type: Any) -> None:
    env, actions = (
        count(RewardFromPreferences(Walk(), reward, features_of, reward_type=reward_type)),
        random_actions(4),
    )
    for _ in range(2):
        counted = run_episode(env, actions)[-1][4]["episode"]
        assert counted["r"] == pytest.approx(expected_reward(reward, actions), abs=1e-6)
        assert counted["l"] == 4


@every_monitor
def test_a_monitor_inside_records_the_environments_own_reward(reward: Reward, count: Any) -> None:
    env, actions = RewardFromPreferences(count(Walk()), reward, features_of), random_actions(4)
    for _ in range(2):
        *_, (_, given, _, _, info) = run_episode(env, actions)
        assert (info["episode"]["r"], info["episode"]["l"]) == (4 * BONUS, 4)
        assert given == pytest.approx(expected_reward(reward, actions))


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ("features", {}, "'info:KEY' .*'features'"),
        ("info:", {}, "but are 'info:'"),
        (None, {}, "not how they are computed"),
        (features_of, {"reward_type": "later"}, "reward_type .*sparse, dense or steps, .*'later'"),
        (features_of, {"caution": -1.0}, "caution .*standard deviations"),
        (features_of, {"reward": "reward.json"}, "learned reward, .*'reward.json'"),
    ],
)
def test_impossible_wrappers_are_refused(reward: Reward, features: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RewardFromPreferences(Walk(), **{"reward": reward, "features": features, **options})
    with pytest.raises(ValueError, match=message):
        VectorRewardFromPreferences(
            SyncVectorEnv([Walk]), **{"reward": reward, "features": features, **options}
        )


@pytest.mark.parametrize(
    ("features", "reward_type", "message"),
    [
        ("info:features", "sparse", "info has no 'features' .*'summary'"),
        ("info:summary", "dense", "info has no 'summary' .*reward_type='sparse'"),
        (lambda *_: [0.0], "sparse", r"2 features \(end, effort\), .*\(1,\)"),
        (lambda *_: [0.0, np.nan], "sparse", "must be finite"),
    ],
)
def test_missing_or_wrong_features_are_refused(
    reward: Reward, features: Any, reward_type: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        run_episode(
            RewardFromPreferences(Walk(), reward, features, reward_type=reward_type), random_actions(4)
        )


def test_the_wrapper_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, prefero; assert 'gymnasium' not in sys.modules\n"
        "print(prefero.RewardFromPreferences.__name__)\n"
        "sys.modules['gymnasium'] = None\n"
        "prefero.RewardFromPreferences"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == "RewardFromPreferences\n"
    assert "[worlds]'" in done.stderr
