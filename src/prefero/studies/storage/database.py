"""The database: one SQLite file, or PostgreSQL by its URL; opening one migrates it to the newest schema.

A new database is made from the schema; the migrations are what has changed since the first version.

An answer is on disk before it is acknowledged: SQLite writes ahead and waits for the disk at every commit,
and so does PostgreSQL. A transaction that writes takes its lock at the start, not in the middle.
"""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import URL, Connection, Engine, MetaData, create_engine, event, inspect, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from prefero._support.coded_errors import CodedError
from prefero._support.commands import upgrade_command
from prefero._support.files import make_private_folder, private_opener
from prefero.studies.storage.schema import metadata

if TYPE_CHECKING:
    from sqlalchemy.engine.interfaces import DBAPIConnection

FILE = "prefero.file"  # in what a connection knows: the file that it was opened with
WAIT = 5.0  # seconds for another writer
MIGRATIONS = Path(__file__).parent / "migrations"
CODES = {  # by what the driver says
    **dict.fromkeys(("full", "disk I/O", "No space"), "disk-full"),
    **dict.fromkeys(("locked", "busy"), "locked"),
    "readonly": "read-only",
}
PROBLEMS = {  # and remedies
    "disk-full": ("the disk is full", "make room, then try again"),
    "locked": ("another program locks the database", "close it, then try again"),
    "read-only": ("the database is read-only", "check its permissions"),
    "database": ("the database does not answer", "try again"),
}

_WRITERS: "WeakKeyDictionary[Engine, threading.Lock]" = WeakKeyDictionary()


class DatabaseError(ValueError):
    """The database cannot be used; the message says why, and what to do."""


class DatabaseUnavailable(CodedError, RuntimeError):
    """Nothing was recorded, for now: the same request can be sent again."""


def open_database(where: str | Path) -> Engine:
    """The database at a path or a URL: created if it does not exist, migrated if older, refused if newer."""
    engine = _engine(str(where))
    try:
        _migrate(engine)
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


def attach_database(where: str) -> Engine:
    """A database that another process of this server has opened already, at its `address_of`."""
    return _engine(where)


def address_of(engine: Engine) -> str:
    """The path or the URL of a database, with the password if it has one: not to be shown."""
    if engine.name == "sqlite":
        return engine.url.database or ""
    return engine.url.set(drivername="postgresql").render_as_string(hide_password=False)


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
        make_private_folder(path.parent)
    except OSError as error:
        raise DatabaseError(f"the folder of the database {path} cannot be made: {error.strerror}") from error
    _make_private(path)
    engine = create_engine(URL.create("sqlite", database=str(path)), connect_args={"timeout": WAIT})
    event.listen(engine, "connect", partial(_prepare_sqlite, path))
    event.listen(engine, "begin", _begin_sqlite)
    _WRITERS[engine] = threading.Lock()
    return engine


def _make_private(path: Path) -> None:
    """Make a new, empty file that only its owner can read; SQLite's files beside it become like it."""
    with suppress(OSError), open(path, "xb", opener=private_opener):
        pass  # SQLite says why a file cannot be made


def _url(where: str) -> URL:
    try:
        return make_url(where)
    except (ArgumentError, ValueError):
        raise DatabaseError(
            "this is not a database URL: one looks like postgresql://user@host/name or "
            "postgresql://user@host:5432/name"
        ) from None  # the parser's own message would show a password


def _prepare_sqlite(path: Path, connection: "DBAPIConnection", record: Any) -> None:
    connection.isolation_level = None  # SQLAlchemy begins transactions, not the driver
    cursor = connection.cursor()
    _write_ahead(cursor)
    for line in ("synchronous = FULL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {line}")
    cursor.close()
    record.info[FILE] = _file(path)


def _write_ahead(cursor: Any) -> None:
    """SQLite refuses this at once while another connection does the same to a new file, so wait here."""
    deadline = monotonic() + WAIT
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() > deadline:
                raise
            sleep(0.01)


def _begin_sqlite(connection: Connection) -> None:
    """A transaction that begins by reading may not get the lock to write later; so it takes it now."""
    writes = connection.get_execution_options().get("writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _file(path: Path) -> tuple[int, int] | None:
    """Which file is at a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _check_file(connection: Connection) -> None:
    """A file that was deleted can still be written to, and is lost when the program ends."""
    opened = connection.info.get(FILE)
    if opened is not None and _file(Path(connection.engine.url.database or "")) != opened:
        raise DatabaseUnavailable(
            "database-gone",
            "the file of the database was deleted or replaced while it was in use, so nothing was recorded: "
            "put it back and start again",
        )


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """A transaction that reads one consistent state."""
    with _clear_errors(), engine.connect() as connection:
        if engine.name == "postgresql":  # where by default every statement sees another state
            connection.execution_options(isolation_level="REPEATABLE READ")
        with connection.begin():
            _check_file(connection)
            yield connection


@contextmanager
def writing(engine: Engine) -> Iterator[Connection]:
    """A transaction that writes: all of it is on disk when this ends well, and nothing of it otherwise."""
    with _clear_errors(), _one_writer(engine), engine.connect() as connection:
        connection.execution_options(writes=True)
        with connection.begin():
            yield connection
            if not connection.closed:
                _check_file(connection)  # before the commit


@contextmanager
def _one_writer(engine: Engine) -> Iterator[None]:
    """Let the threads of this process write one after the other.

    SQLite has one writer, and another one looks only now and then whether it has finished: with many people
    at once some would wait for seconds, and be refused.
    """
    lock = _WRITERS.get(engine)
    held = lock is not None and lock.acquire(timeout=WAIT)  # if not, SQLite says that it is locked
    try:
        yield
    finally:
        if lock is not None and held:
            lock.release()


@contextmanager
def _clear_errors() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        reason = _reason(error)
        code = next((code for word, code in CODES.items() if word in reason), "database")
        problem, remedy = PROBLEMS[code]
        raise DatabaseUnavailable(code, f"{problem}, so nothing was recorded: {remedy}") from error


def _reason(error: DBAPIError | sqlite3.Error) -> str:
    original = error.orig if isinstance(error, DBAPIError) else error
    return " ".join(str(original).split())


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


def _migrate(engine: Engine) -> None:
    """Make the tables, or apply the missing migrations.

    Of servers that start at once, one does it, and the others wait.
    """
    script = ScriptDirectory.from_config(_config())
    newest = script.get_current_head()
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        if engine.name == "postgresql":
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7355608)")
        now = MigrationContext.configure(connection).get_current_revision()
        if now == newest:  # SQLite finds out whether it can write only when it tries
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = version_num")
            return
        if now is None:
            _make_tables(connection)
            return
        if now not in {revision.revision for revision in script.walk_revisions()}:
            raise DatabaseError(
                f"{_shown(engine)} was made by a newer version of Prefero (its schema is {now}, and this one "
                f"knows up to {newest}): upgrade with  {upgrade_command()}"
            )
        _keep_copy(engine, connection, now)
        command.upgrade(_config(connection), "head")


def _make_tables(connection: Connection) -> None:
    """In a new database, which is then of the newest version."""
    if inspect(connection).get_table_names():
        raise DatabaseError(
            f"{_shown(connection.engine)} is the database of another program: choose another file or URL"
        )
    # a copy, since making tables in PostgreSQL leaves marks on the constraints that two tables point at
    # each other with, and SQLite would then be given none
    copy = MetaData(naming_convention=metadata.naming_convention)
    for table in metadata.tables.values():
        table.to_metadata(copy)
    copy.create_all(connection)
    command.stamp(_config(connection), "head")


def _keep_copy(engine: Engine, writer: Connection, revision: str) -> None:
    """Keep a copy of the database before it is migrated, while no one else writes."""
    if engine.name == "sqlite":
        original = Path(engine.url.database or "")
        copy = original.with_name(f"{original.stem}.before-upgrade-from-{revision}{original.suffix}")
        copy.unlink(missing_ok=True)
        _make_private(copy)
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
