"""Real people's ratings: what levels, success labels and comparisons of the same scenes teach.

    file       an .npz with `features` (scenes, d) and `ratings` (n, 3): person, scene, and score, 0 to 100
    levels     five of equal width; "success" is a score of 50 or more
    pairs      of random scenes, answered by their scores; each shows two scenes
    both       a third of the answers are pairs of this kind, the others levels, for as many scenes watched

For every person and seed a model learns from some scenes and orders random pairs of other ones. Levels are
also predicted: their calibration error is the mean distance of probabilities and frequencies in ten bins.
Such a file is made from SocNav1 (Manso et al., 2020, CC-BY 4.0), of which nothing is in this repository.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from prefero import PreferenceGP
from prefero._support.arrays import Array, Indices
from prefero.acquisition.batches import choice_probabilities
from prefero.plots.tables import markdown_table
from prefero.questions import Answer, Comparisons, Question

ANSWERS = (10, 20, 40, 100)  # at most as many as there are to learn from
LEVELS, TOP = 5, 100.0
LEAST = 200  # ratings of a person who takes part
TESTED, PAIRS = 200, 4000  # scenes that nothing is learned from, and pairs of them
METHODS = ("levels", "success", "pairs", "both", "regression")


@dataclass(frozen=True)
class Ratings:
    """The ratings of one person, in random order."""

    features: Array
    scores: Array

    @property
    def levels(self) -> Indices:
        """From 1."""
        return np.minimum(self.scores * LEVELS // TOP, LEVELS - 1).astype(np.intp) + 1

    @property
    def learned(self) -> Indices:
        """Scenes to learn from."""
        return np.arange(len(self.scores) - TESTED)

    def pair(self, rng: np.random.Generator) -> Answer:
        """A comparison of two random scenes."""
        a, b = rng.choice(self.learned, 2, replace=False).tolist()
        said = ("equal", "left", "right")[int(np.sign(self.scores[a] - self.scores[b]))]
        return Answer(Question(a, b), said)

    def level(self, scene: int) -> Answer:
        """The label of a scene."""
        return Answer.label(scene, int(self.levels[scene]), LEVELS)

    def answers(self, method: str, count: int, rng: np.random.Generator) -> list[Answer]:
        """So many answers; "both" counts scenes that are watched."""
        if method == "pairs":
            return [self.pair(rng) for _ in range(count)]
        if method == "success":
            return [Answer.label(scene, bool(self.scores[scene] >= TOP / 2)) for scene in range(count)]
        if method == "both":
            third = count // 3
            return [*map(self.level, range(count - 2 * third)), *(self.pair(rng) for _ in range(third))]
        return [self.level(scene) for scene in range(count)]


def _file(path: Path) -> tuple[Array, Array]:
    with np.load(path) as arrays:
        return arrays["features"].astype(float), arrays["ratings"].astype(float)


def people_of(path: Path) -> list[int]:
    """Those with enough ratings."""
    numbers, counts = np.unique(_file(path)[1][:, 0], return_counts=True)
    return [int(number) for number, count in zip(numbers, counts, strict=True) if count >= LEAST + TESTED]


def ratings_of(path: Path, person: int, seed: int) -> Ratings:
    features, rows = _file(path)
    own = rows[rows[:, 0] == person]
    own = own[np.random.default_rng([seed, person]).permutation(len(own))]
    return Ratings(features[own[:, 1].astype(int)], own[:, 2])


def ordered(rewards: Array, ratings: Ratings, rng: np.random.Generator) -> float:
    """What of random pairs of other scenes the rewards order as the person does."""
    first, second = len(ratings.learned) + rng.integers(0, TESTED, (2, PAIRS))
    differ = ratings.scores[first] != ratings.scores[second]
    first, second = first[differ], second[differ]
    better = ratings.scores[first] > ratings.scores[second]
    return float(np.mean((rewards[first] > rewards[second]) == better))


def regression(ratings: Ratings, count: int) -> Array:
    """Rewards by plain Gaussian process regression on the levels."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    x = (ratings.features - ratings.features.mean(axis=0)) / ratings.features.std(axis=0)
    kernel = ConstantKernel() * RBF(np.sqrt(x.shape[1])) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=0)
    return np.asarray(model.fit(x[:count], ratings.levels[:count]).predict(x))


def calibration(model: PreferenceGP, ratings: Ratings) -> float:
    """The calibration error of the probabilities of all levels of other scenes."""
    tested = range(len(ratings.learned), len(ratings.scores))
    each = [
        choice_probabilities(model.posterior_, ratings.features, Question(scene, kind=f"rate-{LEVELS}"))
        for scene in tested
    ]
    p = np.concatenate([one[-LEVELS:] for one in each])
    said = (ratings.levels[list(tested), None] == np.arange(1, LEVELS + 1)).ravel()
    bins = np.minimum((10 * p).astype(int), 9)
    used = np.unique(bins)
    return float(sum(abs(np.sum(p[bins == one]) - np.sum(said[bins == one])) for one in used) / len(p))


def work(job: Job, path: Path) -> list[Row]:
    ratings = ratings_of(path, job["person"], job["seed"])
    rows: list[Row] = []
    for count in ANSWERS:
        rng = np.random.default_rng([job["seed"], job["person"], count])
        if job["method"] == "regression":
            rows.append({"answers": count, "accuracy": ordered(regression(ratings, count), ratings, rng)})
            continue
        answers = ratings.answers(job["method"], count, rng)
        data = Comparisons.from_answers(ratings.features, answers)
        model = PreferenceGP().fit_comparisons(data, ratings.features)
        rewards = np.asarray(model.predict(ratings.features))
        row = {"answers": count, "accuracy": ordered(rewards, ratings, rng)}
        if job["method"] == "levels":
            row["calibration"] = calibration(model, ratings)
        rows.append(row)
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("ratings", __doc__, people=5)
    parser.add_argument("file", type=Path, metavar="FILE", help="an .npz with features and ratings")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options = parser.parse_args(argv)
    if not options.file.is_file():
        parser.error(f"there is no file {options.file}: give an .npz with the arrays features and ratings")
    jobs: list[Job] = [
        {"label": options.label, "seed": seed, "person": person, "method": method}
        for seed in seeds_of(options)
        for person in people_of(options.file)
        for method in options.methods
    ]
    file = measured(options, jobs, partial(work, path=options.file))
    print(table(labelled(options, file.rows), options.methods))


def table(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """Means over people and seeds, with standard errors; the last column is of the levels."""

    def cell(answers: int, method: str, column: str) -> str:
        own = [row for row in rows if (row["answers"], row["method"]) == (answers, method)]
        mean, error = mean_and_error(row[column] for row in own if row.get(column) is not None)
        return f"{mean:.3f} +- {error:.3f}" if np.isfinite(mean) else ""

    each = (
        [count, *(cell(count, one, "accuracy") for one in methods), cell(count, "levels", "calibration")]
        for count in ANSWERS
    )
    return markdown_table(["answers", *methods, "calibration error"], each)


if __name__ == "__main__":
    main()
