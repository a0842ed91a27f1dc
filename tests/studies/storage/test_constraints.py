"""The database's constraints hold the rules, whatever writes to it."""

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, column, inspect, table, text
from sqlalchemy.exc import IntegrityError

from prefero.questions.answer_kinds import ANSWER_KINDS, choices_of
from prefero.studies.log.event_log import OTHER_KINDS
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from prefero.views.stages import SUBMITTED_STAGES
from studies.fake_study import answer, in_parallel, invited, study_of

AT = "2026-11-15T14:00:00.000Z"
FILLED: dict[str, dict[str, Any]] = {  # one row of each table, which is fit to be added to what there is
    "pools": {"digest": "d" * 64, "data": b"1", "display": "{}"},
    "studies": {"name": "new", "kind": "teach", "protocol": "{}", "pool": None, "secret": "s" * 64, "at": AT},
    "participants": {"study": None, "label": "new", "code": "c" * 64, "seed": 0, "at": AT},
    "questions": {"participant": None, "number": 9, "based_on": 9, "answered": 0, "method": "Random"}
    | {
        "kind": "pair",
        "first_item": 0,
        "last_item": 1,
        "value": None,
        "unit": None,
        "accuracy": None,
        "selection": "best",
        "at": AT,
    },
    "question_items": {"question": None, "position": 9, "trajectory": 9},
    "events": {"participant": None, "question": None, "position": 9, "kind": "left", "key": "new"}
    | {"seconds": None, "at": AT},
    "stage_events": {"participant": None, "stage": "consent", "item": "", "data": "{}", "key": "new"}
    | {"at": AT},
    "reasons": {"participant": None, "event": None, "feature": "speed", "key": "new", "at": AT},
    "annotations": {"participant": None, "question": None, "kind": "tag"}
    | {"text": "collision", "key": "new", "at": AT},
}
MAY_BE_EMPTY = {"value", "unit", "accuracy", "seconds"}
TAKEN: dict[str, list[tuple[str, ...]]] = {  # what there is one of already
    "pools": [("digest",)],
    "studies": [("name",), ("secret",)],
    "participants": [("code",), ("study", "label")],
    "questions": [("participant", "number"), ("participant", "based_on")],
    "question_items": [("question", "position"), ("question", "trajectory")],
    "events": [("participant", "key"), ("question", "position")],
    "stage_events": [("participant", "key"), ("participant", "stage", "item")],
    "reasons": [("participant", "key")],
    "annotations": [("participant", "key")],
}
POINTERS: dict[str, dict[str, Any]] = {
    "studies": {"pool": "0" * 64},
    "participants": {"study": 10**6},
    "questions": {"participant": 10**6},
    "question_items": {"question": 10**6},
    "events": {"participant": 10**6, "question": 10**6},
    "stage_events": {"participant": 10**6},
    "reasons": {"participant": 10**6, "event": 10**6},
    "annotations": {"participant": 10**6, "question": 10**6},
}
WRONG = [
    ("studies", {"kind": "lesson"}),
    ("participants", {"seed": -1}),
    ("questions", {"value": 0.5}),
    ("questions", {"unit": "bits"}),
    ("question_items", {"position": -1}),
    ("question_items", {"trajectory": -1}),
    ("events", {"kind": ""}),
    ("stage_events", {"stage": "compare"}),
    ("stage_events", {"stage": "lunch"}),
    ("annotations", {"kind": "remark"}),
    ("annotations", {"trajectory": 0}),  # beside a question
]


@pytest.fixture(scope="module")
def there(shared_store: Store) -> dict[str, dict[str, Any]]:
    """A row of each table, in a database that the tests leave as it is."""
    person = invited(shared_store, study=study_of(shared_store))
    question = answer(shared_store, person)
    shared_store.add_reason(person, question, "speed", "why")
    shared_store.annotate(person, "note", "looks unsafe", "wrote", question=question)
    shared_store.add_stage_event(person, "rate", "Random", {}, "done")
    found = {}
    with shared_store.engine.connect() as connection:
        for name in FILLED:
            rows = connection.execute(text(f"SELECT * FROM {name} ORDER BY 1, 2")).mappings().all()
            found[name] = dict(rows[0])
    return found


@pytest.fixture
def connection(shared_store: Store) -> Iterator[Connection]:
    """A connection whose transaction is rolled back."""
    with shared_store.engine.connect() as connection, connection.begin() as transaction:
        yield connection
        transaction.rollback()


def fit(name: str, there: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A row that can be added, with valid foreign keys."""
    pointed = {
        "pool": there["pools"]["digest"],
        "study": there["studies"]["id"],
        "participant": there["participants"]["id"],
        "question": there["questions"]["id"],
        "event": there["events"]["id"],
    }
    return {key: pointed.get(key, value) for key, value in FILLED[name].items()}


def add(connection: Connection, name: str, row: dict[str, Any]) -> None:
    connection.execute(table(name, *map(column, row)).insert(), row)


def count(connection: Connection, name: str, where: str = "true") -> int:
    """How many rows there are."""
    found: int = connection.execute(text(f"SELECT count(*) FROM {name} WHERE {where}")).scalar_one()
    return found


@pytest.mark.parametrize("name", FILLED)
def test_a_valid_row_is_accepted(name: str, connection: Connection, there: dict[str, dict[str, Any]]) -> None:
    before = count(connection, name)
    add(connection, name, fit(name, there))
    assert count(connection, name) == before + 1


@pytest.mark.parametrize(
    ("name", "empty"), [(n, c) for n, row in FILLED.items() for c in row if c not in MAY_BE_EMPTY]
)
def test_a_required_column_cannot_be_null(
    name: str, empty: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {empty: None})


@pytest.mark.parametrize(("name", "columns"), [(n, c) for n, all_ in TAKEN.items() for c in all_])
def test_unique_columns_are_unique(
    name: str, columns: tuple[str, ...], connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {key: there[name][key] for key in columns})


@pytest.mark.parametrize(("name", "pointer"), [(n, p) for n, all_ in POINTERS.items() for p in all_])
def test_a_foreign_key_must_exist(
    name: str, pointer: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {pointer: POINTERS[name][pointer]})


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=lambda value: str(value))
def test_an_invalid_value_is_refused(
    name: str, wrong: dict[str, Any], connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | wrong)


@pytest.mark.parametrize("kind", [*(choices_of(kind)[-1] for kind in ANSWER_KINDS), *OTHER_KINDS])
def test_every_kind_of_event_is_accepted(
    kind: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    before = count(connection, "events", f"kind = '{kind}'")
    add(connection, "events", fit("events", there) | {"kind": kind})
    assert count(connection, "events", f"kind = '{kind}'") == before + 1


@pytest.mark.parametrize("stage", SUBMITTED_STAGES)
def test_every_stage_that_is_submitted_is_accepted(
    stage: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    before = count(connection, "stage_events", f"stage = '{stage}'")
    add(connection, "stage_events", fit("stage_events", there) | {"stage": stage})
    assert count(connection, "stage_events", f"stage = '{stage}'") == before + 1


@pytest.mark.parametrize("items", [(), (0,), (0, 2), (2, 1)], ids=str)
def test_a_question_whose_first_or_last_item_is_missing_is_refused_when_the_transaction_ends(
    items: tuple[int, ...], shared_store: Store, there: dict[str, dict[str, Any]]
) -> None:
    """So every question has two different items or more."""
    with pytest.raises(IntegrityError), shared_store.engine.begin() as connection:
        add_question(connection, there, items)
    with shared_store.engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM questions")).scalar_one() == 1


@pytest.mark.parametrize("items", [(0, 1), (0, 5, 1), (0, 3, 2, 1)], ids=str)
def test_a_question_may_have_two_items_or_more(
    items: tuple[int, ...], connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    add_question(connection, there, items)
    if connection.dialect.name == "postgresql":
        connection.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))  # as when the transaction ends
    else:
        assert connection.execute(text("PRAGMA foreign_key_check")).all() == []


def add_question(connection: Connection, there: dict[str, dict[str, Any]], items: tuple[int, ...]) -> None:
    """A question from trajectory 0 to trajectory 1, and these items of it."""
    add(connection, "questions", fit("questions", there) | {"id": 77})
    for position, trajectory in enumerate(items):
        row = {"question": 77, "position": position, "trajectory": trajectory}
        add(connection, "question_items", row)


@pytest.mark.parametrize("name", ["pools", "studies", "participants", "questions"])
@pytest.mark.usefixtures("there")
def test_a_row_that_others_refer_to_cannot_be_deleted(name: str, connection: Connection) -> None:
    with pytest.raises(IntegrityError):
        connection.execute(text(f"DELETE FROM {name}"))


def test_ids_are_never_used_again(file_store: Store) -> None:
    """A question may be based on an event whose row was deleted by hand; PostgreSQL never reuses ids."""
    ids = []
    for name in ("one", "two"):
        ids.append(study_of(file_store, name).id)
        with file_store.engine.begin() as connection:
            connection.execute(text("DELETE FROM studies"))
    assert ids[0] < ids[1]


def test_a_database_can_be_opened_by_many_at_once(database: str) -> None:
    engines = in_parallel(8, lambda _: open_database(database))
    for engine in engines:
        assert isinstance(engine, Engine), engine
        assert {*FILLED, "alembic_version"} == set(inspect(engine).get_table_names())
        engine.dispose()


def test_a_new_file_that_another_program_is_making_is_waited_for(tmp_path: Path) -> None:
    """SQLite itself does not wait here: it refuses at once to write ahead while another one begins."""
    other = sqlite3.connect(tmp_path / "studies.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.1, other.close)
    release.start()
    engine = open_database(tmp_path / "studies.db")
    release.join()
    assert {*FILLED, "alembic_version"} == set(inspect(engine).get_table_names())
    engine.dispose()
