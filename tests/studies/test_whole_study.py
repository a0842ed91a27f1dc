"""A whole study, from the consent to the ratings, by simulated participants, in every kind of database."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from prefero import Answer, Pool, Question
from prefero.pools.displays import display_of
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.session import Session
from prefero.studies.storage.store import Store, Study
from studies.fake_study import (
    FAST_METHOD,
    WithoutPreparations,
    complete_stages,
    invited,
    learner_of,
    protocol_of,
    study_of,
)

METHODS = (
    StudyMethod("Active", "ActiveGP 1 0.1", 4),
    StudyMethod("Random", "RandomGP 1 0.1", 3),
    StudyMethod("Linear", "ActiveLinear", 2),
)
TARGETS = ["red", "blue", "green"]


def whole_study(store: Store, pool: Pool, name: str = "whole") -> Study:
    """A study with every stage; the display has a scene with targets."""
    protocol = protocol_of(
        methods=METHODS,
        consent="Do you agree?",
        instructions="Compare.",
        thanks="Bye.",
        target_scores=True,
        practice=True,
        tests=3,
        retests=2,
        rate=True,
    )
    parts = [{"label": label, "shapes": [{"color": f"#{label}"}]} for label in TARGETS]
    display = display_of(pool) | {"scene": {"parts": [*parts, {"label": "", "shapes": []}]}}
    return store.add_study(name, "study", protocol.to_json(), pool, display, name)


class Whole:
    """A study that one participant completed."""

    def __init__(self, store: Store, pool: Pool, slots: ComputeSlots) -> None:
        self.store, self.study = store, whole_study(store, pool)
        self.person = invited(store, study=self.study)
        self.session = Session(store, self.study, self.person, slots)
        self.shown = complete_stages(self.session)
        self.log = store.event_log(self.person)

    def rows(self, columns: str = "*") -> list[Any]:
        """Questions with their events, read without the store."""
        wanted = (
            f"SELECT {columns} FROM questions JOIN events ON events.question = questions.id "
            "WHERE questions.participant = :participant ORDER BY events.id"
        )
        with self.store.engine.connect() as connection:
            return list(connection.execute(text(wanted), {"participant": self.person.id}))


@pytest.fixture(scope="module")
def whole(shared_store: Store, driver_pool: Pool) -> Iterator[Whole]:
    slots = ComputeSlots()
    yield Whole(shared_store, driver_pool, slots)
    slots.close()


def test_the_stages_come_in_order_and_each_shows_what_it_needs(whole: Whole) -> None:
    shown = whole.shown
    stages = [state.stage for state in shown]
    in_order = ["consent", "instructions", "target_scores", "practice", "compare", "rate", "done"]
    assert list(dict.fromkeys(stages)) == in_order
    assert stages == sorted(stages, key=in_order.index)
    assert Counter(stages) == Counter(in_order) + Counter(compare=13, rate=2)
    texts = {state.stage: state.text for state in shown}
    assert (texts["consent"], texts["instructions"], texts["done"]) == (
        "Do you agree?",
        "Compare.",
        "Bye.",
    )
    assert texts["compare"] is None
    assert [state.answered for state in shown if state.stage == "compare"] == list(range(14))
    assert {state.total for state in shown} == {14}
    for state in shown:
        assert (state.question is not None) == (state.stage in ("compare", "practice"))
        assert (state.target_scores is not None) == (state.stage == "target_scores")
        assert (state.rating is not None) == (state.stage == "rate")
        assert state.choices == ["left", "right"]
        assert state.can_skip == (state.stage in ("practice", "compare"))
        assert (state.undoable is not None) == (state.stage == "compare" and state.answered > 0)
    practice = next(state.question for state in shown if state.stage == "practice")
    assert practice is not None
    assert practice.id == 0
    assert len(set(practice.items)) == 2


def test_the_methods_ask_as_planned_and_what_is_kept_is_what_was_shown(whole: Whole) -> None:
    protocol = protocol_of(methods=METHODS, tests=3, retests=2)
    methods = [row.method for row in whole.rows("questions.method, events.id")]
    assert tuple(methods) == protocol.schedule(whole.person.seed)
    assert [row.answered for row in whole.rows("questions.answered, events.id")] == list(range(14))
    shown = [m.question for m in whole.shown if m.stage == "compare" and m.question]
    asked = whole.rows("questions.id, first_item, last_item, events.id AS a")
    assert [(q.id, *q.items) for q in shown] == [tuple(row[:3]) for row in asked]


def test_a_retest_repeats_an_earlier_question_in_reversed_order(whole: Whole) -> None:
    rows = whole.rows("questions.method, first_item AS a, last_item AS b, events.kind")
    again = [place for place, row in enumerate(rows) if row.method == "retest"]
    assert len(again) == 2
    for place in again:
        row = rows[place]
        earlier = [other for other in rows[:place] if (other.b, other.a) == (row.a, row.b)]
        assert [other.method for other in earlier] not in ([], ["retest"])
        assert {other.kind for other in earlier} == {"left" if row.kind == "right" else "right"}
    assert len({frozenset((rows[place].a, rows[place].b)) for place in again}) == 2


def test_a_method_learns_from_its_own_questions_and_from_no_test(whole: Whole) -> None:
    rows = whole.rows("questions.method, questions.number, first_item AS a, last_item AS b, events.kind")
    for method in METHODS:
        own = [Answer(Question(r.a, r.b, number=r.number), r.kind) for r in rows if r.method == method.label]
        assert len(own) == method.questions
        assert learner_of(whole.session, method.label).answers == tuple(own)
    assert [row.method for row in rows].count("test") == 3


def test_the_rated_trajectory_is_the_best_of_a_learner_built_by_hand(whole: Whole, driver_pool: Pool) -> None:
    steps = {event.item: event.data for event in whole.log.stage_events if event.stage == "rate"}
    assert set(steps) == {"Active", "Random", "Linear"}
    for method in METHODS[:2]:  # the linear baseline draws its weights, and so depends on its seed
        learner = method.learner(driver_pool, 0)
        for answer in learner_of(whole.session, method.label).answers:
            learner.tell(answer.question, answer.choice)
        assert steps[method.label]["trajectory"] == int(np.argmax(learner.reward()(driver_pool.features)))


def test_ratings_are_asked_for_one_by_one_and_kept(whole: Whole) -> None:
    shown = [state.rating for state in whole.shown if state.rating is not None]
    assert [(rating.number, rating.total) for rating in shown] == [(1, 3), (2, 3), (3, 3)]
    kept = [data for event in whole.log.stage_events if event.stage == "rate" for data in [event.data]]
    assert kept == [{"trajectory": rating.trajectory, "rating": rating.number} for rating in shown]


def test_in_the_end_everything_is_there(whole: Whole) -> None:
    scores = whole.log.stage_event("target_scores")
    assert scores is not None
    assert scores.data == {"red": 2, "blue": 3, "green": 4}
    assert [told.seconds for told in whole.log.events] == [2.0] * 14
    assert whole.session.state().stage == "done"
    assert whole.session.prefetch() == ([], True)


def test_the_order_of_the_ratings_is_each_persons_own(file_store: Store) -> None:
    study = study_of(
        file_store, methods=tuple(StudyMethod(label, FAST_METHOD, 1) for label in "ABC"), rate=True
    )
    orders, slots = set(), WithoutPreparations()
    for seed in range(8):
        person = invited(file_store, f"P{seed}", study, seed)
        complete_stages(Session(file_store, study, person, slots))
        orders.add(
            "".join(
                event.item for event in file_store.event_log(person).stage_events if event.stage == "rate"
            )
        )
    slots.close()
    assert len(orders) > 2
    assert {"".join(sorted(order)) for order in orders} == {"ABC"}
