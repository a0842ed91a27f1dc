"""Videos without features: accuracy after 20 questions with features of the frames, and with the true ones.

Trajectories of a world are written as videos. A simulated user's reward is linear in the world's features,
which the model does not see: it gets features that were extracted of the videos. Half of the videos are asked
about, and the accuracy is that of all pairs of the other half.
"""

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed

from prefero._support.arrays import Array
from prefero.datasets import FeatureOptions, VideoFolderOptions, extract_features, open_dataset
from prefero.learner import Learner
from prefero.pools.pool import Pool
from prefero.rendering.canvas import canvas_for
from prefero.rendering.video import save_video
from prefero.simulation.users import SimulatedUser
from prefero.worlds import make

FPS, WIDTH, HEIGHT = 10.0, 320, 240
NOISE = 0.1
WORDS = ("", "mean", "random-network(8)")


def write_video(folder: Path, world: str, count: int, number: int) -> None:
    """The video of one trajectory."""
    made = make(world)
    poses = Pool.simulate(made, count).trajectory(number).poses.astype(float)
    canvas = canvas_for(made.scene, WIDTH, HEIGHT)
    frames = (canvas.render(pose) for pose in made.scene.resample(poses, FPS))
    save_video(folder / f"{number:04d}.mp4", frames, FPS)


def video_features(folder: Path, word: str, states: str) -> Array:
    """Features of all videos in a folder; an empty word takes the default ones."""
    options = FeatureOptions((word,) if word else ())
    dataset = open_dataset(folder, VideoFolderOptions(frame_states=states))
    return extract_features(dataset, options).without_redundant().features


def extracted_sets(world: str, count: int, parallel: Parallel) -> dict[str, Array]:
    """Features of videos of a world's trajectories, extracted in several ways."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        parallel(delayed(write_video)(folder, world, count, number) for number in range(count))
        sets = {word or "default, pca(8)": video_features(folder, word, "statistics") for word in WORDS}
        return sets | {"pca(8) of pixels": video_features(folder, "pca(8)", "pixels")}


def accuracy(features: Array, rewards: Array, seed: int, questions: int) -> float:
    """With the first half of the trajectories to ask about, of all pairs of the second half."""
    half, rng = len(features) // 2, np.random.default_rng([seed, 1])
    user = SimulatedUser(lambda x: x[:, 0], NOISE)
    learner = Learner(Pool(features[:half]), seed=seed)
    for _ in range(questions):
        question = learner.ask()
        learner.tell(question, user.answer(rewards[[question.left]], rewards[[question.right]], rng))
    scores, truth = learner.reward()(features[half:]), rewards[half:]
    left, right = np.triu_indices(len(truth), 1)
    return float(np.mean((scores[left] > scores[right]) == (truth[left] > truth[right])))


def rewards_of(true: Array, seed: int) -> Array:
    """A random linear reward of the true features, with mean 0 and standard deviation 1."""
    scaled = (true - true.mean(axis=0)) / true.std(axis=0)
    rewards = scaled @ np.random.default_rng(seed).normal(size=scaled.shape[1])
    centered: Array = (rewards - rewards.mean()) / rewards.std()
    return centered


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.video_features")
    parser.add_argument("--worlds", nargs="+", default=["driver", "tosser"])
    parser.add_argument("--videos", type=int, default=200)
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    for world in options.worlds:
        parallel = Parallel(options.jobs)
        true = Pool.simulate(make(world), options.videos).features
        sets = {"the world's own features": true} | extracted_sets(world, options.videos, parallel)
        for label, features in sets.items():
            work = (
                delayed(accuracy)(features, rewards_of(true, seed), seed, options.questions)
                for seed in range(options.users)
            )
            found = np.array(parallel(work))
            error = found.std(ddof=1) / np.sqrt(len(found))
            row = f"{world:8s} {label:26s} {features.shape[1]:3d} features"
            print(f"{row}  {found.mean():.3f} +- {error:.3f}", flush=True)


if __name__ == "__main__":
    main()
