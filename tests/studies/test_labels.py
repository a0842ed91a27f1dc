"""A study whose participants say how good one trajectory is: asked, repeated, exported, and reported."""

from pathlib import Path
from typing import Any

import pytest

from prefero.questions.answer_kinds import Kind, listed_choices
from prefero.studies.exports.export_import import export_study, import_study
from prefero.studies.log.attention import retest_agreements
from prefero.studies.protocol.participant_texts import INSTRUCTIONS
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.study import outcomes_of, write_study_report
from prefero.studies.session import Session
from prefero.studies.storage.store import new_secret
from prefero.views.session_state import SessionState, ShownQuestion
from studies.fake_study import new_key, protocol_of, refusal
from studies.new_sessions import SessionFactory, question_of

METHODS = (StudyMethod("Prefero", "Prefero, random", 4),)
WORDS = ("poor", "fair", "fine")


def answer_all(session: Session, words: tuple[str, ...]) -> list[SessionState]:
    """Give these answers in turn; all states until the end."""
    shown = [session.state()]
    while shown[-1].stage == "compare":
        choice = words[(len(shown) - 1) % len(words)]
        shown.append(session.answer(question_of(session), choice, new_key(), seconds=3.0))
    return shown


def test_a_whole_study_of_levels(sessions: SessionFactory, tmp_path: Path) -> None:
    settings: dict[str, Any] = {"tests": 2, "retests": 1, "practice": True, "instructions": INSTRUCTIONS}
    session = sessions.new(methods=METHODS, answers="rate-3", level_words=WORDS, **settings)
    told = session.state()
    assert "one at a time" in (told.text or "")
    assert "1 (poor), 2 (fair), 3 (fine)" in (told.text or "")
    practice = session.submit("instructions", {}, new_key())
    assert practice.question is not None
    assert (practice.items, practice.words, len(practice.question.items)) == (1, list(WORDS), 1)
    with refusal("bad-choice"):
        session.submit("practice", {"choice": "left"}, new_key())
    session.submit("practice", {"choice": "2"}, new_key())
    shown = answer_all(session, ("1", "2", "3"))
    assert [state.stage for state in shown] == ["compare"] * 7 + ["done"]
    assert {tuple(state.choices) for state in shown} == {("1", "2", "3")}
    log = session.event_log()
    again = next(active.asked for active in log.answers if active.asked.method == "retest")
    assert [active.asked.items for active in log.answers].count(again.items) == 2
    assert len(retest_agreements(log)) == 1
    (outcome,) = outcomes_of(session.store, session.study)
    assert outcome.accuracy in (0.0, 1.0)  # of the one pair that two tests of different levels are
    report = write_study_report(session.store, session.study, tmp_path / "report")
    assert report.participants[0].left_fraction is None
    export_study(session.store, session.study, tmp_path / "export")
    copy = import_study(session.store, tmp_path / "export", name="copy", secret=new_secret())
    (participant,) = session.store.participants(copy)
    found = session.store.event_log(participant).answers
    assert [(one.asked.items, one.choice) for one in found] == [
        (one.asked.items, one.choice) for one in log.answers
    ]


@pytest.mark.parametrize("kind", ["success", "pair-or-none", "best-or-none-3", "rank-or-none-3"])
def test_all_choices_that_are_listed_are_answers(kind: Kind, sessions: SessionFactory) -> None:
    session = sessions.new(methods=METHODS, answers=kind)
    (first, *_) = listed_choices(kind, ties=False)
    last = session.state().choices[-1]
    assert last in ("pass", "none")
    answer_all(session, (first, last))
    given = [active.choice for active in session.event_log().answers]
    assert given == [first, last] * 2


def test_all_items_may_be_skipped_and_come_again(sessions: SessionFactory) -> None:
    session = sessions.new(kind="teach", methods=METHODS, answers="success", open_ended=True)
    for _ in range(len(sessions.pool) + 1):
        assert session.answer(question_of(session), "skip", new_key()).question is not None


def test_the_state_is_that_of_the_shown_question() -> None:
    """Also in a session whose kinds change from question to question."""

    def state(kind: Kind, items: tuple[int, ...]) -> SessionState:
        question = ShownQuestion(1, 1, list(items), None, None, kind)
        kinds = ["pair", "rate-3", "success", "rank-or-none-3"]
        return SessionState("compare", "", 0, 9, kinds, ties=True, words=list(WORDS), question=question)

    pair, rate = state("pair", (0, 1)), state("rate-3", (0,))
    assert (pair.items, pair.ties, pair.words, pair.choices) == (2, True, [], ["left", "right", "equal"])
    assert (rate.items, rate.ties, rate.words, rate.choices) == (1, False, list(WORDS), ["1", "2", "3"])
    assert state("success", (0,)).words == ["fail", "pass"]
    assert state("rank-or-none-3", (0, 1, 2)).choices == ["none"]


def test_after_an_undo_the_words_are_those_of_the_former_kind(sessions: SessionFactory) -> None:
    session = sessions.new(kind="teach", methods=METHODS, answers="rate-3", open_ended=True)
    session.answer(question_of(session), "3", new_key())
    study = session.store.change_protocol(session.study, answers="pair")
    later = Session(session.store, study, session.participant, sessions.slots)
    assert later.state().kinds == ["pair"]
    before = later.undo(new_key())
    assert (before.items, before.words, before.choices) == (1, ["bad", "okay", "good"], ["1", "2", "3"])


def test_words_that_do_not_fit_are_refused() -> None:
    for answers, words, message in [
        ("rate-3", ("a", "b"), "3 levels need 3 different words"),
        ("rate-3", ("a", "b", "b"), "3 levels need 3 different words"),
        ("pair", ("a", "b"), "'pair' has no levels"),
    ]:
        with pytest.raises(ValueError, match=message):
            protocol_of(methods=METHODS, answers=answers, level_words=words)
    stripped = protocol_of(methods=METHODS, answers="success", level_words=(" no ", "yes"))
    assert stripped.level_words == ("no", "yes")


def test_kinds_may_change_from_question_to_question(sessions: SessionFactory) -> None:
    methods = (StudyMethod("Prefero", "Prefero, random", 12),)
    session = sessions.new(methods=methods, answers="pair, rate-3", level_words=WORDS, tests=1)
    state, asked = session.state(), set()
    while state.question is not None:
        assert state.kinds == ["pair", "rate-3"]
        assert (state.items, bool(state.words)) == (
            (1, True) if state.question.kind == "rate-3" else (2, False)
        )
        asked.add(state.question.kind)
        state = session.answer(state.question.id, state.choices[0], new_key())
    assert (asked, state.stage) == ({"pair", "rate-3"}, "done")
