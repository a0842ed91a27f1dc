"""Find out what is acceptable.

Comparisons say what is better, not what is good enough. Say of single trajectories whether they pass, and
the reward gets a bar: `probability_acceptable` says how probably each trajectory is above it. 12
comparisons and 18 judgments of single grasps are enough to sort 200 of them into good and bad.

On the page: `prefero teach grasps.csv --answers success`, or `rate-5` for ratings. `prefero rank
--acceptable 0.8` keeps what passes: see [what is acceptable](../using.md#what-is-acceptable).

Picture: The probability that a grasp is acceptable. Circles are those that the user judged, filled where
they passed; the dashed line is where the user's own bar lies.
"""

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.simulation import SimulatedUser


def true_reward(x: np.ndarray) -> np.ndarray:
    """A firm grip near the middle of the object."""
    return np.asarray(1.2 * x[:, 0] - 2.0 * x[:, 1] ** 2)


rng = np.random.default_rng(0)
grip, offset = rng.uniform(0, 3, 200), rng.uniform(-1.5, 1.5, 200)
pool = prefero.Pool(np.column_stack([grip, offset]), ["grip force", "offset"])
user, learner = SimulatedUser(true_reward, noise=0.2, bar=1.0), prefero.Learner(pool, seed=0)
for number in range(30):
    question = learner.ask(kind="pair" if number % 5 < 2 else "success")
    learner.tell(question, user.answer_question(question, pool.features, rng))

reward = learner.reward()
probability, passes = reward.probability_acceptable(pool), true_reward(pool.features) > 1.0
right, sure = (probability > 0.5) == passes, np.maximum(probability, 1 - probability) > 0.9
print(f"right about {right.mean():.3f} of the grasps")
print(f"surer than 0.9 about {sure.mean():.2f} of them; right about {right[sure].mean():.3f} of these")
print(f"acceptable: {reward.count_acceptable(pool).mean:.1f} expected, {passes.sum()} by the true reward")

figure, axis = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
x, y = np.meshgrid(np.linspace(0, 3, 100), np.linspace(-1.5, 1.5, 100))
rows = np.column_stack([x.ravel(), y.ravel()])
field = reward.probability_acceptable(rows).reshape(x.shape)
shown = axis.contourf(x, y, field, levels=np.linspace(0, 1, 21), cmap="RdYlBu")
axis.contour(x, y, true_reward(rows).reshape(x.shape), levels=[1.0], colors="black", linestyles="--")
for answer in learner.answers:
    if answer.question.kind == "success":
        place = pool.features[answer.question.items[0]]
        axis.plot(*place, "o", mec="black", mfc="black" if answer.choice == "pass" else "none")
axis.set(xlabel=pool.names[0], ylabel=pool.names[1])
figure.colorbar(shown, ax=axis, label="P(acceptable)", ticks=[0, 0.5, 1])
figure.savefig("what_passes.png")
