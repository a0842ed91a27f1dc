"""The rows of one participant's log: reading them as a value, and adding one."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, RowMapping, Table, func, insert, select

from prefero.studies.log.annotations import Annotation, AnnotationKind
from prefero.studies.log.event_log import (
    AskedQuestion,
    Event,
    EventKind,
    EventLog,
    LogLength,
    ReasonEvent,
    StageEvent,
)
from prefero.studies.storage import schema
from prefero.views.stages import SubmittedStage

NO_ROWS = EventLog()


def now() -> str:
    """The time, as it is stored."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def lock_participant(connection: Connection, participant: int) -> None:
    """Make other writers of this participant's log wait; in SQLite they wait from the start."""
    c = schema.participants.c
    connection.execute(select(c.id).where(c.id == participant).with_for_update())


def is_current(connection: Connection, participant: int, log: EventLog) -> bool:
    """Whether nothing was added since the log was read. Rows are never edited, so counting is enough."""
    q, e = schema.questions.c, schema.events.c
    last_event = select(func.coalesce(func.max(e.id), 0)).where(e.participant == participant)
    questions = select(func.count()).select_from(schema.questions).where(q.participant == participant)
    found = connection.execute(select(last_event.scalar_subquery(), questions.scalar_subquery())).one()
    return tuple(found) == (log.last_event, len(log.questions))


def read_log(connection: Connection, participant: int, known: EventLog = NO_ROWS) -> EventLog:
    """All rows of a participant; of those that are known already, only their number is read."""
    length = _length(connection, participant)
    if length == known.length:
        return known
    found = known.extended(_rows_after(connection, participant, known))
    if found.length == length:
        return found
    return _rows_after(connection, participant, NO_ROWS)  # rows were deleted, or are not visible yet


def _length(connection: Connection, participant: int) -> LogLength:
    tables = schema.questions, schema.events, schema.stage_events, schema.reasons, schema.annotations
    counts = [
        select(func.count()).select_from(table).where(table.c.participant == participant).scalar_subquery()
        for table in tables
    ]
    return LogLength(*connection.execute(select(*counts)).one())


def _rows_after(connection: Connection, participant: int, known: EventLog) -> EventLog:
    """The rows that were added after the known ones; their ids grow, since a log has one writer at a time."""
    q, i, e, s = (t.c for t in (schema.questions, schema.question_items, schema.events, schema.stage_events))
    r, a = schema.reasons.c, schema.annotations.c
    tables = known.questions, known.events, known.stage_events, known.reasons, known.annotations
    last = [rows[-1].id if rows else 0 for rows in tables]
    questions = (
        select(
            *(q.id, q.number, q.based_on, q.answered, q.method, q.kind),
            *(q.value, q.unit, q.accuracy, q.selection, q.at, i.trajectory),
        )
        .join_from(schema.questions, schema.question_items, i.question == q.id)
        .where(q.participant == participant, q.id > last[0])
        .order_by(q.id, i.position)
    )
    events = select(e.id, e.question, e.position, e.kind, e.key, e.seconds, e.at)
    events = events.where(e.participant == participant, e.id > last[1]).order_by(e.id)
    stages = select(s.id, s.stage, s.item, s.data, s.key, s.at)
    stages = stages.where(s.participant == participant, s.id > last[2]).order_by(s.id)
    reasons = select(r.id, r.event, r.feature, r.key, r.at)
    reasons = reasons.where(r.participant == participant, r.id > last[3]).order_by(r.id)
    annotations = select(a.id, a.trajectory, a.question, a.kind, a.text, a.key, a.at)
    annotations = annotations.where(a.participant == participant, a.id > last[4]).order_by(a.id)
    rows = connection.execute(questions).mappings()
    return EventLog(
        tuple(_question(list(same)) for _, same in groupby(rows, key=lambda row: row["id"])),
        tuple(Event(*row) for row in connection.execute(events)),
        tuple(_stage_event(row) for row in connection.execute(stages).mappings()),
        tuple(ReasonEvent(*row) for row in connection.execute(reasons)),
        tuple(Annotation(*row) for row in connection.execute(annotations)),
    )


def _question(rows: Sequence[RowMapping]) -> AskedQuestion:
    """A question from one row for each of its items."""
    fields = {name: value for name, value in rows[0].items() if name != "trajectory"}
    return AskedQuestion(**fields, items=tuple(row["trajectory"] for row in rows))


def _stage_event(row: Mapping[str, Any] | RowMapping) -> StageEvent:
    return StageEvent(row["id"], row["stage"], row["item"], json.loads(row["data"]), row["key"], row["at"])


def record_question(
    connection: Connection, participant: int, log: EventLog, proposal: Mapping[str, Any]
) -> AskedQuestion:
    """Add a proposed question as the next one of a log."""
    row = {**proposal, "number": len(log.questions) + 1, "based_on": log.last_event, "at": now()}
    return AskedQuestion(id=insert_question(connection, participant, row), **row)


def insert_question(connection: Connection, participant: int, row: Mapping[str, Any]) -> int:
    """A question's row and those of its `items`; its id."""
    items: tuple[int, ...] = row["items"]
    own = {name: value for name, value in row.items() if name != "items"}
    ends = {"participant": participant, "first_item": items[0], "last_item": items[-1]}
    question = insert_row(connection, schema.questions, own | ends)
    rows = [{"question": question, "position": n, "trajectory": item} for n, item in enumerate(items)]
    connection.execute(insert(schema.question_items), rows)
    return question


def record_event(
    connection: Connection,
    participant: int,
    log: EventLog,
    question: int,
    kind: EventKind,
    key: str,
    seconds: float | None,
) -> Event:
    """Add an event to a question of a log."""
    row: dict[str, Any] = {"question": question, "position": log.position(question), "kind": kind}
    row |= {"key": key, "seconds": seconds, "at": now()}
    return Event(id=insert_row(connection, schema.events, row | {"participant": participant}), **row)


def record_stage_event(
    connection: Connection,
    participant: int,
    stage: SubmittedStage,
    item: str,
    data: Mapping[str, Any],
    key: str,
) -> StageEvent:
    """Add what was done at a stage."""
    row = {"stage": stage, "item": item, "data": json.dumps(data), "key": key, "at": now()}
    number = insert_row(connection, schema.stage_events, row | {"participant": participant})
    return _stage_event(row | {"id": number})


def record_reason(
    connection: Connection, participant: int, event: int, feature: str, key: str
) -> ReasonEvent:
    """Add the reason of an answer, or that it was taken back."""
    row: dict[str, Any] = {"event": event, "feature": feature, "key": key, "at": now()}
    return ReasonEvent(id=insert_row(connection, schema.reasons, row | {"participant": participant}), **row)


def record_annotation(
    connection: Connection,
    participant: int,
    trajectory: int | None,
    question: int | None,
    kind: AnnotationKind,
    text: str,
    key: str,
) -> Annotation:
    """Add what a teacher wrote about a trajectory or a question."""
    row: dict[str, Any] = {"trajectory": trajectory, "question": question, "kind": kind, "text": text}
    row |= {"key": key, "at": now()}
    return Annotation(
        id=insert_row(connection, schema.annotations, row | {"participant": participant}), **row
    )


def copy_log(connection: Connection, log: EventLog, participant: int) -> None:
    """Add a log's rows as those of another participant, in the order in which they happened."""
    own = {"participant": participant}
    events, questions, waiting = {0: 0}, dict[int, int](), list(log.questions)

    def ask() -> None:
        while waiting and waiting[0].based_on in events:
            asked = waiting.pop(0)
            row = _without_id(asked) | {"based_on": events[asked.based_on]}
            questions[asked.id] = insert_question(connection, participant, row)

    ask()
    for event in log.events:
        row = _without_id(event) | own | {"question": questions[event.question]}
        events[event.id] = insert_row(connection, schema.events, row)
        ask()
    for reason in log.reasons:
        insert_row(connection, schema.reasons, _without_id(reason) | own | {"event": events[reason.event]})
    for stage in log.stage_events:
        row = _without_id(stage) | own | {"data": json.dumps(stage.data)}
        insert_row(connection, schema.stage_events, row)
    for note in log.annotations:
        of = None if note.question is None else questions[note.question]
        insert_row(connection, schema.annotations, _without_id(note) | own | {"question": of})


def _without_id(row: AskedQuestion | Event | ReasonEvent | StageEvent | Annotation) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "id"}


def insert_row(connection: Connection, table: Table, row: Mapping[str, Any]) -> int:
    """Add a row; its id."""
    key = connection.execute(insert(table), dict(row)).inserted_primary_key
    assert key is not None  # one row was added
    number: int = key[0]
    return number
