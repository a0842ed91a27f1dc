"""Videos of a pool's trajectories in their 3-D scene, for browsers that cannot draw it.

They lie in Prefero's cache, under a name that follows from the scene and the poses: whichever pool or session
shows a trajectory, its video is rendered once.
"""

import hashlib
import json
import threading
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from prefero._support.arrays import Array, Image
from prefero._support.files import cache_folder
from prefero.pools.pool import Pool
from prefero.rendering.scene_video import FPS, HEIGHT, VERSION, WIDTH, render_in_worker
from prefero.rendering.thumbnail import SceneThumbnails

REMEMBERED = 256  # trajectories whose poses are kept: the page asks several times for each


def has_scene_clips(display: Mapping[str, Any]) -> bool:
    """Whether trajectories that are displayed like this have such videos: 2-D scenes need none."""
    return display["kind"] == "scene" and bool(display["scene"]["dimensions"] == 3)


class SceneClips:
    """The videos of one pool."""

    def __init__(self, pool: Pool) -> None:
        self.scene = pool.world().scene
        look = json.dumps([self.scene.to_json(), WIDTH, HEIGHT, FPS, VERSION])
        self.folder = cache_folder() / "clips" / f"scene-{_digest(look.encode())}"
        self._pool, self._poses = pool, lru_cache(REMEMBERED)(self._simulated)
        self._thumbnails: SceneThumbnails | None = None
        self._drawing = threading.Lock()

    def path(self, index: int) -> Path:
        """Where the video of a trajectory is, or will be."""
        return self.folder / f"{_digest(self._poses(index).tobytes())}.mp4"

    def render(self, index: int) -> None:
        """Render the video of a trajectory, in another process."""
        render_in_worker(self.path(index), self.scene, self._poses(index)).result()

    def thumbnail(self, index: int) -> Image:
        """The end of a trajectory, drawn small."""
        with self._drawing:
            self._thumbnails = self._thumbnails or SceneThumbnails(self.scene)
            return self._thumbnails.image(self._poses(index))

    def _simulated(self, index: int) -> Array:
        return self._pool.trajectory(index).poses


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]
