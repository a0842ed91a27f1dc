"""Run the reward on a robot, without Prefero.

`prefero export` writes a reward as one readable Python file that needs only NumPy, or as an ONNX graph for
C++ and other runtimes. Both give the same numbers as Prefero. The robot here draws 300 ways past an
obstacle, black in the picture, scores them with the exported file in a fraction of a millisecond each, and
takes the best.

The file also computes the features, `features(states, actions)`, so it takes what the robot recorded: see
[export](../using.md#export).

Picture: The candidates, colored by the reward of the exported file, and the best one. Right: its rewards
against those of Prefero.
"""

import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import prefero
from prefero.deploy.export import export_reward
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
time = np.linspace(0, 1, 30)


def ways(count: int) -> np.ndarray:
    """Paths from (0, 0) to (1, 0) with random bends, (count, 30, 2)."""
    bends = rng.normal(size=(count, 3)) * [0.35, 0.15, 0.1]
    y = sum(bends[:, [k]] * np.sin((k + 1) * np.pi * time) for k in range(3))
    return np.stack(np.broadcast_arrays(time, y), axis=-1)


np.savez("ways.npz", states=ways(120), step_seconds=0.1, state_names=["x", "y"])
words = ["max(y)", "path-length", "log-dimensionless-jerk"]
pool = prefero.Pool.from_table("ways.npz", prefero.FeatureOptions(words, jobs=1))
user = SimulatedUser(lambda x: 4 * np.minimum(x[:, 0], 0.25) - x[:, 1], noise=0.05)
learner = prefero.Learner(pool, seed=0)
for _ in range(15):
    question = learner.ask()
    learner.tell(question, user.answer_question(question, pool.features, rng))
reward = learner.reward()
export_reward(reward, "robot_reward.py")
export_reward(reward, "robot_reward.onnx")


candidates = ways(300)
np.save("candidates.npy", candidates)
Path("robot.py").write_text(
    """
import sys, numpy as np, robot_reward
ways = np.load("candidates.npy")
mean, std = robot_reward.predict([robot_reward.features(way, np.zeros((30, 0))) for way in ways])
np.save("means.npy", mean)
print("Prefero was imported:", "prefero" in sys.modules)
""",
    encoding="utf-8",
)
done = subprocess.run([sys.executable, "robot.py"], capture_output=True, encoding="utf-8", check=True)
print(done.stdout.strip())
means = np.load("means.npy")
np.savez("candidates.npz", states=candidates, step_seconds=0.1, state_names=["x", "y"])
inside = reward(reward.extract_features("candidates.npz").features)
print("largest difference below 1e-6:", bool(np.abs(means - inside).max() < 1e-6))
print(f"the best way bends {candidates[means.argmax(), :, 1].max():.2f} m aside")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), width_ratios=[2, 1], layout="constrained")
shades = (means - means.min()) / np.ptp(means)
for way, shade in zip(candidates, shades, strict=True):
    left.plot(*way.T, color=plt.get_cmap("viridis")(shade), linewidth=0.6, alpha=0.7)
left.plot(*candidates[means.argmax()].T, color="tab:red", linewidth=3)
left.plot(0.5, 0.0, "o", color="black", mec="white", markersize=32)
left.set(xlabel="x (m)", ylabel="y (m)", ylim=(-0.7, 0.9))
right.plot(inside, means, ".", markersize=3)
right.set(xlabel="reward in Prefero", ylabel="reward on the robot")
figure.savefig("run_on_a_robot.png")
