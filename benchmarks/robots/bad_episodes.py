"""How many planted bad episodes `prefero rank` finds after a few comparisons.

A point robot moves to a target in 100 demonstrations, in some of which something is wrong: it stops short of
the target, ends beside it, takes a detour, trembles, or is slow. There are three kinds of sets:

    unusual bad    20 bad ones, with all of these mistakes
    common bad     60 bad ones, which are all a little slow, crooked and beside the target: most are
    unusual good   20 bad ones as in the first, and 10 that are better than all others: twice as fast

A simulated user, who judges where it ends, how straight and smooth it moves and how long it takes, compares
some pairs, with noise. The table shows the share of the bad ones among so many that seem worst, by the reward
alone and with the prior knowledge that unusual episodes are worse; without answers by unusualness alone.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from prefero import Learner, Pool, Reward
from prefero._support.arrays import Array, Flags
from prefero.acquisition.base import Strategy
from prefero.datasets import Dataset
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.formats.archives import in_memory
from prefero.deploy.scoring.quality import rate_episodes
from prefero.plots.tables import markdown_table
from prefero.trajectories.unusualness import unusualness

EPISODES, STEPS, SECONDS = 100, 60, 0.05
WORDS = ("final", "path-length", "log-dimensionless-jerk", "control-effort", "duration")
PACE = {"slow": 1.6, "fast": 0.5, "sloppy": 1.2}
BESIDE = {"beside": 0.25, "sloppy": 0.15}
BEND = {"detour": 0.5, "sloppy": 0.2}
WEIGHTS = np.array([3.0, 2.0, 1.0, 1.0])  # of the distance from the target, the path, the jerk and the time
NOISE = 0.3  # of the user, in standard deviations of the true reward


class Planted(NamedTuple):
    """What a set of demonstrations has: bad ones, with these mistakes, and unusually fast ones."""

    bad: int
    mistakes: tuple[str, ...]
    fast: int = 0


MISTAKES = ("short", "beside", "detour", "trembling", "slow")
SETS = {
    "unusual bad": Planted(20, MISTAKES),
    "common bad": Planted(60, ("sloppy",)),
    "unusual good": Planted(20, MISTAKES, fast=10),
}


@dataclass(frozen=True, eq=False)
class Demonstrations:
    """Episodes of a point robot, their true reward (M,), and which are bad (M,)."""

    paths: list[Array]
    true: Array
    bad: Flags

    @classmethod
    def of(cls, kind: str, seed: int, episodes: int = EPISODES, bad: int = 0, steps: int = STEPS) -> Self:
        """A set of this kind; `bad` of them are bad, or as many as the kind has."""
        rng = np.random.default_rng(seed)
        planted = SETS[kind]
        count = bad or planted.bad
        wrong = [planted.mistakes[n % len(planted.mistakes)] for n in range(count)]
        words = [*wrong, *["fast"] * planted.fast]
        words = rng.permutation([*words, *[""] * (episodes - len(words))]).tolist()
        paths = [demonstration(rng, word, steps) for word in words]
        return cls(paths, true_reward(paths), np.isin(words, planted.mistakes))

    def dataset(self) -> Dataset:
        """The episodes as an archive has them."""
        longest = max(map(len, self.paths))
        padded = [np.pad(path, ((0, longest - len(path)), (0, 0)), mode="edge") for path in self.paths]
        states = np.stack(padded)
        archive = {
            "states": states,
            "actions": np.diff(states, axis=1, append=states[:, -1:]) / SECONDS,
            "lengths": np.array([len(path) for path in self.paths]),
            "step_seconds": np.array(SECONDS),
            "state_names": np.array(["x", "y"]),
        }
        return in_memory(archive, None)

    def found(self, goodness: Array) -> float:
        """The share of the bad ones among as many that seem worst."""
        return float(self.bad[np.argsort(goodness, kind="stable")[: self.bad.sum()]].mean())

    def pool(self) -> Pool:
        """Their features."""
        found = extract_features(self.dataset(), WORDS)
        return Pool(found.features, found.names, feature_spec=found.spec)


def demonstration(rng: np.random.Generator, word: str, steps: int = STEPS) -> Array:
    """A minimum-jerk movement to (1, 0) with small variations, and with what is wrong or different."""
    count = int(steps * rng.uniform(0.9, 1.1) * PACE.get(word, 1.0))
    time = np.linspace(0.0, 1.0, count)
    along = 10 * time**3 - 15 * time**4 + 6 * time**5
    end = (np.array([1.0, 0.0]) + rng.normal(0.0, 0.02, 2)) * (0.75 if word == "short" else 1.0)
    end = end + np.array([0.0, BESIDE.get(word, 0.0)])
    path: Array = along[:, None] * end
    bend = BEND.get(word, 0.0) + 0.05 * rng.normal()
    path[:, 1] += bend * np.sin(np.pi * along)
    return path + rng.normal(0.0, 0.01 if word == "trembling" else 0.001, path.shape)


def true_reward(paths: Sequence[Array]) -> Array:
    """What the user wants, with mean 0 and standard deviation 1."""
    costs = np.array(
        [
            [
                np.linalg.norm(path[-1] - [1.0, 0.0]),
                np.linalg.norm(np.diff(path, axis=0), axis=1).sum(),
                len(path) ** 3 * np.sqrt(np.mean(np.diff(path, n=3, axis=0) ** 2)),
                len(path) * SECONDS,
            ]
            for path in paths
        ]
    )
    scaled = (costs - costs.mean(axis=0)) / costs.std(axis=0)
    reward = -scaled @ WEIGHTS
    standardized: Array = (reward - reward.mean()) / reward.std()
    return standardized


def taught(
    made: Demonstrations, pool: Pool, stops: Sequence[int], strategy: Strategy, seed: int
) -> list[Reward]:
    """The rewards after these numbers of answers of the simulated user."""
    learner, rng = Learner(pool, seed=seed), np.random.default_rng([seed, 1])
    rewards = []
    for number in range(1, max(stops) + 1):
        question = learner.ask(strategy=strategy)
        gap = made.true[question.left] - made.true[question.right] + NOISE * np.sqrt(2) * rng.normal()
        learner.tell(question, "left" if gap > 0 else "right")
        if number in stops:
            rewards.append(learner.reward())
    return rewards


def shares_found(kind: str, seed: int, stops: Sequence[int], strategy: Strategy) -> Array:
    """The share of the bad episodes that are found, by the reward alone and by both, after these answers."""
    made = Demonstrations.of(kind, seed)
    pool, count = made.pool(), int(made.bad.sum())
    rewards = taught(made, pool, stops, strategy, seed)
    rated = [[rate_episodes(one, pool.features, count, prior=p) for one in rewards] for p in (False, True)]
    return np.array([[made.bad[one.order[:count]].mean() for one in some] for some in rated])


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks bad_episodes", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--users", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--answers", type=int, nargs="+", default=[10, 15, 30])
    given = parser.parse_args(argv)
    seeds = range(given.first_seed, given.first_seed + given.users)
    strategies: tuple[Strategy, ...] = ("active", "random")
    rows = []
    for kind in SETS:
        sets = [Demonstrations.of(kind, seed) for seed in seeds]
        alone = [one.found(-unusualness(one.pool().features).values) for one in sets]
        rows.append([kind, "", "0", "", with_error(np.array(alone))])
        for strategy in strategies:
            found = np.array([shares_found(kind, seed, given.answers, strategy) for seed in seeds])
            rows += [
                [kind, strategy, str(number), *(with_error(found[:, which, i]) for which in (0, 1))]
                for i, number in enumerate(given.answers)
            ]
        true = with_error(np.array([one.found(one.true) for one in sets]))
        rows.append([kind, "", "the true reward", true, ""])
    print(markdown_table(["set", "questions", "answers", "by the reward alone", "with unusualness"], rows))


def with_error(values: Array) -> str:
    """Mean and standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.2f} ± {error:.2f}"


if __name__ == "__main__":
    main()
