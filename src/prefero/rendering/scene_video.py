"""Videos of 3-D scenes for the page, rendered in worker processes that leave the processor to all others.

A video shows meshes and trails. The page writes the labels over it and draws the ring, sharp at every size.
"""

import threading
from concurrent.futures import Future
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Any

from prefero._support.arrays import Array
from prefero._support.systems import lower_priority, usable_cores
from prefero._support.worker_pool import WorkerPool
from prefero.rendering.scene_rasterizer import SceneRasterizer
from prefero.rendering.scenes import Scene
from prefero.rendering.video import save_video

WIDTH, HEIGHT, FPS = 960, 640, 25.0
VERSION = 1  # of what a video looks like: another one is rendered again
WORKERS = 2  # the two clips of a question at once

_MAKING = threading.Lock()

Rasterizers = dict[Path, SceneRasterizer]  # by the folder of a scene's videos; the last one only


def save_scene_video(known: Rasterizers, path: Path, scene: Scene, poses: Array) -> None:
    """Render the video of poses (T, P, 7), one frame each 1 / FPS seconds."""
    if path.parent not in known:
        known.clear()
        known[path.parent] = SceneRasterizer(scene, WIDTH, HEIGHT)
    frames = scene.resample(poses.astype(float), FPS)
    images = (known[path.parent].image(pose, frames[: index + 1]) for index, pose in enumerate(frames))
    path.parent.mkdir(parents=True, exist_ok=True)
    save_video(path, images, FPS, preset="veryfast")


def render_in_worker(path: Path, scene: Scene, poses: Array) -> "Future[Any]":
    """The same in the worker that has the least to do."""
    workers = _workers()
    place = min(range(len(workers)), key=workers.unfinished)
    return workers.submit(place, save_scene_video, path, scene, poses)


def stop_rendering() -> None:
    """End the workers, if there are any: whoever waits for a video, or will, gets a `CancelledError`."""
    if _made_workers.cache_info().currsize:
        _workers().close()


def _workers() -> WorkerPool:
    """Those of this process, made once though several requests come at the same time."""
    with _MAKING:
        return _made_workers()


@cache
def _made_workers() -> WorkerPool:
    """From the first video until the process ends."""
    Finalize(None, stop_rendering, exitpriority=0)  # before Python kills them, so that none is replaced
    return WorkerPool(min(WORKERS, usable_cores()), _new_state, ("prefero.rendering.scene_video", "av"))


def _new_state() -> Rasterizers:
    lower_priority()
    return {}
