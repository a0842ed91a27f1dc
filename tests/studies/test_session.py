"""A sitting's manners: what is refused, what can be taken back, and what is shown when."""

from collections.abc import Iterator
from typing import Any

import pytest

from prefero import Pool
from prefero.studies.displays import display_of
from prefero.studies.protocol import Asker
from prefero.studies.session import Sitting
from prefero.studies.storage.store import Refused, Store
from studies.pretended import (
    QUICK,
    Unprepared,
    at_once,
    features_only,
    go_through,
    invited,
    new_key,
    protocol_of,
    react,
    refusal,
    said,
)


class Room:
    """Sittings in a store; nothing is prepared, so that a test sees all that happens."""

    def __init__(self, store: Store, pool: Pool) -> None:
        self.store, self.pool, self.turns = store, pool, Unprepared()
        self.numbers = iter(range(100))

    def sitting(self, seed: int = 5, targets: tuple[str, ...] = (), **changed: Any) -> Sitting:
        """Somebody new, in a study of their own."""
        number = next(self.numbers)
        parts = [{"label": label, "shapes": [{"color": "#123456"}]} for label in targets]
        display = display_of(self.pool) | {"scene": {"parts": parts}}
        protocol = protocol_of(**changed).to_json()
        study = self.store.add_study(f"s{number}", "study", protocol, self.pool, display, f"secret {number}")
        return Sitting(self.store, study, invited(self.store, "P1", study, seed), self.turns)


@pytest.fixture
def room(file_store: Store, pool: Pool) -> Iterator[Room]:
    found = Room(file_store, pool)
    yield found
    found.turns.close()


def question_of(sitting: Sitting) -> int:
    question = sitting.moment().question
    assert question is not None
    return question.id


# --- steps ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [{}, {"agreed": False}, {"agreed": 1}, {"agreed": "true"}, {"agree": True}])
def test_without_consent_there_is_no_study(room: Room, data: dict[str, Any]) -> None:
    sitting = room.sitting(consent="Do you?")
    with refusal("no-consent"):
        sitting.step("consent", data, new_key())
    assert sitting.moment().stage == "consent"
    assert sitting.step("consent", {"agreed": True}, new_key()).stage == "compare"


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
def test_scores_must_be_different_whole_numbers_for_all_targets(room: Room, scores: dict[str, Any]) -> None:
    sitting = room.sitting(target_scores=True, targets=("red", "blue", "green"))
    with refusal("bad-scores"):
        sitting.step("target_scores", scores, new_key())
    assert sitting.moment().stage == "target_scores"
    assert sitting.step("target_scores", {"red": 9, "blue": 2, "green": 5}, new_key()).stage == "compare"


def test_a_world_without_targets_has_no_scores(room: Room) -> None:
    with refusal("no-targets"):
        room.sitting(target_scores=True).moment()


@pytest.mark.parametrize("choice", [None, "skip", "equal", "LEFT", 3, ["left"]])
def test_practice_takes_what_may_be_answered(room: Room, choice: Any) -> None:
    sitting = room.sitting(practice=True)
    shown = sitting.moment().question
    assert sitting.moment().question == shown  # whenever it is asked for
    with refusal("bad-choice"):
        sitting.step("practice", {"choice": choice}, new_key())
    now = sitting.step("practice", {"choice": "right"}, new_key())
    assert (now.stage, now.answered) == ("compare", 0)


@pytest.mark.parametrize("rating", [None, 0, 10, 4.0, "4", True, [4]])
def test_a_rating_is_a_whole_number_from_1_to_9(room: Room, rating: Any) -> None:
    sitting = room.sitting(methods=(Asker("A", QUICK, 1),), rate=True)
    now = react(sitting, sitting.moment())
    assert now.rating is not None
    best = now.rating.trajectory
    with refusal("bad-rating"):
        sitting.step("rate", {"trajectory": best, "rating": rating}, new_key())
    with refusal("wrong-stage"):
        sitting.step("rate", {"trajectory": (best + 1) % 12, "rating": 5}, new_key())
    assert sitting.moment() == now
    assert sitting.step("rate", {"trajectory": best, "rating": 9}, new_key()).stage == "done"


@pytest.mark.parametrize(
    "stage", ["instructions", "target_scores", "practice", "compare", "rate", "done", "lunch"]
)
def test_only_the_stage_that_is_due_can_be_done(room: Room, stage: str) -> None:
    sitting = room.sitting(consent="Do you?", instructions="Do.", practice=True)
    with refusal("wrong-stage"):
        sitting.step(stage, {"agreed": True, "choice": "left"}, new_key())
    assert sitting.store.log(sitting.person).steps == ()


def test_a_step_that_was_sent_twice_is_done_once(room: Room) -> None:
    sitting = room.sitting(consent="Do you?", instructions="Do.")
    first = sitting.step("consent", {"agreed": True}, "same-key")
    assert sitting.step("consent", {"agreed": True}, "same-key") == first
    assert first.stage == "instructions"
    with refusal("wrong-stage"):
        sitting.step("consent", {"agreed": True}, new_key())


def test_texts_that_are_empty_are_not_shown(room: Room) -> None:
    assert room.sitting().moment().stage == "compare"
    assert room.sitting(instructions="Do.").moment().stage == "instructions"
    assert room.sitting(practice=True).moment().stage == "practice"


# --- answers ----------------------------------------------------------------------------------------------


def test_about_equal_is_an_answer_only_where_the_protocol_says_so(room: Room) -> None:
    sitting = room.sitting()
    with refusal("no-ties"):
        sitting.answer(question_of(sitting), "equal", new_key())
    assert sitting.moment().choices == ["left", "right"]
    tied = room.sitting(ties=True, methods=(Asker("A", "Prefero, random", 2),))
    assert tied.moment().choices == ["left", "right", "equal"]
    assert tied.answer(question_of(tied), "equal", new_key()).answered == 1


def test_another_window_gets_the_same_question_and_its_late_answer_is_refused(room: Room) -> None:
    sitting = room.sitting()
    other = Sitting(sitting.store, sitting.study, sitting.person, room.turns)
    assert other.moment() == sitting.moment()
    question = question_of(sitting)
    after = sitting.answer(question, "left", new_key())
    with refusal("already-answered"):
        other.answer(question, "right", new_key())
    assert other.moment() == after


def test_windows_that_ask_and_answer_at_once_stay_together(room: Room) -> None:
    sitting = room.sitting(methods=(Asker("Active", "ActiveGP 1 0.1", 3),))
    windows = [
        sitting,
        *(Sitting(sitting.store, sitting.study, sitting.person, room.turns) for _ in range(3)),
    ]
    for done in range(3):
        shown = at_once(4, lambda number: windows[number].moment())
        assert [moment for moment in shown if moment != shown[0]] == []
        question = question_of(sitting)
        found = at_once(4, lambda n, q=question: windows[n].answer(q, "left", new_key()))  # type: ignore[misc]
        assert len([one for one in found if isinstance(one, Refused)]) == 3
        assert len(said(sitting.store.log(sitting.person))) == done + 1
    assert sitting.moment().stage == "done"


def test_undo_shows_the_same_question_again_and_what_followed_may_change(room: Room) -> None:
    sitting = room.sitting(methods=(Asker("Active", "ActiveGP 1 0.1", 4),))
    first = sitting.moment()
    assert first.question is not None
    second = sitting.answer(first.question.id, "left", new_key())
    assert second.can_undo
    assert second.question is not None
    assert sitting.undo(new_key()) == first
    other = sitting.answer(first.question.id, "right", new_key())
    assert other.question is not None
    assert other.question.id != second.question.id
    (answer,) = sitting.learner().answers
    assert [answer.question.left, answer.question.right] == first.question.items
    assert answer.choice == "right"


def test_a_skip_teaches_nothing_shows_another_pair_and_can_be_taken_back(room: Room) -> None:
    for label in ("A", "test"):
        sitting = room.sitting(
            methods=(Asker("A", QUICK, 3),), tests=0 if label == "A" else 3, seed=5 if label == "A" else 8
        )
        first = sitting.moment()
        assert first.question is not None
        assert sitting.plan[0] == label
        skipped = sitting.answer(first.question.id, "skip", new_key())
        assert skipped.question is not None
        assert (skipped.answered, skipped.can_undo) == (0, True)
        pairs = [set(q.items) for q in (first.question, skipped.question)]
        assert pairs[0] != pairs[1]
        assert sitting.learner("A").answers == ()
        assert sitting.undo(new_key()).question == first.question


def test_who_skips_every_pair_there_is_can_still_go_on(file_store: Store) -> None:
    room = Room(file_store, features_only(rows=3))
    sitting = room.sitting(methods=(Asker("Active", "ActiveGP 1 0.1", 2),))
    for _ in range(5):
        now = sitting.answer(question_of(sitting), "skip", new_key())
    assert (now.stage, now.answered) == ("compare", 0)
    assert [moment.stage for moment in go_through(sitting)] == ["compare", "compare", "done"]
    room.turns.close()


def test_a_question_for_attention_can_be_skipped_as_often_as_one_likes(room: Room) -> None:
    sitting = room.sitting(methods=(Asker("A", QUICK, 4),), retests=2)
    now, skips = sitting.moment(), 0
    while now.stage == "compare" and skips < 12:
        assert now.question is not None
        asked = sitting.store.log(sitting.person).by_id[now.question.id]
        skips += asked.method == "retest"
        now = sitting.answer(now.question.id, "skip" if asked.method == "retest" else "left", new_key())
    assert skips == 12
    assert now.stage == "compare"


def test_when_all_is_answered_nothing_can_be_taken_back(room: Room) -> None:
    """What is rated, or was, rests on the answers; and the page offers no undo there."""
    for rated in (False, True):
        sitting = room.sitting(methods=(Asker("A", QUICK, 2),), rate=True)
        now = react(sitting, react(sitting, sitting.moment()))
        assert now.stage == "rate"
        if rated:
            now = react(sitting, now)
        assert not now.can_undo
        with refusal("nothing-to-undo"):
            sitting.undo(new_key())
        assert sitting.moment() == now


def test_deleting_an_answer_makes_room_for_another(room: Room) -> None:
    sitting = room.sitting(endless=True)
    first = question_of(sitting)
    react(sitting, react(sitting, sitting.moment()))
    now = sitting.change(first, "delete", new_key())
    assert now.answered == 1
    assert len(sitting.learner().answers) == 1
    assert sitting.change(first, "restore", new_key()).answered == 2
    with refusal("not-deleted"):
        sitting.change(first, "restore", new_key())


def test_two_people_of_one_study_get_plans_of_their_own(room: Room) -> None:
    methods = (Asker("A", QUICK, 4), Asker("B", QUICK, 4))
    sitting = room.sitting(seed=1, methods=methods)
    other = Sitting(sitting.store, sitting.study, invited(room.store, "P2", sitting.study, 2), room.turns)
    assert sitting.plan != other.plan
    go_through(sitting)
    assert other.moment().answered == 0


def test_the_learner_that_is_handed_out_is_nobody_elses(room: Room) -> None:
    sitting = room.sitting()
    react(sitting, sitting.moment())
    learner = sitting.learner()
    learner.tell(learner.ask(strategy="random"), "left")
    assert len(learner.answers) == 2
    assert len(sitting.learner().answers) == 1
