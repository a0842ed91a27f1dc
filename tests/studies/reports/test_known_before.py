"""What a pool knows before the first question: the page and the report say how far it is trusted."""

from pathlib import Path

import numpy as np

from prefero import Pool
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.knowing import demonstrated, directed
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.learning_summary import known_before
from prefero.studies.reports.study import write_study_report
from prefero.studies.storage.store import Participant, Store
from studies.fake_study import answer, features_only, invited, learner_of, proposal, study_of
from studies.new_sessions import SessionFactory

METHODS = (StudyMethod("Prefero", "Prefero, random", 20),)
PLAIN = features_only(40)
WANTED = PLAIN.scaled @ [1.0, -0.4]  # speed is good


def knowing() -> Pool:
    """A pool with a good score, a wrong direction and demonstrations of the best."""
    score = WANTED + 0.3 * np.random.default_rng(1).standard_normal(len(PLAIN))
    pool = PLAIN.scored(score, "detector")
    pool = pool.knowing(demonstrated(pool, pool.features[np.argsort(-WANTED)[:3]]))
    return pool.knowing(directed(pool, "distance", "higher"))


def answer_randomly(store: Store, person: Participant, count: int) -> None:
    """Truthful answers to random questions."""
    rng = np.random.default_rng(2)
    for _ in range(count):
        left, right = (int(item) for item in rng.choice(len(PLAIN), 2, replace=False))
        choice = "left" if WANTED[left] > WANTED[right] else "right"
        answer(store, person, choice, proposal(method="Prefero", items=(left, right)))


def test_a_session_says_how_far_each_source_is_trusted(file_store: Store) -> None:
    session = SessionFactory(file_store, knowing()).new(kind="teach", methods=METHODS)
    early = known_before(learner_of(session))
    assert [one.source for one in early] == ["demonstration", "score", "direction"]
    assert all(one.support is None and one.trusted for one in early)
    answer_randomly(file_store, session.participant, 15)
    shown, score, wrong = known_before(learner_of(session))
    assert (shown.trusted, score.trusted, wrong.trusted) == (True, True, False)
    assert score.compared == 15
    assert score.agreeing > 10
    assert wrong.says == "Higher distance is better (90%)"


def test_the_report_of_a_study_has_the_sources(file_store: Store, tmp_path: Path) -> None:
    pool = PLAIN.knowing(directed(PLAIN, "distance", "lower"))
    study = study_of(file_store, pool=pool, methods=METHODS)
    answer_randomly(file_store, invited(file_store, study=study), ENOUGH_ANSWERS)
    write_study_report(file_store, study, tmp_path / "report")
    text = (tmp_path / "report" / "report.md").read_text(encoding="utf-8")
    assert "## What was known before the first question" in text
    assert "Lower distance is better" in text
    assert "by 1 of 1" in text
