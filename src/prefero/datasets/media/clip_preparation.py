"""Clips are made when they are first requested; how far that is, and why one cannot be played."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from prefero._support.files import cache_folder, written_atomically
from prefero.datasets.media.clips import clip_problem, cut_planned_clip, planned_frames
from prefero.datasets.media.video_files import copy_without_tags
from prefero.rendering.video import counting_frames

AT_ONCE = 2  # clips that are made at the same time: more would delay the two that a person waits for
Make = Callable[[], object]


class UnplayableClip(ValueError):
    """A clip cannot be made or played; the message says why."""


@dataclass(frozen=True)
class ClipStatus:
    """Whether a clip can be played now; while it is being prepared, how many of its `total` frames are done.

    problem   why it cannot be played; null unless the state is "failed"
    """

    state: Literal["ready", "preparing", "failed"]
    frames: int
    total: int | None
    problem: str | None


@dataclass
class _Making:
    """One clip that is being made."""

    total: int | None
    frames: int = 0
    tried: bool = False
    finished: threading.Lock = field(default_factory=threading.Lock)

    def count(self) -> None:
        self.frames += 1


class ClipPreparation:
    """Cuts or renders clips, each once however many requests ask for it.

    `report` gets the reason of each failure; `trust` allows code that the plan of a clip names to be run.
    """

    def __init__(self, report: Callable[[str], None], trust: bool = False) -> None:
        self._report, self._trust = report, trust
        self._making: dict[Path, _Making] = {}
        self._problems: dict[Path, str] = {}
        self._lock, self._slots = threading.Lock(), threading.Semaphore(AT_ONCE)

    def prepare(self, path: Path, make: Make | None = None) -> Path:
        """The clip, made if it is not there, by default by its plan; `UnplayableClip` if that fails."""
        if not path.is_file():
            with self._turn(path) as making:
                if not making.tried and not path.is_file():  # who waited for another needs no slot
                    making.tried = True
                    with self._slots, counting_frames(making.count):
                        self._make(path, make or partial(cut_planned_clip, path, trust=self._trust))
        if not path.is_file():
            raise UnplayableClip(self._problems.get(path, f"the clip {path} is missing"))
        return path

    def prepare_anonymous(self, path: Path, make: Make | None = None) -> Path:
        """A copy of the clip that does not say whose it is; `UnplayableClip` if that fails."""
        clip = self.prepare(path, make)
        try:
            return anonymous_clip(clip)
        except Exception as error:  # as for a clip that is cut
            self._remember(path, str(error) or repr(error))
            raise UnplayableClip(str(error)) from error

    def status(self, path: Path) -> ClipStatus:
        """Whether the clip can be played, how far it is, or why it cannot."""
        making = self._making.get(path)
        if making is None and path.is_file():
            self._remember(path, clip_problem(path))
        problem = self._problems.get(path) if making is None else None
        if problem is None and path.is_file():
            return ClipStatus(state="ready", frames=0, total=None, problem=None)
        frames, total = (making.frames, making.total) if making else (0, planned_frames(path))
        return ClipStatus(
            state="failed" if problem else "preparing", frames=frames, total=total, problem=problem
        )

    @contextmanager
    def _turn(self, path: Path) -> Iterator[_Making]:
        """Only one request makes a clip; the others wait for it."""
        with self._lock:
            making = self._making.setdefault(path, _Making(planned_frames(path)))
        with making.finished:
            try:
                yield making
            finally:
                self._making.pop(path, None)

    def _make(self, path: Path, make: Make) -> None:
        """Remember why it failed; any package may be behind a dataset, so any exception is a reason."""
        try:
            make()
            self._remember(path, None)
        except CancelledError:  # the server stops, which is no fault of the clip
            pass
        except Exception as error:
            self._remember(path, str(error) or repr(error))

    def _remember(self, path: Path, problem: str | None) -> None:
        """A new problem is reported once; a clip that can be played again is forgotten."""
        with self._lock:
            known = self._problems.pop(path, None)
            if problem is not None:
                self._problems[path] = problem
        if problem is not None and problem != known:
            self._report(f"A clip cannot be shown: {problem}")


def anonymous_clip(path: Path) -> Path:
    """A copy of the clip without what a file says of itself, in Prefero's cache, made unless it is there."""
    about = path.stat()
    version = hashlib.sha256(f"{path} {about.st_size} {about.st_mtime_ns}".encode()).hexdigest()[:32]
    copy = cache_folder() / "clips" / "anonymous" / f"{version}.mp4"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with written_atomically(copy) as file:
            copy_without_tags(path, file)
    return copy
