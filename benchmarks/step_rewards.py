"""Time of learned rewards while an environment runs, as a ratio to the bare environment."""

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from benchmarks.timing import seconds
from prefero import (
    FeatureOptions,
    Learner,
    Pool,
    Reward,
    RewardFromPreferences,
    StepReward,
    VectorRewardFromPreferences,
)
from prefero.deploy.compiled_reward import CompiledReward

STEPS, TOGETHER, CALLS, WINDOW = 400, 8, 200, 25
ENVIRONMENTS = ("Pendulum-v1", "Reacher-v5")


def taught(name: str, features: FeatureOptions, answers: int = 30) -> Reward:
    """A reward of this environment, taught by somebody who likes a small first feature."""
    pool = Pool.from_gymnasium(name, features, episodes=20, clips="never")
    learner, rng = Learner(pool), np.random.default_rng(0)
    for _ in range(answers):
        question = learner.ask(strategy="random")
        left, right = pool.features[[question.left, question.right], 0] + 0.1 * rng.normal(size=2)
        learner.tell(question, "left" if left < right else "right")
    return learner.reward()


def stepping(env: Any, vector: bool) -> Callable[[], None]:
    """Takes many steps with the same actions each time."""
    actions = [env.action_space.sample() for _ in range(STEPS)]
    env.reset(seed=0)

    def run() -> None:
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if not vector and (terminated or truncated):
                env.reset()

    return run


def environments(name: str, label: str, reward: Reward, reward_type: Any) -> None:
    """One environment, and several at once."""
    one = RewardFromPreferences(gymnasium.make(name), reward, reward_type=reward_type)
    bare, wrapped = seconds(
        stepping(gymnasium.make(name), vector=False),
        stepping(one, vector=False),
    )
    print(f"{name}, {label}: {1e6 * bare / STEPS:.1f} us a step, ", end="")
    print(f"with the reward {1e6 * wrapped / STEPS:.1f}: {bare / wrapped:.2f} times as fast (wanted 0.5)")
    several = gymnasium.make_vec(name, num_envs=TOGETHER, vectorization_mode="sync")
    again = gymnasium.make_vec(name, num_envs=TOGETHER, vectorization_mode="sync")
    with_reward = VectorRewardFromPreferences(again, reward, reward_type=reward_type)
    bare, wrapped = seconds(stepping(several, vector=True), stepping(with_reward, vector=True))
    print(f"{name}, {label}, {TOGETHER} at once: {bare / wrapped:.2f} times as fast (wanted 0.5)", flush=True)


def calls(name: str, reward: Reward) -> None:
    """One call for one step, and one for one trajectory of other features."""
    step, rng = StepReward.of(reward), np.random.default_rng(0)
    row = rng.normal(size=len(step.names))
    other = taught(name, FeatureOptions(["mean", "max", "control-effort", "path-length"], window=50))
    compiled, features = CompiledReward.of(other), np.array(other.scaling.center)[None]
    works = [lambda: step.compiled(row), lambda: compiled(features), lambda: other(features)]
    labels = ["of a step", "of a trajectory, compiled", "of a trajectory, as it is"]
    for label, taken in zip(labels, seconds(*(repeated(work) for work in works), repeats=5), strict=True):
        print(f"{name}: one call {label}: {1e6 * taken / CALLS:.0f} us")


def repeated(work: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(CALLS):
            work()

    return run


def main() -> None:
    for name in ENVIRONMENTS:
        reward = taught(name, FeatureOptions(["steps"], window=50))
        environments(name, "steps", reward, "steps")
        environments(name, "default features", taught(name, FeatureOptions([])), "dense")
        windows = taught(name, FeatureOptions([], window=WINDOW))
        environments(name, f"default features, windows of {WINDOW} steps", windows, "dense")
        calls(name, reward)


if __name__ == "__main__":
    main()
