"""The paper's table from the answers of real people.

A study's export is a folder with

    pool.npz       the trajectories, as `Pool.save` writes them
    answers.csv    participant, method, items, choice; the method of test questions is "test", and of retest
                   questions "retest"
    ratings.csv    participant, method, rating: of the method's best trajectory, from 1 to 9

Every method learns again from its own answers, and evaluated on the participant's own test questions.
"""

from collections.abc import Iterable
from pathlib import Path

from prefero._support.files import read_csv
from prefero.experiments.figures.golf import STUDY_METHODS
from prefero.learner import Learner
from prefero.methods import RealPerson, method_named
from prefero.plots.user_study import StudyOutcome
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.simulation.test_sets import accuracy_on_answers
from prefero.studies.protocol.protocol import RETEST, TEST

Rows = list[dict[str, str]]


def read_study(folder: Path) -> list[StudyOutcome]:
    """What every method learned from every participant."""
    pool = Pool.load(folder / "pool.npz")
    answers = read_csv(folder / "answers.csv", ("participant", "method", "items", "choice"))
    ratings = {
        (row["participant"], row["method"]): _rating(row["rating"])
        for row in read_csv(folder / "ratings.csv", ("participant", "method", "rating"))
    }
    asked = {(r["participant"], r["method"]) for r in answers if r["method"] not in (TEST, RETEST)}
    unrated = sorted(asked - set(ratings))
    if unrated:
        raise ValueError(f"{folder / 'ratings.csv'} has no rating of {unrated[0][1]} by {unrated[0][0]}")
    return [
        StudyOutcome(participant, method, _accuracy(pool, answers, participant, method), rating)
        for (participant, method), rating in ratings.items()
    ]


def _accuracy(pool: Pool, answers: Rows, participant: str, method: str) -> float:
    """The fraction of the participant's test answers that the method predicts."""
    own = [row for row in answers if row["participant"] == participant]
    known = method_named(STUDY_METHODS.get(method, method))
    model = known.model(RealPerson(), pool.scaled)
    learner = Learner(pool, model=model, answers=_answers(row for row in own if row["method"] == method))
    tests = _answers(row for row in own if row["method"] == TEST)
    if not tests:
        raise ValueError(f"{participant} has answered no test question, so nothing can be said of accuracy")
    return accuracy_on_answers(learner.reward(), pool, tests)


def _rating(text: str) -> float:
    if text not in map(str, range(1, 10)):
        raise ValueError(f"a rating is a whole number from 1 to 9, but this is {text!r}")
    return float(text)


def _answers(rows: Iterable[dict[str, str]]) -> list[Answer]:
    return [Answer(Question(*map(int, row["items"].split())), row["choice"]) for row in rows]
