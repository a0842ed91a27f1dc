"""A simulated user teaches a car, and a policy is trained on what was taught, with stable-baselines3.

pip install 'prefero[train,worlds]'
"""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor

import prefero
from prefero.simulation.tasks import Task, world_task

Array = NDArray[np.float64]
HOLD = 10  # steps: a decision is kept for a second, as in the pool's plans


class Held(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Every action is held for `HOLD` steps, so that an episode has five decisions instead of fifty."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        total = 0.0
        for _ in range(HOLD):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info


def taught(task: Task, questions: int, model: Any = None) -> prefero.Reward:
    """The reward that the task's user teaches."""
    learner, rng = prefero.Learner(task.pool, model=model), np.random.default_rng(0)
    for _ in range(questions):
        question = learner.ask()
        left, right = task.pool.scaled[question.left], task.pool.scaled[question.right]
        learner.tell(question, task.user.answer(left, right, rng))
    return learner.reward()


def driver(reward: prefero.Reward, caution: float = 0.0) -> gymnasium.Env[Any, Any]:
    """The car; an episode's reward is the learned one of its features, and comes with the last step."""
    env = gymnasium.make("prefero/Driver-v0")
    taught = prefero.RewardFromPreferences(env, reward, "info:features", caution=caution)
    watched: gymnasium.Env[Any, Any] = Monitor(Held(taught))
    return watched


def trained(reward: prefero.Reward, decisions: int, seed: int = 0) -> PPO:
    """A small policy; an episode is short and its reward comes last, so nothing is discounted."""
    policy = PPO(
        "MlpPolicy",
        driver(reward),
        n_steps=250,
        batch_size=50,
        gamma=1.0,
        gae_lambda=1.0,
        learning_rate=3e-3,
        policy_kwargs={"net_arch": [32, 32]},
        seed=seed,
        device="cpu",
    )
    return policy.learn(decisions)


def driven(policy: PPO, reward: prefero.Reward) -> Array:
    """The features of an episode under the policy."""
    env, over = driver(reward), False
    observation, _ = env.reset()
    while not over:
        action, _ = policy.predict(observation, deterministic=True)
        observation, _, terminated, truncated, info = env.step(action)
        over = terminated or truncated
    features: Array = info["features"]
    return features


def main(questions: int = 40, decisions: int = 10_000, seed: int = 1) -> None:
    """Teach, train, and compare with the best trajectory of the pool under the true reward."""
    task = world_task(prefero.worlds.make("driver"), "quadratic", trajectories=500, seed=seed)

    def true(features: Array) -> Array:
        return task.user.reward(task.pool.scaling(np.atleast_2d(features)))

    reward = taught(task, questions)
    print(f"After {questions} answers, {reward.describe()}.")
    features = driven(trained(reward, decisions), reward)
    mean, std = reward.predict(features[None], return_std=True)
    best, reached = true(task.pool.features).max(), true(features)[0]
    print(f"The policy's learned reward is {mean[0]:.2f}, with a standard deviation of {std[0]:.2f}.")
    print(f"Its true reward is {reached:.2f}; that of the best of {len(task.pool)} trajectories {best:.2f}.")
    if reached > best:
        print("The policy drives better than every trajectory that the user was shown.")
    elif mean[0] > reward(task.pool.features).max():
        print("The learned reward overestimates the policy's trajectory: ask about it (learner.add).")
    else:
        print("The policy has not reached the pool's best learned reward: train it longer.")


if __name__ == "__main__":
    main()
