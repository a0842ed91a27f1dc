"""What is computed for one participant, here or in a worker: the next question, and what was learned.

A workspace holds the learners of one participant. The functions here are what a session has computed; each
takes a workspace, and the length of the log that it is about. They can be sent to another process.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from prefero.acquisition.group_questions import About
from prefero.arena.standings import Standings
from prefero.learner import Learner
from prefero.studies.asking.arena_schedule import ArenaSchedule
from prefero.studies.asking.chosen_question import ChoosingSteps
from prefero.studies.asking.group import other_teachers
from prefero.studies.asking.question_schedule import QuestionSchedule
from prefero.studies.log.event_log import EventKind, EventLog, LogLength
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.storage.database import attach_database
from prefero.studies.storage.store import Participant, Refused, Store, Study

WORKSPACES = 64  # that a process keeps; others are made anew from the database
FORGOTTEN = 1800.0  # seconds without use after which one is not kept either
Result = TypeVar("Result")


class WorkspaceName(NamedTuple):
    """Whose workspace it is."""

    study: Study
    participant: Participant
    about: About


class Workspace:
    """The learners of one participant, and the newest log that was seen here.

    about   where several people teach in one session: their own reward, or the one that all share
    """

    def __init__(self, store: Store, study: Study, participant: Participant, about: About = "person") -> None:
        self.store, self.study, self.participant, self.about = store, study, participant, about
        self.pool, self.protocol = store.pool(study), Protocol.from_json(study.protocol)
        self.questions = self._schedule()
        self.lock = threading.Lock()  # over the learners, which are not made for several threads
        self.newest = EventLog()

    def _schedule(self) -> QuestionSchedule | ArenaSchedule:
        if self.protocol.arena is not None:
            judge = self.store, self.study, self.participant
            return ArenaSchedule(*judge, self.protocol.arena, self.protocol.answers)
        others = other_teachers(self.store, self.study, self.participant, self.about)
        return QuestionSchedule(self.pool, self.protocol, self.participant.seed, others)

    @property
    def name(self) -> WorkspaceName:
        """What it is made anew by, in another process."""
        return WorkspaceName(self.study, self.participant, self.about)

    @property
    def methods(self) -> QuestionSchedule:
        """The schedule of a study with methods that learn."""
        if not isinstance(self.questions, QuestionSchedule):
            raise Refused("no-method", "an arena compares policies, and learns no reward")
        return self.questions

    def log_at(self, length: LogLength) -> EventLog:
        """The participant's log when it had this length."""
        known = self.newest
        if any(mine < wanted for mine, wanted in zip(known.length, length, strict=True)):
            known = self.newest = self.store.event_log(self.participant)
        return known.first(length)


class Workspaces:
    """The workspaces of a process, made when they are needed; those unused for long are dropped."""

    def __init__(self, store: Store, most: int = WORKSPACES) -> None:
        self.store, self.most = store, most
        self._known: OrderedDict[int, Workspace] = OrderedDict()
        self._used: dict[int, float] = {}  # when each was used last

    @classmethod
    def attached(cls, database: str) -> "Workspaces":
        """Those of a worker: of a database that a server has opened already."""
        return cls(Store(attach_database(database)))

    def of(self, name: WorkspaceName) -> Workspace:
        """A participant's; another one if the study's settings have changed."""
        person, now = name.participant.id, time.monotonic()
        found = self._known.pop(person, None)
        if found is None or found.name != name:
            found = Workspace(self.store, *name)
        self._known[person], self._used[person] = found, now
        while len(self._known) > self.most or now - self._used[next(iter(self._known))] > FORGOTTEN:
            oldest, _ = self._known.popitem(last=False)
            del self._used[oldest]
        return found


def in_workspace(
    workspaces: Workspaces, name: WorkspaceName, function: Callable[..., Any], *arguments: Any
) -> Any:
    """`function(workspace, *arguments)`, where only the workspace's name was sent."""
    return function(workspaces.of(name), *arguments)


def workspaces_of(database: str) -> Callable[[], Workspaces]:
    """What makes the state of a worker."""
    return partial(Workspaces.attached, database)


# --- what is computed -------------------------------------------------------------------------------------


def next_question(workspace: Workspace, length: LogLength, answer: EventKind | None = None) -> ChoosingSteps:
    """The question after this log, or after one answer more."""
    log = workspace.log_at(length)
    return workspace.questions.choosing(log if answer is None else log.supposing(answer))


def arena_standings(workspace: Workspace, length: LogLength) -> Standings:
    """What is known about the policies of an arena."""
    assert isinstance(workspace.questions, ArenaSchedule)
    return workspace.questions.standings(workspace.log_at(length))


def best_trajectories(workspace: Workspace, length: LogLength) -> list[tuple[str, int]]:
    """Each method's label and its best trajectory, in the order in which they are rated."""
    return workspace.methods.best_trajectories(workspace.log_at(length))


def learner_copy(workspace: Workspace, length: LogLength, label: str | None = None) -> Learner:
    """What a method, by default the first, has learned; a copy."""
    method = label or workspace.protocol.methods[0].label
    return workspace.methods.learners.learner(method, workspace.log_at(length)).fork()


def of_learner(
    workspace: Workspace, length: LogLength, function: Callable[..., Result], *arguments: Any
) -> Result:
    """`function(learner, log, *arguments)` of what the first method has learned."""
    return function(learner_copy(workspace, length), workspace.log_at(length), *arguments)
