"""The paper's table from real people's answers: files in, outcomes out."""

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from prefero import Learner, Pool, PreferenceGP
from prefero.experiments.study import read_study
from prefero.questions import Answer, Question
from prefero.studies.exports.export_import import export_study
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.study import outcomes_of
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies.fake_study import WithoutPreparations, complete_stages, invited, study_of

PAIRS = [(i, i + 1) for i in range(0, 30, 2)]
TESTS = [(30, 31), (32, 33), (34, 35), (36, 37), (38, 39)]


def pool() -> Pool:
    return Pool(np.random.default_rng(0).uniform(-1, 1, (40, 2)), ["speed", "angle"])


def likes(shots: Pool, left: int, right: int) -> str:
    """A participant who wants it fast."""
    return "left" if shots.features[left, 0] > shots.features[right, 0] else "right"


def write(path: Path, columns: list[str], rows: Sequence[Sequence[object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])


@pytest.fixture
def study(tmp_path: Path) -> Path:
    shots = pool()
    shots.save(tmp_path / "pool.npz")
    methods = ["Prefero", "ActiveLinear"]
    answers = [
        [p, m, f"{i} {j}", likes(shots, i, j)] for p in ("ann", "bob") for m in methods for i, j in PAIRS
    ]
    tests = [[p, "test", f"{i} {j}", likes(shots, i, j)] for p in ("ann", "bob") for i, j in TESTS]
    write(tmp_path / "answers.csv", ["participant", "method", "items", "choice"], [*answers, *tests])
    ratings = [[p, m, 7] for p in ("ann", "bob") for m in methods]
    write(tmp_path / "ratings.csv", ["participant", "method", "rating"], ratings)
    return tmp_path


def test_every_method_is_taught_its_own_answers_and_evaluated_on_the_persons_tests(study: Path) -> None:
    outcomes = read_study(study)
    assert {(o.participant, o.method) for o in outcomes} == {
        (person, method) for person in ("ann", "bob") for method in ("Prefero", "ActiveLinear")
    }
    assert [o.rating for o in outcomes] == [7.0] * 4
    shots = pool()
    given = [Answer(Question(i, j), likes(shots, i, j)) for i, j in PAIRS]
    reward = Learner(shots, model=PreferenceGP(), answers=given).reward()
    right = [
        (reward(shots.features[[i]]) > reward(shots.features[[j]])) == (likes(shots, i, j) == "left")
        for i, j in TESTS
    ]
    prefero = next(o for o in outcomes if o.method == "Prefero")
    assert prefero.accuracy == np.mean(right) >= 0.8


def test_a_person_without_test_questions_is_named(study: Path) -> None:
    lines = (study / "answers.csv").read_text(encoding="utf-8").splitlines()
    (study / "answers.csv").write_text(
        "\n".join(line for line in lines if not line.startswith("bob,test")), encoding="utf-8"
    )
    with pytest.raises(ValueError, match=r"bob .*no test question"):
        read_study(study)


def test_a_missing_rating_is_named(study: Path) -> None:
    lines = (study / "ratings.csv").read_text(encoding="utf-8").splitlines()
    (study / "ratings.csv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"no rating of ActiveLinear .*bob"):
        read_study(study)


def test_a_missing_column_is_named(study: Path) -> None:
    (study / "ratings.csv").write_text("participant,score\nann,3\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no column 'method'"):
        read_study(study)


def test_an_unknown_method_is_named(study: Path) -> None:
    for name in ("answers.csv", "ratings.csv"):
        (study / name).write_text(
            (study / name).read_text(encoding="utf-8").replace("ActiveLinear", "Magic"), encoding="utf-8"
        )
    with pytest.raises(ValueError, match="no method 'Magic'"):
        read_study(study)


def test_questions_that_were_asked_again_belong_to_no_method(study: Path) -> None:
    before = read_study(study)
    with (study / "answers.csv").open("a", encoding="utf-8") as file:
        file.write("\nbob,retest,1 0,left\n")
    assert read_study(study) == before


def test_an_exported_study_gives_the_outcomes_of_its_report(tmp_path: Path) -> None:
    store = Store(open_database(tmp_path / "studies.db"))
    methods = tuple(StudyMethod(name, name, 2) for name in ("ActiveGP 1 0.1", "RandomGP 1 0.1"))
    study = study_of(store, methods=methods, tests=3, retests=1, rate=True)
    slots = WithoutPreparations()
    for number in range(2):
        participant = invited(store, f"P{number}", study, seed=number)
        complete_stages(Session(store, study, participant, slots))
    export_study(store, study, tmp_path / "exported")
    wanted = outcomes_of(store, study)
    store.engine.dispose()
    assert len(wanted) == 4
    assert sorted(read_study(tmp_path / "exported"), key=str) == sorted(wanted, key=str)
