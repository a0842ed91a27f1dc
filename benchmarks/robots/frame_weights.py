"""Which weights LeRobot's RA-BC gives to frames of good and bad episodes, by `prefero score --rabc`.

The episodes are those of `bad_episodes`: 72 demonstrations, of which 12 are bad. A simulated user answers
some chosen questions. The table shows the mean weight and the share of frames without weight, for progress by
the quality of episodes and by the rewards of their beginnings. The weights are RA-BC's, before a batch is
normalized.
"""

import argparse
from collections.abc import Mapping, Sequence

import numpy as np

from benchmarks.robots.bad_episodes import STEPS, Demonstrations, taught, with_error
from prefero._support.arrays import Array
from prefero.deploy.scoring.frame_progress import frame_progress
from prefero.plots.tables import markdown_table

EPISODES, BAD, CHUNK, KAPPA, EPSILON = 72, 12, 50, 0.01, 1e-6


def frame_weights(progress: Mapping[int, Array], chunk: int = CHUNK) -> dict[int, Array]:
    """The weight of each frame of each episode, (T,)."""
    growths = {number: _growth(values, chunk) for number, values in progress.items()}
    every = np.concatenate(list(growths.values()))
    mean, std = max(every.mean(), 0.0), max(every.std(), EPSILON)
    soft = {n: np.clip((g - mean + 2 * std) / (4 * std + EPSILON), 0.0, 1.0) for n, g in growths.items()}
    return {n: np.select([g > KAPPA, g >= 0], [1.0, soft[n]], 0.0) for n, g in growths.items()}


def _growth(values: Array, chunk: int) -> Array:
    return values[np.minimum(np.arange(len(values)) + chunk, len(values) - 1)] - values


def measured(seed: int, answers: int, steps: int) -> list[list[float]]:
    """For both kinds of progress: weight and share without weight, of good frames and of bad ones."""
    made = Demonstrations.of("unusual bad", seed, EPISODES, BAD, steps)
    [reward] = taught(made, made.pool(), [answers], "active", seed)
    table = reward.extract_features(made.dataset())
    found = []
    for kind in ("quality", "prefix"):
        weights = frame_weights(frame_progress(reward, table, kind).values)
        line = []
        for which in (False, True):
            frames = np.concatenate([some for number, some in weights.items() if made.bad[number] == which])
            line += [float(frames.mean()), float(np.mean(frames == 0.0))]
        found.append(line)
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks frame_weights", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--answers", type=int, default=15)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--steps", type=int, default=STEPS, help="of an episode")
    given = parser.parse_args(argv)
    seeds = range(given.first_seed, given.first_seed + given.users)
    found = np.array([measured(seed, given.answers, given.steps) for seed in seeds])
    heads = ["progress", "good: weight", "good: without", "bad: weight", "bad: without"]
    rows = [
        [kind, *(with_error(found[:, line, column]) for column in range(4))]
        for line, kind in enumerate(("quality", "prefix"))
    ]
    print(markdown_table(heads, rows))


if __name__ == "__main__":
    main()
