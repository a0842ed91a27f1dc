"""The store in every kind of database; a new kind is one more parameter of the fixture `database`."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, text

from prefero import Pool
from prefero.studies.log.event_log import EventLog
from prefero.studies.storage import schema
from prefero.studies.storage.database import reading
from prefero.studies.storage.store import Refused, Store, new_secret
from studies.fake_study import (
    answer,
    answered,
    ask,
    features_only,
    in_parallel,
    invited,
    new_key,
    proposal,
    protocol_of,
    refusal,
    study_of,
)


def count(store: Store, table: str) -> int:
    with reading(store.engine) as connection:
        return int(
            connection.execute(select(func.count()).select_from(schema.metadata.tables[table])).scalar_one()
        )


def refusals(found: list[Any]) -> list[str]:
    """Codes of the refusals, after checking that there was no other error."""
    failed = [one for one in found if isinstance(one, BaseException)]
    assert [error for error in failed if not isinstance(error, Refused)] == []
    return [error.code for error in failed if isinstance(error, Refused)]


# --- studies and people -----------------------------------------------------------------------------------


def test_a_study_is_read_as_it_was_added(store: Store, driver_pool: Pool) -> None:
    protocol, display = protocol_of(tests=3).to_json(), {"kind": "features", "features": [{"name": "ä"}]}
    made = store.add_study("drives", "study", protocol, driver_pool, display, "secret-of-drives")
    assert store.study("drives") == made
    assert (made.name, made.kind) == ("drives", "study")
    assert made.protocol == {**protocol, "methods": list(protocol["methods"])}
    assert store.display(made) == display
    kept = Store(store.engine).pool(made)
    np.testing.assert_array_equal(kept.features, driver_pool.features)
    assert kept.trajectories is not None
    assert driver_pool.trajectories is not None
    np.testing.assert_array_equal(kept.trajectories.poses, driver_pool.trajectories.poses)
    assert kept.source == driver_pool.source


def test_studies_are_listed_oldest_first_and_a_pool_is_kept_once(store: Store) -> None:
    assert store.studies() == []
    names = ["zebra", "ant", "mole"]
    for name in names:
        study_of(store, name)
    assert [study.name for study in store.studies()] == names
    assert count(store, "pools") == 1
    study_of(store, "other", pool=features_only(seed=1))
    assert count(store, "pools") == 2


def test_study_names_are_unique_and_unknown_ones_are_refused_with_a_list(store: Store) -> None:
    with refusal("no-study", "there is no study 'two': create it with"):
        store.study("two")
    study_of(store, "one")
    with refusal("study-exists", "there is already a study 'one': choose another name"):
        study_of(store, "one", pool=features_only(seed=1))
    assert count(store, "pools") == 1
    with pytest.raises(Refused, match=r"no study 'two': .*one"):
        store.study("two")


@pytest.mark.parametrize("same", [True, False], ids=["one name", "one pool"])
def test_studies_may_be_added_at_the_same_time(store: Store, same: bool) -> None:
    found = in_parallel(8, lambda number: study_of(store, "one" if same else f"study {number}"))
    assert refusals(found) == ["study-exists"] * 7 * same
    assert count(store, "studies") == (1 if same else 8)
    assert count(store, "pools") == 1


def test_participants_are_listed_in_the_order_of_their_invitations(store: Store) -> None:
    study = study_of(store)
    people = [store.invite(study, label, new_secret()) for label in ("P2", "P10", "P1")]
    assert store.participants(study) == people
    assert [person.label for person in people] == ["P2", "P10", "P1"]
    assert len({person.seed for person in people}) == 3
    assert all(0 <= person.seed < 2**31 - 1 for person in people)
    assert store.participants(study_of(store, "two")) == []
    assert invited(store, "P4", study, seed=17).seed == 17


def test_a_label_is_unique_in_a_study(store: Store) -> None:
    study = study_of(store)
    invited(store, "P1", study)
    with refusal("participant-exists", "'one' already has a participant 'P1'"):
        invited(store, "P1", study)
    assert len(store.participants(study)) == 1
    invited(store, "P1", study_of(store, "two"))


def test_names_that_are_too_long_are_refused_in_every_database(store: Store) -> None:
    """PostgreSQL stores a hundred letters and SQLite any number: a study must fit into both."""
    study = study_of(store, "x" * 100)
    assert invited(store, "y" * 100, study).label == "y" * 100
    with pytest.raises(Refused, match="100"):
        invited(store, "y" * 101, study)
    with pytest.raises(Refused, match="100"):
        study_of(store, "x" * 101)
    assert len(store.participants(study)) == 1
    assert len(store.studies()) == 1


def test_a_secret_identifies_its_owner(store: Store) -> None:
    secret, code, other = new_secret(), new_secret(), new_secret()
    study = store.add_study("one", "study", protocol_of().to_json(), features_only(), {}, secret)
    person, neighbour = store.invite(study, "P1", code), store.invite(study, "P2", other)
    assert store.owner_of(secret) == (study, None)
    assert store.owner_of(code) == (study, person)
    assert store.owner_of(other) == (study, neighbour)
    for stranger in ("", code[:-1], code + "x", code.swapcase(), new_secret()):
        assert store.owner_of(stranger) is None


def test_the_stored_digest_is_not_accepted_as_a_secret(store: Store) -> None:
    invited(store)
    with reading(store.engine) as connection:
        kept = (
            connection.execute(text("SELECT code FROM participants UNION SELECT secret FROM studies"))
            .scalars()
            .all()
        )
    assert len(kept) == 2
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in kept)
    assert [store.owner_of(digest) for digest in kept] == [None, None]


def test_secrets_are_long_random_and_fit_for_a_link() -> None:
    secrets = {new_secret() for _ in range(1000)}
    assert len(secrets) == 1000
    assert all(re.fullmatch("[A-Za-z0-9_-]{24}", secret) for secret in secrets)


# --- asking -----------------------------------------------------------------------------------------------


def test_a_new_participant_has_an_empty_log(store: Store) -> None:
    log = store.event_log(invited(store))
    assert log == EventLog()
    assert (log.open_question, log.last_event, log.undoable) == (None, 0, None)
    assert (log.answers, log.skipped, log.deleted) == ((), (), {})


def test_a_question_is_recorded_as_proposed(store: Store) -> None:
    person = invited(store)
    wanted = proposal(3, items=(5, 2, 9), answered=7, method="Größe", value=0.1 + 0.2, accuracy=None)
    log = store.add_question(person, EventLog(), wanted)
    assert log == store.event_log(person)
    assert log.open_question is not None
    assert {name: getattr(log.open_question, name) for name in vars(wanted)} == vars(wanted)
    assert (log.open_question.number, log.open_question.based_on) == (1, 0)
    asked_at = datetime.fromisoformat(log.open_question.at)
    assert log.open_question.at.endswith("Z")
    assert timedelta(0) <= datetime.now(UTC) - asked_at < timedelta(minutes=1)


def test_another_question_based_on_the_same_event_is_not_recorded(store: Store) -> None:
    person = invited(store)
    first = store.add_question(person, EventLog(), proposal(1))
    assert store.add_question(person, EventLog(), proposal(5)) == first
    assert store.add_question(person, first, proposal(5)) == first
    answered = store.add_event(person, ask(store, person), "left", new_key())
    for stale in (EventLog(), first):
        assert store.add_question(person, stale, proposal(5)) == answered
    assert answered.open_question is None
    assert count(store, "questions") == 1


def test_two_windows_that_ask_at_once_are_given_one_question(store: Store) -> None:
    person = invited(store)
    for log in (EventLog(), store.add_event(person, ask(store, person), "left", new_key())):
        logs = in_parallel(8, lambda n, log=log: store.add_question(person, log, proposal(n)))  # type: ignore[misc]
        assert refusals(logs) == []
        opened = {one.open_question for one in logs if isinstance(one, EventLog)}
        assert len(opened) == 1
    assert count(store, "questions") == 2


# --- telling ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [None, 0.0, 3.25, 0.1 + 0.2])
def test_an_answer_is_recorded_as_given(store: Store, seconds: float | None) -> None:
    person = invited(store)
    question = ask(store, person)
    log = store.add_event(person, question, "equal", "my-own-key", seconds)
    assert log == Store(store.engine).event_log(person)
    (event,) = log.events
    assert (event.question, event.position, event.kind, event.key, event.seconds) == (
        question,
        0,
        "equal",
        "my-own-key",
        seconds,
    )
    assert answered(log) == [(question, "equal")]
    assert log.open_question is None
    assert log.last_event == event.id


def test_the_same_key_twice_is_recorded_once(store: Store) -> None:
    person = invited(store)
    question = ask(store, person)
    first = store.add_event(person, question, "left", "same", 1.0)
    assert store.add_event(person, question, "left", "same", 9.0) == first
    assert store.add_event(person, question, "right", "same") == first
    ask(store, person)
    assert answered(store.add_event(person, question, "left", "same")) == [(question, "left")]
    assert count(store, "events") == 1


def test_the_same_key_from_many_windows_in_parallel_is_recorded_once(store: Store) -> None:
    person = invited(store)
    question = ask(store, person)
    logs = in_parallel(8, lambda _: store.add_event(person, question, "left", "same", 1.0))
    assert logs == [store.event_log(person)] * 8
    assert count(store, "events") == 1


def test_of_many_windows_that_answer_at_once_exactly_one_wins(store: Store) -> None:
    person = invited(store)
    choices: list[Any] = ["left", "right", "equal", "skip"]
    for _ in range(3):  # the order in which they come is different every time
        question, before = ask(store, person), len(store.event_log(person).events)
        found = in_parallel(4, lambda n, q=question: store.add_event(person, q, choices[n], new_key()))  # type: ignore[misc]
        assert refusals(found) == ["already-answered"] * 3
        (winner,) = (n for n, one in enumerate(found) if isinstance(one, EventLog))
        assert [event.kind for event in store.event_log(person).events[before:]] == [choices[winner]]


def test_many_participants_answer_in_parallel(store: Store) -> None:
    study = study_of(store)
    people = [invited(store, f"P{number}", study) for number in range(6)]

    def teach(number: int) -> list[tuple[int, str]]:
        return [(answer(store, people[number], "left"), "left") for _ in range(3)]

    wanted = in_parallel(6, teach)
    assert [answered(store.event_log(person)) for person in people] == wanted
    assert count(store, "events") == 18


@pytest.mark.parametrize("choice", ["left", "right", "equal", "skip"])
def test_an_answered_or_replaced_question_cannot_be_answered_again(store: Store, choice: Any) -> None:
    person = invited(store)
    first = answer(store, person, choice)
    second = answer(store, person)
    replaced = ask(store, person)
    store.add_event(person, second, "undo", new_key())
    for question in (first, replaced):
        with refusal("already-answered", "answered or replaced, perhaps in another window"):
            store.add_event(person, question, choice, new_key())
    assert count(store, "events") == 3


def test_what_is_no_choice_of_the_questions_kind_is_refused(store: Store) -> None:
    person = invited(store)
    asked = ask(store, person)
    for word in ("perhaps", "1", "left-much", "2>1>3"):
        with pytest.raises(ValueError, match="to leave a question unanswered, skip it"):
            store.add_event(person, asked, word, new_key())
    assert not store.event_log(person).events


def test_a_renewed_secret_takes_the_place_of_the_old_one_alone(store: Store) -> None:
    """As after a command that was killed before it printed the secret; nothing else changes."""
    codes = {label: new_secret() for label in ("P1", "P2")}
    study = store.add_study("one", "study", protocol_of().to_json(), features_only(), {}, "the-first-secret")
    for label, code in codes.items():
        store.invite(study, label, code)
    people = store.participants(study)
    store.renew_secret(study, "the-second-secret")
    store.renew_code(study, "P2", "another-code")
    assert [store.owner_of(secret) for secret in ("the-first-secret", codes["P2"])] == [None, None]
    assert store.owner_of("the-second-secret") == (study, None)
    assert store.owner_of(codes["P1"]) == (study, people[0])
    found = store.owner_of("another-code")
    assert found is not None
    assert found[1] is not None
    assert (found[1].id, found[1].label, found[1].seed) == (people[1].id, "P2", people[1].seed)
    with refusal("no-participant", "'one' has no participant 'P3'; its participants are: P1, P2"):
        store.renew_code(study, "P3", new_secret())
