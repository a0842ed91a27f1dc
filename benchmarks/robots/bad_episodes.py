"""How many planted bad episodes `prefero rank` finds after a few comparisons.

A point robot moves to a target in 100 demonstrations. In 20 of them something is wrong: it stops short of the
target, ends beside it, takes a detour, trembles, or is slow. A simulated user, who judges where it ends, how
straight and smooth it moves and how long it takes, compares some pairs, with noise. The table shows the share
of the bad ones among the worst 20 by the learned reward.
"""

import argparse
from collections.abc import Sequence

import numpy as np

from prefero import Learner, Pool
from prefero._support.arrays import Array, Flags
from prefero.acquisition.base import Strategy
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.formats.archives import in_memory
from prefero.deploy.scoring.quality import rate_episodes
from prefero.plots.tables import markdown_table

EPISODES, BAD, STEPS, SECONDS = 100, 20, 60, 0.05
WORDS = ("final", "path-length", "log-dimensionless-jerk", "control-effort", "duration")
KINDS = ("short", "beside", "detour", "trembling", "slow")
WEIGHTS = np.array([3.0, 2.0, 1.0, 1.0])  # of the distance from the target, the path, the jerk and the time
NOISE = 0.3  # of the user, in standard deviations of the true reward


def demonstrations(seed: int) -> tuple[Pool, Array, Flags]:
    """The pool, the true reward of each demonstration, and which are the bad ones."""
    rng = np.random.default_rng(seed)
    bad = rng.permutation(EPISODES) < BAD
    paths = [demonstration(rng, KINDS[n % len(KINDS)] if bad[n] else "") for n in range(EPISODES)]
    longest = max(map(len, paths))
    states = np.stack([np.pad(path, ((0, longest - len(path)), (0, 0)), mode="edge") for path in paths])
    archive = {
        "states": states,
        "actions": np.diff(states, axis=1, append=states[:, -1:]) / SECONDS,
        "lengths": np.array([len(path) for path in paths]),
        "step_seconds": np.array(SECONDS),
        "state_names": np.array(["x", "y"]),
    }
    found = extract_features(in_memory(archive, None), WORDS)
    return Pool(found.features, found.names), true_reward(paths), bad


def demonstration(rng: np.random.Generator, wrong: str) -> Array:
    """A minimum-jerk movement to (1, 0) with small variations, and with what is wrong with it."""
    steps = int(STEPS * rng.uniform(0.9, 1.1) * (1.6 if wrong == "slow" else 1.0))
    time = np.linspace(0.0, 1.0, steps)
    along = 10 * time**3 - 15 * time**4 + 6 * time**5
    end = np.array([1.0, 0.0]) + rng.normal(0.0, 0.02, 2)
    end = end * 0.75 if wrong == "short" else end + np.array([0.0, 0.25]) if wrong == "beside" else end
    path: Array = along[:, None] * end
    bend = (0.5 if wrong == "detour" else 0.0) + 0.05 * rng.normal()
    path[:, 1] += bend * np.sin(np.pi * along)
    return path + rng.normal(0.0, 0.01 if wrong == "trembling" else 0.001, path.shape)


def true_reward(paths: Sequence[Array]) -> Array:
    """What the user wants, with mean 0 and standard deviation 1."""
    costs = np.array(
        [
            [
                np.linalg.norm(path[-1] - [1.0, 0.0]),
                np.linalg.norm(np.diff(path, axis=0), axis=1).sum(),
                np.sqrt(np.mean(np.diff(path, n=3, axis=0) ** 2)),
                len(path) * SECONDS,
            ]
            for path in paths
        ]
    )
    scaled = (costs - costs.mean(axis=0)) / costs.std(axis=0)
    reward = -scaled @ WEIGHTS
    standardized: Array = (reward - reward.mean()) / reward.std()
    return standardized


def shares_found(seed: int, stops: Sequence[int], strategy: Strategy) -> list[float]:
    """The share of the bad episodes that are among the worst 20 after each of these numbers of answers."""
    pool, true, bad = demonstrations(seed)
    learner, rng = Learner(pool, seed=seed), np.random.default_rng([seed, 1])
    found = []
    for number in range(1, max(stops) + 1):
        question = learner.ask(strategy=strategy)
        gap = true[question.left] - true[question.right] + NOISE * np.sqrt(2) * rng.normal()
        learner.tell(question, "left" if gap > 0 else "right")
        if number in stops:
            rated = rate_episodes(learner.reward(), pool.features, BAD)
            found.append(float(bad[rated.order[:BAD]].mean()))
    return found


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks bad_episodes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--answers", type=int, nargs="+", default=[10, 15, 30])
    given = parser.parse_args(argv)
    rows = []
    strategies: tuple[Strategy, ...] = ("active", "random")
    for strategy in strategies:
        found = np.array([shares_found(seed, given.answers, strategy) for seed in range(given.users)])
        rows += [
            [f"{strategy} questions", number, _with_error(found[:, i])]
            for i, number in enumerate(given.answers)
        ]
    truths = [demonstrations(seed)[1:] for seed in range(given.users)]
    rows.append(
        ["the true reward", "", _with_error(np.array([bad[np.argsort(t)[:BAD]].mean() for t, bad in truths]))]
    )
    print(markdown_table(["", "answers", "share of the bad episodes found"], rows))


def _with_error(values: Array) -> str:
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ± {error:.2f}"


if __name__ == "__main__":
    main()
