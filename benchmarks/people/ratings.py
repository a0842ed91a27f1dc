"""Real people's ratings: what levels, success labels and comparisons of the same scenes teach.

    file       an .npz with `features` (scenes, d) and `ratings` (n, 3): person, scene, and score, 0 to 100
    levels     five of equal width; "success" is a score of 50 or more
    pairs      of random scenes, answered by their scores; each shows two scenes
    both       pairs and levels, as many of each, counted by the scenes that are watched
    chosen     the same by predictive information, of both the kind that tells most for each scene watched

For every person and seed a model learns from some scenes and orders random pairs of other ones. Both, and
what is chosen, are counted by the scenes that were watched, all others by answers. Levels are also predicted:
their calibration error is the mean distance of probabilities and frequencies in ten bins, of all people
together.
Such a file is made from SocNav1 (Manso et al., 2020, CC-BY 4.0), of which nothing is in this repository.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.rows import Job, Row, labelled, mean_and_error, measured, row_parser, seeds_of
from prefero import Learner, Pool, PreferenceGP
from prefero._support.arrays import Array, Indices
from prefero.acquisition.batches import choice_probabilities
from prefero.plots.tables import markdown_table
from prefero.questions import Answer, Comparisons, Question
from prefero.questions.answer_kinds import items_of
from prefero.questions.answer_times import AnswerTimes

ANSWERS = (10, 20, 40, 100)
SCENES = (20, 40, 60)  # that are watched, where questions are chosen
LEVELS, TOP = 5, 100.0
LEAST = 200  # ratings of a person who takes part
TESTED, PAIRS = 200, 4000  # scenes that nothing is learned from, and pairs of them
POOL = 400  # scenes of a person that questions are chosen from
METHODS = ("levels", "success", "pairs", "both", "regression")
CHOSEN = {"chosen levels": ("rate-5",), "chosen pairs": ("pair",), "chosen both": ("pair", "rate-5")}


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
        question = Question(*rng.choice(self.learned, 2, replace=False).tolist())
        return Answer(question, self.answer(question))

    def answer(self, question: Question) -> str:
        """To a question about a pair or one scene."""
        if len(question.items) == 1:
            return str(self.levels[question.items[0]])
        return ("equal", "left", "right")[int(np.sign(np.subtract(*self.scores[list(question.items)])))]

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


def binned(model: PreferenceGP, ratings: Ratings) -> Row:
    """Sums of the probabilities of all levels of other scenes, and how many were said, in ten bins."""
    tested = range(len(ratings.learned), len(ratings.scores))
    each = [
        choice_probabilities(model.posterior_, ratings.features, Question(scene, kind=f"rate-{LEVELS}"))
        for scene in tested
    ]
    p = np.concatenate([one[-LEVELS:] for one in each])
    said = (ratings.levels[list(tested), None] == np.arange(1, LEVELS + 1)).ravel()
    bins = np.minimum((10 * p).astype(int), 9)
    predicted, counted = (np.bincount(bins, weights, minlength=10) for weights in (p, said))
    return {"predicted": predicted.tolist(), "said": counted.tolist()}


def calibration_error(rows: Sequence[Row]) -> float:
    """Of all people together."""
    predicted, said = (np.sum([row[name] for row in rows], axis=0) for name in ("predicted", "said"))
    return float(np.abs(predicted - said).sum() / predicted.sum() / LEVELS)


def chosen(ratings: Ratings, kinds: tuple[str, ...], seed: int) -> list[Row]:
    """Replay: questions by predictive information about some scenes of the person, who has rated them all."""
    some = ratings.learned[:POOL]
    learner, watched, rows = Learner(Pool(ratings.features[some]), seed=seed), 0, list[Row]()
    while watched < SCENES[-1]:
        # the same time for every kind and scene: what is compared is what is watched
        times = AnswerTimes({kind: [float(items_of(kind))] * 1000 for kind in kinds})
        question = learner.ask(kind=kinds, times=times)
        learner.tell(question, ratings.answer(question))
        before, watched = watched, watched + len(question.items)
        for scenes in (one for one in SCENES if before < one <= watched):
            rewards = np.asarray(learner.reward().predict(ratings.features))
            rng = np.random.default_rng([seed, scenes])
            rows.append({"answers": scenes, "accuracy": ordered(rewards, ratings, rng)})
    return rows


def work(job: Job, path: Path) -> list[Row]:
    ratings = ratings_of(path, job["person"], job["seed"])
    rows: list[Row] = []
    if job["method"] in CHOSEN:
        return chosen(ratings, CHOSEN[job["method"]], job["seed"])
    for count in ANSWERS:
        rng = np.random.default_rng([job["seed"], job["person"], count])
        if job["method"] == "regression":
            rows.append({"answers": count, "accuracy": ordered(regression(ratings, count), ratings, rng)})
            continue
        answers = ratings.answers(job["method"], count, rng)
        data = Comparisons.from_answers(ratings.features, answers)
        model = PreferenceGP().fit_comparisons(data, ratings.features)
        rewards = np.asarray(model.predict(ratings.features))
        row: Row = {"answers": count, "accuracy": ordered(rewards, ratings, rng)}
        rows.append(row | (binned(model, ratings) if job["method"] == "levels" else {}))
    return rows


def main(argv: Sequence[str] | None = None) -> None:
    parser = row_parser("ratings", __doc__, people=5)
    parser.add_argument("file", type=Path, metavar="FILE", help="an .npz with features and ratings")
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=[*METHODS, *CHOSEN])
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

    def of(answers: int, method: str) -> list[Row]:
        return [row for row in rows if (row["answers"], row["method"]) == (answers, method)]

    def cell(answers: int, method: str) -> str:
        mean, error = mean_and_error(row["accuracy"] for row in of(answers, method))
        return f"{mean:.3f} +- {error:.3f}" if np.isfinite(mean) else ""

    def calibrated(answers: int) -> str:
        own = [row for row in of(answers, "levels") if row.get("said") is not None]
        return f"{calibration_error(own):.3f}" if own else ""

    counts = sorted({row["answers"] for row in rows})
    each = ([count, *(cell(count, one) for one in methods), calibrated(count)] for count in counts)
    return markdown_table(["answers or scenes", *methods, "calibration error"], each)


if __name__ == "__main__":
    main()
