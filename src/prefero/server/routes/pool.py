"""What a teacher does with the pool: looks through it, chooses questions by hand, writes notes and tags."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import FileResponse

from prefero._support.files import csv_text
from prefero.server.auth import Context, KnownVisitor, TeacherSession
from prefero.server.models import (
    Annotations,
    ChosenItems,
    GivenAnnotation,
    PoolSearch,
    Undo,
)
from prefero.server.routes.session import CACHED, Index, thumbnail_of
from prefero.server.routes.teacher import content, download
from prefero.studies.exports.trajectory_table import trajectory_columns, trajectory_rows
from prefero.studies.reports.learning_summary import labels_of
from prefero.studies.reports.pool_page import PoolPage, pool_page, tag_counts
from prefero.studies.session import Session
from prefero.studies.storage.store import Refused
from prefero.views.session_state import SessionState

router = APIRouter(prefix="/api")


@router.get("/pool")
def pool(own: TeacherSession, search: Annotated[PoolSearch, Query()]) -> PoolPage:
    """A page of the trajectories, sorted and filtered, with what is known of each."""
    log, labels = own.event_log(), labels_of(own.store.display(own.study))
    rewards = own.pool_rewards(log)
    return pool_page(own.pool, log, rewards, labels, own.protocol.kinds, search.query)


@router.get("/pool/{index}/thumbnail.jpg", response_class=FileResponse)
def thumbnail(index: Index, visitor: KnownVisitor, own: TeacherSession, context: Context) -> FileResponse:
    """A small image of a trajectory that is shown as a video; nothing is cut or rendered for it."""
    own.check_trajectory(index)
    try:
        path = thumbnail_of(index, visitor, context)
    except Refused:
        raise
    except Exception as error:  # any package may be behind a dataset
        raise Refused("no-trajectory", str(error) or repr(error)) from error
    return FileResponse(path, media_type="image/jpeg", headers=CACHED)


@router.post("/pool/question")
def choose_question(body: ChosenItems, own: TeacherSession) -> SessionState:
    """Ask about trajectories that were chosen by hand."""
    return own.choose(body.items, body.key)


@router.post("/pool/question/withdraw")
def withdraw_question(body: Undo, own: TeacherSession) -> SessionState:
    """Take back a question that was chosen by hand, so that the model asks again."""
    return own.withdraw(body.question, body.key)


@router.get("/annotations")
def annotations(own: TeacherSession) -> Annotations:
    """All notes and tags that hold now."""
    log = own.event_log()
    return Annotations(
        trajectories=Annotations.listed(log.trajectory_remarks),
        questions=Annotations.listed(log.question_remarks),
        tags=tag_counts(log),
    )


@router.post("/annotations")
def annotate(body: GivenAnnotation, own: TeacherSession) -> SessionState:
    """Write a note or a tag, or remove a tag."""
    about = {"trajectory": body.trajectory, "question": body.question}
    return own.annotate(body.kind, body.text, body.key, **about)


@router.get("/export/trajectories.csv", response_class=Response, responses=content("text/csv"))
def export_trajectories(own: TeacherSession) -> Response:
    """The trajectories with their features, rewards, notes and tags, one a row."""
    return download("trajectories.csv", "text/csv", trajectories_csv(own))


def trajectories_csv(own: Session) -> bytes:
    """The content of that file."""
    log = own.event_log()
    rows = trajectory_rows(own.pool, log, own.pool_rewards(log))
    return csv_text(trajectory_columns(own.pool), rows).encode()
