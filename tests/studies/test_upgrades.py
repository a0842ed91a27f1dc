"""Databases of older versions: brought up to this one, with a copy kept of what they were."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, inspect, text

from prefero.studies.storage import database as databases
from prefero.studies.storage.database import DatabaseError, open_database, reading
from prefero.studies.storage.store import Store
from studies import first
from studies.pretended import said
from systems import files_no_larger_than

COPY = "before-upgrade-from-0001"
SCHEMA = "before_upgrade_from_0001"
LITTLE = 40_000  # bytes: room for SQLite's own memory of 32 kB, and not for a copy


@pytest.fixture(params=["kept", "made"])
def old_file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A file of the first version: the one that is kept, or one that is made now."""
    path = tmp_path / "teach.db"
    if request.param == "kept":
        shutil.copy(first.KEPT, path)
    else:
        first.make(str(path))
    return path


@pytest.fixture
def old_database(database: str) -> str:
    """The same in each kind of database."""
    first.make(database)
    return database


def content(path: Path) -> dict[str, list[dict[str, Any]]]:
    """All rows of a file, read by SQLite alone."""
    found = {}
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as file:
        file.row_factory = sqlite3.Row
        names = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for name in names:
            if not name.startswith("sqlite_"):
                found[name] = [dict(row) for row in file.execute(f"SELECT * FROM {name} ORDER BY 1")]
    return found


def test_the_kept_file_is_small_and_of_the_first_version() -> None:
    assert first.KEPT.stat().st_size < 100_000
    found = content(first.KEPT)
    assert found.pop("alembic_version") == [{"version_num": "0001"}]
    assert found == first.rows()


def test_an_old_file_is_upgraded_and_nothing_in_it_is_lost(old_file: Path) -> None:
    engine = open_database(old_file)
    engine.dispose()
    found = content(old_file)
    assert found.pop("alembic_version") == [{"version_num": "0002"}]
    assert found.pop("steps") == []
    assert found == first.rows()


def test_a_copy_of_an_old_file_is_kept_readable_and_old(old_file: Path) -> None:
    open_database(old_file).dispose()
    copy = old_file.with_name(f"teach.{COPY}.db")
    found = content(copy)
    assert found.pop("alembic_version") == [{"version_num": "0001"}]
    assert found == first.rows()
    assert sorted(file.name for file in old_file.parent.iterdir()) == [copy.name, old_file.name]


def test_a_copy_that_an_earlier_try_left_half_written_is_replaced(old_file: Path) -> None:
    copy = old_file.with_name(f"teach.{COPY}.db")
    copy.write_bytes(b"half a copy")
    open_database(old_file).dispose()
    assert content(copy)["answers"] == first.rows()["answers"]


def test_the_copy_can_be_opened_in_its_turn(old_file: Path) -> None:
    open_database(old_file).dispose()
    engine = open_database(old_file.with_name(f"teach.{COPY}.db"))
    assert [study.name for study in Store(engine).studies()] == ["first"]
    engine.dispose()


def test_an_old_session_goes_on(old_database: str) -> None:
    engine = open_database(old_database)
    store = Store(engine)
    study = store.study("first")
    (person,) = store.people(study)
    log = store.log(person)
    assert said(log) == [(1, "left"), (2, "right")]
    assert [asked.id for asked in log.skipped] == [4]
    assert list(log.deleted) == [3]
    assert log.open is not None
    assert log.open.id == 5
    assert len(store.pool(study)) == 12
    if engine.name == "postgresql":  # rows with given ids were written past its counters
        with engine.begin() as connection:
            connection.execute(text("SELECT setval('answers_id_seq', 100)"))
    assert said(store.tell(person, 5, "left", "new-key"))[-1] == (5, "left")
    assert store.do(person, "consent", "", {}, "new-step").step("consent") is not None
    engine.dispose()


def test_postgresql_keeps_a_copy_in_a_schema_of_its_own(old_database: str) -> None:
    engine = open_database(old_database)
    if engine.name == "postgresql":
        with reading(engine) as connection:
            assert set(inspect(connection).get_table_names(schema=SCHEMA)) == {
                *first.rows(),
                "alembic_version",
            }
            version = connection.execute(text(f"SELECT version_num FROM {SCHEMA}.alembic_version")).scalar()
            assert version == "0001"
            for name, rows in first.rows().items():
                kept = connection.execute(text(f"SELECT * FROM {SCHEMA}.{name} ORDER BY 1")).mappings()
                assert [dict(row) for row in kept] == rows
    engine.dispose()


def test_a_database_that_is_up_to_date_is_not_copied(old_file: Path) -> None:
    for _ in range(2):
        open_database(old_file).dispose()
        copy = old_file.with_name(f"teach.{COPY}.db")
        kept = copy.read_bytes()
        copy.write_bytes(b"")
    copy.write_bytes(kept)
    assert kept == b""
    new = old_file.with_name("new.db")
    open_database(new).dispose()
    assert not list(old_file.parent.glob("new.before*"))


def version_of(engine: Engine) -> Any:
    with reading(engine) as connection:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def test_an_upgrade_that_fails_leaves_the_database_as_it_was(old_database: str) -> None:
    """Here a table of the new version is there already, with something of somebody's in it."""
    engine = databases._engine(old_database)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE steps (mine INTEGER)"))
    with pytest.raises(DatabaseError, match=r"cannot be used: .*already exists"):
        open_database(old_database)
    assert version_of(engine) == "0001"
    with reading(engine) as connection:
        assert [column["name"] for column in inspect(connection).get_columns("steps")] == ["mine"]
        assert connection.execute(text("SELECT count(*) FROM answers")).scalar() == len(first.SAID)
    engine.dispose()


def test_without_room_for_a_copy_nothing_is_upgraded(tmp_path: Path) -> None:
    path = tmp_path / "teach.db"
    first.make(str(path))
    before = content(path)
    assert path.stat().st_size > LITTLE
    with files_no_larger_than(LITTLE), pytest.raises(DatabaseError, match=r"cannot be used: .*disk"):
        open_database(path)
    assert content(path) == before
