"""Reasons of answers in a session: offered, named, changed, taken back, learned from and exported."""

import json
from pathlib import Path

import pytest

from prefero.studies.exports.export_import import StudyFolderError, export_study, import_study
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.store import new_secret
from prefero.views.session_state import OfferedReasons, SessionState
from studies.exported_study import table
from studies.fake_study import answer, invited, learner_of, new_key, protocol_of, refusal, study_of
from studies.new_sessions import SessionFactory, question_of

METHODS = (StudyMethod("Prefero", "Prefero, random", 4),)


def session_with_reasons(sessions: SessionFactory, choice: str = "left") -> tuple[Session, OfferedReasons]:
    """A session after one answer, and the reasons that it is offered."""
    session = sessions.new(methods=METHODS, reasons=True, ties=True)
    assert session.state().reasons is None  # nothing was answered yet
    return session, offered_in(session.answer(question_of(session), choice, new_key()))


def offered_in(state: SessionState) -> OfferedReasons:
    assert state.reasons is not None
    return state.reasons


def test_the_direction_of_a_reason_follows_from_the_answer(sessions: SessionFactory) -> None:
    session, offered = session_with_reasons(sessions)
    (active,) = session.event_log().answers
    assert offered.question == active.asked.id
    chosen, other = session.pool.features[list(active.asked.items)]
    above = dict(zip(session.pool.names, chosen > other, strict=True))
    assert {one.feature: one.better == "higher" for one in offered.reasons} == above


def test_a_reason_can_be_changed_and_taken_back_and_the_question_stays(sessions: SessionFactory) -> None:
    session, offered = session_with_reasons(sessions)
    before, (first, second) = session.state().question, [one.feature for one in offered.reasons]
    key = new_key()
    for feature, sent in ((first, key), (first, key), (first, new_key()), (second, new_key())):
        state = session.give_reason(offered.question, feature, sent)
        assert offered_in(state).named == feature
        assert state.question == before
        assert [one.because for one in learner_of(session).answers] == [feature]
    assert len(session.event_log().reasons) == 2  # a repeated request and a doubled click are one reason
    assert offered_in(session.give_reason(offered.question, "", new_key())).named is None
    assert [one.because for one in learner_of(session).answers] == [""]


def test_undo_takes_the_reason_away_and_restoring_brings_it_back(sessions: SessionFactory) -> None:
    session, offered = session_with_reasons(sessions)
    feature = offered.reasons[0].feature
    session.give_reason(offered.question, feature, new_key())
    session.change(offered.question, "delete", new_key())
    session.change(offered.question, "restore", new_key())
    assert session.event_log().answers[0].because == feature
    assert session.undo(new_key()).reasons is None
    with refusal("not-answered"):
        session.give_reason(offered.question, feature, new_key())
    assert offered_in(session.answer(offered.question, "right", new_key())).named is None


def test_what_has_no_reason_is_offered_none(sessions: SessionFactory) -> None:
    session = sessions.new(methods=METHODS, reasons=True, ties=True)
    assert session.answer(question_of(session), "equal", new_key()).reasons is None
    assert session.answer(question_of(session), "skip", new_key()).reasons is None
    last = session.event_log().answers[-1].asked.id
    with refusal("bad-reason"):
        session.give_reason(last, session.pool.names[0], new_key())


def test_studies_ask_for_no_reasons_unless_their_protocol_does(sessions: SessionFactory) -> None:
    session = sessions.new(methods=METHODS)
    question = question_of(session)
    assert session.answer(question, "left", new_key()).reasons is None
    with refusal("no-reasons"):
        session.give_reason(question, session.pool.names[0], new_key())
    with pytest.raises(ValueError, match="cannot learn from reasons: set reasons = false"):
        protocol_of(methods=(StudyMethod("ActiveGP", "ActiveGP", 4),), reasons=True)


def test_reasons_are_exported_and_imported(sessions: SessionFactory, tmp_path: Path) -> None:
    session, offered = session_with_reasons(sessions)
    first, second = (one.feature for one in offered.reasons)
    for feature in (first, second):
        session.give_reason(offered.question, feature, new_key())
    export_study(session.store, session.study, tmp_path / "study")
    assert [row["because"] for row in table(tmp_path / "study", "answers")] == [second]
    copy = import_study(session.store, tmp_path / "study", name="copy", secret=new_secret())
    (person,) = session.store.participants(copy)
    log = session.store.event_log(person)
    assert [reason.feature for reason in log.reasons] == [first, second]
    assert [one.answer.because for one in log.answers] == [second]


def test_a_study_that_was_exported_before_there_were_reasons_is_imported(
    sessions: SessionFactory, tmp_path: Path
) -> None:
    session, _ = session_with_reasons(sessions)
    folder = tmp_path / "study"
    export_study(session.store, session.study, folder)
    (folder / "reasons.csv").unlink()
    with pytest.raises(StudyFolderError, match=r"reasons\.csv is missing"):
        import_study(session.store, folder, name="copy", secret=new_secret())
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    del document["files"]["reasons.csv"], document["protocol"]["reasons"]
    (folder / "study.json").write_text(json.dumps(document), encoding="utf-8")
    copy = import_study(session.store, folder, name="copy", secret=new_secret())
    (person,) = session.store.participants(copy)
    assert [one.choice for one in session.store.event_log(person).answers] == ["left"]


def test_reasons_of_several_people_are_kept_apart(sessions: SessionFactory) -> None:
    store = sessions.new(methods=METHODS).store
    study = study_of(store, "others", methods=METHODS, reasons=True)
    one, other = (invited(store, label, study) for label in ("P1", "P2"))
    questions = [answer(store, person) for person in (one, other)]
    store.add_reason(one, questions[0], "speed", new_key())
    assert [len(store.event_log(person).reasons) for person in (one, other)] == [1, 0]
