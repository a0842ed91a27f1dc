"""Wrapped environments are pickled, as spawned processes need it: the copies give the same rewards."""

import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from itertools import product
from multiprocessing import get_context
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete, MultiDiscrete, Space
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from prefero import (
    Learner,
    Pool,
    PreferenceGP,
    Question,
    Reward,
    RewardFromPreferences,
    VectorRewardFromPreferences,
)
from prefero.datasets import Episode
from prefero.datasets.formats.observations import side_by_side, stack
from prefero.kernels import Linear

LENGTH = 5
ACTIONS: dict[str, Space[Any]] = {
    "box": Box(-1.0, 1.0, (2,), np.float64),
    "matrix": Box(-1.0, 1.0, (2, 2), np.float64),
    "discrete": Discrete(3),
    "multi-discrete": MultiDiscrete([2, 3]),
    "dict": Dict({"arm": Box(-1.0, 1.0, (2,), np.float64), "grip": Discrete(2)}),
}


class Stroll(gymnasium.Env[Any, Any]):
    """Actions of any kind move a place; the last info has features."""

    observation_space = Box(-100.0, 100.0, (2,), np.float64)

    def __init__(self, actions: str) -> None:
        self.action_space = ACTIONS[actions]

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        del options
        self.place, self.steps = self.np_random.normal(size=2), 0
        return self.place, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        numbers = side_by_side(stack([action]), "action")[0][0]
        self.steps += 1
        self.place = self.place + np.array([numbers[0], numbers[-1] ** 2])
        return self.place, 0.25, self.steps == LENGTH, False, {"features": ends(self.place[None], None)}


def ends(observations: Any, actions: Any) -> Any:
    """The features that a wrapper may be given."""
    del actions
    return observations[-1]


def furthest(episode: Episode) -> float:
    """A feature of the user's own."""
    return float(np.abs(episode.states).max())


WORDS: dict[str, Any] = {
    "all statistics": ["statistics"],
    "statistics": ["statistics(4)"],
    "steps": ["steps"],
    "library": ["mean", "final(state 1)", "goal(state 2=0.5)", "control-effort"],
    "pca": ["pca(1)"],
    "own": [furthest, "path-length"],
}


@cache
def taught(actions: str, words: str) -> Reward:
    return reward_of(Pool.from_gymnasium(partial(made, actions), WORDS[words], episodes=8, clips="never"))


def made(actions: str, **_: Any) -> Stroll:
    return Stroll(actions)


@cache
def of_ends() -> Reward:
    """A reward that does not know how its features are computed."""
    return reward_of(Pool(np.random.default_rng(0).normal(size=(4, 2)), ["x", "y"]))


def reward_of(shown: Pool) -> Reward:
    learner = Learner(shown, model=PreferenceGP(Linear(), noise=0.1, learn=False))
    learner.tell(Question(0, 1), "left")
    return learner.reward()


def environments(actions: str, caution: float) -> dict[str, RewardFromPreferences]:
    """Every way to give a reward to an environment with these actions."""
    made: dict[str, RewardFromPreferences] = {}
    for words, kind in product(WORDS, ("sparse", "dense", "steps")):
        if kind != "steps" or words == "steps":
            name, reward = f"{words} {kind}", taught(actions, words)
            made[name] = RewardFromPreferences(Stroll(actions), reward, reward_type=kind, caution=caution)  # type: ignore[arg-type]
    for features, kind in product((ends, "info:features"), ("sparse", "dense")):
        given: Any = {"features": features, "reward_type": kind, "caution": caution}
        made[f"{features} {kind}"] = RewardFromPreferences(Stroll(actions), of_ends(), **given)
    return made


def close_to(rewards: list[float]) -> Any:
    """The last bit may differ, since arrays lie elsewhere in memory."""
    return pytest.approx(rewards, abs=1e-9)


def played(env: Any) -> list[float]:
    env.reset(seed=1)
    env.action_space.seed(2)
    return [float(env.step(env.action_space.sample())[1]) for _ in range(LENGTH)]


def played_from(content: bytes) -> dict[str, list[float]]:
    """In another process."""
    return {name: played(env) for name, env in pickle.loads(content).items()}


@pytest.mark.parametrize("actions", ACTIONS)
def test_a_pickled_environment_gives_the_same_rewards(actions: str) -> None:
    for caution in (0.0, 1.0):
        for env in environments(actions, caution).values():
            before = played(env)  # what is computed when it is first used is pickled too
            assert any(before)
            assert played(pickle.loads(pickle.dumps(env))) == close_to(before)


def test_a_pickled_environment_goes_on_with_its_episode() -> None:
    for env in environments("discrete", 0.0).values():
        env.reset(seed=1)
        env.step(1)
        again = pickle.loads(pickle.dumps(env))
        given = [env.step(2)[1] for _ in range(LENGTH - 1)]
        assert [again.step(2)[1] for _ in range(LENGTH - 1)] == close_to(given)


def test_spawned_processes_give_the_same_rewards() -> None:
    made = {
        f"{actions}: {name}": env for actions in ACTIONS for name, env in environments(actions, 0.0).items()
    }
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        there = process.submit(played_from, pickle.dumps(made)).result()
    assert list(there) == list(made)
    for name, env in made.items():
        assert played(env) == close_to(there[name]), name


def the_same(env: Any) -> Any:
    """What makes an environment for a vector environment: this one."""
    return env


def test_a_vector_of_spawned_processes_gives_the_same_rewards() -> None:
    env = RewardFromPreferences(Stroll("discrete"), taught("discrete", "statistics"), reward_type="dense")
    there = AsyncVectorEnv([partial(the_same, env)], context="spawn")
    try:
        there.reset(seed=1)
        given = [there.step(np.array([2]))[1][0] for _ in range(LENGTH)]
    finally:
        there.close()
    env.reset(seed=1)
    assert [env.step(2)[1] for _ in range(LENGTH)] == close_to(given)


@pytest.mark.parametrize("words", ["statistics", "library"])
def test_spawned_processes_of_stable_baselines_give_the_same_rewards(words: str) -> None:
    vectors = pytest.importorskip("stable_baselines3.common.vec_env")
    env = RewardFromPreferences(Stroll("discrete"), taught("discrete", words), reward_type="dense")
    there = vectors.SubprocVecEnv([partial(the_same, env)], start_method="spawn")
    try:
        there.seed(1)
        there.reset()
        given = [float(there.step(np.array([2]))[1][0]) for _ in range(LENGTH)]
    finally:
        there.close()
    env.reset(seed=1)
    assert [env.step(2)[1] for _ in range(LENGTH)] == pytest.approx(
        given, abs=1e-6
    )  # which are float32 there


@pytest.mark.parametrize("actions", ACTIONS)
@pytest.mark.parametrize("kind", ["sparse", "dense", "steps"])
def test_a_pickled_vector_environment_gives_the_same_rewards(actions: str, kind: Any) -> None:
    vector: Any = SyncVectorEnv([partial(Stroll, actions)] * 2)
    envs = VectorRewardFromPreferences(vector, taught(actions, "steps"), reward_type=kind)
    again = pickle.loads(pickle.dumps(envs))
    for one in (envs, again):
        one.reset(seed=1)
        one.action_space.seed(2)
    for _ in range(LENGTH + 2):
        given = envs.step(envs.action_space.sample())[1]
        np.testing.assert_allclose(again.step(again.action_space.sample())[1], given, atol=1e-9)
