"""Who sends a request: a cookie holds the secret of a teacher, a participant or an experimenter."""

import hmac
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import Depends, Request

from prefero.acquisition.group_questions import About
from prefero.datasets.media.clip_preparation import ClipPreparation
from prefero.pools.scene_thumbnails import PoolThumbnails
from prefero.pools.signals import PoolSignals
from prefero.server.middleware.cross_site import READING
from prefero.server.models import Role
from prefero.server.session_manager import SessionManager
from prefero.studies.computing.base import Computing
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.session import Session
from prefero.studies.storage.store import Participant, Refused, Store, Study, digest_of

COOKIE = "prefero"
SESSION_HEADER = "x-prefero-session"  # the session that a request is about, as `/api/me` names it
COOKIE_SECONDS = 180 * 24 * 3600
SESSIONS = 256  # that are kept in memory; others are taken up again from the database


class Forbidden(Exception):
    """The secret does not allow this."""


@dataclass(frozen=True)
class Visitor:
    """A person with a valid secret, or the guest; a teacher who has not opened a session yet has none."""

    role: Role
    opened: Study | None
    participant: Participant | None

    @property
    def study(self) -> Study:
        """The study or the session that they see."""
        if self.opened is None:
            raise Refused("no-session", "no session is open: choose one from the list of sessions")
        return self.opened


class ServerContext:
    """What all requests have in common.

    guest          who visitors without a secret are; only where no one else can reach the server
    token          a secret of this server that is not in the database, and whose it is
    secure         whether cookies are sent over HTTPS alone
    trust          whether cutting a clip may run code that the plan of the clips names
    clip_folders   folders whose videos are served, beside those that the user named before
    place          the command that continues a teacher's session, and where the answers are stored
    goal           the fraction of predicted answers at which a teacher wants to stop; None: they say when
    about          what questions are about where several people teach: their own reward, or the group's
    arena_report   the command that writes the report of the arena that is served to the judge who runs it
    report         is called with what the person at the terminal should know
    computing      where learners compute: by default in this process
    manager        the teaching sessions of the database, all of which the guest, or whoever has the token,
                   may open and change; None: there is one session
    """

    def __init__(
        self,
        store: Store,
        *,
        guest: Visitor | None = None,
        token: tuple[str, Visitor] | None = None,
        secure: bool = False,
        trust: bool = False,
        clip_folders: Iterable[Path] = (),
        place: tuple[str, str] = ("", ""),
        goal: float | None = None,
        about: About = "person",
        arena_report: str = "",
        report: Callable[[str], None] = lambda _: None,
        computing: Computing | None = None,
        manager: SessionManager | None = None,
    ) -> None:
        self.manager = manager
        self.store, self.guest, self.secure, self.place = store, guest, secure, place
        self.clip_folders, self.clips = tuple(clip_folders), ClipPreparation(report, trust)
        self.goal, self.about, self.arena_report, self.report = goal, about, arena_report, report
        self.token = token and (digest_of(token[0]), token[1])
        self.computing: Computing = ComputeSlots() if computing is None else computing
        self._sessions: OrderedDict[int, Session] = OrderedDict()
        self.trust = trust
        self._thumbnails: dict[str, PoolThumbnails] = {}  # by the digest of a pool
        self._signals: dict[str, PoolSignals] = {}
        self._lock, self._clips_lock = threading.Lock(), threading.Lock()

    def person(self, secret: str | None) -> Visitor | None:
        """Whose secret this is, whatever session they look at; the guest if it belongs to no one."""
        return (self.owner(secret) if secret is not None else None) or self.guest

    def visitor(self, secret: str | None, session: str | None = None) -> Visitor | None:
        """Whose secret this is, in the session that they look at.

        Who runs the server is the teacher of the session that the request names, as its settings are now.
        """
        found = self.person(secret)
        if found is None or not self.manages(found):
            return found
        named = session or (found.participant.session if found.participant is not None else None)
        known = None if named is None else self.store.teacher_of(named)
        return found if known is None else Visitor("teacher", *known)

    def manages(self, visitor: Visitor | None) -> bool:
        """Whether this is the person who runs the server, and may open and change all sessions."""
        own = self.guest, self.token and self.token[1]
        return self.manager is not None and visitor is not None and any(visitor is one for one in own)

    def owner(self, secret: str) -> Visitor | None:
        """Whose secret this is."""
        if self.token and hmac.compare_digest(self.token[0], digest_of(secret)):
            return self.token[1]
        found = self.store.owner_of(secret)
        if found is None:
            return None
        study, participant = found
        if participant is None:
            return Visitor("experimenter", study, None)
        return Visitor("teacher" if study.kind == "teach" else "participant", study, participant)

    def identify(self, secret: str | None) -> str | None:
        """Who sends this secret, as a text for the limits on requests; None if it is nobody's.

        It is empty for guests: on a server without secrets, none can be guessed.
        """
        found = None if secret is None else self.owner(secret)
        if found is None:
            return None if self.guest is None else ""
        if found.opened is None:
            return found.role
        return f"{found.role} {found.study.id if found.participant is None else found.participant.id}"

    def session(self, visitor: Visitor) -> Session:
        """The visitor's own session, made outside of the lock: a large one keeps nobody else waiting."""
        participant = visitor.participant
        if participant is None:
            raise Forbidden
        known = self._sessions.get(participant.id)
        if known is not None and known.study != visitor.study:  # its settings were changed
            self.close_session(participant)
            known = None
        goal = self.goal if visitor.role == "teacher" else None
        runs_it = visitor in (self.guest, self.token and self.token[1])
        made = known or Session(
            self.store,
            visitor.study,
            participant,
            self.computing,
            goal=goal,
            about=self.about,
            arena_report=self.arena_report if runs_it else "",
            report=self.report,
        )
        with self._lock:
            session = self._sessions.pop(participant.id, made)
            self._sessions[participant.id] = session
            if len(self._sessions) > SESSIONS:
                self._sessions.popitem(last=False)
            return session

    def close_session(self, participant: Participant) -> None:
        """Nobody looks at a session any more: nothing is prepared for it, and its learners are forgotten."""
        with self._lock:
            session = self._sessions.pop(participant.id, None)
        if session is not None:
            session.rest()

    def thumbnails(self, study: Study) -> PoolThumbnails:
        """The small images of a study whose trajectories have a 3-D scene."""
        with self._clips_lock:
            if study.pool not in self._thumbnails:
                self._thumbnails[study.pool] = PoolThumbnails(self.store.pool(study))
            return self._thumbnails[study.pool]

    def signals(self, study: Study) -> PoolSignals:
        """The signals of a study's trajectories."""
        with self._clips_lock:
            if study.pool not in self._signals:
                self._signals[study.pool] = PoolSignals(self.store.pool(study), trust=self.trust)
            return self._signals[study.pool]


def context(request: Request) -> ServerContext:
    """What all requests of this server have in common."""
    found: ServerContext = request.app.state.context
    return found


def visitor_or_none(request: Request) -> Visitor | None:
    """The visitor, if they have a valid secret."""
    return context(request).visitor(request.cookies.get(COOKIE), named_session(request))


def named_session(request: Request) -> str | None:
    """The session that a request is about; what a browser loads by itself names it in the query."""
    named = request.headers.get(SESSION_HEADER)
    return request.query_params.get("session") if named is None and request.method in READING else named


def visitor(request: Request) -> Visitor:
    """The visitor, who has a valid secret; if the request names a session, it is theirs."""
    found = visitor_or_none(request)
    if found is None:
        raise Forbidden
    named, owner = named_session(request), found.participant
    if owner is not None and named not in (None, owner.session):  # a renewed link gives another name
        raise Refused(
            "another-session",
            f"this browser is signed in as {_described(found, owner)} now, and this was meant for another "
            "session, so nothing was recorded: open your own link again, or load the page again",
        )
    return found


def _described(visitor: Visitor, owner: Participant) -> str:
    if visitor.role == "participant":  # the name of the study may tell what they must not know
        return f"{owner.label} of {visitor.study.protocol['title']!r}"
    return f"the teacher of {visitor.study.name!r}"


def manager(request: Request) -> SessionManager:
    """The teaching sessions, for the person who runs the server."""
    found = context(request)
    if found.manager is None or not found.manages(found.person(request.cookies.get(COOKIE))):
        raise Forbidden
    return found.manager


def _with_role(role: Role, request: Request) -> Visitor:
    found = visitor(request)
    if found.role != role:
        raise Forbidden
    return found


def experimenter(request: Request) -> Visitor:
    """The experimenter."""
    return _with_role("experimenter", request)


def own_session(request: Request) -> Session:
    """The session of the teacher or participant who sends the request, which the request names."""
    return _named_session(request, visitor(request))


def teacher_session(request: Request) -> Session:
    """The session of the teacher who sends the request, which the request names."""
    return _named_session(request, _with_role("teacher", request))


def _named_session(request: Request, visitor: Visitor) -> Session:
    """Two links may be opened in one browser, and another session be served on the same port."""
    if visitor.participant is None:
        raise Refused("no-session", "no session is open") if visitor.opened is None else Forbidden
    if named_session(request) is None and request.method not in READING:
        raise Refused("another-session", "the request does not say whose session it is for")
    return context(request).session(visitor)


Context = Annotated[ServerContext, Depends(context)]
MaybeVisitor = Annotated[Visitor | None, Depends(visitor_or_none)]
KnownVisitor = Annotated[Visitor, Depends(visitor)]
Experimenter = Annotated[Visitor, Depends(experimenter)]
OwnSession = Annotated[Session, Depends(own_session)]
Manager = Annotated[SessionManager, Depends(manager)]
TeacherSession = Annotated[Session, Depends(teacher_session)]
