"""Let a migration change the check of a column: another list of words, no list, or no check."""

import sqlite3
from collections.abc import Sequence
from typing import Any

from alembic import op
from sqlalchemy import Connection, text


def allow_words(table: str, column: str, words: Sequence[str]) -> None:
    """Replace the list of a column's check constraint, which `schema.one_of` made."""
    replace_check(table, column, f"{column} IN ({', '.join(repr(word) for word in words)})")


def replace_check(table: str, column: str, check: str) -> None:
    """Replace a column's check constraint by one that all rows meet."""
    name = f"ck_{table}_{column}_known"
    if op.get_bind().dialect.name == "sqlite":
        _rewrite(op.get_bind(), table, name, check)
    else:
        op.drop_constraint(op.f(name), table, type_="check")
        op.create_check_constraint(op.f(name), table, check)


def drop_check(table: str, check: str) -> None:
    """Remove a check constraint."""
    name = f"ck_{table}_{check}"
    if op.get_bind().dialect.name == "sqlite":
        _rewrite(op.get_bind(), table, name, None)
    else:
        op.drop_constraint(op.f(name), table, type_="check")


def _rewrite(connection: Connection, table: str, name: str, check: str | None) -> None:
    """Change the text of the table, as SQLite's manual describes it for checks, which it cannot alter."""
    _allow_rewriting(connection.connection.dbapi_connection)
    of_table = "WHERE type = 'table' AND name = :table"
    created: str = connection.execute(
        text(f"SELECT sql FROM sqlite_master {of_table}"), {"table": table}
    ).scalar_one()
    (old,) = [line for line in created.splitlines(keepends=True) if f"CONSTRAINT {name} " in line]
    comma = "," * old.rstrip().endswith(",")
    assert comma or check is not None  # the last line, without which the one before would end with a comma
    new = "" if check is None else f"\tCONSTRAINT {name} CHECK ({check}){comma}\n"
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar_one()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    connection.execute(
        text(f"UPDATE sqlite_master SET sql = :sql {of_table}"),
        {"sql": created.replace(old, new), "table": table},
    )
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")  # so that all read it again
    connection.exec_driver_sql("PRAGMA writable_schema = OFF")


def _allow_rewriting(connection: Any) -> None:
    """Some systems' SQLite is set up to refuse it."""
    defensive = getattr(sqlite3, "SQLITE_DBCONFIG_DEFENSIVE", None)  # from Python 3.12 on
    if defensive is not None:
        connection.setconfig(defensive, False)
