"""What a teacher may ask of the learned reward beyond its summary, and everything that can be taken along."""

import io
import zipfile
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from prefero.pools.pictures import picture
from prefero.server.auth import Context, ServerContext, TeacherSession
from prefero.server.models import LARGEST, RequestBody
from prefero.server.routes.pool import trajectories_csv
from prefero.server.routes.session import file_of_clip
from prefero.server.routes.teacher import answers_csv, answers_parquet, content, download
from prefero.studies.reports.learning_summary import labels_of, reward_file_text, summary_of
from prefero.studies.reports.session_report import FILE, SessionReport, session_report
from prefero.studies.reports.stop_advice import StopAdvice, stop_advice
from prefero.studies.reports.what_if import PlaceError, WhatIf, what_if
from prefero.studies.session import Session, task_description
from prefero.studies.storage.store import Refused

router = APIRouter(prefix="/api")

ARCHIVE, ZIP, HTML = "everything.zip", "application/zip", "text/html; charset=utf-8"
README = """What was taught in the session "{title}", {day}, with Prefero {version}.

reward.json       the learned reward, for prefero.load_reward("reward.json")
answers.csv       the questions and their answers, one a row
answers.parquet   the same, for pandas and Polars
trajectories.csv  all trajectories with their features, rewards, tags and notes, one a row
report.html       what was learned, to read in a browser; it needs no network
README.txt        this file

The answers of the session stay in the database. This command continues it:

    {command}
"""


class Place(RequestBody):
    """Where the sliders are: values of features, at a trajectory or at the average one if it is null."""

    start: Annotated[int, Field(ge=0, le=LARGEST)] | None = None
    values: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = Field(
        default_factory=dict, max_length=5000
    )


@router.get("/stopping")
def stopping(own: TeacherSession) -> StopAdvice:
    """Whether five more answers would change little."""
    return own.of_learner(stop_advice)


@router.post("/what-if")
def reward_at(place: Place, own: TeacherSession) -> WhatIf:
    """The learned reward at a place, and the nearest trajectory."""
    try:
        return own.of_learner(what_if, place.start, place.values)
    except PlaceError as error:
        raise Refused("bad-place", str(error)) from error


@router.get("/export/report.html", response_class=Response, responses=content("text/html"))
def export_report(own: TeacherSession, context: Context) -> Response:
    """The report of the session, as one page."""
    return download(FILE, HTML, report_of(own, context).html().encode())


@router.get("/export/everything.zip", response_class=Response, responses=content(ZIP))
def export_everything(own: TeacherSession, context: Context) -> Response:
    """All files that can be downloaded, in one."""
    report = report_of(own, context)
    files = {
        "reward.json": own.of_learner(reward_file_text).encode(),
        "answers.csv": answers_csv(own),
        "answers.parquet": answers_parquet(own),
        "trajectories.csv": trajectories_csv(own),
        FILE: report.html().encode(),
        "README.txt": readme(report, context).encode(),
    }
    return download(ARCHIVE, ZIP, zipped(files))


def zipped(files: dict[str, bytes]) -> bytes:
    """Files in one archive."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return memory.getvalue()


def readme(report: SessionReport, context: ServerContext) -> str:
    """What each file of the archive is."""
    return README.format(title=report.title, day=report.day, version=report.version, command=context.place[0])


def report_of(own: Session, context: ServerContext) -> SessionReport:
    """The report of a session as it is now."""
    log, display = own.event_log(), own.store.display(own.study)
    summary = own.of_learner(summary_of, labels_of(display), log=log)
    task = task_description(own.protocol, display)
    return session_report(own.pool, own.protocol, task, log, summary, partial(picture_of, own, context))


def picture_of(own: Session, context: ServerContext, index: int) -> str:
    """A picture of a trajectory; nothing where this server may not show its clip."""
    if own.pool.clips is None:
        return picture(own.pool, index)
    try:
        path = file_of_clip(own.pool, own.store.display(own.study), index, context)
    except Refused:
        return ""
    return picture(own.pool, index, path, trust=context.trust)
