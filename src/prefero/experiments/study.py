"""The paper's table from the answers of real people.

A study's export is a folder with

    pool.npz       the trajectories, as `Pool.save` writes them
    answers.csv    person, method, left, right, choice; the method of the questions that test is "test",
                   and of those that were asked again "retest"
    ratings.csv    person, method, rating: of the trajectory that the method thought best, from 1 to 9

Every method is taught anew with its own answers, and evaluated on the person's own test questions.
"""

import csv
from collections.abc import Iterable
from pathlib import Path

from prefero.experiments.figures.golf import STUDY_METHODS
from prefero.learner import Learner
from prefero.methods import RealPerson, method_named
from prefero.plots.user_study import StudyOutcome
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.protocol import RETEST, TEST

Rows = list[dict[str, str]]


def read_study(folder: Path) -> list[StudyOutcome]:
    """What every method learned from every person."""
    pool = Pool.load(folder / "pool.npz")
    answers = _read(folder / "answers.csv", ("person", "method", "left", "right", "choice"))
    ratings = {
        (row["person"], row["method"]): _rating(row["rating"])
        for row in _read(folder / "ratings.csv", ("person", "method", "rating"))
    }
    asked = {(r["person"], r["method"]) for r in answers if r["method"] not in (TEST, RETEST)}
    unrated = sorted(asked - set(ratings))
    if unrated:
        raise ValueError(f"{folder / 'ratings.csv'} has no rating of {unrated[0][1]} by {unrated[0][0]}")
    return [
        StudyOutcome(person, method, _accuracy(pool, answers, person, method), rating)
        for (person, method), rating in ratings.items()
    ]


def _accuracy(pool: Pool, answers: Rows, person: str, method: str) -> float:
    """The share of the person's test questions whose answer the method predicts."""
    own = [row for row in answers if row["person"] == person]
    known = method_named(STUDY_METHODS.get(method, method))
    model = known.model(RealPerson(), pool.scaled)
    learner = Learner(pool, model=model, answers=_answers(row for row in own if row["method"] == method))
    tests = _answers(row for row in own if row["method"] == TEST)
    if not tests:
        raise ValueError(f"{person} has answered no test question, so nothing can be said of accuracy")
    return accuracy_on_answers(learner.reward(), pool, tests)


def _rating(text: str) -> float:
    if text not in map(str, range(1, 10)):
        raise ValueError(f"a rating is a whole number from 1 to 9, but this is {text!r}")
    return float(text)


def _answers(rows: Iterable[dict[str, str]]) -> list[Answer]:
    return [
        Answer(Question(int(row["left"]), int(row["right"])), row["choice"])  # type: ignore[arg-type]
        for row in rows
    ]


def _read(path: Path, columns: tuple[str, ...]) -> Rows:
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}: it needs {', '.join(columns)}")
        return list(reader)
