"""Thumbnails of a pool's trajectories, made when they are first asked for and kept in Prefero's cache."""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path

from prefero._support.arrays import Image
from prefero._support.files import cache_folder, write_atomically
from prefero.rendering.thumbnail import VERSION, jpeg

AT_ONCE = 2  # that are made at the same time: more would delay what a person waits for

_SLOTS = threading.Semaphore(AT_ONCE)


def kept_thumbnail(name: str, image: Callable[[], Image]) -> Path:
    """The JPEG file of this name, made of an image unless it is there."""
    digest = hashlib.sha256(f"{VERSION} {name}".encode()).hexdigest()[:24]
    path = cache_folder() / "thumbnails" / digest[:2] / f"{digest}.jpg"
    if not path.is_file():
        with _SLOTS:
            if not path.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                write_atomically(path, jpeg(image()))
    return path


def name_of_clip(path: Path) -> str:
    """A name for the clip as it is now: another one once it is cut, or replaced."""
    try:
        about = path.stat()
    except OSError:
        return f"planned {path}"
    return f"{path} {about.st_size} {about.st_mtime_ns}"
