"""The databases of answers: which one a command uses, and how it is named to a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from prefero._support.files import missing_file

if TYPE_CHECKING:
    from prefero.studies.storage.store import Store

DefaultFile = Literal["teach.db", "arena.db", "studies.db"]


def database_or(database: str | None, file: DefaultFile) -> str:
    """The file or URL that was asked for, or a file in Prefero's data folder."""
    from prefero._support.files import data_folder

    return database or str(data_folder() / file)


def open_store(database: str | None, file: DefaultFile) -> "Store":
    """The answers in the database that was asked for, or in a file in Prefero's data folder."""
    from prefero.studies.storage.database import open_database
    from prefero.studies.storage.store import Store

    return Store(open_database(database_or(database, file)))


def open_known_store(database: str | None, file: DefaultFile) -> "Store":
    """The same for commands that add no study: an error if the file that was asked for is not there."""
    asked = without_password(database)
    if asked is not None and not Path(asked).exists():
        raise missing_file(asked)
    return open_store(database, file)


def without_password(database: str | None) -> str | None:
    """A database's file; not its URL, which may hold a password that a terminal should not show."""
    return database if database and "://" not in database else None


def shown(database: str) -> str:
    """Where answers are stored, as a person may see it."""
    file = without_password(database)
    return "the database" if file is None else str(Path(file))
