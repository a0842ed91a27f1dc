"""The database: one SQLite file, or PostgreSQL by its URL; brought up to this version when it is opened.

An answer is on disk before it is acknowledged: SQLite writes ahead and waits for the disk at every commit,
and so does PostgreSQL. Writers take their turn at the start of a transaction, not in the middle of it.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

WAIT = 5.0  # seconds for another writer
MIGRATIONS = Path(__file__).parent / "migrations"


class DatabaseError(ValueError):
    """The database cannot be used: why, and what to do."""


class Busy(Exception):
    """Nothing was kept, for now: the same may be tried again. `code` says why in a word."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def open_database(where: str | Path) -> Engine:
    """The database at a path or a URL, made if it is not there, upgraded if it is older, refused if newer."""
    engine = _engine(str(where))
    try:
        _bring_up(engine)
    except (DBAPIError, sqlite3.Error) as error:
        engine.dispose()
        raise DatabaseError(
            f"the database {_shown(engine)} cannot be used: {_reason(error)}; check that it is there, that "
            "you may write to it, and that it is one of Prefero's"
        ) from error
    except BaseException:
        engine.dispose()
        raise
    return engine


def _engine(where: str) -> Engine:
    if "://" in where:
        url = _url(where)
        if url.get_backend_name() == "postgresql":
            return create_engine(url.set(drivername="postgresql+psycopg"), pool_pre_ping=True, pool_size=8)
        raise DatabaseError(
            f"a database is a file (SQLite) or a URL postgresql://..., but this is {url.get_backend_name()}"
        )
    path = Path(where)
    if path.is_dir():
        raise DatabaseError(f"{path} is a folder: give the path of a database file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DatabaseError(f"the folder of the database {path} cannot be made: {error.strerror}") from error
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": WAIT})
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _url(where: str) -> URL:
    try:
        return make_url(where)
    except (ArgumentError, ValueError):
        raise DatabaseError(
            "that is no database URL: one looks like postgresql://user@host/name, with a number after host: "
            "if there is a port"
        ) from None  # the parser's own words would show a password


def _prepare_sqlite(connection: "DBAPIConnection", _: Any) -> None:
    connection.isolation_level = None  # the driver shall not begin transactions by itself
    cursor = connection.cursor()
    for line in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    """A writer that begins as a reader may find that it cannot go on; so it begins as a writer."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """What is seen is of one moment."""
    with _clear_errors(), engine.connect() as connection:
        if engine.name == "postgresql":  # where the default is a moment for each statement
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """All of it is on disk when this ends well, and nothing of it otherwise."""
    with _clear_errors(), engine.connect().execution_options(writes=True) as connection, connection.begin():
        yield connection


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        reason = _reason(error)
        if "full" in reason or "disk I/O" in reason or "No space" in reason:
            raise Busy(
                "disk-full", "the disk is full, so nothing was kept: make room, then try again"
            ) from error
        if "locked" in reason or "busy" in reason:
            raise Busy(
                "locked", "another program holds the database, so nothing was kept: close it, then try again"
            ) from error
        if "readonly" in reason:
            raise Busy(
                "read-only", "the database cannot be written, so nothing was kept: check its permissions"
            ) from error
        raise Busy(
            "database", "the database does not answer, so nothing was kept: it is tried again"
        ) from error


def _reason(error: DBAPIError | sqlite3.Error) -> str:
    said = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(said).split())


def _shown(engine: Engine) -> str:
    """Without user and password, wherever in the URL they are."""
    url = engine.url
    return url.database or "" if engine.name == "sqlite" else f"postgresql://{url.host or ''}/{url.database}"


# --- versions ---------------------------------------------------------------------------------------------


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _bring_up(engine: Engine) -> None:
    """Servers that start at once take turns: whoever comes second finds the work done."""
    script = ScriptDirectory.from_config(_config())
    newest = script.get_current_head()
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7355608)")
        now = MigrationContext.configure(connection).get_current_revision()
        if now == newest:  # and can it be written? SQLite finds out only when it is tried
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
            return
        if now is None and inspect(connection).get_table_names():
            raise DatabaseError(f"{_shown(engine)} is a database of another program: choose another place")
        if now is not None and now not in {revision.revision for revision in script.walk_revisions()}:
            raise DatabaseError(
                f"{_shown(engine)} was made by a newer version of Prefero (its schema is {now}, and this one "
                f"knows up to {newest}): upgrade with  pip install --upgrade prefero"
            )
        if now is not None:
            _keep_copy(engine, connection, now)
        command.upgrade(_config(connection), "head")


def _keep_copy(engine: Engine, writer: Connection, revision: str) -> None:
    """A copy of the whole database before it is upgraded, while nobody else writes."""
    if engine.name == "sqlite":
        original = Path(engine.url.database or "")
        copy = original.with_name(f"{original.stem}.before-upgrade-from-{revision}{original.suffix}")
        copy.unlink(missing_ok=True)
        with engine.connect() as reader:  # a copy cannot be made in the middle of a transaction
            driver: Any = reader.connection.driver_connection
            driver.execute("VACUUM INTO ?", (str(copy),))
        return
    schema = f"before_upgrade_from_{revision}"
    tables = inspect(writer).get_table_names()
    writer.exec_driver_sql(f'DROP SCHEMA IF EXISTS "{schema}" CASCADE')
    writer.exec_driver_sql(f'CREATE SCHEMA "{schema}"')
    for table in tables:
        writer.exec_driver_sql(f'CREATE TABLE "{schema}"."{table}" AS TABLE "{table}"')
