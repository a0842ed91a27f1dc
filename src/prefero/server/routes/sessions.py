"""What only the person who runs the server does: list, begin, rename, archive and copy teaching sessions.

Other people who teach, participants and pages of other sites may do none of it.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from prefero.server.auth import Context, KnownVisitor, Manager, ServerContext
from prefero.server.beginnings import Beginning
from prefero.server.models import (
    Archiving,
    BeginningName,
    ChangedSettings,
    Copying,
    Done,
    NewSession,
    NewUpload,
    OpenedSession,
    Phone,
    Renaming,
    SessionList,
    SessionName,
    Upload,
    Uploaded,
    UploadId,
    UploadName,
)
from prefero.server.qr_code import qr_rows
from prefero.server.uploads import ACCEPTED, CHUNK
from prefero.studies.storage.store import Refused, Store, Study
from prefero.studies.teaching_sessions import TeachingSettings, copy_session, first_teacher, teaching_session

router = APIRouter(prefix="/api")
Count = Annotated[int, Query(ge=0)]


@router.get("/sessions")
def sessions(manager: Manager) -> SessionList:
    """All teaching sessions, and what a new one can be about."""
    return SessionList(sessions=manager.sessions(), worlds=manager.worlds(), accepted=list(ACCEPTED))


@router.post("/sessions")
def begin_session(body: NewSession, manager: Manager) -> Beginning:
    """Begin a session about a world or an upload; `/api/beginnings` says how far it is."""
    settings = body.model_dump(include={"trajectories", "task_description", "answers"})
    if (body.world is None) == (body.upload is None):
        raise Refused("bad-session", "a session is about a world or an upload: name one of them")
    if body.world is not None:
        return manager.begin_world(body.world, body.name, **settings)
    return manager.begin_upload(str(body.upload), body.name, **settings)


@router.get("/beginnings/{beginning}")
def beginning_state(beginning: str, manager: Manager) -> Beginning:
    """How far a new session is."""
    found = manager.beginnings.state(beginning)
    if found is None:
        raise Refused("no-session", "the server was started again meanwhile: begin the session again")
    return found


@router.post("/beginnings/cancel")
def cancel_beginning(body: BeginningName, manager: Manager) -> Done:
    """Stop reading the files, and delete them."""
    manager.beginnings.cancel(body.beginning)
    return Done()


@router.post("/sessions/open")
def open_session(body: SessionName, manager: Manager) -> OpenedSession:
    """By which name requests are about a session: that of the person who taught in it first."""
    return _opened(manager.store, teaching_session(manager.store, body.name))


@router.post("/sessions/rename")
def rename_session(body: Renaming, manager: Manager) -> OpenedSession:
    """Give a session another name."""
    study = manager.store.rename(teaching_session(manager.store, body.name), body.new)
    return _opened(manager.store, study)


@router.post("/sessions/archive")
def archive_session(body: Archiving, manager: Manager, context: Context) -> OpenedSession:
    """Put a session away from the list, or bring it back."""
    study = manager.store.archive(teaching_session(manager.store, body.name), body.archived)
    _close(context, study)
    return _opened(manager.store, study)


@router.post("/sessions/copy")
def copy_of_session(body: Copying, manager: Manager) -> OpenedSession:
    """Another session with the same trajectories and settings, and if wanted with the answers."""
    return _opened(manager.store, copy_session(manager.store, body.name, body.new, answers=body.answers))


@router.post("/sessions/settings")
def change_session_settings(body: ChangedSettings, manager: Manager) -> OpenedSession:
    """Change what a session asks from now on; its answers stay."""
    settings = TeachingSettings(**body.model_dump(exclude={"name", "words"}), words=tuple(body.words))
    return _opened(manager.store, manager.change_settings(body.name, settings))


@router.post("/session/rest")
def rest(visitor: KnownVisitor, context: Context, manager: Manager) -> Done:
    """A window shows this session no longer: nothing more is prepared for it."""
    del manager
    if visitor.participant is not None:
        context.close_session(visitor.participant)
    return Done()


@router.post("/uploads")
def begin_upload(body: NewUpload, manager: Manager) -> Upload:
    """Begin to send files."""
    found, names = manager.uploads.begin([(file.name, file.size) for file in body.files])
    return Upload(id=found, names=names, chunk=CHUNK)


@router.post("/uploads/chunk")
async def add_chunk(
    upload: UploadId, number: Count, offset: Count, manager: Manager, request: Request
) -> Uploaded:
    """Add the body to a file, which has `offset` bytes so far."""
    chunk = await request.body()
    return Uploaded(size=await run_in_threadpool(manager.uploads.add, upload, number, offset, chunk))


@router.post("/uploads/cancel")
def cancel_upload(body: UploadName, manager: Manager) -> Done:
    """Delete an upload."""
    manager.uploads.delete(body.upload)
    return Done()


@router.get("/phone")
def phone(manager: Manager, visitor: KnownVisitor) -> Phone:
    """How a phone opens the page of this session."""
    session = None if visitor.participant is None else visitor.participant.session
    link = manager.link(session)
    again = manager.command(visitor.opened) + " --host 0.0.0.0"
    return Phone(link=link, rows=[] if link is None else qr_rows(link), command=again)


def _opened(store: Store, study: Study) -> OpenedSession:
    return OpenedSession(name=study.name, session=first_teacher(store, study).session)


def _close(context: ServerContext, study: Study) -> None:
    for participant in context.store.participants(study):
        context.close_session(participant)
