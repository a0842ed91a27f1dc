"""Learn from your own table of trajectories.

One row per trajectory, one column per number: a CSV or Parquet file, or a pandas frame. A column of a few
texts, such as `surface`, becomes [categories](../datasets.md#categories). After 25 answers Prefero says in
plain sentences what matters, and sorts the table by it.

This user wants short drives that keep away from people, and dislikes gravel. Write the scores of a file
with `prefero score reward.json drives.csv --out scored.csv`.

Picture: The best drives, and the reward along each column. The band is one standard deviation, orange marks
are drives that were compared.
"""

import numpy as np
import pandas as pd

import prefero
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
drives = pd.DataFrame(
    {
        "id": [f"drive-{number:03d}" for number in range(150)],
        "minutes": rng.gamma(6.0, 1.5, 150).round(1),
        "people distance": rng.uniform(0.3, 4.0, 150).round(2),
        "surface": rng.choice(["asphalt", "gravel", "grass"], 150),
    }
)
drives.to_csv("drives.csv", index=False)


def true_reward(x: np.ndarray) -> np.ndarray:
    """Nothing is gained by more than two meters between the robot and people."""
    minutes, distance, gravel = x[:, 0], x[:, 1], x[:, names.index("surface=gravel")]
    return np.asarray(-0.25 * minutes + 1.5 * np.minimum(distance, 2.0) - 1.0 * gravel)


pool = prefero.Pool.from_table("drives.csv", prefero.FeatureOptions(categories="surface"))
names = pool.names
user, learner = SimulatedUser(true_reward, noise=0.2), prefero.Learner(pool, seed=0)
for _ in range(25):
    question = learner.ask()
    learner.tell(question, user.answer_question(question, pool.features, rng))

reward = learner.reward()
for statement in reward.explain(pool):
    print(statement.sentence)
sorted_drives = drives.assign(reward=reward(drives).round(2)).sort_values("reward", ascending=False)
print(sorted_drives.head(4).to_string(index=False))
rank_of_best = (true_reward(pool.features) > true_reward(pool.features)[reward.best(pool).index]).sum()
print(f"drives that the user likes better than the learned best: {rank_of_best}")

reward.save("reward.json")
learner.plot().savefig("your_table.png")
