"""Clips for people who must not know whose they are: the frames, without what a file says of itself."""

import hashlib
from pathlib import Path

from prefero._support.files import cache_folder, written_atomically
from prefero.datasets.media.video_files import copy_without_tags


def anonymous_clip(path: Path) -> Path:
    """A copy of the clip without tags, in Prefero's cache, made unless it is there."""
    about = path.stat()
    version = hashlib.sha256(f"{path} {about.st_size} {about.st_mtime_ns}".encode()).hexdigest()[:32]
    copy = cache_folder() / "clips" / "anonymous" / f"{version}.mp4"
    if not copy.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        with written_atomically(copy) as file:
            copy_without_tags(path, file)
    return copy
