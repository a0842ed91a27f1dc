"""What is known before the first question counts in sessions: quick questions, groups, files, words."""

from pathlib import Path

import numpy as np
import pytest

from prefero import Learner, Pool
from prefero._support.arrays import Array
from prefero.learner.known_options import KnownOptions
from prefero.pools.displays import display_of
from prefero.questions.prior_knowledge import Direction, Judgements
from prefero.studies.asking.group import group_summary, named_answers
from prefero.studies.asking.quick_question import quick_question
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.exports.export_import import export_study, import_study
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.learning_summary import closing_sentences, labels_of
from prefero.studies.reports.study import write_study_report
from prefero.studies.session import Session
from prefero.studies.start import begin_teaching, with_judgements
from prefero.studies.storage.store import Store, new_secret
from studies.fake_study import answer, invited, learner_of, proposal, protocol_of

FEATURES = np.random.default_rng(0).standard_normal((30, 2))
NAMES = ["height", "speed"]
KNOWN = KnownOptions(directions=(Direction("speed", "lower"),))


@pytest.fixture
def what(tmp_path: Path) -> str:
    Pool(FEATURES, NAMES).save(tmp_path / "pool.npz")
    Pool(FEATURES[:2] * 0.1 + [1.5, -1.5], NAMES).save(tmp_path / "shown.npz")
    return str(tmp_path / "pool.npz")


def right_pairs(learned: Array, reward: Array) -> float:
    """On which fraction of pairs they agree."""
    gaps, found = (np.subtract.outer(one, one) for one in (reward, learned))
    return float(np.mean((gaps > 0) == (found > 0), where=gaps != 0))


def test_the_first_question_of_a_session_is_asked_with_it(file_store: Store, what: str) -> None:
    study, person, _ = begin_teaching(file_store, what, None, 30, known=KNOWN)
    session = Session(file_store, study, person, ComputeSlots())
    learner = learner_of(session)
    assert learner.answers == ()
    assert right_pairs(learner.reward()(FEATURES), -FEATURES[:, 1]) > 0.9
    assert session.state().question is not None


def test_a_quick_question_is_asked_with_it() -> None:
    pool = Pool(FEATURES, NAMES)
    learner = Learner(pool)
    learner.know("speed", "lower", 0.98)
    learner.demonstrate([0.0, -2.0])
    question, likely = quick_question(learner.pool, [], "pair", [], np.random.default_rng(1))
    slower = "left" if FEATURES[question.left, 1] < FEATURES[question.right, 1] else "right"
    assert likely == slower
    assert quick_question(pool, [], "pair", [], np.random.default_rng(1))[0] != question


def test_several_people_teach_beside_it(file_store: Store, what: str, tmp_path: Path) -> None:
    known = KnownOptions(str(tmp_path / "shown.npz"), directions=KNOWN.directions)
    study, ann, _ = begin_teaching(file_store, what, None, 30, person="ann", known=known)
    _, ben, _ = begin_teaching(file_store, what, None, 30, person="ben")
    _, cid, _ = begin_teaching(file_store, what, None, 30, person="cid")
    method = study.protocol["methods"][0]["label"]
    reward = FEATURES[:, 0] - FEATURES[:, 1]
    for person in (ann, ben):
        rng = np.random.default_rng([*person.label.encode()])
        for number in range(6):
            left, right = rng.choice(len(reward), 2, replace=False).tolist()
            choice = "left" if reward[left] > reward[right] else "right"
            answer(file_store, person, choice, proposal(number + 1, method, items=(left, right)))
    summary = group_summary(file_store, study)
    assert summary is not None
    assert summary.labels == ("ann", "ben")
    session = Session(file_store, study, cid, ComputeSlots())
    learner = learner_of(session)
    assert right_pairs(learner.reward()(FEATURES), reward) > 0.7
    assert [one.source for one in learner.sources()] == ["demonstration", "direction"]
    assert session.state().question is not None
    assert len(named_answers(file_store, study)) == 12


def test_nobody_teaches_under_the_name_of_a_source(file_store: Store, what: str) -> None:
    with pytest.raises(ValueError, match=r"'demonstration' is the name of what was known .* --as"):
        begin_teaching(file_store, what, None, 5, person="demonstration", known=KNOWN)


def test_nobody_teaches_under_the_name_of_a_judge(file_store: Store, what: str) -> None:
    study, *_ = begin_teaching(file_store, what, None, 5)
    judgements = Judgements("qwen", FEATURES[:3], FEATURES[3:6], np.zeros(3, dtype=bool))
    with_judgements(file_store, study, [judgements])
    with pytest.raises(ValueError, match="'qwen' judges in this session: choose another name"):
        begin_teaching(file_store, what, None, 5, person="qwen")


def test_reports_and_exports_have_it(file_store: Store, tmp_path: Path) -> None:
    pool = Pool(FEATURES, NAMES).scored(FEATURES[:, 0] + 0.1 * FEATURES[:, 1], "success")
    protocol = protocol_of(methods=(StudyMethod("Prefero", "Prefero", 8),), tests=0, rate=False)
    study = file_store.add_study("s", "study", protocol.to_json(), pool, display_of(pool), new_secret())
    person = invited(file_store, "ann", study)
    for number in range(6):
        left, right = 2 * number, 2 * number + 1
        choice = "left" if FEATURES[left, 0] > FEATURES[right, 0] else "right"
        answer(file_store, person, choice, proposal(number + 1, "Prefero", items=(left, right)))
    write_study_report(file_store, study, tmp_path / "report")
    export_study(file_store, study, tmp_path / "out")
    again = import_study(file_store, tmp_path / "out", new_secret(), name="again")
    assert file_store.pool(again).knowledge.to_json() == pool.knowledge.to_json()


def test_closing_words_say_how_far_each_source_is_trusted() -> None:
    pool = Pool(FEATURES, NAMES).scored(FEATURES[:, 0] + 0.3 * FEATURES[:, 1], "success")
    learner = Learner(pool)
    learner.know("speed", "lower")
    labels = labels_of(display_of(pool))
    assert closing_sentences(learner, labels)[1:] == [
        "Higher success is better (90% sure): too few answers yet to check this.",
        "Lower speed is better (90% sure): too few answers yet to check this.",
    ]
    for _ in range(5):
        question = learner.ask()
        left, right = FEATURES[list(question.items), 0]
        learner.tell(question, "left" if left > right else "right")
    *_, score, direction = closing_sentences(learner, labels)
    assert "as far as your answers tell; it agrees with" in score
    assert direction.startswith("Lower speed is better (90% sure): ")
