"""What teachers and participants do: sign in, see the session's state, answer, and look at trajectories."""

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import TypeAdapter

from prefero.datasets.media.clips import cut_planned_clip
from prefero.server.auth import AGE, COOKIE, Anybody, Forbidden, Here, OwnSitting, Somebody, Visitor
from prefero.server.models import (
    LARGEST,
    AnswerOrSkip,
    Display,
    Entry,
    Me,
    Prefetch,
    StageSubmission,
    TrajectoryDetails,
    Undo,
)
from prefero.studies.displays import details_of
from prefero.studies.session_state import SessionState
from prefero.studies.storage.store import Refused

router = APIRouter(prefix="/api")

CACHED = {"cache-control": "private, max-age=3600", "vary": "Cookie"}  # another link is another study
Index = Annotated[int, InPath(ge=0, le=LARGEST)]
DISPLAY: TypeAdapter[Display] = TypeAdapter(Display)


@router.get("/me")
def me(visitor: Anybody) -> Me:
    """Who sends this request."""
    return _me(visitor)


@router.post("/enter")
def enter(entry: Entry, here: Here, response: Response) -> Me:
    """Sign in with a link's secret, which is kept in a cookie that no script can read."""
    visitor = here.owner(entry.secret)
    if visitor is None:
        raise Forbidden
    response.set_cookie(
        COOKIE, entry.secret, max_age=AGE, httponly=True, samesite="lax", secure=here.secure, path="/"
    )
    return _me(visitor)


@router.post("/leave")
def leave(response: Response) -> Me:
    """Sign out: delete the cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return _me(None)


def _me(visitor: Visitor | None) -> Me:
    if visitor is None:
        return Me(role=None, study=None)
    return Me(role=visitor.role, study=visitor.study.name)


@router.get("/session")
def session(own: OwnSitting) -> SessionState:
    """What the page shows now."""
    return own.moment()


@router.get("/session/prefetch")
def prefetch(own: OwnSitting) -> Prefetch:
    """Trajectories that may be shown next, so that the page can load them early."""
    trajectories, complete = own.ahead()
    return Prefetch(trajectories=trajectories, complete=complete)


@router.post("/session/events")
def answer(event: AnswerOrSkip, own: OwnSitting) -> SessionState:
    """Record an answer or a skip; when this returns, it is on disk."""
    return own.answer(event.question, event.kind, event.key, event.seconds)


@router.post("/session/undo")
def undo(body: Undo, own: OwnSitting) -> SessionState:
    """Take the last answer or skip back."""
    return own.undo(body.key)


@router.post("/session/stages")
def submit_stage(submission: StageSubmission, own: OwnSitting) -> SessionState:
    """Record consent, target scores, the practice answer or a rating."""
    return own.step(submission.stage, submission.data, submission.key)


@router.get("/display")
def display(visitor: Somebody, here: Here, response: Response) -> Display:
    """How the study's trajectories are shown."""
    response.headers.update(CACHED)
    return DISPLAY.validate_python(here.store.display(visitor.study))


@router.get("/trajectories/{index}")
def trajectory(index: Index, visitor: Somebody, here: Here, response: Response) -> TrajectoryDetails:
    """One trajectory of the pool."""
    pool = here.store.pool(visitor.study)
    if index >= len(pool):
        raise Refused("no-trajectory", f"there are trajectories 0 to {len(pool) - 1}")
    response.headers.update(CACHED)
    return TrajectoryDetails.model_validate(details_of(pool, here.store.display(visitor.study), index))


@router.get("/clips/{index}.mp4", response_class=FileResponse)
def clip(index: Index, visitor: Somebody, here: Here) -> FileResponse:
    """One trajectory's video, from the folder of the study's clips and from nowhere else."""
    pool, shown = here.store.pool(visitor.study), here.store.display(visitor.study)
    if pool.clips is None or index >= len(pool.clips):
        raise Refused("no-trajectory", "there is no such clip")
    path = Path(pool.clips[index]).resolve()
    if not path.is_relative_to(Path(shown["folder"]).resolve()):
        raise Refused("no-trajectory", "this clip is not in the study's folder")
    try:
        cut_planned_clip(path)  # if it is not there, by the plan beside it
    except (ValueError, OSError) as error:
        raise Refused("no-trajectory", "this clip is missing and could not be cut") from error
    return FileResponse(path, media_type="video/mp4", headers=CACHED)
