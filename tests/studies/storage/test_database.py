"""Opening databases: SQLite's settings, and the errors for databases that cannot be used."""

import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import text

from prefero._support.commands import upgrade_command
from prefero.studies.storage import database
from prefero.studies.storage.database import DatabaseError, open_database, reading, writing
from prefero.studies.storage.store import Store
from studies.fake_study import answer, in_parallel, invited, study_of
from studies.postgres import Server
from systems import posix_only

SECRET = "hunter2"
NOBODY = 65534


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user may write to; those of pytest belong to one."""
    folder = Path(tempfile.mkdtemp(prefix="prefero-public-"))
    folder.chmod(0o777)
    yield folder
    folder.chmod(0o777)
    shutil.rmtree(folder)


@contextmanager
def without_privileges() -> Iterator[None]:
    """Run as another user: root may write to everything, whatever the permissions."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


# --- SQLite -----------------------------------------------------------------------------------------------


def test_every_connection_uses_wal_full_sync_and_foreign_keys(file_store: Store) -> None:
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    for way in (reading, writing, reading):
        with way(file_store.engine) as first, way(file_store.engine) if way is reading else first as second:
            for connection in (first, second):
                found = {name: connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in wanted}
                assert found == wanted


def test_a_writing_transaction_takes_its_lock_at_the_start(file_store: Store, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "studies.db", timeout=0)) as other:
        with writing(file_store.engine), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        with reading(file_store.engine):
            other.execute("BEGIN IMMEDIATE")
            other.execute("ROLLBACK")


def test_threads_write_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if SQLite itself would give up: it only looks now and then, and some would never get a chance."""
    with monkeypatch.context() as patch:
        patch.setattr(database, "WAIT", 0.01)
        engine = open_database(tmp_path / "studies.db")
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE written (number INTEGER)"))

    def write(number: int) -> None:
        with writing(engine) as connection:
            connection.execute(text("INSERT INTO written VALUES (:number)"), {"number": number})
            time.sleep(0.05)

    assert in_parallel(4, write) == [None] * 4
    with reading(engine) as connection:
        assert sorted(connection.execute(text("SELECT number FROM written")).scalars()) == [0, 1, 2, 3]
    engine.dispose()


def test_a_reading_transaction_sees_one_consistent_state(store: Store) -> None:
    """A log is read table by table: an event must not come without its question."""
    person = invited(store)
    with reading(store.engine) as connection:
        questions = connection.execute(text("SELECT count(*) FROM questions")).scalar()
        answer(store, person)
        answers = connection.execute(text("SELECT count(*) FROM events")).scalar()
    assert (questions, answers) == (0, 0)


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    study = study_of(store)

    def half() -> None:
        with writing(store.engine) as connection:
            connection.execute(text("UPDATE studies SET name = 'changed'"))
            raise KeyError("half way")

    with pytest.raises(KeyError, match="half way"):
        half()
    assert store.studies() == [study]


@pytest.mark.parametrize(
    "name", ["a b.db", "50%.db", "what?.db", "#1.db", "größe.db", "a&b=c;d.db", "no-ending"]
)
def test_a_file_may_have_any_name_and_its_folder_is_made(tmp_path: Path, name: str) -> None:
    path = tmp_path / "made" / "for it" / name
    engine = open_database(path)
    study_of(Store(engine))
    engine.dispose()
    assert [file.name for file in path.parent.iterdir()] == [name]
    with closing(sqlite3.connect(path)) as file:
        assert file.execute("SELECT name FROM studies").fetchall() == [("one",)]


def test_an_empty_file_is_an_empty_database(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    engine = open_database(str(path))
    assert Store(engine).studies() == []
    engine.dispose()


def test_a_database_keeps_its_content_when_it_is_opened_again(database: str) -> None:
    for number in range(3):
        engine = open_database(database)
        study_of(Store(engine), f"study {number}")
        assert len(Store(engine).studies()) == number + 1
        engine.dispose()


# --- what cannot be used ----------------------------------------------------------------------------------


def refusal_of(where: str | Path) -> str:
    """The error message, which is one line."""
    with pytest.raises(DatabaseError) as refused:
        open_database(where)
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_a_folder_is_not_accepted_as_a_database(tmp_path: Path) -> None:
    assert refusal_of(tmp_path).startswith(f"{tmp_path} is a folder")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "studies.db"
    assert refusal_of(path).startswith(f"the folder of the database {path} cannot be made: ")


@pytest.mark.parametrize(
    "content",
    [np.random.default_rng(0).bytes(5000), b"Not a database, but a letter. " * 200],
    ids=["noise", "letter"],
)
def test_a_damaged_file_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.db"
    path.write_bytes(content)
    message = refusal_of(path)
    assert f"{path} cannot be used: file is not a database" in message
    assert "you may write to it" in message
    assert path.read_bytes() == content


def test_a_truncated_database_file_is_refused(file_store: Store, tmp_path: Path) -> None:
    study_of(file_store)
    file_store.engine.dispose()
    path = tmp_path / "studies.db"
    path.write_bytes(path.read_bytes()[:6000])
    assert f"the database {path} cannot be used: " in refusal_of(path)


def test_a_database_of_another_program_is_refused_and_left_alone(database: str, postgres: Server) -> None:
    make = "CREATE TABLE recipes (name VARCHAR(20))"
    if "://" in database:
        name = database.split("/")[3].split("?")[0]
        postgres.run(make, name)
    else:
        with closing(sqlite3.connect(database)) as file:
            file.execute(make)
    assert "database of another program" in refusal_of(database)
    assert "database of another program" in refusal_of(database)


def test_a_database_of_a_newer_version_is_refused_with_the_remedy(store: Store, database: str) -> None:
    study = study_of(store)
    with writing(store.engine) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    message = refusal_of(database)
    assert re.search(r"newer version of Prefero .*9999, .*[0-9]{4}\)", message)
    assert message.endswith(f"upgrade with  {upgrade_command()}")
    assert store.studies() == [study]


@posix_only
def test_a_file_that_cannot_be_written_is_refused(public: Path) -> None:
    path = public / "studies.db"
    open_database(path).dispose()
    path.chmod(0o444)
    with without_privileges():
        assert f"the database {path} cannot be used: " in refusal_of(path)


@posix_only
def test_a_folder_that_cannot_be_written_is_refused(public: Path) -> None:
    there, new = public / "studies.db", public / "new.db"
    open_database(there).dispose()
    there.chmod(0o666)
    public.chmod(0o555)
    with without_privileges():
        for path in (there, new):
            assert f"the database {path} cannot be used: " in refusal_of(path)


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://me:{SECRET}@localhost/studies",
        f"postgresql://me:{SECRET}@127.0.0.1:1/studies",
        f"postgresql+psycopg2://me:{SECRET}@127.0.0.1:1/studies",
        f"postgresql://127.0.0.1:1/studies?user=me&password={SECRET}",
        f"postgresql://me:{SECRET}@127.0.0.1:none/studies",
        f"://me:{SECRET}@127.0.0.1/studies",
        "sqlite:///studies.db",
    ],
)
def test_a_url_that_leads_nowhere_is_refused_and_no_password_is_shown(url: str) -> None:
    assert SECRET not in refusal_of(url)


def test_other_kinds_of_databases_are_refused_with_those_that_may_be_used() -> None:
    message = refusal_of("mysql://localhost/studies")
    assert re.search(r"postgresql://\.\.\., .*mysql$", message)


def test_postgresqls_own_reason_is_reported(postgres: Server) -> None:
    url = postgres.url("nowhere").replace("prefero@", f"prefero:{SECRET}@")
    message = refusal_of(url)
    assert 'database "nowhere" does not exist' in message
    assert SECRET not in message
