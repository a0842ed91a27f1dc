"""What only the teacher may see: the learning summary, the history of answers, and the exports."""

import io
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Response

from prefero._support.files import csv_text
from prefero._support.optional import need
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import kind_named
from prefero.questions.kinds.label import words_of
from prefero.server.auth import Context, TeacherSession
from prefero.server.models import (
    BestTrajectory,
    History,
    HistoryChange,
    PastAnswer,
    RewardSummary,
    TeachingPlace,
)
from prefero.server.routes.session import CACHED, Index, file_of_clip
from prefero.studies.exports.export_import import in_csv
from prefero.studies.exports.trajectory_table import tags_in_csv
from prefero.studies.log.annotations import NO_REMARKS
from prefero.studies.log.event_log import EventLog
from prefero.studies.reports.learning_summary import (
    LearningSummary,
    best_sentence,
    labels_of,
    reward_facts,
    reward_file_text,
    summary_of,
)
from prefero.studies.reports.session_report import usage_of
from prefero.studies.session import Session
from prefero.studies.storage.store import Refused
from prefero.views.displays import TrajectorySignals
from prefero.views.session_state import SessionState

router = APIRouter(prefix="/api")

PARQUET = "application/vnd.apache.parquet"


def content(kind: str) -> dict[int | str, dict[str, Any]]:
    """That a route responds with a file of this kind."""
    return {200: {"content": {kind: {}}}}


@router.get("/learning-summary")
def learning_summary(own: TeacherSession) -> LearningSummary:
    """What was learned so far."""
    return own.of_learner(summary_of, labels_of(own.store.display(own.study)))


@router.get("/history")
def history(own: TeacherSession) -> History:
    """Every answer, deleted ones too."""
    return History(answers=past_answers(own.event_log(), own.pool, own.protocol.level_words))


@router.post("/history")
def change_history(body: HistoryChange, own: TeacherSession) -> SessionState:
    """Delete an answer, restore it, or undo it, so that it is asked again."""
    return own.change(body.question, body.kind, body.key)


@router.get("/trajectories/{index}/signals")
def signals(index: Index, own: TeacherSession, context: Context, response: Response) -> TrajectorySignals:
    """The signals of one trajectory over time, and its features; none where only its video is known."""
    if index >= len(own.pool):
        raise Refused("no-trajectory", f"there are trajectories 0 to {len(own.pool) - 1}")
    if own.pool.source is None and own.pool.clips is not None:
        file_of_clip(own.pool, own.store.display(own.study), index, context)  # its plan may be read
    response.headers.update(CACHED)
    try:
        return context.signals(own.study).of(index)
    except Exception as error:  # any package may be behind a dataset
        raise Refused("no-trajectory", str(error) or repr(error)) from error


@router.get("/reward")
def reward(own: TeacherSession) -> RewardSummary:
    """The best trajectory under the learned reward, and how to use the reward."""
    units = {label.name: label.unit for label in labels_of(own.store.display(own.study))}
    best, answers, statements = own.of_learner(reward_facts, units)
    found = BestTrajectory(
        index=best.index, id=best.id, mean=best.mean, std=best.std, certainty=best_sentence(best)
    )
    return RewardSummary(
        best=None if answers < ENOUGH_ANSWERS else found,
        answers=answers,
        python=usage_of(own.pool, best.index),
        statements=statements,
    )


@router.get("/teaching")
def teaching(own: TeacherSession, context: Context) -> TeachingPlace:
    """Where the answers are stored, and how to come back."""
    command, stored_in = context.place
    if context.manager is not None:
        command, stored_in = context.manager.command(own.study), context.manager.stored_in
    return TeachingPlace(command=command, stored_in=stored_in, by_link=context.guest is None)


@router.get("/export/reward.json", response_class=Response, responses=content("application/json"))
def export_reward(own: TeacherSession) -> Response:
    """The learned reward, for `prefero.load_reward`."""
    return download("reward.json", "application/json", own.of_learner(reward_file_text).encode())


@router.get("/export/answers.csv", response_class=Response, responses=content("text/csv"))
def export_csv(own: TeacherSession) -> Response:
    """The active answers, one a row."""
    return download("answers.csv", "text/csv", answers_csv(own))


@router.get("/export/answers.parquet", response_class=Response, responses=content(PARQUET))
def export_parquet(own: TeacherSession) -> Response:
    """The same as a Parquet file."""
    return download("answers.parquet", PARQUET, answers_parquet(own))


COLUMNS = [
    *("question", "number", "kind", "items", "ids", "selection", "choice", "because", "seconds", "at"),
    *("tags", "note"),
]


def answers_csv(own: Session) -> bytes:
    """The content of a file with the active answers."""
    found = export_rows(own.event_log(), own.pool)
    rows = [row | in_csv(row["items"], row["ids"]) | {"tags": tags_in_csv(row["tags"])} for row in found]
    return csv_text(COLUMNS, rows).encode()


def answers_parquet(own: Session) -> bytes:
    """The same as a Parquet file."""
    arrow, parquet = need("pyarrow", extra="server"), need("pyarrow.parquet", extra="server")
    found, memory = export_rows(own.event_log(), own.pool), io.BytesIO()
    columns = {name: [row[name] for row in found] for name in COLUMNS}
    parquet.write_table(arrow.table(columns, schema=_schema(arrow)), memory)
    return memory.getvalue()


def past_answers(log: EventLog, pool: Pool, words: Sequence[str] = ()) -> list[PastAnswer]:
    """Active and deleted answers, in the order of their questions; `words` are the session's own."""
    reasons = log.reason_by_event
    found = [(active.asked, active.event, False) for active in log.answers]
    found += [(log.by_id[question], event, True) for question, event in log.deleted.items()]
    ordered = sorted(found, key=lambda row: row[0].number)
    return [
        PastAnswer(
            question=asked.id,
            number=log.answer_numbers[asked.id],
            items=list(asked.items),
            ids=pool.ids_of(asked.items),
            kind=asked.kind,
            choice=event.kind,
            words=list(words_of(kind_named(asked.kind), words)),
            because=reasons.get(event.id) or None,
            selection=asked.selection,
            note=remarks.note,
            tags=list(remarks.tags),
            seconds=event.seconds,
            at=event.at,
            deleted=deleted,
        )
        for asked, event, deleted in ordered
        for remarks in [log.question_remarks.get(asked.id, NO_REMARKS)]
    ]


def export_rows(log: EventLog, pool: Pool) -> list[dict[str, Any]]:
    """The active answers, numbered from 1."""
    kept = [answer.model_dump() for answer in past_answers(log, pool) if not answer.deleted]
    return [row | {"number": number} for number, row in enumerate(kept, 1)]


def _schema(arrow: Any) -> Any:
    kinds = dict.fromkeys(("kind", "selection", "choice", "because", "at", "note"), arrow.string())
    kinds |= {"seconds": arrow.float64(), "items": arrow.list_(arrow.int64())}
    kinds |= dict.fromkeys(("ids", "tags"), arrow.list_(arrow.string()))
    return arrow.schema([(name, kinds.get(name, arrow.int64())) for name in COLUMNS])


def download(name: str, kind: str, body: bytes) -> Response:
    """A file that the browser stores under this name."""
    disposition = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=kind, headers=disposition)
