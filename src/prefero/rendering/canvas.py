"""Drawing scenes: frames of a video, and filmstrips.

    pose       (P, 3) or (P, 7)        the poses of the moving parts at one time
    image      (height, width, 3)

A 2-D scene becomes shapes of matplotlib (`canvas_2d`); a 3-D scene is rasterized (`canvas_3d`).
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from prefero._support.arrays import Array, Image, Indices
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.rendering.artists import TEXT_COLOR, hide_frame
from prefero.rendering.canvas_2d import Canvas2D, draw_2d, size_of
from prefero.rendering.canvas_3d import Canvas3D
from prefero.rendering.scenes import Scene, Window

IMAGE_SUFFIXES = (".png", ".pdf", ".svg")
PANEL, GAP, LINE = 2.0, 0.05, 0.26  # inches: the height of a filmstrip's panels, the gap, a line of text
SIZE_3D = (540, 360)


class Canvas(Protocol):
    """Draws one scene many times."""

    def render(self, pose: Array, past: Array | None = None, arrived: bool = False) -> Image:
        """The scene with its moving parts at this pose.

        `past` (T, P, 3 or 7) are the poses so far: they leave trails. A main part that has `arrived` gets a
        ring.
        """


def canvas_for(scene: Scene, width: int = 480, height: int = 360, poses: Array | None = None) -> Canvas:
    """A canvas of this many pixels; its labels do not cover the paths of `poses` (T, P, 3 or 7)."""
    kind = Canvas2D if scene.is_2d else Canvas3D
    return kind(scene, width, height, poses)


def render_poses(scene: Scene, poses: Array, width: int, height: int) -> Iterator[Image]:
    """One image for every pose (T, P, 3 or 7), with the trails so far and a ring from the arrival on."""
    scene.check_poses(poses)
    canvas, arrival = canvas_for(scene, width, height, poses), scene.arrival(poses)
    for index, pose in enumerate(poses):
        yield canvas.render(pose, poses[: index + 1], index >= arrival)


def save_filmstrip(path: Path, scene: Scene, poses: Array, *, frames: int = 6) -> None:
    """Save the scene at `frames` times, evenly spaced, or at all times if there are fewer."""
    scene.check_poses(poses)
    if path.suffix.lower() not in IMAGE_SUFFIXES or frames < 1:
        raise ValueError(
            f"a filmstrip has one frame or more and is saved as {', '.join(IMAGE_SUFFIXES)}, "
            f"but {frames} frames were to be saved as {path.name!r}"
        )
    indices = np.linspace(0, len(poses) - 1, min(frames, len(poses))).round().astype(int)
    memory = io.BytesIO()
    _filmstrip(scene, poses, indices).savefig(memory, format=path.suffix[1:].lower(), dpi=180)
    write_atomically(path, memory.getvalue())


def _filmstrip(scene: Scene, poses: Array, indices: Indices) -> Any:
    aspect = size_of(scene.view) if isinstance(scene.view, Window) else SIZE_3D
    panel = PANEL * aspect[0] / aspect[1]
    width, height = (panel + GAP) * len(indices) + GAP, PANEL + LINE + GAP
    figure = need("matplotlib.figure", extra="plots").Figure((width, height))
    canvas = None if scene.is_2d else canvas_for(scene, *SIZE_3D, poses)
    arrival = scene.arrival(poses)
    for number, index in enumerate(indices):
        left = GAP + number * (panel + GAP)
        axis = figure.add_axes((left / width, LINE / height, panel / width, PANEL / height))
        _draw_panel(axis, scene, canvas, poses[: index + 1], index >= arrival)
        axis.set_xlabel(f"{index * scene.frame_time:.1f} s", fontsize=9, color=TEXT_COLOR)
    return figure


def _draw_panel(axis: Any, scene: Scene, canvas: Canvas | None, past: Array, arrived: bool) -> None:
    if canvas is None:
        draw_2d(axis, scene, past[-1], past=past, arrived=arrived)
    else:
        axis.imshow(canvas.render(past[-1], past, arrived))
        hide_frame(axis)
