"""Bring your own kernel.

A gripper with two fingers grasps the same when it is turned by 180 degrees. A kernel that knows this learns
the reward of an angle from eight answers. You write one function, the covariance of two rows of features.
Fitting, questions, explanations, saving and export follow from it.

An acquisition function, a world, a dataset format or a judge of your own is one class too, and can live in
a package of its own: see [recipes](../recipes.md).

Picture: The learned reward over the angle after eight answers, with one standard deviation: with the kernel
of this page and with the default model. The dashed line is the user's reward.
"""

from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.kernels import Parameterless, namespace_of, register
from prefero.simulation import SimulatedUser


@register
@dataclass(frozen=True)
class Turning(Parameterless):
    """Rewards that repeat after a period, in units of the scaled features."""

    period: float = 1.0

    def rowwise(self, x: Any, y: Any) -> Any:
        xp = namespace_of(x)
        return xp.exp(2.0 * (xp.cos(2.0 * np.pi / self.period * xp.sum(x - y, axis=-1)) - 1.0))

    def input_gradient(self, x: Any, y: Any) -> Any:
        xp, gap = namespace_of(x), x[:, None] - y[None]
        return -4.0 * np.pi / self.period * self(x, y)[:, :, None] * xp.sin(2.0 * np.pi / self.period * gap)


def true_reward(x: np.ndarray) -> np.ndarray:
    """Best at 70 degrees, and as good at 250."""
    return np.asarray(np.cos(np.radians(2.0 * (x[:, 0] - 70.0))))


pool = prefero.Pool(np.linspace(0, 359, 120)[:, None], ["angle"])
turning = Turning(180.0 / pool.scaling.scale[0])
models = {"kernel of your own": prefero.PreferenceGP(turning, noise=0.1), "default model": None}
angles = np.linspace(0, 359, 360)[:, None]
figure, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True, layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    learner, rng = prefero.Learner(pool, model=model, seed=0), np.random.default_rng(0)
    user = SimulatedUser(true_reward, noise=0.1)
    for _ in range(8):
        question = learner.ask()
        learner.tell(question, user.answer_question(question, pool.features, rng))
    learner.reward().save("reward.json")
    reward = prefero.load_reward("reward.json")
    mean, std = reward.standardized(angles, pool)
    right = np.corrcoef(mean, true_reward(angles))[0, 1]
    print(f"{name}: correlation with the true reward {right:.2f}")
    axis.fill_between(angles[:, 0], mean - std, mean + std, alpha=0.2)
    axis.plot(angles, mean)
    axis.plot(angles, 1.4 * true_reward(angles), "--", color="gray")
    axis.set(title=name, xlabel="angle", xticks=range(0, 361, 90))
axes[0].set_ylabel("reward (std above average)")
figure.savefig("your_own_kernel.png")
