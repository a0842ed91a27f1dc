"""Learners in worker processes: the server only reads, writes and serves.

Each participant has one worker, which keeps their learners and reads their log from the database. Nothing is
lost with a worker: another one takes its place, and builds the learners anew.
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from prefero._support.worker_pool import WorkerPool
from prefero.studies.computing.base import NOW, Computing
from prefero.studies.computing.compute_slots import ComputeSlots
from prefero.studies.computing.workspace import Workspace, in_workspace, workspaces_of
from prefero.studies.storage.database import address_of
from prefero.studies.storage.store import Store

PATIENCE = 0.25  # seconds that a participant waits for the best question before a quick one is shown
MODULES = (
    "prefero.studies.computing.workspace",
    "prefero.studies.reports.learning_summary",
    "sqlalchemy.dialects.sqlite",
)


class StudyWorkers:
    """Worker processes: each participant has one of them, which keeps their learners.

    Args:
        store: The database; every worker reads it by itself.
        count: How many; None is as many as there are cores.
        patience: Seconds that somebody waits for the best question.
    """

    def __init__(self, store: Store, count: int | None = None, patience: float | None = PATIENCE) -> None:
        state = workspaces_of(address_of(store.engine))
        self.patience, self.pool = patience, WorkerPool(count, state, MODULES)

    @property
    def workers(self) -> int:
        """How many there are."""
        return len(self.pool)

    def submit(
        self, workspace: Workspace, function: Callable[..., Any], *arguments: Any, priority: int = NOW
    ) -> "Future[Any]":
        """Compute in the participant's worker."""
        sent = (workspace.name, function, *arguments)
        return self.pool.submit(workspace.participant.id, in_workspace, *sent, priority=priority)

    def people_waiting(self, workspace: Workspace) -> int:
        """How many people wait for the participant's worker."""
        return self.pool.unfinished(workspace.participant.id, NOW)

    def cancel(self, workspace: Workspace, future: "Future[Any]") -> None:
        """Drop a computation that has not begun."""
        self.pool.cancel(workspace.participant.id, future)

    def close(self) -> None:
        """End the workers."""
        self.pool.close()


def start_computing(store: Store, workers: int | None, patience: float = PATIENCE) -> Computing:
    """Workers, by default as many as there are cores; 0 computes in this process."""
    return ComputeSlots() if workers == 0 else StudyWorkers(store, workers, patience)
