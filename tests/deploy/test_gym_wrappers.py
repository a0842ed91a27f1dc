"""The wrappers: an episode is given the learned reward of its features, once, whatever is around it."""

import subprocess
import sys
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
)
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored, Linear, Quadratic

BONUS = 0.25  # the environment's own reward, at every step
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode))


class Walk(gymnasium.Env[Any, Any]):
    """Steps along a line: over after a while, by itself or cut short, and told then what there is to note."""

    observation_space = Box(-100.0, 100.0, (2,), np.float64)
    action_space = Box(-1.0, 1.0, (1,), np.float64)

    def __init__(self, length: int = 4, cut: bool = False) -> None:
        self.length, self.cut = length, cut

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.gone, self.effort = np.zeros(2), 0, 0.0
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.gone += 1
        self.effort += abs(float(action[0]))
        self.place = self.place + np.array([float(action[0]), 1.0])
        over = self.gone == self.length
        info = {"noted": np.array([self.place[0], self.effort / self.gone])} if over else {}
        return self.place, BONUS, over and not self.cut, over and self.cut, info


class Thrifty(Walk):
    """The same array again and again, as some environments have it."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        before = self.place
        _, *rest = super().step(action)
        before[:] = self.place
        self.place = before
        return (before, *rest)  # type: ignore[return-value]


def noted(observations: Array, actions: Array) -> list[float]:
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


def by_hand(reward: Reward, actions: Array, caution: float = 0.0) -> float:
    mean, std = reward.predict([[actions.sum(), np.abs(actions).mean()]], return_std=True)
    return float(mean[0] - caution * std[0])


def walked(env: Any, actions: Any, **options: Any) -> list[tuple[Any, ...]]:
    env.reset(**options)
    return [env.step(action) for action in actions]


def drawn(steps: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-1.0, 1.0, (steps, 1))


# --- one environment --------------------------------------------------------------------------------------


@pytest.mark.parametrize("features", [noted, "info:noted"])
@pytest.mark.parametrize("cut", [False, True])
@pytest.mark.parametrize("caution", [0.0, 1.5])
def test_the_last_step_brings_the_whole_reward(
    reward: Reward, features: Any, cut: bool, caution: float
) -> None:
    env, actions = RewardFromPreferences(Walk(cut=cut), reward, features, caution=caution), drawn(4)
    for _ in range(2):
        steps = walked(env, actions)
        given = [step[1] for step in steps]
        assert given[:3] == [0.0, 0.0, 0.0]
        assert given[3] == pytest.approx(by_hand(reward, actions, caution))
        assert [step[2:4] for step in steps] == [(False, False)] * 3 + [(not cut, cut)]


def test_observations_are_kept_as_they_were(reward: Reward) -> None:
    kept = []

    def features(observations: Array, actions: Array) -> list[float]:
        kept.append(observations)
        return noted(observations, actions)

    walked(RewardFromPreferences(Thrifty(), reward, features), np.full((4, 1), 0.5))
    np.testing.assert_allclose(kept[0], [[0.0, 0.0], [0.5, 1.0], [1.0, 2.0], [1.5, 3.0], [2.0, 4.0]])


@settings(max_examples=20)
@given(st.integers(1, 7), st.integers(0, 100), st.sampled_from([0.0, 1.0]))
def test_every_step_brings_what_it_adds(reward: Reward, length: int, seed: int, caution: float) -> None:
    env = RewardFromPreferences(Walk(length), reward, noted, when="steps", caution=caution)
    actions = drawn(length, seed)
    brought = [step[1] for step in walked(env, actions)]
    worth = [by_hand(reward, actions[:n], caution) for n in range(1, length + 1)]
    np.testing.assert_allclose(brought, np.diff([0.0, *worth]), atol=1e-9)
    assert sum(brought) == pytest.approx(worth[-1])


def test_the_environments_own_reward_and_info_stay(reward: Reward) -> None:
    steps = walked(RewardFromPreferences(Walk(), reward, noted), drawn(4))
    assert [step[4]["original_reward"] for step in steps] == [BONUS] * 4
    assert steps[-1][4]["noted"].shape == (2,)


@pytest.mark.parametrize("when", ["end", "steps"])
def test_an_episode_that_is_abandoned_leaves_nothing_behind(reward: Reward, when: Any) -> None:
    env, actions = RewardFromPreferences(Walk(), reward, noted, when=when), drawn(4)
    walked(env, actions[:2])
    assert sum(step[1] for step in walked(env, actions)) == pytest.approx(by_hand(reward, actions))


def test_an_episode_on_driver_is_given_the_reward_of_its_trajectory() -> None:
    pool = Pool.simulate("driver", 40, progress=False)
    kernel = Anchored(0.5 * Linear() + 0.2 * Quadratic(), (0.0,) * 4)
    learner = Learner(pool, model=PreferenceGP(kernel, noise=0.1, learn=False))
    learner.tell(learner.ask(), "left")
    action = pool.trajectory(3).actions
    env = RewardFromPreferences(gymnasium.make("prefero/Driver-v0"), learner.reward(), "info:features")
    steps = walked(env, np.repeat(action.reshape(5, 2), 10, axis=0))
    assert steps[-1][1] == pytest.approx(learner.reward()(pool.features[[3]])[0])
    assert sum(step[1] for step in steps) == steps[-1][1]


class Rich(gymnasium.Env[Any, Any]):
    """Observations with parts, and actions to choose from."""

    observation_space = Dict({"arm": Box(0.0, 9.0, (2,), np.float64), "hand": Discrete(9)})
    action_space = Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.gone = 0
        return self._seen(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.gone += 1
        return self._seen(), 0.0, self.gone == 3, False, {"action": action}

    def _seen(self) -> dict[str, Any]:
        return {"arm": np.full(2, float(self.gone)), "hand": self.gone}


def test_observations_with_parts_are_stacked_part_by_part(reward: Reward) -> None:
    seen: list[Any] = []

    def features(observations: Any, actions: Any) -> list[float]:
        seen.append((observations, actions))
        return [0.0, 0.0]

    walked(RewardFromPreferences(Rich(), reward, features), np.array([2, 0, 1]))
    ((observations, actions),) = seen
    np.testing.assert_array_equal(observations["arm"], [[0, 0], [1, 1], [2, 2], [3, 3]])
    np.testing.assert_array_equal(observations["hand"], [0, 1, 2, 3])
    np.testing.assert_array_equal(actions, [2, 0, 1])


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped", "ignore:.*not having a spec")
def test_gymnasiums_own_checks_pass(reward: Reward) -> None:
    check_env(RewardFromPreferences(Walk(), reward, noted))


def slope(observations: Array, actions: Array) -> list[float]:
    return [float(observations[:, 0].mean()), float(np.abs(actions).mean())]


def test_the_environment_can_be_made_again_from_its_specification(reward: Reward) -> None:
    env = RewardFromPreferences(gymnasium.make("Pendulum-v1"), reward, slope, when="steps", caution=0.5)
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    actions = np.linspace(-2.0, 2.0, 5)[:, None].astype(np.float32)
    given, twice = ([step[1] for step in walked(e, actions, seed=1)] for e in (env, again))
    np.testing.assert_array_equal(given, twice)
    assert any(given)


# --- under other wrappers ---------------------------------------------------------------------------------


def monitor(env: gymnasium.Env[Any, Any]) -> gymnasium.Env[Any, Any]:
    made: gymnasium.Env[Any, Any] = pytest.importorskip("stable_baselines3.common.monitor").Monitor(env)
    return made


every_counter = pytest.mark.parametrize("count", [RecordEpisodeStatistics, monitor])


@every_counter
@pytest.mark.parametrize("when", ["end", "steps"])
def test_what_counts_rewards_outside_counts_the_learned_one(reward: Reward, count: Any, when: Any) -> None:
    env, actions = count(RewardFromPreferences(Walk(), reward, noted, when=when)), drawn(4)
    for _ in range(2):
        counted = walked(env, actions)[-1][4]["episode"]
        assert counted["r"] == pytest.approx(by_hand(reward, actions), abs=1e-6)
        assert counted["l"] == 4


@every_counter
def test_what_counts_rewards_inside_counts_the_environments_own(reward: Reward, count: Any) -> None:
    env, actions = RewardFromPreferences(count(Walk()), reward, noted), drawn(4)
    for _ in range(2):
        *_, (_, given, _, _, info) = walked(env, actions)
        assert (info["episode"]["r"], info["episode"]["l"]) == (4 * BONUS, 4)
        assert given == pytest.approx(by_hand(reward, actions))


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
@pytest.mark.parametrize(("features", "when"), [(noted, "end"), (noted, "steps"), ("info:noted", "end")])
def test_in_a_vector_every_episode_is_given_its_own_reward(
    reward: Reward, mode: AutoresetMode, features: Any, when: Any
) -> None:
    env = VectorRewardFromPreferences(vector(mode), reward, features, when=when, caution=0.5)
    actions = np.random.default_rng(3).uniform(-1, 1, (15, 3, 1))
    found = ends(env, actions, mode)
    for number, total, used in found:
        assert len(used) == LENGTHS[number]
        assert total == pytest.approx(by_hand(reward, used, 0.5))
    rounds = [n + (mode is AutoresetMode.NEXT_STEP) for n in LENGTHS]
    assert len(found) == sum((15 + (mode is AutoresetMode.NEXT_STEP)) // r for r in rounds)


@every_mode
def test_a_vector_of_wrapped_environments_is_a_wrapped_vector(reward: Reward, mode: AutoresetMode) -> None:
    inside = SyncVectorEnv(
        [lambda n=n: RewardFromPreferences(Walk(n, cut=n == 3), reward, noted) for n in LENGTHS],  # type: ignore[misc]
        autoreset_mode=mode,
    )
    outside = VectorRewardFromPreferences(vector(mode), reward, noted)
    actions = np.random.default_rng(4).uniform(-1, 1, (12, 3, 1))
    for first, second in zip(ends(inside, actions, mode), ends(outside, actions, mode), strict=True):
        assert first[:2] == pytest.approx(second[:2])


def test_a_vector_in_processes_is_given_the_same(reward: Reward) -> None:
    mode, actions = AutoresetMode.NEXT_STEP, np.random.default_rng(5).uniform(-1, 1, (9, 3, 1))
    here = VectorRewardFromPreferences(vector(mode), reward, "info:noted")
    there = VectorRewardFromPreferences(vector(mode, AsyncVectorEnv), reward, "info:noted")
    try:
        for first, second in zip(ends(here, actions, mode), ends(there, actions, mode), strict=True):
            assert first[:2] == second[:2]
    finally:
        there.close()


@every_mode
def test_a_vectors_own_rewards_stay_in_its_infos(reward: Reward, mode: AutoresetMode) -> None:
    env = VectorRewardFromPreferences(vector(mode), reward, noted)
    env.reset()
    _, given, _, _, infos = env.step(np.zeros((3, 1)))
    np.testing.assert_array_equal(infos["original_reward"], [BONUS] * 3)
    np.testing.assert_array_equal(infos["_original_reward"], [True] * 3)
    np.testing.assert_allclose(given, [0.0, by_hand(reward, np.zeros((1, 1))), 0.0])


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_what_counts_a_vectors_rewards_counts_what_it_sees(reward: Reward, mode: AutoresetMode) -> None:
    counted = VectorRecordEpisodeStatistics(VectorRewardFromPreferences(vector(mode), reward, noted))
    inside = VectorRewardFromPreferences(VectorRecordEpisodeStatistics(vector(mode)), reward, noted)
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
        ("noted", {}, "or 'info:KEY' where the environment tells them, but are 'noted'"),
        ("info:", {}, "but are 'info:'"),
        (None, {}, "but are None"),
        (noted, {"when": "later"}, "comes at the end or at steps, but when is 'later'"),
        (noted, {"caution": -1.0}, "caution is a number of standard deviations"),
        (noted, {"reward": "reward.json"}, "wanted a learned reward, .* but got 'reward.json'"),
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
    ("features", "when", "message"),
    [
        ("info:features", "end", "info has no 'features' but 'noted': give a function"),
        ("info:noted", "steps", "info has no 'noted' but nothing: .* or take when='end'"),
        (lambda *_: [0.0], "end", r"about 2 features \(end, effort\), .* but these have shape \(1,\)"),
        (lambda *_: [0.0, np.nan], "end", "must be finite"),
    ],
)
def test_features_that_are_not_there_are_missed(
    reward: Reward, features: Any, when: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        walked(RewardFromPreferences(Walk(), reward, features, when=when), drawn(4))


def test_the_wrapper_is_imported_when_it_is_used() -> None:
    code = (
        "import sys, prefero; assert 'gymnasium' not in sys.modules\n"
        "print(prefero.RewardFromPreferences.__name__)\n"
        "sys.modules['gymnasium'] = None\n"
        "prefero.RewardFromPreferences"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=False)
    assert done.stdout == "RewardFromPreferences\n"
    assert "pip install 'prefero[worlds]'" in done.stderr
