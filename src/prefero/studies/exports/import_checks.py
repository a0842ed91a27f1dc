"""Checks of an exported study's rows before any of them is written: a stranger's folder may hold anything.

Databases differ in what they refuse: PostgreSQL stores no longer texts than a column has letters, and SQLite
stores any. What is read later must be readable, or one study would stop the others: so every participant's
rows are replayed, as a server records them.
"""

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Float, Integer, Table

from prefero.learner.reasons import reason_of
from prefero.pools.displays import targets_of
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind, canonical, items_of
from prefero.studies.log.annotations import ANNOTATION_KINDS, tidied
from prefero.studies.log.event_log import (
    MOST_SECONDS,
    SELECTIONS,
    AskedQuestion,
    Event,
    EventLog,
    StageEvent,
    is_answer,
)
from prefero.studies.protocol.protocol import ARENA, RETEST, TEST, Protocol
from prefero.studies.reports.participant_progress import progress_in
from prefero.studies.storage import schema
from prefero.studies.storage.store import check_event
from prefero.views.stages import SUBMITTED_STAGES

LARGEST = 2**31 - 1
TABLES: dict[str, Table] = {
    "participants": schema.participants,
    "questions": schema.questions,
    "events": schema.events,
    "stage_events": schema.stage_events,
    "reasons": schema.reasons,
    "annotations": schema.annotations,
}
Rows = Sequence[Mapping[str, Any]]


def check_rows(
    found: Mapping[str, Rows], pool: Pool, protocol: Mapping[str, Any], display: dict[str, Any]
) -> None:
    """`ValueError` if a row could not be stored, or not be understood once it is."""
    arena = protocol.get("arena")
    if arena and len(arena["policy_of"]) != len(pool):
        raise ValueError(f"its arena is of {len(arena['policy_of'])} rollouts, but the pool has {len(pool)}")
    for name, table in TABLES.items():
        for number, row in enumerate(found[name], 1):
            try:
                _check_columns(table, row)
                if name in CHECKS:
                    CHECKS[name](row, pool, protocol, display)
            except ValueError as error:
                raise ValueError(f"row {number} of {name}.csv: {error}") from error
    check_choices(found["questions"], found["events"])
    _check_reasons(found, pool)
    plan = Protocol.from_json(protocol)
    for row in found["participants"]:
        log = _replayed(row["participant"], found)
        try:
            progress_in(row["participant"], log, plan)
        except (ValueError, LookupError, TypeError, ArithmeticError) as error:
            raise ValueError(f"the rows of participant {row['participant']!r}: {error}") from error


def _replayed(participant: str, found: Mapping[str, Rows]) -> EventLog:
    """The log of a participant's rows, one after the other; `ValueError` if one does not fit those before."""
    questions, events, stages = (
        [(n, row) for n, row in enumerate(found[table], 1) if row["participant"] == participant]
        for table in ("questions", "events", "stage_events")
    )
    log = EventLog()
    for place, (number, row) in enumerate(events, 1):
        log = _with_questions(log, questions)
        try:
            check_event(log, row["question"], row["kind"])
        except ValueError as error:
            raise ValueError(f"row {number} of events.csv: {error}") from error
        if row["position"] != log.position(row["question"]):
            raise ValueError(f"row {number} of events.csv: its position is {row['position']}")
        log = log.with_event(Event(place, **without_participant(row)))
    log = _with_questions(log, questions)
    if questions:
        number, row = questions[0]
        raise ValueError(f"row {number} of questions.csv: it is based on event {row['based_on']}")
    for number, row in stages:
        log = log.with_stage_event(
            StageEvent(number, **without_participant(row) | {"data": json.loads(row["data"])})
        )
    return log


def _with_questions(log: EventLog, waiting: list[tuple[int, Mapping[str, Any]]]) -> EventLog:
    """The log with the questions that were asked before its next event, which wait no longer."""
    while waiting and waiting[0][1]["based_on"] <= log.last_event:
        number, row = waiting.pop(0)
        if row["number"] != len(log.questions) + 1:
            raise ValueError(f"row {number} of questions.csv: its number is {row['number']}")
        log = log.with_question(AskedQuestion(id=row["number"], **without_participant(row)))
    return log


def without_participant(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row but for whose it is."""
    return {name: value for name, value in row.items() if name != "participant"}


def _check_columns(table: Table, row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        column = table.c.get(name)
        kind = None if column is None or name == "participant" else column.type
        if isinstance(value, str) and ("\0" in value or len(value) > (getattr(kind, "length", 0) or LARGEST)):
            raise ValueError(f"its {name} is too long, or has characters that cannot be stored")
        empty = value is None and column is not None and bool(column.nullable)
        if isinstance(kind, Integer) and not (empty or (type(value) is int and 0 <= value <= LARGEST)):
            raise ValueError(f"its {name} is {value!r}")
        if isinstance(kind, Float) and value is not None and not math.isfinite(value):
            raise ValueError(f"its {name} is {value}")
        if name == "seconds" and value is not None and not 0 <= value <= MOST_SECONDS:
            raise ValueError(f"its {name} are {value}, and not from 0 to {MOST_SECONDS}")
        if name == "at":
            check_time(value)


def check_time(text: str) -> None:
    """`ValueError` if it is no time as Prefero writes it, which sort as texts."""
    try:
        valid = text.endswith("Z") and datetime.fromisoformat(text).utcoffset() == timedelta()
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(f"its time is {text!r}, and not like 2026-01-31T12:00:00.000Z")


def _participant(row: Mapping[str, Any], *_: Any) -> None:
    if not row["participant"].isprintable():
        raise ValueError(f"the label {row['participant']!r} has characters that cannot be printed")


def _question(row: Mapping[str, Any], pool: Pool, protocol: Mapping[str, Any], _: Any) -> None:
    items = row["items"]
    if not items or len(set(items)) != len(items) or not all(0 <= item < len(pool) for item in items):
        raise ValueError(f"it asks about {items}, and there are trajectories 0 to {len(pool) - 1}")
    if row["kind"] not in ANSWER_KINDS or items_of(row["kind"]) != len(items):
        raise ValueError(f"its kind is {row['kind']!r}, and it asks about {len(items)} trajectories")
    if row["selection"] not in SELECTIONS:
        raise ValueError(f"its selection is {row['selection']!r}, and none of {', '.join(SELECTIONS)}")
    known = {ARENA} if protocol.get("arena") else {TEST, RETEST, *(m["label"] for m in protocol["methods"])}
    if row["method"] not in known:
        raise ValueError(f"the protocol has no method {row['method']!r}")


def _is_choice(kind: Kind, word: str) -> bool:
    """Whether a question of this kind has such an answer."""
    try:
        return canonical(kind, word) == word
    except ValueError:
        return False


def check_choices(questions: Rows, events: Rows) -> None:
    """`ValueError` if an answer is none to its question."""
    kinds = {(row["participant"], row["number"]): row["kind"] for row in questions}
    for number, row in enumerate(events, 1):
        kind = kinds.get((row["participant"], row["question"]))
        if kind is not None and is_answer(row["kind"]) and not _is_choice(kind, row["kind"]):
            raise ValueError(
                f"row {number} of events.csv: {row['kind']!r} is no answer to a {kind!r} question"
            )


def _check_reasons(found: Mapping[str, Rows], pool: Pool) -> None:
    """`ValueError` if a reason is none of the answer that it is said to be of."""
    asked = {(row["participant"], row["number"]): row for row in found["questions"]}
    said = {(row["participant"], row["question"], row["position"]): row["kind"] for row in found["events"]}
    for number, row in enumerate(found["reasons"], 1):
        person, question = row["participant"], row["question"]
        choice, about = said.get((person, question, row["position"]), ""), asked.get((person, question))
        if about is None or not is_answer(choice or "undo"):
            raise ValueError(f"row {number} of reasons.csv: there is no such answer")
        try:
            reason_of(
                Answer(Question(*about["items"], kind=about["kind"]), choice, because=row["feature"]), pool
            )
        except ValueError as error:
            raise ValueError(f"row {number} of reasons.csv: {error}") from error


def _stage_event(row: Mapping[str, Any], pool: Pool, _: Any, display: dict[str, Any]) -> None:
    if row["stage"] not in SUBMITTED_STAGES:
        raise ValueError(f"its stage is {row['stage']!r}")
    try:
        data = json.loads(row["data"])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"its data are no JSON: {error}") from error
    if not isinstance(data, dict):
        raise ValueError("its data are no JSON object")
    if row["stage"] == "rate":
        _check_rating(data, pool)
    labels = {target["label"] for target in targets_of(display)}
    whole = labels <= set(data) and all(type(score) is int for score in data.values())
    if row["stage"] == "target_scores" and not whole:
        raise ValueError("it does not score every target")


def _check_rating(data: Mapping[str, Any], pool: Pool) -> None:
    if not (_is_index(data.get("rating"), 10) and _is_index(data.get("trajectory"), len(pool))):
        raise ValueError("it rates no trajectory")


def _is_index(value: Any, count: int) -> bool:
    return type(value) is int and 0 <= value < count


def _annotation(row: Mapping[str, Any], pool: Pool, *_: Any) -> None:
    if row["kind"] not in ANNOTATION_KINDS:
        raise ValueError(f"its kind is {row['kind']!r}, and none of {', '.join(ANNOTATION_KINDS)}")
    if (row["trajectory"] is None) == (row["question"] is None):
        raise ValueError("it is not about a trajectory or a question, one of the two")
    if row["trajectory"] is not None and row["trajectory"] >= len(pool):
        raise ValueError(f"it is about trajectory {row['trajectory']} of {len(pool)}")
    if tidied(row["kind"], row["text"]) != row["text"]:
        raise ValueError("its text is not as Prefero stores it")


CHECKS = {
    "annotations": _annotation,
    "participants": _participant,
    "questions": _question,
    "stage_events": _stage_event,
}
