"""The database itself holds the rules: whatever goes past the store is refused there."""

from collections.abc import Iterator
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Connection, Engine, column, inspect, select, table, text
from sqlalchemy.exc import IntegrityError

from prefero.studies.storage import schema
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies.pretended import answer, at_once, invited, study_of

AT = "2026-11-15T14:00:00.000Z"
FILLED: dict[str, dict[str, Any]] = {  # one row of each table, which is fit to be added to what there is
    "pools": {"digest": "d" * 64, "data": b"1", "display": "{}"},
    "studies": {"name": "new", "kind": "teach", "protocol": "{}", "pool": None, "secret": "s" * 64, "at": AT},
    "people": {"study": None, "label": "new", "code": "c" * 64, "seed": 0, "at": AT},
    "questions": {"person": None, "number": 9, "basis": 9, "slot": 0, "method": "Random"}
    | {"left": 0, "right": 1, "bits": None, "accuracy": None, "at": AT},
    "answers": {"person": None, "question": None, "turn": 9, "said": "left", "key": "new"}
    | {"seconds": None, "at": AT},
    "steps": {"person": None, "stage": "consent", "item": "", "data": "{}", "key": "new", "at": AT},
}
MAY_BE_EMPTY = {"bits", "accuracy", "seconds"}
TAKEN: dict[str, list[tuple[str, ...]]] = {  # what there is one of already
    "pools": [("digest",)],
    "studies": [("name",), ("secret",)],
    "people": [("code",), ("study", "label")],
    "questions": [("person", "number"), ("person", "basis")],
    "answers": [("person", "key"), ("question", "turn")],
    "steps": [("person", "key"), ("person", "stage", "item")],
}
POINTERS: dict[str, dict[str, Any]] = {
    "studies": {"pool": "0" * 64},
    "people": {"study": 10**6},
    "questions": {"person": 10**6},
    "answers": {"person": 10**6, "question": 10**6},
    "steps": {"person": 10**6},
}
WRONG = [
    ("studies", {"kind": "lesson"}),
    ("people", {"seed": -1}),
    ("questions", {"left": 4, "right": 4}),
    ("questions", {"left": -1}),
    ("questions", {"right": -1}),
    ("answers", {"said": "perhaps"}),
    ("answers", {"said": ""}),
]


@pytest.fixture(scope="module")
def there(lasting_store: Store) -> dict[str, dict[str, Any]]:
    """The one row of each table, in a database that the tests leave as it is."""
    person = invited(lasting_store, study=study_of(lasting_store))
    answer(lasting_store, person)
    lasting_store.do(person, "instructions", "", {}, "done")
    found = {}
    with lasting_store.engine.connect() as connection:
        for name in FILLED:
            row = connection.execute(text(f"SELECT * FROM {name}")).mappings().one()
            found[name] = dict(row)
    return found


@pytest.fixture
def connection(lasting_store: Store) -> Iterator[Connection]:
    """Whatever is added through it is taken back."""
    with lasting_store.engine.connect() as connection, connection.begin() as transaction:
        yield connection
        transaction.rollback()


def fit(name: str, there: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """A row that can be added, since it points at what there is."""
    pointed = {
        "pool": there["pools"]["digest"],
        "study": there["studies"]["id"],
        "person": there["people"]["id"],
        "question": there["questions"]["id"],
    }
    return {key: pointed.get(key, value) for key, value in FILLED[name].items()}


def add(connection: Connection, name: str, row: dict[str, Any]) -> None:
    connection.execute(table(name, *map(column, row)).insert(), row)


@pytest.mark.parametrize("name", FILLED)
def test_a_row_that_fits_is_taken(
    name: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    row = fit(name, there)
    add(connection, name, row)
    assert len(connection.execute(select(text("*")).select_from(text(name))).all()) == 2


@pytest.mark.parametrize(
    ("name", "empty"), [(n, c) for n, row in FILLED.items() for c in row if c not in MAY_BE_EMPTY]
)
def test_nothing_that_is_needed_can_be_left_out(
    name: str, empty: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {empty: None})


@pytest.mark.parametrize(("name", "columns"), [(n, c) for n, all_ in TAKEN.items() for c in all_])
def test_what_there_is_one_of_cannot_be_added_twice(
    name: str, columns: tuple[str, ...], connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {key: there[name][key] for key in columns})


@pytest.mark.parametrize(("name", "pointer"), [(n, p) for n, all_ in POINTERS.items() for p in all_])
def test_a_row_cannot_point_at_what_is_not_there(
    name: str, pointer: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | {pointer: POINTERS[name][pointer]})


@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=lambda value: str(value))
def test_a_value_that_means_nothing_is_refused(
    name: str, wrong: dict[str, Any], connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    with pytest.raises(IntegrityError):
        add(connection, name, fit(name, there) | wrong)


@pytest.mark.parametrize("said", ["left", "right", "equal", "skip", "undo", "delete", "restore"])
def test_everything_that_can_be_said_is_taken(
    said: str, connection: Connection, there: dict[str, dict[str, Any]]
) -> None:
    add(connection, "answers", fit("answers", there) | {"said": said})


@pytest.mark.parametrize("name", ["pools", "studies", "people", "questions"])
@pytest.mark.usefixtures("there")
def test_what_others_rest_on_cannot_be_removed(name: str, connection: Connection) -> None:
    with pytest.raises(IntegrityError):
        connection.execute(text(f"DELETE FROM {name}"))


# --- what the migrations make is what the code believes ---------------------------------------------------


def reflected(engine: Engine) -> dict[str, Any]:
    """All that a database says about its tables."""
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


def test_alembic_finds_nothing_that_the_migrations_forgot(store: Store) -> None:
    with store.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, schema.metadata) == []


def test_the_migrations_make_exactly_the_tables_of_the_schema(store: Store) -> None:
    """Checks and names too, which alembic does not compare and a later migration will need."""
    migrated = reflected(store.engine)
    assert set(migrated) == set(FILLED)
    with store.engine.begin() as connection:
        connection.execute(text("DROP TABLE alembic_version"))
        schema.metadata.drop_all(connection)
        schema.metadata.create_all(connection)
    assert reflected(store.engine) == migrated


def test_ids_are_never_used_again(file_store: Store) -> None:
    """A question may rest on an answer whose row somebody removed by hand; PostgreSQL counts on anyway."""
    ids = []
    for name in ("one", "two"):
        ids.append(study_of(file_store, name).id)
        with file_store.engine.begin() as connection:
            connection.execute(text("DELETE FROM studies"))
    assert ids[0] < ids[1]


def test_a_database_can_be_opened_by_many_at_once(database: str) -> None:
    engines = at_once(8, lambda _: open_database(database))
    for engine in engines:
        assert isinstance(engine, Engine), engine
        assert set(reflected(engine)) == set(FILLED)
        engine.dispose()
