"""The wrappers: the rewards of an episode sum to the learned reward of its features, under any wrapper."""

import subprocess
import sys
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import RecordEpisodeStatistics
from gymnasium.wrappers.vector import RecordEpisodeStatistics as VectorRecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

from prefero import (
    Learner,
    Pool,
    PreferenceGP,
    Reward,
    RewardFromPreferences,
    VectorRewardFromPreferences,
    load_reward,
)
from prefero._support.arrays import Array
from prefero.datasets import Episode as RecordedEpisode
from prefero.kernels import RBF, Anchored, Linear, Quadratic

BONUS = 0.25  # the environment's own reward, at every step
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode))


class Walk(gymnasium.Env[Any, Any]):
    """Steps along a line; after `length` steps it is terminated or truncated, with features in its info."""

    observation_space = Box(-100.0, 100.0, (2,), np.float64)
    action_space = Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, length: int = 4, cut: bool = False) -> None:
        self.length, self.cut = length, cut

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.position, self.steps, self.effort = np.zeros(2), 0, 0.0
        return self.position, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        self.effort += abs(float(action[0]))
        self.position = self.position + np.array([float(action[0]), 1.0])
        over = self.steps == self.length
        info = {"summary": np.array([self.position[0], self.effort / self.steps])} if over else {}
        return self.position, BONUS, over and not self.cut, over and self.cut, info


class InPlaceWalk(Walk):
    """Returns the same array at every step, changed in place, as some environments do."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = self.position
        _, *rest = super().step(action)
        before[:] = self.position
        self.position = before
        return (before, *rest)  # type: ignore[return-value]


def features_of(observations: Array, actions: Array) -> list[float]:
    """The features: where it ends, and the mean effort."""
    assert len(observations) == len(actions) + 1
    return [observations[-1, 0], float(np.abs(actions).mean())]


@pytest.fixture(scope="module")
def reward() -> Reward:
    pool = Pool(np.random.default_rng(0).normal(size=(30, 2)) * [2.0, 0.3] + [0.0, 0.5], ["end", "effort"])
    learner = Learner(pool, model=PreferenceGP(Anchored(RBF(0.3), (0.0, 0.0)), noise=0.1, learn=False))
    for _ in range(8):
        question = learner.ask()
        ends = pool.features[:, 0]
        learner.tell(question, "left" if ends[question.left] > ends[question.right] else "right")
    return learner.reward()


def expected_reward(reward: Reward, actions: Array, caution: float = 0.0) -> float:
    mean, std = reward.predict([[actions.sum(), np.abs(actions).mean()]], return_std=True)
    return float(mean[0] - caution * std[0])


def run_episode(env: Any, actions: Any, **options: Any) -> list[tuple[Any, ...]]:
    env.reset(**options)
    return [env.step(action) for action in actions]


def random_actions(steps: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, 1))


# --- features that the reward's file describes ------------------------------------------------------------


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Reward:
    """A reward of the library's default features, and more, of played episodes; read from its file."""
    words = ["path-length", "log-dimensionless-jerk", "control-effort", "return", "pca(1)"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the environment's own reward is constant
        pool = Pool.from_gymnasium(lambda **_: Walk(6), words, episodes=12, clips="never")
    learner = Learner(pool)
    learner.tell(learner.ask(), "left")
    path = tmp_path_factory.mktemp("described") / "reward.json"
    learner.reward().save(path)
    return load_reward(path)


def test_a_dense_reward_needs_nothing_but_the_file(described: Reward) -> None:
    env, actions = RewardFromPreferences(Walk(6), described, reward_type="dense"), random_actions(6, seed=3)
    given = [step[1] for step in run_episode(env, actions)]
    x = np.concatenate([[0.0], np.cumsum(actions[:, 0])])
    episode = RecordedEpisode("e", np.column_stack([x, np.arange(7.0)]), actions, np.full(6, BONUS), 1 / 30)
    assert sum(given) == pytest.approx(described(described.episode_features()(episode)[None])[0])
    assert np.isfinite(given).all()


@every_mode
def test_vector_environments_need_nothing_but_the_file(described: Reward, mode: AutoresetMode) -> None:
    actions = random_actions(6, seed=4)
    alone = RewardFromPreferences(Walk(6), described)
    last = run_episode(alone, actions)[-1][1]
    envs = VectorRewardFromPreferences(SyncVectorEnv([lambda: Walk(6)] * 2, autoreset_mode=mode), described)
    rewards = [step[1] for step in run_episode(envs, np.stack([actions, -actions], axis=1))]
    assert rewards[-1][0] == pytest.approx(last)
    assert rewards[-1][1] != pytest.approx(last)


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


# --- many environments ------------------------------------------------------------------------------------

LENGTHS = (3, 1, 5)


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


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("features", "options", "message"),
    [
        ("features", {}, "'info:KEY' if the environment's info has them, .* but are 'features'"),
        ("info:", {}, "but are 'info:'"),
        (None, {}, "but not how they are computed"),
        (features_of, {"reward_type": "later"}, "reward_type is sparse, dense or steps, but is 'later'"),
        (features_of, {"caution": -1.0}, "caution is a number of standard deviations"),
        (features_of, {"reward": "reward.json"}, "wanted a learned reward, .* but got 'reward.json'"),
    ],
)
def test_impossible_wrappers_are_refused(reward: Reward, features: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RewardFromPreferences(Walk(), **{"reward": reward, "features": features, **options})
    with pytest.raises(ValueError, match=message):
        VectorRewardFromPreferences(
            vector(AutoresetMode.NEXT_STEP), **{"reward": reward, "features": features, **options}
        )


@pytest.mark.parametrize(
    ("features", "reward_type", "message"),
    [
        ("info:features", "sparse", "info has no 'features' but 'summary': pass a function"),
        ("info:summary", "dense", "info has no 'summary' but nothing: .* or use reward_type='sparse'"),
        (lambda *_: [0.0], "sparse", r"about 2 features \(end, effort\), .* but these have shape \(1,\)"),
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
