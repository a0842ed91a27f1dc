"""Locked databases, full disks and lost connections: nothing is lost, and a request can be sent again."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, text

from prefero.studies.storage import database as databases
from prefero.studies.storage.database import (
    DatabaseError,
    DatabaseUnavailable,
    open_database,
    reading,
    writing,
)
from prefero.studies.storage.store import Participant, Store
from studies.fake_study import answer, answered, ask, invited, new_key
from studies.postgres import Server
from systems import files_no_larger_than
from waiting import TIMEOUT, wait_until

ROOM = 40  # answers that are kept before the disk is full, at least


@pytest.fixture
def impatient(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store that waits only briefly for locks."""
    monkeypatch.setattr(databases, "WAIT", 0.05)
    engine = open_database(tmp_path / "studies.db")
    yield Store(engine)
    engine.dispose()


# --- locked -----------------------------------------------------------------------------------------------


def test_while_another_program_writes_an_answer_is_refused_and_can_be_sent_again(
    impatient: Store, tmp_path: Path
) -> None:
    person = invited(impatient)
    answer(impatient, person)
    question, before = ask(impatient, person), impatient.event_log(person)
    with closing(sqlite3.connect(tmp_path / "studies.db")) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseUnavailable, match=r"locks the database, .*nothing was recorded") as busy:
            impatient.add_event(person, question, "right", "my-key")
        assert busy.value.code == "locked"
        assert impatient.event_log(person) == before  # readers go on
        other.execute("COMMIT")
    assert answered(impatient.add_event(person, question, "right", "my-key"))[-1] == (question, "right")


def test_a_writer_waits_for_another_before_it_gives_up(file_store: Store, tmp_path: Path) -> None:
    person = invited(file_store)
    question = ask(file_store, person)
    with closing(sqlite3.connect(tmp_path / "studies.db", check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        waiting, found = threading.Event(), []
        event.listen(file_store.engine, "before_cursor_execute", lambda *_: waiting.set())
        window = threading.Thread(
            target=lambda: found.append(file_store.add_event(person, question, "left", "my-key"))
        )
        window.start()
        assert waiting.wait(TIMEOUT)
        other.execute("COMMIT")
        window.join(TIMEOUT)
    (log,) = found
    assert answered(log) == [(question, "left")]


def test_a_locked_database_cannot_be_created(impatient: Store, tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError, match=r"cannot be used: .*(locked|locks the database)"):
            open_database(path)
    assert impatient.studies() == []


def test_an_answer_waits_while_another_server_writes_about_the_same_participant(postgres: Server) -> None:
    with postgres.database() as url:
        store = Store(open_database(url))
        person = invited(store)
        question, found = ask(store, person), []
        window = threading.Thread(
            target=lambda: found.append(store.add_event(person, question, "left", "key"))
        )
        with writing(store.engine) as other:
            other.execute(text("SELECT id FROM participants FOR UPDATE"))
            window.start()
            wait_until(postgres.has_waiting_transaction, "a transaction that waits for a lock")
            assert window.is_alive()
            assert store.event_log(person).events == ()
        window.join()
        assert [answered(log) for log in found] == [[(question, "left")]]
        store.engine.dispose()


# --- full -------------------------------------------------------------------------------------------------


def fill(store: Store, person: Participant) -> list[tuple[int, str]]:
    """Answer until the disk is full; what was acknowledged."""
    kept = answered(store.event_log(person))

    def go_on() -> None:
        for _ in range(5000):
            question = ask(store, person)
            store.add_event(person, question, "left", f"{new_key()}-{'x' * 40}")
            kept.append((question, "left"))

    with pytest.raises(DatabaseUnavailable, match=r"disk is full, .*nothing was recorded") as busy:
        go_on()
    assert busy.value.code == "disk-full"
    return kept


def check_full(store: Store, person: Participant, path: Path) -> None:
    """Every acknowledged answer is there, after several attempts to write more."""
    kept = fill(store, person)
    assert len(kept) >= ROOM
    for _ in range(3):
        assert answered(store.event_log(person)) == kept
        kept = fill(store, person)
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def check_works_again(store: Store, person: Participant) -> None:
    """The next answer is recorded after all others."""
    before = answered(store.event_log(person))
    question = answer(store, person, "right")
    assert answered(store.event_log(person)) == [*before, (question, "right")]


def test_a_full_database_loses_nothing_and_works_again_when_there_is_room(
    file_store: Store, tmp_path: Path
) -> None:
    person = invited(file_store)
    for _ in range(ROOM):
        answer(file_store, person)
    with reading(file_store.engine) as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one() + 2
    file_store.engine.dispose()

    def little_room(connection: sqlite3.Connection, _: object) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(file_store.engine, "connect", little_room)
    check_full(file_store, person, tmp_path / "studies.db")
    event.remove(file_store.engine, "connect", little_room)
    file_store.engine.dispose()
    check_works_again(file_store, person)


def test_a_full_disk_loses_nothing_and_works_again_when_there_is_room(
    file_store: Store, tmp_path: Path
) -> None:
    person = invited(file_store)
    for _ in range(ROOM):
        answer(file_store, person)
    with files_no_larger_than(max(file.stat().st_size for file in tmp_path.iterdir()) + 20_000):
        check_full(file_store, person, tmp_path / "studies.db")
    check_works_again(file_store, person)


# --- gone -------------------------------------------------------------------------------------------------


def test_a_lost_connection_keeps_nothing_and_is_made_again(postgres: Server) -> None:
    with postgres.database() as url:
        store = Store(open_database(url))
        person = invited(store)
        question = ask(store, person)

        def lose_it() -> None:
            with writing(store.engine) as connection:
                connection.execute(text("UPDATE participants SET label = 'changed'"))
                postgres.run(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    f"WHERE datname = '{store.engine.url.database}'"
                )
                connection.execute(text("SELECT 1"))

        with pytest.raises(DatabaseUnavailable, match=r"does not answer, .*nothing was recorded") as busy:
            lose_it()
        assert busy.value.code == "database"
        assert answered(store.add_event(person, question, "left", "key")) == [(question, "left")]
        assert [one.label for one in store.participants(store.studies()[0])] == ["P1"]
        store.engine.dispose()
