"""Studies as folders of files that others can read: to keep, to publish, and to merge.

    study.json      name, protocol, version, and the digests of the other files
    pool.npz        the trajectories, as `Pool.save` writes them
    display.json    how they are shown
    people.csv      person, seed, at
    questions.csv   person, number, basis, slot, method, left, right, bits, accuracy, at
    events.csv      person, question, turn, said, key, seconds, at: all that was said, taken back or not
    steps.csv       person, stage, item, data, key, at
    answers.csv     person, method, left, right, choice, seconds, at: the answers in force
    ratings.csv     person, method, rating, trajectory

`answers.csv` and `ratings.csv` follow from the others and are for readers. In the others a question is named
by its number and a basis by its place among the person's events, so that they mean the same in any database.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert
from sqlalchemy.exc import IntegrityError

import prefero
from prefero._support.files import csv_text, write_atomically
from prefero.pools.pool import Pool
from prefero.studies.displays import display_of
from prefero.studies.event_log import Log
from prefero.studies.protocol import Protocol
from prefero.studies.storage import schema
from prefero.studies.storage.database import writing
from prefero.studies.storage.store import (
    Person,
    Refused,
    Store,
    Study,
    check_length,
    digest_of,
    insert_study,
    new_secret,
)

FORMAT, VERSION = "prefero study", 1
Rows = Sequence[Mapping[str, Any]]

COLUMNS = {
    "people": ("person", "seed", "at"),
    "questions": (
        *("person", "number", "basis", "slot", "method", "left", "right"),
        *("bits", "accuracy", "at"),
    ),
    "events": ("person", "question", "turn", "said", "key", "seconds", "at"),
    "steps": ("person", "stage", "item", "data", "key", "at"),
    "answers": ("person", "method", "left", "right", "choice", "seconds", "at"),
    "ratings": ("person", "method", "rating", "trajectory"),
}
NUMBERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("seed", "number", "basis", "slot", "left", "right", "question", "turn"), int),
    **dict.fromkeys(("bits", "accuracy", "seconds"), lambda text: float(text) if text else None),
}


class StudyFolderError(ValueError):
    """A folder is not a study, or not a whole one."""


# --- out --------------------------------------------------------------------------------------------------


def export_study(store: Store, study: Study, folder: Path) -> None:
    """Write a study's folder; the files are whole, and the one that names them comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    store.pool(study).save(folder / "pool.npz")
    write_atomically(folder / "display.json", json.dumps(store.display(study)))
    files = ["pool.npz", "display.json", *(f"{name}.csv" for name in COLUMNS)]
    logs = [(person, store.log(person)) for person in store.people(study)]
    for name, rows in tables(logs).items():
        write_atomically(folder / f"{name}.csv", csv_text(COLUMNS[name], rows))
    document = {
        "format": FORMAT,
        "version": VERSION,
        "prefero": prefero.__version__,
        "name": study.name,
        "at": study.at,
        "protocol": study.protocol,
        "files": {name: _digest(folder / name) for name in files},
    }
    write_atomically(folder / "study.json", json.dumps(document, indent=1) + "\n")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tables(logs: Iterable[tuple[Person, Log]]) -> dict[str, list[dict[str, Any]]]:
    """All rows of the folder's files."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    for person, log in logs:
        own = {"person": person.label}
        places = {told.id: place for place, told in enumerate(log.told, 1)}
        found["people"].append(own | {"seed": person.seed, "at": person.at})
        found["questions"] += [
            own | asdict(asked) | {"basis": places.get(asked.basis, 0)} for asked in log.questions
        ]
        found["events"] += [
            own | asdict(told) | {"question": log.by_id[told.question].number} for told in log.told
        ]
        found["steps"] += [own | vars(step) | {"data": json.dumps(step.data)} for step in log.steps]
        found["answers"] += [
            own
            | asdict(live.asked)
            | {"choice": live.told.said, "seconds": live.told.seconds, "at": live.told.at}
            for live in log.live
        ]
        found["ratings"] += [
            own | {"method": step.item, **step.data} for step in log.steps if step.stage == "rate"
        ]
    return found


# --- in ---------------------------------------------------------------------------------------------------


def import_study(
    store: Store,
    folder: Path,
    secret: str,
    *,
    name: str | None = None,
    into: str | None = None,
    prefix: str = "",
) -> Study:
    """A new study from a folder, or its people added to one that there is; all of it, or nothing."""
    document = _document(folder)
    protocol = document["protocol"]
    pool = Pool.load(folder / "pool.npz")
    display = json.loads((folder / "display.json").read_text(encoding="utf-8"))
    if pool.clips is not None:
        display = display_of(
            pool
        )  # what a stranger's file says about folders of this machine is not believed
    found = {table: _read(folder / f"{table}.csv", COLUMNS[table]) for table in COLUMNS}
    known = set()
    if into is not None:
        study = store.study(into)
        _check_same(store, study, pool, protocol, folder)
        known = {person.label for person in store.people(study)}
    clash = sorted(known & {prefix + row["person"] for row in found["people"]})
    if clash:
        raise Refused(
            "person-exists",
            f"there is a {clash[0]!r} in that study already: give the newcomers a --prefix",
        )
    name = into or name or document["name"]
    try:
        with writing(store.engine) as connection:
            if into is None:
                insert_study(connection, name, "study", protocol, pool, display, secret, document["at"])
            owner = store.study_in(connection, name)
            for person in found["people"]:
                _import_person(connection, owner, person, found, prefix)
    except (KeyError, IndexError, IntegrityError) as error:
        why = " ".join(str(error).split())
        raise StudyFolderError(f"{folder} is damaged: its rows do not fit together ({why})") from error
    return store.study(name)


def _check_same(store: Store, study: Study, pool: Pool, protocol: dict[str, Any], folder: Path) -> None:
    if Protocol.from_json(study.protocol).to_json() != protocol:
        raise Refused("another-protocol", f"{folder} has another protocol than {study.name!r}")
    kept = store.pool(study).features
    if kept.shape != pool.features.shape or not (kept == pool.features).all():
        raise Refused("another-pool", f"{folder} is about other trajectories than {study.name!r}")


def _import_person(
    connection: Connection, study: Study, person: Mapping[str, Any], found: Mapping[str, Rows], prefix: str
) -> None:
    """Rows get new ids; numbers and places say which belong together."""
    label = person["person"]
    check_length("label", prefix + label)
    row = {
        "study": study.id,
        "label": prefix + label,
        "code": digest_of(new_secret()),
        **_without(person, "person"),
    }
    owner = _added(connection, schema.people, row)
    own = {table: [r for r in found[table] if r["person"] == label] for table in found}
    numbers: dict[int, int] = {}
    events: list[int] = [0]
    waiting = list(own["questions"])

    def ask(until: int) -> None:
        """Questions that rest on what was said so far."""
        while waiting and waiting[0]["basis"] <= until:
            asked = waiting.pop(0)
            values = _without(asked, "person") | {"person": owner, "basis": events[asked["basis"]]}
            numbers[asked["number"]] = _added(connection, schema.questions, values)

    for told in own["events"]:
        ask(len(events) - 1)
        values = _without(told, "person") | {"person": owner, "question": numbers[told["question"]]}
        events.append(_added(connection, schema.answers, values))
    ask(len(events) - 1)
    for step in own["steps"]:
        connection.execute(insert(schema.steps), _without(step, "person") | {"person": owner})


def _added(connection: Connection, table: Any, values: Mapping[str, Any]) -> int:
    key = connection.execute(insert(table), dict(values)).inserted_primary_key
    assert key is not None  # one row was added
    number: int = key[0]
    return number


def _without(row: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _document(folder: Path) -> dict[str, Any]:
    path = folder / "study.json"
    if not path.is_file():
        raise StudyFolderError(f"{folder} is not a study's folder: it has no study.json, as export writes it")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise StudyFolderError(f"{path} is damaged: {error}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise StudyFolderError(f"{path} is not a study: wanted JSON with format {FORMAT!r}")
    if document.get("version") != VERSION:
        raise StudyFolderError(
            f"{path} is of version {document.get('version')}, and this Prefero reads {VERSION}: upgrade it"
        )
    try:
        protocol = Protocol.from_json(document["protocol"]).to_json()
        files = {str(name): str(digest) for name, digest in document["files"].items()}
        kept = {"name": str(document["name"]), "at": str(document["at"]), "protocol": protocol}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StudyFolderError(f"{path} is damaged: {error}") from error
    _check_files(folder, files)
    return kept


def _check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Every file is as it was written: a table that was cut off looks like a shorter one."""
    for name in ("pool.npz", "display.json", *(f"{table}.csv" for table in COLUMNS)):
        if not (folder / name).is_file():
            raise StudyFolderError(f"{folder} is not a whole study: {name} is missing")
        if _digest(folder / name) != digests.get(name):
            raise StudyFolderError(
                f"{folder / name} is damaged, or was changed since it was written: export the study again"
            )


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [column for column in columns if column not in (reader.fieldnames or ())]
            if missing:
                raise StudyFolderError(f"{path} has no column {missing[0]!r}: it needs {', '.join(columns)}")
            return [{column: NUMBERS.get(column, str)(row[column]) for column in columns} for row in reader]
    except FileNotFoundError as error:
        raise StudyFolderError(f"{path.parent} is not a whole study: {path.name} is missing") from error
    except (TypeError, ValueError) as error:
        if isinstance(error, StudyFolderError):
            raise
        raise StudyFolderError(f"{path} is damaged: {error}") from error
