"""Migrations: an older database is brought to this version, and a copy of what it was is kept.

The tests add a later migration, which only they know, to a copy of the folder.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Engine, inspect, text
from sqlalchemy.exc import IntegrityError

from prefero.studies.storage import database as databases
from prefero.studies.storage import schema
from prefero.studies.storage.database import DatabaseError, open_database, reading, writing
from prefero.studies.storage.store import Store
from studies.fake_study import answer, answered, ask, invited, new_key, study_of
from studies.storage.first_version import make_first_version
from systems import files_no_larger_than

NOW = max(file.stem for file in (databases.MIGRATIONS / "versions").glob("v*.py"))[1:5]
NEXT = f"{int(NOW) + 1:04d}"
COPY = f"before-upgrade-from-{NOW}"
SCHEMA = f"before_upgrade_from_{NOW}"
LITTLE = 40_000  # bytes: room for SQLite's own shared memory of 32 kB, and not for a copy
WORDS = f'''"""A stage and a kind of selection more."""

from prefero.studies.log.event_log import SELECTIONS
from prefero.views.stages import SUBMITTED_STAGES
from prefero.studies.storage.migrations.allowed_words import allow_words

revision, down_revision, branch_labels, depends_on = "{NEXT}", "{NOW}", None, None


def upgrade() -> None:
    """Allow them."""
    allow_words("stage_events", "stage", (*SUBMITTED_STAGES, "questionnaire"))
    allow_words("questions", "selection", (*SELECTIONS, "top"))
'''
LATER = f'''"""Notes about participants."""

import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "{NEXT}", "{NOW}", None, None


def upgrade() -> None:
    """One table more."""
    op.create_table("notes", sa.Column("participant", sa.Integer), sa.Column("note", sa.Text))
    op.execute("INSERT INTO notes SELECT id, label FROM participants")
'''


def fill(where: str | Path) -> None:
    """A database of this version: two answers, one that was undone, one deleted, one skip, and consent."""
    engine = open_database(where)
    store = Store(engine)
    person = invited(store, "P1", study_of(store, "first"))
    for kind in ("left", "left", "equal"):
        answer(store, person, kind)
    store.undo(person, new_key())
    answer(store, person, "right")
    store.add_event(person, store.event_log(person).answers[-1].asked.id, "delete", new_key())
    answer(store, person, "skip")
    store.add_stage_event(person, "consent", "", {"agreed": True}, new_key())
    ask(store, person)
    engine.dispose()


def add_migration(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend to be a later version, with one migration more."""
    shutil.copytree(databases.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / f"v{NEXT}_later.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(databases, "MIGRATIONS", folder)


@pytest.fixture
def later_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend to be a later version from here on."""
    add_migration(LATER, tmp_path / "migrations of a later version", monkeypatch)


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """A file of this version, which later becomes the older one."""
    (tmp_path / "data").mkdir()
    fill(tmp_path / "data" / "teach.db")
    return tmp_path / "data" / "teach.db"


@pytest.fixture
def old_database(database: str) -> str:
    """The same in each kind of database."""
    fill(database)
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


def test_an_old_file_is_migrated_and_nothing_in_it_is_lost(
    old_file: Path, request: pytest.FixtureRequest
) -> None:
    before = content(old_file)
    assert before.pop("alembic_version") == [{"version_num": NOW}]
    request.getfixturevalue("later_version")
    open_database(old_file).dispose()
    after = content(old_file)
    assert after.pop("alembic_version") == [{"version_num": NEXT}]
    assert after.pop("notes") == [{"participant": 1, "note": "P1"}]
    assert after == before


def test_a_copy_of_an_old_file_is_kept_readable_and_old(
    old_file: Path, request: pytest.FixtureRequest
) -> None:
    before = content(old_file)
    request.getfixturevalue("later_version")
    open_database(old_file).dispose()
    copy = old_file.with_name(f"teach.{COPY}.db")
    assert content(copy) == before
    assert sorted(file.name for file in old_file.parent.iterdir()) == [copy.name, old_file.name]


def test_a_copy_that_an_earlier_attempt_left_half_written_is_replaced(
    old_file: Path, request: pytest.FixtureRequest
) -> None:
    before = content(old_file)
    copy = old_file.with_name(f"teach.{COPY}.db")
    copy.write_bytes(b"half a copy")
    request.getfixturevalue("later_version")
    open_database(old_file).dispose()
    assert content(copy) == before


@pytest.mark.usefixtures("old_file", "later_version")
def test_the_copy_can_be_opened_in_its_turn(old_file: Path) -> None:
    open_database(old_file).dispose()
    engine = open_database(old_file.with_name(f"teach.{COPY}.db"))
    assert [study.name for study in Store(engine).studies()] == ["first"]
    engine.dispose()


@pytest.mark.usefixtures("old_database", "later_version")
def test_an_old_session_goes_on(old_database: str) -> None:
    engine = open_database(old_database)
    store = Store(engine)
    study = store.study("first")
    (person,) = store.participants(study)
    log = store.event_log(person)
    assert [kind for _, kind in answered(log)] == ["left", "left"]
    assert (len(log.skipped), len(log.deleted), len(log.stage_events)) == (1, 1, 1)
    assert log.open_question is not None
    assert len(store.pool(study)) == 12
    after = store.add_event(person, log.open_question.id, "left", "new-key")
    assert answered(after)[-1] == (log.open_question.id, "left")
    engine.dispose()


@pytest.mark.usefixtures("old_database", "later_version")
def test_postgresql_keeps_a_copy_in_a_schema_of_its_own(old_database: str) -> None:
    engine = open_database(old_database)
    if engine.name == "postgresql":
        with reading(engine) as connection:
            names = set(inspect(connection).get_table_names()) - {"notes"}
            assert set(inspect(connection).get_table_names(schema=SCHEMA)) == names
            version = connection.execute(text(f"SELECT version_num FROM {SCHEMA}.alembic_version")).scalar()
            assert version == NOW
            for name in names - {"alembic_version"}:
                now, kept = (
                    connection.execute(text(f"SELECT * FROM {table} ORDER BY 1, 2")).all()
                    for table in (name, f"{SCHEMA}.{name}")
                )
                assert now == kept
    engine.dispose()


@pytest.mark.usefixtures("old_file", "later_version")
def test_a_database_that_is_up_to_date_is_not_copied(old_file: Path) -> None:
    copy = old_file.with_name(f"teach.{COPY}.db")
    open_database(old_file).dispose()
    copy.unlink()
    open_database(old_file).dispose()
    assert not copy.exists()
    open_database(old_file.with_name("new.db")).dispose()
    assert not list(old_file.parent.glob("new.before*"))


def version_of(engine: Engine) -> Any:
    with reading(engine) as connection:
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


@pytest.mark.usefixtures("old_database", "later_version")
def test_a_migration_that_fails_leaves_the_database_as_it_was(old_database: str) -> None:
    """A table of the later version exists already, with other columns."""
    engine = databases._engine(old_database)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE notes (mine INTEGER)"))
        events = connection.execute(text("SELECT count(*) FROM events")).scalar()
    with pytest.raises(DatabaseError, match=r"cannot be used: .*already exists"):
        open_database(old_database)
    assert version_of(engine) == NOW
    with reading(engine) as connection:
        assert [column["name"] for column in inspect(connection).get_columns("notes")] == ["mine"]
        assert connection.execute(text("SELECT count(*) FROM events")).scalar() == events
    engine.dispose()


def test_a_later_version_is_refused_by_an_earlier_one(old_database: str, tmp_path: Path) -> None:
    """A database that a later Prefero has opened needs that one or a newer one."""
    with pytest.MonkeyPatch.context() as later:
        add_migration(LATER, tmp_path / "later", later)
        open_database(old_database).dispose()
    with pytest.raises(DatabaseError, match=rf"newer version of Prefero .*{NEXT}, .*{NOW}\)"):
        open_database(old_database)


def test_without_room_for_a_copy_nothing_is_migrated(old_file: Path, request: pytest.FixtureRequest) -> None:
    before = content(old_file)
    assert old_file.stat().st_size > LITTLE
    request.getfixturevalue("later_version")
    with files_no_larger_than(LITTLE), pytest.raises(DatabaseError, match=r"cannot be used: .*disk"):
        open_database(old_file)
    assert content(old_file) == before


# --- what the migrations make is what the code believes ---------------------------------------------------


def reflected(engine: Engine) -> dict[str, Any]:
    """The tables of a database as it describes them."""
    found = {}
    looked = inspect(engine)
    for name in sorted(set(looked.get_table_names()) - {"alembic_version"}):
        found[name] = {
            "columns": [(c["name"], str(c["type"]), c["nullable"]) for c in looked.get_columns(name)],
            "key": looked.get_pk_constraint(name),
            "unique": sorted((u["name"], u["column_names"]) for u in looked.get_unique_constraints(name)),
            "pointers": sorted(
                (f["name"], f["constrained_columns"], f["referred_table"], f["referred_columns"])
                for f in looked.get_foreign_keys(name)
            ),
            "checks": sorted((c["name"], c["sqltext"]) for c in looked.get_check_constraints(name)),
            "indexes": sorted((i["name"], i["column_names"], i["unique"]) for i in looked.get_indexes(name)),
        }
    return found


def test_alembic_finds_nothing_that_the_migrations_forgot(database: str) -> None:
    make_first_version(database)
    engine = open_database(database)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []
    engine.dispose()


def test_the_migrations_make_exactly_the_tables_of_a_new_database(database: str) -> None:
    """Checks and names too, which alembic does not compare and a later migration will need."""
    make_first_version(database)
    engine = open_database(database)
    migrated = reflected(engine)
    assert set(migrated) == set(schema.metadata.tables)
    assert version_of(engine) == NOW
    with engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        schema.metadata.drop_all(connection)
    engine.dispose()
    engine = open_database(database)  # in the same process as one of the other kind
    assert reflected(engine) == migrated
    assert version_of(engine) == NOW
    engine.dispose()


# --- the words of a column --------------------------------------------------------------------------------


def described(engine: Engine, table: str) -> dict[str, Any]:
    """A table but for its checks, as the database describes it."""
    found = inspect(engine)
    return {
        "columns": [(c["name"], str(c["type"]), c["nullable"]) for c in found.get_columns(table)],
        "key": found.get_pk_constraint(table),
        "unique": sorted(u["name"] or "" for u in found.get_unique_constraints(table)),
        "foreign": sorted(f["name"] or "" for f in found.get_foreign_keys(table)),
        "indexes": sorted(i["name"] or "" for i in found.get_indexes(table)),
        "checks": sorted(c["name"] or "" for c in found.get_check_constraints(table)),
    }


AFTER_FIRST = shutil.ignore_patterns("*__", "v000[2-9]*")  # migrations after the first version


def fill_first_version(database: str, migrations: Path) -> None:
    """A database of the first version; this version's code, which fills it, reads what came later too."""
    make_first_version(database)
    shutil.copytree(databases.MIGRATIONS, migrations, ignore=AFTER_FIRST)
    engine = databases._engine(database)
    later = schema.reasons, schema.annotations
    for table in later:
        table.create(engine)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE studies ADD COLUMN archived VARCHAR(32)"))
    with pytest.MonkeyPatch.context() as earlier:
        earlier.setattr(databases, "MIGRATIONS", migrations)
        fill(database)
    for table in later:
        table.drop(engine)
    with writing(engine) as connection:
        connection.execute(text("ALTER TABLE studies DROP COLUMN archived"))
    engine.dispose()


def rows_of(engine: Engine, table: str) -> list[Any]:
    with reading(engine) as connection:
        return list(connection.execute(text(f"SELECT * FROM {table} ORDER BY id")))


def test_the_first_versions_lists_of_kinds_are_given_up_and_no_row_is_lost(
    database: str, tmp_path: Path
) -> None:
    fill_first_version(database, tmp_path / "first")
    tables = ("questions", "events", "stage_events")
    new_kind = text("UPDATE questions SET kind = 'new'")
    engine = databases._engine(database)
    before = [(described(engine, table), rows_of(engine, table)) for table in tables]
    with pytest.raises(IntegrityError), engine.begin() as connection:
        connection.execute(new_kind)
    engine.dispose()
    engine = open_database(database)
    before[0][0]["checks"].remove("ck_questions_two_items")  # a question may be about one trajectory
    assert [(described(engine, table), rows_of(engine, table)) for table in tables] == before
    with engine.begin() as connection:
        if engine.name == "sqlite":
            assert connection.execute(text("PRAGMA integrity_check")).scalars().all() == ["ok"]
            assert not connection.execute(text("PRAGMA foreign_key_check")).all()
        connection.execute(new_kind)
    engine.dispose()


def test_a_migration_can_allow_another_stage_and_another_selection(
    old_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables = ("questions", "stage_events")
    engine = databases._engine(old_database)
    before = [(described(engine, table), rows_of(engine, table)) for table in tables]
    engine.dispose()
    add_migration(WORDS, tmp_path / "words", monkeypatch)
    engine = open_database(old_database)
    assert [(described(engine, table), rows_of(engine, table)) for table in tables] == before
    for table, column in (("questions", "selection"), ("stage_events", "stage")):
        with pytest.raises(IntegrityError), engine.begin() as connection:
            connection.execute(text(f"UPDATE {table} SET {column} = 'lunch'"))
    with engine.begin() as connection:
        connection.execute(text("UPDATE stage_events SET stage = 'questionnaire'"))
        connection.execute(text("UPDATE questions SET selection = 'top'"))
    engine.dispose()


def test_runners_up_of_an_earlier_version_are_quick_questions(database: str, tmp_path: Path) -> None:
    fill_first_version(database, tmp_path / "first")
    engine = databases._engine(database)
    with engine.begin() as connection:
        connection.execute(text("UPDATE questions SET selection = 'runner-up' WHERE number = 2"))
    engine.dispose()
    engine = open_database(database)
    found = {row.number: row.selection for row in rows_of(engine, "questions")}
    assert (found[1], found[2], found[3]) == ("best", "quick", "best")
    engine.dispose()
