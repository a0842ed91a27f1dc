"""Questions that a teacher chooses by hand: asked next, learned from, and what becomes of the others."""

import pytest

from prefero.questions import Question
from prefero.studies.log.event_log import AskedQuestion
from prefero.studies.log.selections import selection_counts
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import Session
from prefero.views.session_state import SessionState, ShownQuestion
from studies.fake_study import features_only, learner_of, new_key, protocol_of, refusal
from studies.new_sessions import SessionFactory, question_of


def shown_in(state: SessionState) -> ShownQuestion:
    assert state.question is not None
    return state.question


def teaching(sessions: SessionFactory, answers: int = 0) -> Session:
    """A teacher's session after some answers."""
    session = sessions.new(kind="teach", open_ended=True)
    for _ in range(answers):
        session.answer(question_of(session), "left", new_key())
    return session


def latest(session: Session) -> AskedQuestion:
    return session.event_log().questions[-1]


def test_two_chosen_trajectories_are_asked_about_and_learned_from(sessions: SessionFactory) -> None:
    session = teaching(sessions, answers=2)
    before = shown_in(session.state())
    now = shown_in(session.choose([7, 3], new_key()))
    assert (now.items, now.kind, now.by_hand, before.by_hand) == ([7, 3], "pair", True, False)
    assert latest(session).selection == "by-hand"
    assert question_of(session) == now.id  # whoever loads the page sees it
    after = shown_in(session.answer(now.id, "right", new_key()))
    assert not after.by_hand
    told = learner_of(session).answers
    assert [(one.question.items, one.choice) for one in told][-1] == ((7, 3), "right")
    assert len(told) == 3
    assert selection_counts([session.event_log()]) == {"best": 4, "by-hand": 1}


def test_a_learner_of_the_library_hears_of_any_question() -> None:
    learner = protocol_of().learner("Random", features_only(), 0)
    learner.tell(Question(7, 3), "right")  # was never asked
    assert [one.question.items for one in learner.answers] == [(7, 3)]


def test_the_accuracy_is_shown_as_before(sessions: SessionFactory) -> None:
    session = teaching(sessions, answers=6)
    before = session.state().accuracy
    assert before is not None
    assert session.choose([7, 3], new_key()).accuracy == before


def test_a_chosen_question_can_be_withdrawn_skipped_and_undone(sessions: SessionFactory) -> None:
    session = teaching(sessions, answers=1)
    model = shown_in(session.state())
    chosen = shown_in(session.choose([7, 3], new_key()))
    with refusal("already-answered"):
        session.answer(model.id, "left", new_key())  # in a window that does not know of it
    key = new_key()
    back = shown_in(session.withdraw(chosen.id, key))
    assert shown_in(session.withdraw(chosen.id, key)) == back
    assert (back.items, back.by_hand) == (model.items, False)
    with refusal("not-by-hand"):
        session.withdraw(back.id, new_key())
    chosen = shown_in(session.choose([7, 3], new_key()))
    session.answer(chosen.id, "skip", new_key())
    assert [asked.items for asked in session.event_log().skipped] == [(7, 3)]
    assert shown_in(session.undo(new_key())).id == chosen.id
    session.answer(chosen.id, "left", new_key())
    assert shown_in(session.undo(new_key())).id == chosen.id


def test_it_waits_while_other_answers_are_undone_deleted_and_restored(sessions: SessionFactory) -> None:
    session = teaching(sessions, answers=2)
    first, second = (active.asked.id for active in session.event_log().answers)
    chosen = shown_in(session.choose([7, 3], new_key())).id
    assert shown_in(session.change(first, "delete", new_key())).id == chosen
    assert shown_in(session.change(first, "restore", new_key())).id == chosen
    assert shown_in(session.undo(new_key())).id == second
    assert shown_in(session.answer(second, "right", new_key())).id == chosen
    assert shown_in(session.answer(chosen, "right", new_key())).id != chosen


def test_the_same_choice_twice_is_one_question_and_another_choice_replaces_it(
    sessions: SessionFactory,
) -> None:
    session, key = teaching(sessions), new_key()
    first = shown_in(session.choose([7, 3], key))
    assert shown_in(session.choose([7, 3], key)) == first
    assert shown_in(session.choose([3, 7], new_key())) == first  # from another window
    second = shown_in(session.choose([5, 1], new_key()))
    assert second.items == [5, 1]
    session.answer(second.id, "left", new_key())
    assert shown_in(session.choose([5, 1], key)).id != second.id  # a request that was sent again much later
    again = shown_in(session.choose([5, 1], new_key()))  # an answered pair may be asked about again
    session.answer(again.id, "right", new_key())
    assert [one.choice for one in learner_of(session).answers] == ["left", "right"]


def test_a_restarted_server_goes_on_with_it(sessions: SessionFactory) -> None:
    session = teaching(sessions, answers=1)
    chosen = shown_in(session.choose([7, 3], new_key()))
    again = Session(session.store, session.study, session.participant, sessions.slots)
    assert shown_in(again.state()) == chosen
    again.answer(chosen.id, "left", new_key())
    assert [one.question.items for one in learner_of(again).answers][-1] == (7, 3)


@pytest.mark.parametrize(
    ("answers", "items", "asked"),
    [("rank-3", [4, 2, 9], "rank-3"), ("rate-5", [4], "rate-5"), ("auto", [4, 2], "pair")],
)
def test_the_number_of_trajectories_says_what_is_asked(
    sessions: SessionFactory, answers: str, items: list[int], asked: str
) -> None:
    methods = (StudyMethod("Prefero", "Prefero, random", 4),)
    session = sessions.new(kind="teach", open_ended=True, methods=methods, answers=answers)
    assert shown_in(session.choose(items, new_key())).kind == asked


@pytest.mark.parametrize(
    ("items", "code", "words"),
    [
        ([1], "bad-items", "a question of this session has 2 of the trajectories, and 1 were chosen"),
        ([1, 2, 3], "bad-items", "choose 2"),
        ([4, 4], "bad-items", "trajectory 4 was chosen twice"),
        ([4, 12], "no-trajectory", "there are trajectories 0 to 11"),
    ],
)
def test_what_is_no_question_of_the_session_is_refused_in_words(
    sessions: SessionFactory, items: list[int], code: str, words: str
) -> None:
    session = teaching(sessions)
    before = session.state()
    with refusal(code, words):
        session.choose(items, new_key())
    assert session.state() == before
