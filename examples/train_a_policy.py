"""Train a policy on a learned reward.

25 answers about short pieces of random motion teach what "upright" means for a pendulum, as a [reward of
every step](../training.md#a-reward-of-steps). A policy trained on this reward alone swings the pendulum up,
and reaches a true return near that of a policy trained on the environment's own reward.

The training here is value iteration on a grid of angles and velocities, so it takes a second and needs no
other package. With stable-baselines3, wrap the environment in `prefero.RewardFromPreferences(env, reward)`
and train as always, or let the questions follow the policy: [teach while a policy
trains](teach_while_training.md).

Picture: Left: the learned reward of each state, and a swing of the policy trained on it. Right: the true
return of ten episodes of each policy.
"""

from typing import Any

import gymnasium
import matplotlib.pyplot as plt
import numpy as np
from scipy.ndimage import map_coordinates

import prefero
from prefero.simulation import SimulatedUser

env: Any = gymnasium.make("Pendulum-v1")
rng = np.random.default_rng(0)
options = prefero.FeatureOptions(["steps"], window=40, jobs=1)
pool = prefero.Pool.from_gymnasium("Pendulum-v1", options, episodes=30, clips="never")
user, learner = SimulatedUser(lambda x: x[:, 0], noise=0.2), prefero.Learner(pool, seed=0)
for _ in range(25):  # the user looks at the first state alone, the cosine of the angle
    question = learner.ask()
    learner.tell(question, user.answer_question(question, pool.scaled, rng))

# What each of nine torques does in each state of a grid, and the environment's own reward for it.
torques, speeds = np.linspace(-2, 2, 9), np.linspace(-8, 8, 61)
angle, velocity, torque = np.meshgrid(np.linspace(-np.pi, np.pi, 61)[:-1], speeds, torques, indexing="ij")
after, true = np.empty((2, *angle.shape)), np.empty(angle.shape)
env.reset(seed=0)
for place in np.ndindex(angle.shape):
    env.unwrapped.state = np.array([angle[place], velocity[place]])
    true[place] = env.step(np.array([torque[place]]))[1]
    after[(slice(None), *place)] = env.unwrapped.state
states = np.stack([np.cos(angle), np.sin(angle), velocity], axis=-1).reshape(-1, 3)
learned = prefero.StepReward.of(learner.reward())
rewards = {"learned": learned(states, torque.reshape(-1, 1)).reshape(true.shape), "true": true}


def at(values: np.ndarray, angle: Any, velocity: Any, *more: Any) -> np.ndarray:
    """Values of the grid between its points; angles wrap around."""
    where = [(angle + np.pi) / (2 * np.pi) * 60 % 60, (velocity + 8) / 16 * 60, *more]
    return np.asarray(map_coordinates(np.concatenate([values, values[:1]]), where, order=1))


def trained(reward: np.ndarray) -> np.ndarray:
    """What each torque in each state leads to, by value iteration."""
    found = reward
    for _ in range(200):
        found = reward + 0.98 * at(found.max(axis=2), *after)
    return found


def episode(values: np.ndarray, seed: int) -> tuple[np.ndarray, float]:
    """The angles and velocities, and the true return."""
    (cos, sin, velocity), path, total = env.reset(seed=seed)[0], [], 0.0
    for _ in range(200):
        path.append((np.arctan2(sin, cos), velocity))
        best = at(values, *np.array([path[-1]] * 9).T, np.arange(9)).argmax()
        (cos, sin, velocity), given = env.step(torques[[best]])[:2]
        total += float(given)
    return np.array(path), total


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
values = {"random": rng.normal(size=true.shape)} | {name: trained(one) for name, one in rewards.items()}
for name, table in values.items():
    episodes = [episode(table, seed) for seed in range(10)]
    print(f"policy of the {name} reward: true return {np.mean([total for _, total in episodes]):.1f}")
    right.plot([total for _, total in episodes], [name] * 10, "o", alpha=0.5)
    if name == "learned":
        left.plot(*episodes[2][0].T, ".", color="white", markersize=5)
still, extent = rewards["learned"][:, :, 4].T, (-np.pi, np.pi, -8, 8)
shown = left.imshow(still, origin="lower", extent=extent, aspect="auto")
left.set(xlabel="angle (0 is upright)", ylabel="velocity")
figure.colorbar(shown, ax=left, label="learned reward")
right.set(xlabel="true return of an episode", xticks=range(-1500, 1, 500), ylim=(-0.5, 2.5))
figure.savefig("train_a_policy.png")
