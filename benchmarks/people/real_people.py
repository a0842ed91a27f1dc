"""Real people's judgements: held-out answers predicted by the default model, logistic regression and one GP.

The file has people's comparisons of two items (`benchmarks.people.crowd_file`). The results in the
documentation are of SocNav1 (Manso, Nunez, Calderita, Faria and Bachiller, Data 2020, CC-BY 4.0): what people
said of a robot's place in a room, as comparisons of two scenes by one person.

Each person's answers are divided at random into two halves; models learn from the first answers of one half
and are tested on all of the other, and then the other way round. "Equal" is left out. Nothing was tuned to
such data: the GP's theta and noise are the middle of the grid that is used for the paper's methods, and the
regression's C is chosen by cross-validation on the answers that it learns from.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from benchmarks.learning.baselines import logistic_weights
from benchmarks.people.crowd_file import Crowd, read
from benchmarks.rows import Job, Row, RowFile, measure, paired_difference
from prefero._support.arrays import Array, Indices
from prefero.learner import Learner
from prefero.methods import RealPerson, method_named
from prefero.plots.tables import markdown_table
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.simulation.test_sets import LEAST_PROBABILITY

ANSWERS = (5, 10, 20, 40, 80, 160)
HALVES = (0, 1)
DEFAULT, LOGISTIC, FIXED = "Prefero", "logistic regression", "GP with fixed theta"
METHODS = (DEFAULT, LOGISTIC, FIXED)
GP = "ActiveGP+EP 0.1 0.1"  # theta and noise
STRENGTHS = 10.0 ** np.arange(-2, 3)
FOLDS = 5
MEASURES = {"accuracy": "accuracy", "log_likelihood": "mean log-likelihood"}


class Person(NamedTuple):
    """One person's answers that prefer one of two scenes."""

    pool: Pool
    pairs: Indices  # (N, 2) of the pool, the preferred scene first

    @property
    def sides(self) -> tuple[Array, Array]:
        """Raw features of the preferred scenes and of the others."""
        return self.pool.features[self.pairs[:, 0]], self.pool.features[self.pairs[:, 1]]


def people_of(crowd: Crowd) -> dict[int, Person]:
    """All people of a file, by their number."""
    return {
        one: _person(crowd.features, crowd.answers[crowd.answers[:, 0] == one])
        for one in crowd.people.tolist()
    }


def _person(features: Array, answers: Indices) -> Person:
    """The pool has the scenes that the person saw, as in a session."""
    scenes, places = np.unique(answers[:, 1:3], return_inverse=True)
    pairs, choice = places.reshape(-1, 2), answers[:, 3]
    ordered = np.where((choice == 1)[:, None], pairs[:, ::-1], pairs)
    return Person(Pool(features[scenes]), ordered[choice != 2])


def halves(person: Person, half: int, seed: int = 0) -> tuple[Person, Person]:
    """What is learned from, and what is tested on."""
    order = np.random.default_rng(seed).permutation(len(person.pairs))
    cut = len(order) // 2
    learned, tested = (order[:cut], order[cut:]) if half == 0 else (order[cut:], order[:cut])
    return person._replace(pairs=person.pairs[learned]), person._replace(pairs=person.pairs[tested])


def work(job: Job, path: Path) -> list[Row]:
    """The learning curves of one person and half."""
    learned, tested = halves(people_of(read(path))[job["person"]], job["half"])
    return [
        {"answers": answers, "method": name, **score(probability)}
        for name, predict in (
            (DEFAULT, partial(_learner, "Prefero")),
            (FIXED, partial(_learner, GP)),
            (LOGISTIC, _logistic),
        )
        for answers, probability in predict(learned, tested)
    ]


def _learner(method: str, learned: Person, tested: Person) -> Iterator[tuple[int, Array]]:
    """The model of a method; which side the preferred scene was on changes nothing."""
    model = method_named(method).model(RealPerson(), learned.pool.scaled)
    learner = Learner(learned.pool, model=model)
    for number, (winner, loser) in enumerate(learned.pairs[: max(ANSWERS)].tolist(), 1):
        learner.tell(Question(winner, loser), "left")
        if number in ANSWERS:
            yield number, learner.reward().predict_proba(*tested.sides)


def _logistic(learned: Person, tested: Person) -> Iterator[tuple[int, Array]]:
    x = learned.pool.scaled
    first, second = (x[tested.pairs[:, place]] for place in (0, 1))
    for number in ANSWERS:
        pairs = learned.pairs[:number]
        winning = x[pairs[:, 0]] - x[pairs[:, 1]]
        if len(winning) == number:
            yield number, expit((first - second) @ logistic_weights(winning, chosen_strength(winning)))


def chosen_strength(winning: Array) -> float:
    """The C with the best log-likelihood in cross-validation on these differences."""
    folds = np.arange(len(winning)) % min(FOLDS, len(winning))

    def held_out(strength: float) -> float:
        return sum(_held_out(winning, np.flatnonzero(folds == fold), strength) for fold in np.unique(folds))

    return float(max(STRENGTHS, key=held_out))


def _held_out(winning: Array, held: Indices, strength: float) -> float:
    weights = logistic_weights(np.delete(winning, held, axis=0), strength)
    return float(np.sum(-np.logaddexp(0.0, -(winning[held] @ weights))))


def score(probability: Array) -> Row:
    """Of predicted probabilities of what the person chose; exactly a half counts half."""
    right = np.where(probability == 0.5, 0.5, probability > 0.5)
    log = np.log(np.maximum(probability, LEAST_PROBABILITY))
    return {"accuracy": float(right.mean()), "log_likelihood": float(log.mean())}


def by_person(rows: Sequence[Row], method: str, answers: int, column: str) -> dict[int, float]:
    """The mean of both halves for each person."""
    mine = [row for row in rows if row["method"] == method and row["answers"] == answers]
    people = sorted({row["person"] for row in mine})
    return {one: float(np.mean([row[column] for row in mine if row["person"] == one])) for one in people}


def mean_table(rows: Sequence[Row], column: str) -> str:
    """Means over the people, and the paired difference of the default to the regression."""
    at = [answers for answers in ANSWERS if any(row["answers"] == answers for row in rows)]
    found = {name: [by_person(rows, name, answers, column) for answers in at] for name in METHODS}
    lines = [
        [name, *(f"{np.mean(list(one.values())):.3f}" for one in curve)] for name, curve in found.items()
    ]
    gaps = (paired_difference(a, b) for a, b in zip(found[DEFAULT], found[LOGISTIC], strict=True))
    lines.append([f"{DEFAULT} minus {LOGISTIC}", *(f"{gap:+.3f} ± {error:.3f}" for gap, error in gaps)])
    return markdown_table([f"{MEASURES[column]} after", *map(str, at)], lines)


def person_table(rows: Sequence[Row], answers: int) -> str:
    """Every person, both measures."""
    columns = [(name, column) for column in MEASURES for name in METHODS]
    found = [by_person(rows, name, answers, column) for name, column in columns]
    head = ["person", *(f"{MEASURES[column]}, {name}" for name, column in columns)]
    lines = [[str(one + 1), *(f"{column[one]:.3f}" for column in found)] for one in found[0]]
    return markdown_table(head, lines)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks real_people", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("file", type=Path, help="NPZ file with features and answers")
    parser.add_argument("--jobs", type=int, default=1, help="processes that work")
    parser.add_argument("--label", default="now", help="name of this version of the code in the rows")
    parser.add_argument("--rows", type=Path, default=Path("results/real-people.parquet"), help="of results")
    options = parser.parse_args(argv)
    people, file = read(options.file).people.tolist(), RowFile(options.rows)
    wanted = [{"label": options.label, "person": one, "half": half} for one in people for half in HALVES]
    measure(file, wanted, partial(work, path=options.file), options.jobs, "people")
    rows = file.of(wanted)
    tables = (mean_table(rows, column) for column in MEASURES)
    print(*tables, person_table(rows, max(row["answers"] for row in rows)), sep="\n")


if __name__ == "__main__":
    main()
