"""Drawing 2-D scenes: shapes of matplotlib, on a canvas or on an axis of a figure.

pose       (P, 3)   x, y and angle of the moving parts at one time
"""

from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.rendering.artists import (
    POINT,
    TRAIL_WIDTH,
    add_ring,
    add_text,
    bounding_box,
    check_pose,
    hide_frame,
    new_figure,
    ring_radius,
    text_size,
)
from prefero.rendering.labels import boxes_around, place_labels
from prefero.rendering.scenes import Capsule, Mesh, Part, Polygon, Scene, Window

HALO, HALO_WIDTH = "#ffd84d", 6  # around the main part; its width in pixels, half of which is seen
TRAIL_ALPHA = 0.7


class Canvas2D:
    """Draws a 2-D scene; the window is widened, never stretched, until it fills the image."""

    def __init__(self, scene: Scene, width: int, height: int, poses: Array | None = None) -> None:
        self.scene, self.aspect = scene, width / height
        self.figure, self.canvas = new_figure(scene, width, height)
        self.axis = self.figure.add_axes((0, 0, 1, 1))
        self.axis.set_axis_off()
        assert isinstance(scene.view, Window)
        _show(self.axis, _fit_aspect(scene.view, self.aspect))
        self.artists = _add_parts(self.axis, scene, poses)

    def render(self, pose: Array, past: Array | None = None, arrived: bool = False) -> Image:
        """The scene with its moving parts at this pose (P, 3)."""
        _move(self.axis, self.scene, self.artists, pose, past, arrived)
        _show(self.axis, _fit_aspect(self.scene.window_at(pose), self.aspect))
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()  # the next frame reuses the buffer


def draw_2d(
    axis: Any,
    scene: Scene,
    pose: Array,
    alpha: float = 1.0,
    *,
    past: Array | None = None,
    arrived: bool = False,
) -> None:
    """Draw a 2-D scene at one pose onto a matplotlib axis, with trails along the poses `past` (T, P, 3).

    Several poses can be drawn onto one axis: parts that stay do not hide parts that moved over them. A main
    part that has `arrived` gets a ring.
    """
    axis.set(aspect="equal", facecolor=scene.background)
    _show(axis, scene.window_at(check_pose(scene, pose)))
    artists = _add_parts(axis, scene, past, alpha)
    _move(axis, scene, artists, pose, past, arrived)
    for line in (*artists.trails.values(), artists.ring):
        if not len(line.get_xdata()):
            line.remove()  # nothing is drawn with it
    hide_frame(axis)


def draw_path(axis: Any, scene: Scene, poses: Array, part: str, color: str) -> None:
    """Draw the path of a moving part of a 2-D scene, below the part itself."""
    scene.check_poses(poses)
    x, y, _ = poses[:, scene.index(part)].T
    index = [known.name for known in scene.parts].index(part)
    axis.plot(x, y, color=color, linewidth=1.6, solid_capstyle="round", zorder=_zorder(scene, index - 0.5))


def size_of(window: Window) -> tuple[float, float]:
    """Width and height of a window."""
    return window.right - window.left, window.top - window.bottom


def _fit_aspect(window: Window, aspect: float) -> Window:
    """The smallest window around this one whose width is `aspect` times its height."""
    width, height = size_of(window)
    x, y = max(height * aspect - width, 0) / 2, max(width / aspect - height, 0) / 2
    return Window(window.left - x, window.right + x, window.bottom - y, window.top + y, window.follow)


def _zorder(scene: Scene, index: float) -> float:
    """Later parts lie above earlier ones, also where a scene is drawn several times."""
    return 1 + index / len(scene.parts)


class Artists(NamedTuple):
    """What moves in a drawing of a 2-D scene."""

    transforms: list[Any]  # of the moving parts
    trails: dict[int, Any]  # by the index of the moving part
    labels: dict[int, Any]  # by the index of the moving part
    ring: Any  # around the main part


def _add_parts(axis: Any, scene: Scene, poses: Array | None, alpha: float = 1.0) -> Artists:
    """Add artists for all parts; the labels of those that stay do not cover the paths of `poses`."""
    affine = need("matplotlib.transforms", extra="plots").Affine2D
    transforms = [affine() for _ in scene.parts]
    for index, part in enumerate(scene.parts):
        if part.shapes:
            style = {"transform": transforms[index] + axis.transData, "alpha": alpha}
            _add_part(axis, part, _zorder(scene, index), part.name == scene.main_part, style)
    _add_labels(axis, scene, poses, alpha)
    order = {part.name: index for index, part in enumerate(scene.parts)}
    trails = {
        moving: _add_line(axis, part.color, _zorder(scene, order[part.name] - 0.5), TRAIL_ALPHA * alpha)
        for moving, part in enumerate(scene.moving)
        if part.trail
    }
    labels = {
        moving: add_text(axis, (0, 0), part.label, clip_on=True, alpha=alpha, va="bottom")
        for moving, part in enumerate(scene.moving)
        if part.label
    }
    moving = [transform for transform, part in zip(transforms, scene.parts, strict=True) if part.moves]
    return Artists(moving, trails, labels, add_ring(axis, alpha))


def _add_part(axis: Any, part: Part, zorder: float, marked: bool, style: dict[str, Any]) -> None:
    """Add artists for one part; a part that moves has an outline, and the main part a halo around it."""
    outlines = [_outline(shape) for shape in part.shapes if not isinstance(shape, Mesh)]
    colors = np.asarray(
        need("matplotlib.colors", extra="plots").to_rgba_array([shape.color for shape in part.shapes])[:, :3]
    )
    collection = need("matplotlib.collections", extra="plots").PolyCollection
    # Snapped to whole pixels, thin shapes would change their width from frame to frame.
    style = {"zorder": zorder, "snap": False, **style}
    if marked:
        halo = collection(
            outlines, facecolors="none", edgecolors=HALO, linewidths=HALO_WIDTH * POINT, **style
        )
        axis.add_collection(halo, autolim=False)
    edges = {"edgecolors": 0.6 * colors if part.moves else "none", "linewidths": 0.6}
    axis.add_collection(collection(outlines, facecolors=colors, **edges, **style), autolim=False)


def _add_line(axis: Any, color: str, zorder: float, alpha: float) -> Any:
    style = {"solid_capstyle": "round", "solid_joinstyle": "round", "linewidth": TRAIL_WIDTH * POINT}
    return axis.plot([], [], color=color, zorder=zorder, alpha=alpha, **style)[0]


def _add_labels(axis: Any, scene: Scene, poses: Array | None, alpha: float) -> None:
    """Labels of the parts that stay, beside them."""
    parts = [part for part in scene.parts if part.label and not part.moves]
    if not parts:
        return
    scale = np.array([1, -1]) * _pixels_per_meter(axis)  # y points down in the boxes
    texts = [add_text(axis, (0, 0), part.label, clip_on=True, alpha=alpha) for part in parts]
    sizes = np.array([text_size(text) for text in texts])
    anchors = np.array([bounding_box(part.points[:, :2] * scale) for part in parts])
    boxes = place_labels(sizes, anchors, _path_boxes(scene, poses, scale))
    for text, box in zip(texts, boxes, strict=True):
        if box is None:
            text.remove()
        else:
            text.set_position((box[:2] + box[2:]) / 2 / scale)


def _path_boxes(scene: Scene, poses: Array | None, scale: Array) -> Array:
    """Boxes in pixels around the moving parts at all poses (T, P, 3), (T P, 4)."""
    if poses is None:
        return np.empty((0, 4))
    radii = np.tile([part.radius for part in scene.moving], len(poses))
    return boxes_around(poses[..., :2].reshape(-1, 2) * scale, radii * abs(scale[0]))


def _pixels_per_meter(axis: Any) -> float:
    left, right = axis.get_xlim()
    return float(axis.get_window_extent().width / (right - left))


def _outline(shape: Polygon | Capsule, sides: int = 32) -> Array:
    """The points around a shape; a capsule has half a circle around each end."""
    if isinstance(shape, Polygon):
        return shape.points
    start, end = np.array(shape.start), np.array(shape.end)
    angles = np.arctan2(*(end - start)[::-1]) + np.linspace(np.pi / 2, 3 * np.pi / 2, sides + 1)
    half = shape.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([start + half, end - half])


def _move(axis: Any, scene: Scene, artists: Artists, pose: Array, past: Array | None, arrived: bool) -> None:
    """Move the artists to a pose (P, 3)."""
    pose = check_pose(scene, pose)
    for to_scene, (x, y, angle) in zip(artists.transforms, pose, strict=True):
        to_scene.clear().rotate(angle).translate(x, y)
    for moving, line in artists.trails.items():
        line.set_data(*np.empty((2, 0)) if past is None else past[:, moving, :2].T)
    for moving, label in artists.labels.items():
        left, _, right, top = bounding_box(_rotated(scene.moving[moving].points, pose[moving, 2]))
        label.set_position(pose[moving, :2] + [(left + right) / 2, top])
    ring = artists.ring
    ring.set_visible(arrived and scene.main_part is not None)
    if ring.get_visible():
        main = scene.index(str(scene.main_part))
        ring.set_data(pose[main, :1], pose[main, 1:2])
        pixels = scene.moving[main].radius * _pixels_per_meter(axis)
        ring.set_markersize(2 * ring_radius(pixels) * 72 / axis.figure.dpi)


def _rotated(points: Array, angle: float) -> Array:
    """The points (K, 2) of a part, rotated counterclockwise about its origin."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points[:, :2] @ [[cos, sin], [-sin, cos]])


def _show(axis: Any, window: Window) -> None:
    axis.set(xlim=(window.left, window.right), ylim=(window.bottom, window.top))
