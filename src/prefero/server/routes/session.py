"""What teachers and participants do: sign in, see the session's state, answer, and look at trajectories."""

import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import Field, TypeAdapter

from prefero.datasets.media import clips
from prefero.datasets.media.clip_image import clip_image
from prefero.datasets.media.clip_preparation import ClipStatus, Make, UnplayableClip
from prefero.pools.displays import details_of
from prefero.pools.pool import Pool
from prefero.pools.scene_thumbnails import has_scene_thumbnails
from prefero.pools.thumbnails import kept_thumbnail, name_of_clip
from prefero.server.auth import (
    COOKIE,
    COOKIE_SECONDS,
    SESSION_HEADER,
    Context,
    Forbidden,
    KnownVisitor,
    MaybeVisitor,
    OwnSession,
    ServerContext,
    Visitor,
)
from prefero.server.models import (
    LARGEST,
    AnswerOrSkip,
    Entry,
    GivenReason,
    Me,
    Prefetch,
    StageSubmission,
    Undo,
)
from prefero.studies.session import NOT_PLAYABLE
from prefero.studies.storage.clip_folders import is_served
from prefero.studies.storage.store import Refused
from prefero.views.displays import Display, TrajectoryDetails
from prefero.views.session_state import SessionState

LOGGER = logging.getLogger("prefero")
router = APIRouter(prefix="/api")

CACHED = {"cache-control": "private, max-age=3600", "vary": "Cookie"}  # another link is another study
Index = Annotated[int, InPath(ge=0, le=LARGEST)]
TypedDisplay = Annotated[Display, Field(discriminator="kind")]
DISPLAY: TypeAdapter[Display] = TypeAdapter(TypedDisplay)
DETAILS = TypeAdapter(TrajectoryDetails)


@router.get("/me")
def me(visitor: MaybeVisitor, context: Context, request: Request) -> Me:
    """Who sends this request."""
    return _me(visitor, context.manages(context.person(request.cookies.get(COOKIE))))


@router.post("/enter")
def enter(entry: Entry, context: Context, request: Request, response: Response) -> Me:
    """Sign in with a link's secret, which is kept in a cookie that no script can read."""
    owner = context.owner(entry.secret)
    if owner is None:
        raise Forbidden
    response.set_cookie(
        COOKIE,
        entry.secret,
        max_age=COOKIE_SECONDS,
        httponly=True,
        samesite="lax",
        secure=context.secure,
        path="/",
    )
    return _me(context.visitor(entry.secret, request.headers.get(SESSION_HEADER)), context.manages(owner))


@router.post("/leave")
def leave(response: Response) -> Me:
    """Sign out: delete the cookie."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return _me(None)


def _me(visitor: Visitor | None, manages: bool = False) -> Me:
    if visitor is None:
        return Me(role=None, study=None, session=None)
    if visitor.opened is None:
        return Me(role=visitor.role, study=None, session=None, manages=manages)
    session = None if visitor.participant is None else visitor.participant.session
    study = None if visitor.role == "participant" else visitor.study.name
    return Me(role=visitor.role, study=study, session=session, manages=manages)


@router.get("/session")
def session(own: OwnSession) -> SessionState:
    """What the page shows now."""
    return own.state()


@router.get("/session/prefetch")
def prefetch(own: OwnSession) -> Prefetch:
    """Trajectories that may be shown next, so that the page can load them early."""
    trajectories, complete = own.prefetch()
    return Prefetch(trajectories=trajectories, complete=complete)


@router.post("/session/events")
def answer(event: AnswerOrSkip, own: OwnSession) -> SessionState:
    """Record an answer or a skip; when this returns, it is on disk."""
    return own.answer(event.question, event.kind, event.key, event.seconds)


@router.post("/session/reasons")
def give_reason(body: GivenReason, own: OwnSession) -> SessionState:
    """Record why an answer was given, or take that back."""
    return own.give_reason(body.question, body.feature or "", body.key)


@router.post("/session/undo")
def undo(body: Undo, own: OwnSession) -> SessionState:
    """Take the last answer or skip back."""
    return own.undo(body.key, body.question)


@router.post("/session/stages")
def submit_stage(submission: StageSubmission, own: OwnSession) -> SessionState:
    """Record consent, target scores, the practice answer or a rating."""
    return own.submit(submission.stage, submission.data, submission.key)


@router.get("/display")
def display(visitor: KnownVisitor, context: Context, response: Response) -> TypedDisplay:
    """How the study's trajectories are shown."""
    response.headers.update(CACHED)
    return DISPLAY.validate_python(context.store.display(visitor.study))


@router.get("/trajectories/{index}")
def trajectory(
    index: Index, visitor: KnownVisitor, context: Context, response: Response
) -> TrajectoryDetails:
    """One trajectory of the pool."""
    pool = context.store.pool(visitor.study)
    if index >= len(pool):
        raise Refused("no-trajectory", f"there are trajectories 0 to {len(pool) - 1}")
    response.headers.update(CACHED)
    return DETAILS.validate_python(details_of(pool, context.store.display(visitor.study), index))


@router.get("/clips/{index}.mp4", response_class=FileResponse)
def clip(index: Index, visitor: KnownVisitor, context: Context) -> FileResponse:
    """One trajectory's video, made if it is not there, which takes time.

    A participant gets it without tags and times, which may tell whose it is.
    """
    return _sent(_clip(index, visitor, context), visitor, context)


@router.get("/clips/{index}/status")
def clip_status(index: Index, visitor: KnownVisitor, context: Context) -> ClipStatus:
    """Whether a video can be played now, how far its preparation is, or why it cannot be played."""
    return _status(_clip(index, visitor, context), visitor, context)


@router.get("/clips/{index}/cameras/{camera}.mp4", response_class=FileResponse)
def camera_clip(index: Index, camera: Index, visitor: KnownVisitor, context: Context) -> FileResponse:
    """The same as one of several cameras recorded it, by the place of the camera."""
    return _sent(_camera_clip(index, camera, visitor, context), visitor, context)


@router.get("/clips/{index}/cameras/{camera}/status")
def camera_clip_status(index: Index, camera: Index, visitor: KnownVisitor, context: Context) -> ClipStatus:
    """As for the video of all cameras."""
    return _status(_camera_clip(index, camera, visitor, context), visitor, context)


Clip = tuple[Path, Make | None]  # the file of a video, and how it is made, if not by its plan


def _sent(clip: Clip, visitor: Visitor, context: ServerContext) -> FileResponse:
    own = visitor.role == "teacher"
    prepare = context.clips.prepare if own else context.clips.prepare_anonymous
    try:
        path = prepare(*clip)
    except UnplayableClip as error:
        raise Refused("no-trajectory", _told(str(error), visitor)) from error
    about = None if own else os.stat_result((*path.stat()[:7], 0, 0, 0))  # headers that date no file
    return FileResponse(path, media_type="video/mp4", headers=CACHED, stat_result=about)


def _status(clip: Clip, visitor: Visitor, context: ServerContext) -> ClipStatus:
    found = context.clips.status(clip[0])
    return replace(found, problem=found.problem and _told(found.problem, visitor))


def thumbnail_of(index: int, visitor: Visitor, context: ServerContext) -> Path:
    """A small image of a trajectory in a 3-D scene or a video, made if it is not there."""
    pool, shown = context.store.pool(visitor.study), context.store.display(visitor.study)
    if index < len(pool) and has_scene_thumbnails(shown):
        scenes = context.thumbnails(visitor.study)
        return kept_thumbnail(scenes.name(index), partial(scenes.image, index))
    path = file_of_clip(pool, shown, index, context)
    return kept_thumbnail(name_of_clip(path), partial(clip_image, path, trust=context.trust))


def _clip(index: int, visitor: Visitor, context: ServerContext) -> Clip:
    """The file of a video, which is made by its plan."""
    pool, shown = context.store.pool(visitor.study), context.store.display(visitor.study)
    return file_of_clip(pool, shown, index, context), None


def _camera_clip(index: int, camera: int, visitor: Visitor, context: ServerContext) -> Clip:
    pool, shown = context.store.pool(visitor.study), context.store.display(visitor.study)
    path = file_of_clip(pool, shown, index, context)
    names = clips.planned_cameras(path)
    if camera >= len(names):
        raise Refused("no-trajectory", "there is no such camera")
    make = partial(clips.cut_camera_clip, path, names[camera], trust=context.trust)
    return clips.camera_clip(path, names[camera]), make


def file_of_clip(pool: Pool, shown: Mapping[str, Any], index: int, context: ServerContext) -> Path:
    """The video of a pool's trajectory, which this server may send."""
    if pool.clips is None or index >= len(pool.clips):
        raise Refused("no-trajectory", "there is no such clip")
    path = Path(pool.clips[index]).resolve()
    _check_clip(path, str(shown.get("folder", "")), context)
    return path


def _check_clip(path: Path, folder: str, context: Context) -> None:
    """In the folder of the study's clips, and nowhere else.

    The database may come from somebody else: only videos are sent, and only from folders named here.
    """
    if path.suffix.lower() != ".mp4" or not folder or not path.is_relative_to(Path(folder).resolve()):
        raise Refused("no-trajectory", "this clip is not in the study's folder")
    if not is_served(path, context.clip_folders):
        LOGGER.warning("videos in %s are not served: start the server with --clips to allow it", folder)
        raise Refused("no-trajectory", "this server may not send videos from the study's folder")


def _told(problem: str, visitor: Visitor) -> str:
    """The reason may name files, which only the teacher may see."""
    return problem if visitor.role == "teacher" else NOT_PLAYABLE
