"""An environment whose features are known, and rewards learned for it."""

import warnings
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from prefero import (
    Learner,
    Pool,
    PreferenceGP,
    Reward,
    load_reward,
)
from prefero._support.arrays import Array
from prefero.kernels import RBF, Anchored

BONUS = 0.25  # the environment's own reward, at every step


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


@cache
def walk_reward() -> Reward:
    """Of the end of a walk and its mean effort; far is good."""
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


def described_walk_reward(path: Path) -> Reward:
    """A reward of the library's default features, and more, of played episodes; read from this file."""
    words = ["path-length", "log-dimensionless-jerk", "control-effort", "return", "pca(1)"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the environment's own reward is constant
        pool = Pool.from_gymnasium(lambda **_: Walk(6), words, episodes=12, clips="never")
    learner = Learner(pool)
    learner.tell(learner.ask(), "left")
    learner.reward().save(path)
    return load_reward(path)
