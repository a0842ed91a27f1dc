"""Let a migration change the words that a column may hold: a new stage, or a new kind of event."""

from collections.abc import Sequence

from alembic import op
from sqlalchemy import Connection, text


def allow_words(table: str, column: str, words: Sequence[str], otherwise: str = "") -> None:
    """Replace the list of a column's check constraint, which `schema.one_of` made.

    `otherwise` is another condition that a word may meet, as rankings do in the column `kind` of events.
    No other table may refer to this one: SQLite cannot change a constraint, so the table is written again.
    """
    name = f"ck_{table}_{column}_known"
    check = f"{column} IN ({', '.join(repr(word) for word in words)})" + (
        f" OR {otherwise}" * bool(otherwise)
    )
    if op.get_bind().dialect.name == "sqlite":
        _rebuild(op.get_bind(), table, name, check)
    else:
        op.drop_constraint(op.f(name), table, type_="check")
        op.create_check_constraint(op.f(name), table, check)


def _rebuild(connection: Connection, table: str, name: str, check: str) -> None:
    """Copy the rows to a table with the new constraint and the old one's name, indexes and next id."""
    of_table = {"table": table}
    kept = "SELECT sql FROM sqlite_master WHERE tbl_name = :table AND sql IS NOT NULL AND type = "
    created: str = connection.execute(text(f"{kept}'table'"), of_table).scalar_one()
    indexes = connection.execute(text(f"{kept}'index'"), of_table).scalars().all()
    (old,) = [line for line in created.splitlines() if f"CONSTRAINT {name} " in line]
    comma = "," if old.rstrip().endswith(",") else ""
    new = created.replace(old, f"\tCONSTRAINT {name} CHECK ({check}){comma}").replace(
        table, f"{table}_new", 1
    )
    connection.exec_driver_sql(new)
    connection.exec_driver_sql(f"INSERT INTO {table}_new SELECT * FROM {table}")
    connection.exec_driver_sql(
        f"INSERT OR REPLACE INTO sqlite_sequence (name, seq) "
        f"SELECT '{table}_new', seq FROM sqlite_sequence WHERE name = '{table}'"
    )
    connection.exec_driver_sql(f"DROP TABLE {table}")
    connection.exec_driver_sql(f"ALTER TABLE {table}_new RENAME TO {table}")
    for index in indexes:
        connection.exec_driver_sql(index)
