"""SECURITY.md says how one participant's data are deleted: the statements there do that, and nothing else."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg

from prefero.studies.log.event_log import EventLog
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies.fake_study import answer, invited, new_key, study_of

PAGE = Path(__file__).resolve().parents[3] / "SECURITY.md"


def statements() -> str:
    (block,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    return str(block)


def run_in_shell(database: str, code: str) -> None:
    """As typed into the database's own shell, one statement after the other."""
    if "://" not in database:
        with closing(sqlite3.connect(database)) as connection:
            connection.executescript("PRAGMA foreign_keys = ON;" + code)
        return
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in filter(str.strip, code.split(";")):
            connection.execute(statement.encode())


def test_one_participant_is_deleted_and_the_others_are_kept(database: str) -> None:
    store = Store(open_database(database))
    studies = [study_of(store, name) for name in ("putting", "driving")]
    people = [invited(store, label, study) for study in studies for label in ("P1", "P3")]
    for person in people:
        store.add_reason(person, answer(store, person), "speed", new_key())
        store.annotate(person, "note", "looks unsafe", new_key(), trajectory=0)
        store.add_stage_event(person, "consent", "", {"agreed": True}, new_key())
        answer(store, person, "right")
    before = {person.id: store.event_log(person) for person in people}
    store.engine.dispose()
    run_in_shell(database, statements())
    store = Store(open_database(database))
    gone, kept = people[1], [people[0], *people[2:]]
    assert [person for study in studies for person in store.participants(study)] == kept
    log = store.event_log(gone)
    assert log == EventLog()
    assert {person.id: store.event_log(person) for person in kept} == {p.id: before[p.id] for p in kept}
    store.engine.dispose()
