"""Find the bad episodes of a LeRobot dataset.

With ten answers Prefero finds the demonstrations that went wrong, and writes a copy of the dataset in which
every frame has the `prefero.quality` of its episode. Training then leaves out or weighs down the bad ones.
24 of these 72 reaching movements end beside the target or tremble a little.

On the command line: `prefero teach reaching`, then `prefero rank reaching --worst 24`, which also prints
LeRobot's command that removes them. [LeRobot](../lerobot.md) has weights for training (`--rabc`) and
measurements.

Picture: All demonstrations, colored by their quality, from pink (bad) to cyan; circles mark the end of the
24 that rank worst. Right: the quality of bad and good ones.
"""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import prefero
from prefero.datasets import write_scores
from prefero.deploy.scoring.quality import rate_episodes
from prefero.simulation import SimulatedUser

rng = np.random.default_rng(0)
bad = rng.permutation(72) < 24
time = np.linspace(0, 1, 40)[:, None]
paths = [
    (10 * time**3 - 15 * time**4 + 6 * time**5) * (rng.normal([1, 0.5], 0.02) - [0, 0.12 * one * (n % 2)])
    + 0.04 * rng.normal(size=2) * np.sin(np.pi * time)
    + (0.008 if one and n % 2 == 0 else 0.001) * rng.normal(size=(40, 2))
    for n, one in enumerate(bad)
]
folder = Path("reaching")  # in place of a recorded dataset: version 2.1, without videos
state = {"dtype": "float32", "shape": [2], "names": ["x", "y"]}
files = "data/chunk-{episode_chunk:03d}/episode_{episode_index:06d}.parquet"
info = {"codebase_version": "v2.1", "fps": 20, "chunks_size": 1000, "data_path": files, "video_path": None}
info["features"] = {"observation.state": state, "action": state}
(folder / "meta").mkdir(parents=True)
(folder / "data" / "chunk-000").mkdir(parents=True)
(folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
lines = [json.dumps({"episode_index": n, "tasks": ["reach"], "length": 40}) for n in range(72)]
(folder / "meta" / "episodes.jsonl").write_text("\n".join(lines), encoding="utf-8")
task = json.dumps({"task_index": 0, "task": "reach"})
(folder / "meta" / "tasks.jsonl").write_text(task, encoding="utf-8")
for n, path in enumerate(paths):
    frames = {"observation.state": path.tolist(), "action": np.gradient(path, axis=0).tolist()}
    frames |= {"episode_index": [n] * 40, "frame_index": range(40), "index": range(40 * n, 40 * n + 40)}
    pq.write_table(pa.table(frames), folder / files.format(episode_chunk=0, episode_index=n))

pool = prefero.Pool.from_lerobot(
    folder, prefero.FeatureOptions(["final", "path-length", "log-dimensionless-jerk"], jobs=1)
)
user = SimulatedUser(lambda x: -6 * np.hypot(x[:, 0] - 1, x[:, 1] - 0.5) + 0.3 * x[:, 3], noise=0.2)
learner = prefero.Learner(pool, seed=0)
for _ in range(10):
    question = learner.ask()
    learner.tell(question, user.answer_question(question, pool.features, rng))
rated = rate_episodes(learner.reward(), pool.features, 24)
print(f"of the 24 bad episodes, found among the worst 24: {bad[rated.order[:24]].sum()}")
table = learner.reward().extract_features(folder)
write_scores(table, rated.mean, rated.std, "scored", quality=rated.quality)
copy = pq.read_table("scored/data/chunk-000/episode_000000.parquet")
print(f"columns of the copy: {', '.join(copy.column_names[-3:])}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3), width_ratios=[2, 1], layout="constrained")
for path, quality in zip(paths, rated.quality, strict=True):
    left.plot(*path.T, color=plt.get_cmap("cool_r")(quality), linewidth=1)
left.plot(*np.array([paths[n][-1] for n in rated.order[:24]]).T, "o", mfc="none", mec="tab:red")
left.set(xlabel="x", ylabel="y")
both, colors = [rated.quality[bad], rated.quality[~bad]], ["magenta", "cyan"]
right.hist(both, bins=12, color=colors, label=["bad", "good"])
right.set(xlabel="quality", ylabel="episodes")
right.legend(fontsize=8)
figure.savefig("bad_episodes.png")
