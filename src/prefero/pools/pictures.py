"""Small pictures of trajectories for reports: the end of a motion in its scene, or a frame of its clip.

A flat scene becomes a drawing in SVG, which is sharp at every size. A solid scene is rasterized, and of a
clip the frame in its middle is taken; both become a JPEG.
"""

import base64
from html import escape
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array, Image
from prefero.datasets.media.clip_image import clip_image
from prefero.pools.pool import Pool
from prefero.rendering.scenes import Capsule, Mesh, Part, Polygon, Scene, Window
from prefero.rendering.thumbnail import SceneThumbnails, jpeg

TRAIL = 0.012  # the width of a trail, as a fraction of the window's
PRECISION = 4


def picture(pool: Pool, index: int, clip: Path | None = None, *, trust: bool = False) -> str:
    """A picture of a trajectory as an HTML element; empty where nothing of it can be seen.

    `clip` is its video; `trust` allows to run code that the plan names of one that is not cut yet.
    """
    if pool.source is not None and pool.actions is not None:
        world = pool.world()
        if world.scene.parts:
            return scene_picture(world.scene, pool.trajectory(index).poses)
    frame = None if clip is None else _frame(clip, trust)
    return "" if frame is None else _jpeg_element(frame)


def scene_picture(scene: Scene, poses: Array) -> str:
    """The last pose of a motion, and the paths of the parts that leave a trail."""
    if not scene.is_2d:
        return _jpeg_element(SceneThumbnails(scene).image(poses))
    return _flat_picture(scene, poses)


def _frame(clip: Path, trust: bool) -> Image | None:
    """Any package may be behind a dataset; a report without one picture is still a report."""
    try:
        return clip_image(clip, trust=trust)
    except Exception:
        return None


def _jpeg_element(image: Image) -> str:
    data = base64.b64encode(jpeg(image)).decode()
    return f'<img alt="" src="data:image/jpeg;base64,{data}">'


# --- flat scenes ------------------------------------------------------------------------------------------


def _flat_picture(scene: Scene, poses: Array) -> str:
    """SVG, whose y points down: everything is drawn in a group that is turned over."""
    window, moving = scene.window_at(poses[-1]), {part.name: n for n, part in enumerate(scene.moving)}
    width, height = window.right - window.left, window.top - window.bottom
    drawn = [
        _part(part, poses[-1, moving[part.name]]) if part.moves else _still(part, window)
        for part in scene.parts
    ]
    trails = [
        _trail(part.color, poses[:, moving[part.name], :2], width) for part in scene.moving if part.trail
    ]
    box = f"{_number(window.left)} {_number(-window.top)} {_number(width)} {_number(height)}"
    return (
        f'<svg class="scene" viewBox="{box}" role="presentation"><rect x="{_number(window.left)}" '
        f'y="{_number(-window.top)}" width="{_number(width)}" height="{_number(height)}" '
        f'fill="{escape(scene.background)}"/>'
        f'<g transform="scale(1 -1)">{_ordered(scene, drawn, trails)}</g></svg>'
    )


def _ordered(scene: Scene, drawn: list[str], trails: list[str]) -> str:
    """Trails lie above the parts that stay, and below those that move."""
    still = [one for one, part in zip(drawn, scene.parts, strict=True) if not part.moves]
    moves = [one for one, part in zip(drawn, scene.parts, strict=True) if part.moves]
    return "".join([*still, *trails, *moves])


def _still(part: Part, window: Window) -> str:
    """The shapes of a part that stays, as far as they are in view: a road is longer than the window."""
    return "".join(_shape(shape) for shape in part.shapes if _in_view(shape, window))


def _in_view(shape: Polygon | Capsule | Mesh, window: Window) -> bool:
    if isinstance(shape, Mesh):
        return False
    points = shape.points if isinstance(shape, Polygon) else np.array([shape.start, shape.end])
    margin = shape.radius if isinstance(shape, Capsule) else 0.0
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    beside = low[0] > window.right or high[0] < window.left
    return not beside and low[1] <= window.top and high[1] >= window.bottom


def _part(part: Part, pose: Array) -> str:
    shapes = "".join(_shape(shape) for shape in part.shapes)
    x, y, angle = (_number(value) for value in (*pose[:2], np.degrees(pose[2])))
    return f'<g transform="translate({x} {y}) rotate({angle})">{shapes}</g>'


def _shape(shape: Polygon | Capsule | Mesh) -> str:
    if isinstance(shape, Polygon):
        return f'<polygon points="{_points(shape.points)}" fill="{escape(shape.color)}"/>'
    if isinstance(shape, Capsule):
        (x1, y1), (x2, y2) = shape.start, shape.end
        ends = f'x1="{_number(x1)}" y1="{_number(y1)}" x2="{_number(x2)}" y2="{_number(y2)}"'
        return f"<line {ends} {_stroke(shape.color, 2 * shape.radius)}/>"
    return ""


def _trail(color: str, places: Array, width: float) -> str:
    return f'<polyline points="{_points(places)}" fill="none" {_stroke(color, TRAIL * width)} opacity="0.7"/>'


def _stroke(color: str, width: float) -> str:
    return f'stroke="{escape(color)}" stroke-width="{_number(width)}" stroke-linecap="round"'


def _points(points: Array) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in np.asarray(points, dtype=float)[:, :2])


def _number(value: float) -> str:
    return f"{value:.{PRECISION}g}"
