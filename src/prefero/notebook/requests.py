"""The widget's requests. They are those that the page sends to its server, with the same paths and bodies."""

import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from prefero.datasets.media.clip_preparation import ClipPreparation, UnplayableClip
from prefero.notebook.teaching import Conflict, Teaching

LOGGER = logging.getLogger("prefero")
CLIP = re.compile(r"/api/clips/(\d+)\.mp4")


class NoTrajectory(Exception):
    """A path names a trajectory or a clip that the pool does not have."""


@dataclass(frozen=True)
class Response:
    """The status and the body that the server would send, or the bytes of a file."""

    status: int
    body: Any = None
    file: bytes | None = None


Handler = Callable[["Requests", Mapping[str, Any], re.Match[str]], Any]
# Only what the widget needs. The next question is not computed ahead: the kernel has other work to do.
ROUTES: dict[tuple[str, str], Handler] = {
    ("GET", r"/api/display"): lambda own, *_: own.teaching.display(),
    ("GET", r"/api/session"): lambda own, *_: own.teaching.state(),
    ("GET", r"/api/session/prefetch"): lambda *_: {"trajectories": [], "complete": True},
    ("GET", r"/api/trajectories/(\d+)"): lambda own, _, path: own.teaching.trajectory(own.index(path)),
    ("GET", r"/api/clips/(\d+)/status"): lambda own, _, path: own.clip_status(path),
    ("POST", r"/api/session/events"): lambda own, body, _: own.teaching.answer(
        body["question"], body["kind"], body["key"], body.get("seconds")
    ),
    ("POST", r"/api/session/undo"): lambda own, body, _: own.teaching.undo(body["question"], body["key"]),
}


class Requests:
    """Responds to the requests of one widget."""

    teaching: Teaching

    def __init__(self, teaching: Teaching) -> None:
        self.teaching = teaching
        self._clips = ClipPreparation(LOGGER.warning)

    def respond(self, method: str, path: str, body: Mapping[str, Any] | None) -> Response:
        """The response to a request; whatever goes wrong is told to the person."""
        try:
            clip = CLIP.fullmatch(path)
            if clip:
                return Response(200, file=self._clips.prepare(self._clip(clip)).read_bytes())
            return self._answer(method, path, body or {})
        except Conflict as error:
            return _problem(409, error.code, error)
        except (NoTrajectory, UnplayableClip) as error:
            return _problem(404, "no-trajectory", error)
        except Exception as error:
            LOGGER.exception("a request of the widget failed")
            return _problem(500, "failed", error)

    def _answer(self, method: str, path: str, body: Mapping[str, Any]) -> Response:
        for (known, pattern), handle in ROUTES.items():
            found = re.fullmatch(pattern, path)
            if found and known == method:
                return Response(200, handle(self, body, found))
        return _problem(404, "no-path", f"the widget has no {method} {path}")

    def index(self, path: re.Match[str]) -> int:
        """The trajectory that a path names."""
        try:
            self.teaching.learner.pool.check_index(int(path[1]))
        except ValueError as error:
            raise NoTrajectory(str(error)) from error
        return int(path[1])

    def clip_status(self, path: re.Match[str]) -> dict[str, Any]:
        """Whether a clip can be played now, how far its preparation is, or why it cannot be played."""
        return asdict(self._clips.status(self._clip(path)))

    def _clip(self, path: re.Match[str]) -> Path:
        """The file of a clip."""
        pool, index = self.teaching.learner.pool, self.index(path)
        if pool.clips is None:
            raise NoTrajectory("the pool has no clips")
        return Path(pool.clips[index])


def _problem(status: int, code: str, error: Exception | str) -> Response:
    return Response(status, {"error": {"code": code, "message": str(error) or repr(error)}})
