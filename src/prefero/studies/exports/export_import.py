"""Studies as folders of files that others can read: to keep, to publish, and to merge.

    study.json         name, protocol, version, and the digests of the other files
    pool.npz           the trajectories, as `Pool.save` writes them
    display.json       how they are shown
    participants.csv   participant, seed, at
    questions.csv      participant, number, based_on, answered, method, kind, items, value, unit, accuracy,
                       selection, at
    events.csv         participant, question, position, kind, key, seconds, at: undone and deleted ones too
    stage_events.csv   participant, stage, item, data, key, at
    reasons.csv        participant, question, position, feature, key, at: of answers, which are events
    annotations.csv    participant, trajectory, question, kind, text, key, at: notes and tags of teachers
    answers.csv        participant, method, kind, items, ids, selection, choice, because, seconds, at, tags,
                       note: the active ones
    ratings.csv        participant, method, rating, trajectory, id
    trajectories.csv   of a teaching session: participant, and the columns of `trajectory_table`

`answers.csv`, `ratings.csv` and `trajectories.csv` follow from the others and are for readers. A question is
named by its number, and `based_on` is a place among the participant's events, from 1, which mean the same in
any database. The items of a question are trajectories of the pool by index, separated by spaces; `ids` are
their ids or file names as a JSON list, and nothing where they have none, and so are tags.
"""

import csv
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import Connection
from sqlalchemy.exc import DataError, IntegrityError

import prefero
from prefero._support.commands import prefero_command
from prefero._support.files import csv_text, missing_folder, read_csv, write_atomically
from prefero._support.folders import whole_folder
from prefero._support.json_documents import read_document
from prefero._support.plugins import PluginError, UnknownNameError
from prefero.pools.displays import display_of
from prefero.pools.pool import Pool
from prefero.studies.asking.learner_cache import LearnerCache
from prefero.studies.exports.import_checks import TABLES, Rows, check_rows, check_time, without_participant
from prefero.studies.exports.trajectory_table import tags_in_csv, trajectory_columns, trajectory_rows
from prefero.studies.log.annotations import NO_REMARKS
from prefero.studies.log.event_log import EventLog
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.reports.pool_page import pool_rewards
from prefero.studies.storage import schema
from prefero.studies.storage.database import writing
from prefero.studies.storage.log_rows import insert_question, insert_row
from prefero.studies.storage.store import (
    Participant,
    Refused,
    Store,
    Study,
    check_length,
    digest_of,
    insert_study,
    new_secret,
)

FORMAT, VERSION = "prefero study", 1

COLUMNS = {
    "participants": ("participant", "seed", "at"),
    "questions": (
        *("participant", "number", "based_on", "answered", "method", "kind", "items"),
        *("value", "unit", "accuracy", "selection", "at"),
    ),
    "events": ("participant", "question", "position", "kind", "key", "seconds", "at"),
    "stage_events": ("participant", "stage", "item", "data", "key", "at"),
    "reasons": ("participant", "question", "position", "feature", "key", "at"),
    "annotations": ("participant", "trajectory", "question", "kind", "text", "key", "at"),
    "answers": (
        *("participant", "method", "kind", "items", "ids"),
        *("selection", "choice", "because", "seconds", "at", "tags", "note"),
    ),
    "ratings": ("participant", "method", "rating", "trajectory", "id"),
}
DOCUMENT = "study.json"
TRAJECTORIES = "trajectories.csv"  # which only a teaching session has
FILES = ("pool.npz", "display.json", *(f"{table}.csv" for table in COLUMNS), TRAJECTORIES)
LATER = ("reasons.csv", "annotations.csv", TRAJECTORIES)  # which older studies do not have


def _optional(read: Callable[[str], Any]) -> Callable[[str], Any]:
    return lambda text: read(text) if text else None


READERS: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("seed", "number", "based_on", "answered", "question", "position"), int),
    **dict.fromkeys(("value", "accuracy", "seconds"), _optional(float)),
    "trajectory": _optional(int),
    "unit": _optional(str),
    "items": lambda text: tuple(map(int, text.split())),
}
OWN_READERS = {"annotations": {"question": _optional(int)}}  # of a table in which a column may be empty


class StudyFolderError(ValueError):
    """A folder is not an exported study, or a damaged one."""


# --- export -----------------------------------------------------------------------------------------------


def export_study(store: Store, study: Study, folder: Path, overwrite: bool = False) -> None:
    """Write a study as a new folder, or with `overwrite` in place of an earlier export; all or nothing."""
    with whole_folder(folder, (*FILES, DOCUMENT), overwrite) as new:
        pool = store.pool(study)
        pool.save(new / "pool.npz")
        write_atomically(new / "display.json", json.dumps(store.display(study)))
        logs = [(participant, store.event_log(participant)) for participant in store.participants(study)]
        for name, rows in tables(logs, pool).items():
            write_atomically(new / f"{name}.csv", csv_text(COLUMNS[name], rows))
        if study.kind == "teach":
            write_atomically(new / TRAJECTORIES, _trajectory_table(study, logs, pool))
        document = {
            "format": FORMAT,
            "version": VERSION,
            "prefero": prefero.__version__,
            "name": study.name,
            "at": study.at,
            "protocol": study.protocol,
            "files": {name: _digest(new / name) for name in FILES if (new / name).exists()},
        }
        write_atomically(new / DOCUMENT, json.dumps(document, indent=1) + "\n")


def _trajectory_table(study: Study, logs: Sequence[tuple[Participant, EventLog]], pool: Pool) -> str:
    """The trajectories as every teacher of a session sees them."""
    protocol, rows = Protocol.from_json(study.protocol), list[dict[str, Any]]()
    for participant, log in logs:
        rewards = None
        if log.answers and protocol.methods:
            learners = LearnerCache(pool, protocol, participant.seed)
            rewards = pool_rewards(learners.learner(protocol.methods[0].label, log), log)
        found = trajectory_rows(pool, log, rewards)
        rows += [{"participant": participant.label, **row} for row in found]
    return csv_text(["participant", *trajectory_columns(pool)], rows)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def tables(logs: Iterable[tuple[Participant, EventLog]], pool: Pool) -> dict[str, list[dict[str, Any]]]:
    """The rows of the folder's tables."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in COLUMNS}
    for participant, log in logs:
        for name, rows in _rows(participant, log, pool).items():
            found[name] += [{"participant": participant.label, **row} for row in rows]
    return found


def _rows(participant: Participant, log: EventLog, pool: Pool) -> dict[str, list[dict[str, Any]]]:
    """The rows of one participant."""
    positions = {event.id: position for position, event in enumerate(log.events, 1)}
    by_id = {event.id: event for event in log.events}
    return {
        "participants": [{"seed": participant.seed, "at": participant.at}],
        "questions": [
            asdict(asked) | {"based_on": positions.get(asked.based_on, 0)} | in_csv(asked.items, None)
            for asked in log.questions
        ],
        "events": [asdict(event) | {"question": log.by_id[event.question].number} for event in log.events],
        "stage_events": [vars(event) | {"data": json.dumps(event.data)} for event in log.stage_events],
        "reasons": [
            vars(reason) | {"question": log.by_id[answer.question].number, "position": answer.position}
            for reason in log.reasons
            for answer in [by_id[reason.event]]
        ],
        "annotations": [
            vars(one) | {"question": None if one.question is None else log.by_id[one.question].number}
            for one in log.annotations
        ],
        "answers": [
            {"method": active.asked.method, "kind": active.asked.kind, "choice": active.choice}
            | in_csv(active.asked.items, pool.ids_of(active.asked.items))
            | {"selection": active.asked.selection, "because": active.because}
            | {"seconds": active.event.seconds, "at": active.event.at}
            | {"tags": tags_in_csv(remarks.tags), "note": remarks.note}
            for active in log.answers
            for remarks in [log.question_remarks.get(active.asked.id, NO_REMARKS)]
        ],
        "ratings": [
            {"method": e.item, **e.data, "id": "".join(pool.ids_of([e.data["trajectory"]]) or [])}
            for e in log.stage_events
            if e.stage == "rate"
        ],
    }


def in_csv(items: Iterable[int], ids: Sequence[str] | None) -> dict[str, str]:
    """The lists of a row as texts: indices between spaces, and ids, which may have spaces, as JSON."""
    named = "" if ids is None else json.dumps(ids, ensure_ascii=False)
    return {"items": " ".join(map(str, items)), "ids": named}


# --- import -----------------------------------------------------------------------------------------------


def import_study(
    store: Store,
    folder: Path,
    secret: str,
    *,
    name: str | None = None,
    into: str | None = None,
    prefix: str = "",
) -> Study:
    """Make a study of a folder, or add its participants to an existing one; all of it, or nothing."""
    document = _document(folder)
    protocol = document["protocol"]
    pool = Pool.load(folder / "pool.npz")
    display = _own_display(pool)
    found = {table: _read(folder / f"{table}.csv", COLUMNS[table]) for table in TABLES}
    try:
        check_rows(found, pool, protocol, display)
    except ValueError as error:
        raise StudyFolderError(f"{folder} is damaged: {error}") from error
    known = set()
    if into is not None:
        study = store.study(into)
        _check_same(store, study, pool, protocol, folder)
        known = {participant.label for participant in store.participants(study)}
    clash = sorted(known & {prefix + row["participant"] for row in found["participants"]})
    if clash:
        raise Refused(
            "participant-exists",
            f"{into!r} already has a participant {clash[0]!r}: give the new ones a --prefix",
        )
    name = into or name or document["name"]
    try:
        with writing(store.engine) as connection:
            if into is None:
                insert_study(connection, name, "study", protocol, pool, display, secret, document["at"])
            owner = store.study_in(connection, name)
            for participant in found["participants"]:
                _import_participant(connection, owner, participant, found, prefix)
    except (KeyError, IndexError, IntegrityError, DataError) as error:
        why = " ".join(str(error).split())
        raise StudyFolderError(f"{folder} is damaged: its rows do not fit together ({why})") from error
    return store.study(name)


def _own_display(pool: Pool) -> dict[str, Any]:
    """How this machine shows the pool: several studies may have it, so it never comes from a file.

    A world that is not installed here is shown by its features.
    """
    try:
        return display_of(pool)
    except (UnknownNameError, PluginError):
        return display_of(Pool(pool.features, pool.names, ids=pool.ids, scaling=pool.scaling))


def _check_same(store: Store, study: Study, pool: Pool, protocol: dict[str, Any], folder: Path) -> None:
    if Protocol.from_json(study.protocol).to_json() != protocol:
        raise Refused("another-protocol", f"{folder} has another protocol than {study.name!r}")
    if not store.pool(study).has_same_trajectories(pool):
        raise Refused("another-pool", f"{folder} is about other trajectories than {study.name!r}")


def _import_participant(
    connection: Connection, study: Study, row: Mapping[str, Any], found: Mapping[str, Rows], prefix: str
) -> None:
    """Rows get new ids; question numbers and event positions say which belong together."""
    label = row["participant"]
    check_length("label", prefix + label)
    own = {"study": study.id, "label": prefix + label, "code": digest_of(new_secret())}
    owner = insert_row(connection, schema.participants, without_participant(row) | own)
    tables = {
        table: [without_participant(r) for r in rows if r["participant"] == label]
        for table, rows in found.items()
    }
    ids = _import_questions_and_events(connection, owner, tables["questions"], tables["events"])
    for reason in tables["reasons"]:
        of = {"participant": owner, "event": ids.events[reason.pop("question"), reason.pop("position")]}
        insert_row(connection, schema.reasons, reason | of)
    _import_annotations(connection, owner, tables["annotations"], ids.questions)
    for event in tables["stage_events"]:
        insert_row(connection, schema.stage_events, event | {"participant": owner})


class _NewIds(NamedTuple):
    """Of questions by their numbers, and of events by the number of the question and the position."""

    questions: dict[int, int]
    events: dict[tuple[int, int], int]


def _import_questions_and_events(
    connection: Connection, owner: int, questions: list[dict[str, Any]], events: Rows
) -> _NewIds:
    """In the order in which they happened: a question after the event that it is based on."""
    ids: dict[int, int] = {}  # of questions, by number
    event_ids = [0]  # by position, from 1
    waiting = list(questions)

    def add_questions() -> None:
        while waiting and waiting[0]["based_on"] < len(event_ids):
            asked = waiting.pop(0)
            row = asked | {"based_on": event_ids[asked["based_on"]]}
            ids[asked["number"]] = insert_question(connection, owner, row)

    for event in events:
        add_questions()
        row = {**event, "participant": owner, "question": ids[event["question"]]}
        event_ids.append(insert_row(connection, schema.events, row))
    add_questions()
    named = [(event["question"], event["position"]) for event in events]
    return _NewIds(ids, dict(zip(named, event_ids[1:], strict=True)))


def _import_annotations(connection: Connection, owner: int, rows: Rows, questions: Mapping[int, int]) -> None:
    for row in rows:
        of = {"participant": owner, "question": row["question"] and questions[row["question"]]}
        insert_row(connection, schema.annotations, {**row, **of})


def _document(folder: Path) -> dict[str, Any]:
    path = folder / DOCUMENT
    if not folder.exists():
        raise missing_folder(folder)
    remedy = f"give a folder that  {prefero_command('study', 'export')}  wrote"
    if not path.is_file():
        raise StudyFolderError(f"{folder} is not an exported study, since it has no {DOCUMENT}: {remedy}")
    document = read_document(path, "study", FORMAT, VERSION, StudyFolderError, remedy)
    try:
        protocol = Protocol.from_json(document["protocol"]).to_json()
        files = {str(name): str(digest) for name, digest in document["files"].items()}
        check_time(str(document["at"]))
        kept = {"name": str(document["name"]), "at": str(document["at"]), "protocol": protocol}
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise StudyFolderError(f"{path} is damaged: {error}") from error
    _check_files(folder, files)
    return kept


def _check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """Every file is as it was written: a truncated table would look like a shorter one."""
    for name in (one for one in FILES if one in digests or one not in LATER):
        if not (folder / name).is_file():
            raise StudyFolderError(f"{folder} is not a complete study: {name} is missing")
        if _digest(folder / name) != digests.get(name):
            raise StudyFolderError(
                f"{folder / name} is damaged, or was changed since it was written: export the study again"
            )


def _read(path: Path, columns: Sequence[str]) -> list[dict[str, Any]]:
    if path.name in LATER and not path.exists():  # its digest would have been missed
        return []
    try:
        rows = read_csv(path, columns)
        readers = READERS | OWN_READERS.get(path.stem, {})
        return [{column: readers.get(column, str)(row[column]) for column in columns} for row in rows]
    except FileNotFoundError as error:
        raise StudyFolderError(f"{path.parent} is not a complete study: {path.name} is missing") from error
    except (TypeError, ValueError, csv.Error) as error:
        raise StudyFolderError(f"{path} is damaged: {error}") from error
