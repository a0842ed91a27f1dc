"""Teach a reward with twenty answers.

After 20 answers, some of them wrong, the learned reward has the shape of the true one. A simulated user
likes a long distance and a speed near the middle. Prefero never sees this reward; it asks which of two
trajectories is better.

`ask` chooses the pair whose answer tells most about other answers. `tell` takes `"left"`, `"right"` or
`"equal"`. In your program a person sees two clips, and their key is the answer. Continue with the
[tutorial](../tutorial.md).

Picture: The learned reward after 3, 8 and 20 answers, and the true one on the right. White lines are the
questions, a dot marks the preferred trajectory.
"""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
pool = prefero.Pool(rng.normal(size=(200, 2)), names=["speed", "distance"])
user = SimulatedUser(lambda x: x[:, 1] - x[:, 0] ** 2, noise=0.2)

grid = np.stack(np.meshgrid(np.linspace(-2.5, 2.5, 80), np.linspace(-2.5, 2.5, 80)), axis=-1)
figure, axes = plt.subplots(1, 4, figsize=(11, 3), sharey=True, layout="constrained")


def draw(axis: Any, reward: np.ndarray, title: str) -> None:
    """The order of the rewards is what comparisons determine, so the order is drawn."""
    ranks = reward.argsort(kind="stable").argsort(kind="stable").reshape(80, 80)
    axis.contourf(grid[..., 0], grid[..., 1], ranks, levels=20, cmap="viridis")
    axis.set(title=title, xlabel="speed", xlim=(-2.5, 2.5), ylim=(-2.5, 2.5))


learner = prefero.Learner(pool, seed=0)
for number in range(1, 21):
    question = learner.ask()
    learner.tell(question, user.answer_question(question, pool.features, rng))
    if number in (3, 8, 20):
        axis = axes[(3, 8, 20).index(number)]
        draw(axis, learner.reward()(grid.reshape(-1, 2)), f"{number} answers")
        for answer in learner.answers:
            winner, loser = pool.features[list(answer.pair)]
            axis.plot(*zip(winner, loser, strict=True), color="white", linewidth=0.7, alpha=0.7)
            axis.plot(*winner, "o", color="white", markersize=3)

reward = learner.reward()
draw(axes[3], user.reward(grid.reshape(-1, 2)), "the true reward")
axes[0].set_ylabel("distance")
figure.savefig("teach.png")

true = user.reward(pool.features)
print(reward.describe())
print(f"correlation with the true reward: {np.corrcoef(reward(pool.features), true)[0, 1]:.2f}")
print(f"better than the learned best: {(true > true[reward.best(pool).index]).sum()} of {len(pool)}")
