"""Sessions: which stages are refused, and what the person should know and see."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from prefero import Pool
from prefero.rendering.video import save_video
from prefero.studies.protocol.participant_texts import INSTRUCTIONS
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import BY_OWN_SCORES, Session
from prefero.studies.storage.store import Store
from prefero.worlds.base import TASK_DESCRIPTION
from studies.fake_study import (
    FAST_METHOD,
    new_key,
    refusal,
    respond,
)
from studies.new_sessions import SessionFactory, question_of

# --- steps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{}, {"agreed": False}, {"agreed": 1}, {"agreed": "true"}, {"agree": True}])
def test_consent_is_required(sessions: SessionFactory, data: dict[str, Any]) -> None:
    session = sessions.new(consent="Do you?")
    with refusal("no-consent"):
        session.submit("consent", data, new_key())
    assert session.state().stage == "consent"
    assert session.submit("consent", {"agreed": True}, new_key()).stage == "compare"


@pytest.mark.parametrize(
    "scores",
    [
        {},
        {"red": 2, "blue": 3},
        {"red": 2, "blue": 3, "green": 4, "pink": 5},
        {"red": 2, "blue": 3, "grey": 4},
        {"red": 2, "blue": 3, "green": 3},
        {"red": 1, "blue": 3, "green": 4},
        {"red": 2, "blue": 3, "green": 10},
        {"red": 2, "blue": 3, "green": 4.0},
        {"red": 2, "blue": 3, "green": "4"},
        {"red": 2, "blue": 3, "green": None},
        {"red": 2, "blue": 3, "green": True},
        {"red": 2, "blue": 3, "green": [4]},
    ],
)
def test_scores_must_be_different_whole_numbers_for_all_targets(
    sessions: SessionFactory, scores: dict[str, Any]
) -> None:
    session = sessions.new(target_scores=True, targets=("red", "blue", "green"))
    with refusal("bad-scores"):
        session.submit("target_scores", scores, new_key())
    assert session.state().stage == "target_scores"
    assert session.submit("target_scores", {"red": 9, "blue": 2, "green": 5}, new_key()).stage == "compare"


def test_a_world_without_targets_has_no_scores(sessions: SessionFactory) -> None:
    session = sessions.new(target_scores=True)
    with refusal("no-targets"):
        session.state()
    assert session.event_log().stage_events == ()


@pytest.mark.parametrize("choice", [None, "undo", "equal", "LEFT", 3, ["left"]])
def test_practice_accepts_the_answers_of_the_protocol(sessions: SessionFactory, choice: Any) -> None:
    session = sessions.new(practice=True)
    shown = session.state().question
    assert session.state().question == shown  # whenever it is asked for
    with refusal("no-ties" if choice == "equal" else "bad-choice"):
        session.submit("practice", {"choice": choice}, new_key())
    now = session.submit("practice", {"choice": "right"}, new_key())
    assert (now.stage, now.answered) == ("compare", 0)


def test_practice_can_be_skipped_as_every_question_can(sessions: SessionFactory) -> None:
    session = sessions.new(practice=True)
    assert session.state().can_skip
    now = session.submit("practice", {"choice": "skip"}, new_key())
    assert (now.stage, now.answered, now.undoable) == ("compare", 0, None)


def test_participants_watch_to_the_end_unless_the_protocol_says_otherwise(sessions: SessionFactory) -> None:
    assert sessions.new().state().watch_to_end
    assert not sessions.new(watch_to_end=False).state().watch_to_end
    assert not sessions.new(kind="teach").state().watch_to_end


def test_another_kind_of_answers_replaces_the_open_question_which_an_undo_brings_back(
    sessions: SessionFactory,
) -> None:
    before = sessions.new(kind="teach", methods=(StudyMethod("A", "Prefero", 5),), open_ended=True)
    first = respond(before, before.state()).question
    said: list[str] = []
    now = with_best_of_3(before, said.append)
    state = now.state()
    assert state.question is not None
    assert first is not None
    assert (state.question.kind, len(state.question.items), state.answered) == ("best-of-3", 3, 1)
    assert [asked.id for asked in now.event_log().skipped] == [first.id]
    (sentence,) = said
    assert "pair" in sentence
    assert "Undo" in sentence
    assert now.undo(new_key()).question == first
    assert now.state().question == first
    assert respond(now, now.state()).answered == 2


def test_an_answer_that_waited_in_a_browser_comes_before_another_kind_of_answers(
    sessions: SessionFactory,
) -> None:
    before = sessions.new(kind="teach", methods=(StudyMethod("A", "Prefero", 5),), open_ended=True)
    waiting = question_of(before)
    state = with_best_of_3(before).answer(waiting, "left", new_key())
    assert state.question is not None
    assert (state.answered, state.question.kind) == (1, "best-of-3")


def with_best_of_3(session: Session, report: Callable[[str], None] = lambda _: None) -> Session:
    """The session as it continues after the kind of answers was changed."""
    study = session.store.change_protocol(session.study, answers="best-of-3")
    return Session(session.store, study, session.participant, session.computing, report=report)


@pytest.mark.parametrize("rating", [None, 0, 10, 4.0, "4", True, [4]])
def test_a_rating_is_a_whole_number_from_1_to_9(sessions: SessionFactory, rating: Any) -> None:
    session = sessions.new(methods=(StudyMethod("A", FAST_METHOD, 1),), rate=True)
    now = respond(session, session.state())
    assert now.rating is not None
    best = now.rating.trajectory
    with refusal("bad-rating"):
        session.submit("rate", {"number": 1, "trajectory": best, "rating": rating}, new_key())
    with refusal("wrong-stage"):
        session.submit("rate", {"number": 1, "trajectory": (best + 1) % 12, "rating": 5}, new_key())
    with refusal("wrong-stage"):
        session.submit("rate", {"number": 2, "trajectory": best, "rating": 5}, new_key())
    assert session.state() == now
    assert session.submit("rate", {"number": 1, "trajectory": best, "rating": 9}, new_key()).stage == "done"


@pytest.mark.parametrize(
    "stage", ["instructions", "target_scores", "practice", "compare", "rate", "done", "lunch"]
)
def test_only_the_stage_that_is_due_can_be_done(sessions: SessionFactory, stage: str) -> None:
    session = sessions.new(consent="Do you?", instructions="Do.", practice=True)
    with refusal("wrong-stage"):
        session.submit(stage, {"agreed": True, "choice": "left"}, new_key())
    assert session.store.event_log(session.participant).stage_events == ()


def test_a_submission_that_is_sent_twice_is_recorded_once(sessions: SessionFactory) -> None:
    session = sessions.new(consent="Do you?", instructions="Do.")
    first = session.submit("consent", {"agreed": True}, "same-key")
    assert session.submit("consent", {"agreed": True}, "same-key") == first
    assert first.stage == "instructions"
    with refusal("wrong-stage"):
        session.submit("consent", {"agreed": True}, new_key())


def test_the_general_instructions_follow_the_kind_of_answers(sessions: SessionFactory) -> None:
    def read(**changed: Any) -> str | None:
        return sessions.new(methods=(StudyMethod("A", "Prefero", 2),), **changed).state().text

    pairs, ranked = read(instructions=INSTRUCTIONS), read(instructions=INSTRUCTIONS, answers="rank-3")
    assert pairs == INSTRUCTIONS
    assert "two examples of a robot's behavior, A and B." in INSTRUCTIONS
    assert ranked is not None
    assert "three examples of a robot's behavior, A, B and C." in ranked
    assert "best first" in ranked
    assert read(instructions="Do.", answers="rank-3") == "Do."


def test_texts_that_are_empty_are_not_shown(sessions: SessionFactory) -> None:
    assert sessions.new().state().stage == "compare"
    assert sessions.new(instructions="Do.").state().stage == "instructions"
    assert sessions.new(practice=True).state().stage == "practice"


# --- what the person should know and see --------------------------------------------------------------------


def test_every_question_says_what_to_do(sessions: SessionFactory) -> None:
    assert sessions.new().state().task_description == TASK_DESCRIPTION
    assert sessions.new(task_description="Find the calmest.").state().task_description == "Find the calmest."


def test_a_participants_own_scores_stay_in_view(sessions: SessionFactory) -> None:
    session = sessions.new(target_scores=True, targets=("red", "blue", "green"))
    assert session.state().own_scores is None
    state = session.submit("target_scores", {"red": 3, "blue": 9, "green": 2}, new_key())
    assert [(own.label, own.score) for own in state.own_scores or []] == [
        ("blue", 9),
        ("red", 3),
        ("green", 2),
    ]
    assert state.task_description == BY_OWN_SCORES


def test_a_question_is_answered_only_if_its_clips_can_be_played(file_store: Store, tmp_path: Path) -> None:
    clips = [tmp_path / f"{number}.mp4" for number in range(2)]
    for clip in clips:
        save_video(clip, np.zeros((3, 16, 16, 3), dtype=np.uint8), 10)
    pool = Pool([[0.0], [1.0]], clips=clips)
    sessions = SessionFactory(file_store, pool)
    session = sessions.new()
    question, whole = question_of(session), clips[0].read_bytes()
    for content in (None, b"", whole[: len(whole) // 2]):
        clips[0].unlink() if content is None else clips[0].write_bytes(content)
        with refusal("not-playable"):
            session.answer(question, "left", new_key())
    clips[0].write_bytes(whole)
    assert session.answer(question, "left", new_key()).answered == 1
    clips[0].unlink()
    assert session.answer(question_of(session), "skip", new_key()).answered == 1
    sessions.slots.close()
