"""What everybody may ask for: who am I, what comes now, here is my answer, show me."""

from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Response
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import BaseModel, ConfigDict, Field

import prefero
from prefero.datasets.media.clips import cut
from prefero.server.auth import AGE, COOKIE, Anybody, Forbidden, Here, OwnSitting, Somebody, Visitor
from prefero.studies.displays import replay_of
from prefero.studies.session import Moment
from prefero.studies.storage.store import Refused

router = APIRouter(prefix="/api")

LARGEST = 2**31 - 1
KEPT = {"cache-control": "private, max-age=3600", "vary": "Cookie"}  # another link is another study
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,128}$")]
Identifier = Annotated[int, Field(ge=1, le=LARGEST)]
Index = Annotated[int, InPath(ge=0, le=LARGEST)]


class Sent(BaseModel):
    """What the page sends holds nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Entry(Sent):
    """A secret from a link."""

    secret: Secret


class Said(Sent):
    """An answer, with the sender's own name for it."""

    key: Key
    question: Identifier
    choice: Literal["left", "right", "equal", "skip"]
    seconds: Annotated[float, Field(ge=0, le=86400, allow_inf_nan=False)] | None = None


class Taken(Sent):
    """An answer is taken back."""

    key: Key


class Done(Sent):
    """A step of a study."""

    key: Key
    stage: Literal["consent", "instructions", "scores", "practice", "rate"]
    data: dict[str, Any] = Field(default_factory=dict)


class Me(BaseModel):
    """Who the visitor is."""

    role: Literal["teacher", "participant", "experimenter"] | None
    study: str | None
    version: str = prefero.__version__

    @classmethod
    def of(cls, visitor: Visitor | None) -> "Me":
        """From what is known of them."""
        if visitor is None:
            return cls(role=None, study=None)
        return cls(role=visitor.role, study=visitor.study.name)


class Ahead(BaseModel):
    """Trajectories that may be shown next."""

    ahead: list[int]
    ready: bool


@router.get("/me")
def me(visitor: Anybody) -> Me:
    """Who am I?"""
    return Me.of(visitor)


@router.post("/enter")
def enter(entry: Entry, here: Here, response: Response) -> Me:
    """A link's secret opens its door, and is kept in a cookie that no script can read."""
    visitor = here.owner(entry.secret)
    if visitor is None:
        raise Forbidden
    response.set_cookie(
        COOKIE, entry.secret, max_age=AGE, httponly=True, samesite="lax", secure=here.secure, path="/"
    )
    return Me.of(visitor)


@router.post("/leave")
def leave(response: Response) -> Me:
    """Forget the secret."""
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
    return Me.of(None)


@router.get("/sitting")
def sitting(own: OwnSitting) -> Moment:
    """What comes now?"""
    return own.moment()


@router.get("/ahead")
def ahead(own: OwnSitting) -> Ahead:
    """What may come next?"""
    indices, ready = own.ahead()
    return Ahead(ahead=indices, ready=ready)


@router.post("/answers")
def answer(said: Said, own: OwnSitting) -> Moment:
    """An answer; when this returns it is on disk."""
    return own.answer(said.question, said.choice, said.key, said.seconds)


@router.post("/undo")
def undo(taken: Taken, own: OwnSitting) -> Moment:
    """Take the last answer back."""
    return own.undo(taken.key)


@router.post("/steps")
def step(done: Done, own: OwnSitting) -> Moment:
    """Consent, scores, practice, a rating."""
    return own.step(done.stage, done.data, done.key)


@router.get("/scene")
def scene(visitor: Somebody, here: Here, response: Response) -> dict[str, Any]:
    """How trajectories are shown."""
    response.headers.update(KEPT)
    display = here.store.display(visitor.study)
    return {name: value for name, value in display.items() if name != "folder"}


@router.get("/replays/{index}")
def replay(index: Index, visitor: Somebody, here: Here, response: Response) -> dict[str, Any]:
    """One trajectory."""
    pool = here.store.pool(visitor.study)
    if index >= len(pool):
        raise Refused("no-trajectory", f"there are trajectories 0 to {len(pool) - 1}")
    response.headers.update(KEPT)
    return replay_of(pool, here.store.display(visitor.study), index)


@router.get("/clips/{index}.mp4", response_class=FileResponse)
def clip(index: Index, visitor: Somebody, here: Here) -> FileResponse:
    """One trajectory's film, from the folder that the study's clips are in and from nowhere else."""
    pool, display = here.store.pool(visitor.study), here.store.display(visitor.study)
    if pool.clips is None or index >= len(pool.clips):
        raise Refused("no-trajectory", "there is no such clip")
    path = Path(pool.clips[index]).resolve()
    if not path.is_relative_to(Path(display["folder"]).resolve()):
        raise Refused("no-trajectory", "this clip is not in the study's folder")
    try:
        cut(path)  # if it is not there, by the plan beside it
    except (ValueError, OSError) as error:
        raise Refused("no-trajectory", "this clip is missing and could not be cut") from error
    return FileResponse(path, media_type="video/mp4", headers=KEPT)
