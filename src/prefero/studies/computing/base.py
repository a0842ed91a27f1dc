"""Where the server computes: in its own process (`ComputeSlots`), or in worker processes (`StudyWorkers`).

NOW         somebody waits for it
LIKELY      the question after the most probable answer, before it is given
POSSIBLE    the question after another answer
patience    seconds that somebody waits for the best question before a quick one is shown; None: for ever
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol

from prefero.studies.computing.workspace import Workspace

NOW, LIKELY, POSSIBLE = range(3)


class Computing(Protocol):
    """What a session needs of it."""

    patience: float | None

    @property
    def workers(self) -> int:
        """How many processes compute beside this one."""

    def submit(
        self, workspace: Workspace, function: Callable[..., Any], *arguments: Any, priority: int = NOW
    ) -> "Future[Any]":
        """Compute `function(workspace, *arguments)`."""

    def people_waiting(self, workspace: Workspace) -> int:
        """How many people wait for the process that computes for this one."""

    def cancel(self, workspace: Workspace, future: "Future[Any]") -> None:
        """Drop a computation that has not begun."""

    def close(self) -> None:
        """Compute nothing from now on."""
