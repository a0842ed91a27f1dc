"""Small images of a pool's trajectories in their 3-D scene; the page itself draws how they move."""

import hashlib
import json
import threading
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from prefero._support.arrays import Array, Image
from prefero.pools.pool import Pool
from prefero.rendering.thumbnail import SceneThumbnails

REMEMBERED = 256  # trajectories whose poses are kept: the name and the image both need them


def has_scene_thumbnails(display: Mapping[str, Any]) -> bool:
    """Whether trajectories that are displayed like this have such images: the page draws 2-D scenes."""
    return display["kind"] == "scene" and bool(display["scene"]["dimensions"] == 3)


class PoolThumbnails:
    """The images of one pool."""

    def __init__(self, pool: Pool) -> None:
        self.scene = pool.world().scene
        self._look = _digest(json.dumps(self.scene.to_json()).encode())
        self._pool, self._poses = pool, lru_cache(REMEMBERED)(self._simulated)
        self._thumbnails: SceneThumbnails | None = None
        self._drawing = threading.Lock()

    def name(self, index: int) -> str:
        """It follows from the scene and the poses, so that pools and sessions share an image."""
        return f"scene-{self._look}/{_digest(self._poses(index).tobytes())}"

    def image(self, index: int) -> Image:
        """The end of a trajectory, drawn small."""
        with self._drawing:
            self._thumbnails = self._thumbnails or SceneThumbnails(self.scene)
            return self._thumbnails.image(self._poses(index))

    def _simulated(self, index: int) -> Array:
        return self._pool.trajectory(index).poses


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:24]
