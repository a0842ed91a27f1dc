"""What drawings of 2-D and 3-D scenes have in common: figures, labels, and the ring where a motion ends."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.rendering.scenes import Scene

DPI = 128  # of a canvas; a power of two, so that pixels / DPI * DPI is exact
POINT = 72 / DPI  # a pixel of a canvas in points, the unit of matplotlib's line widths
TEXT_COLOR, RING, RING_EDGE = "#222222", "#ffffff", "#1b2430"
RING_RADIUS, RING_GAP = 8, 4  # pixels: its smallest radius, and its distance from the part
TRAIL_WIDTH = 2.5  # pixels


def check_pose(scene: Scene, pose: Array) -> Array:
    """The pose (P, 3 or 7) in double precision, or an error if it is not one of this scene."""
    scene.check_poses(np.asarray(pose)[None])
    return np.asarray(pose, dtype=float)


def new_figure(scene: Scene, width: int, height: int) -> tuple[Any, Any]:
    """A figure of this many pixels and its canvas; without pyplot, which would keep it in memory."""
    figure = need("matplotlib.figure", extra="plots").Figure((width / DPI, height / DPI), dpi=DPI)
    figure.set_facecolor(scene.background)
    return figure, need("matplotlib.backends.backend_agg", extra="plots").FigureCanvasAgg(figure)


def hide_frame(axis: Any) -> None:
    """Leave out an axis's ticks and the lines around it."""
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


def add_text(surface: Any, position: Sequence[float] | Array, text: str, **more: Any) -> Any:
    """Small dark text with a light outline, legible on every color."""
    outline = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=1.6, foreground="white")
    style = {"fontsize": 7, "color": TEXT_COLOR, "ha": "center", "va": "center", "path_effects": [outline]}
    return surface.text(*position, text, **(style | more))


def text_size(text: Any) -> Array:
    """Width and height of a text in pixels."""
    box = text.get_window_extent()
    return np.array([box.width, box.height])


def add_ring(surface: Any, alpha: float = 1.0, **more: Any) -> Any:
    """A white ring with a dark edge, visible on every color."""
    edge = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=4 * POINT, foreground=RING_EDGE)
    line = need("matplotlib.lines", extra="plots").Line2D
    style = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": RING, "path_effects": [edge]}
    ring = line([], [], linestyle="none", markeredgewidth=2 * POINT, alpha=alpha, zorder=3, **style, **more)
    surface.add_artist(ring)
    return ring


def ring_radius(part_radius: float) -> float:
    """The radius of the ring around a part, in pixels."""
    return max(RING_RADIUS, part_radius + RING_GAP)


def bounding_box(points: Array) -> Array:
    """The bounding box (4,) of points (K, 2)."""
    return np.concatenate([points.min(axis=0), points.max(axis=0)])
