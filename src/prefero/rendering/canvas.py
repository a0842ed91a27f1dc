"""Drawing scenes: frames of a video, filmstrips, and 2-D scenes and paths for figures.

    pose       (P, 3) or (P, 7)        the poses of the moving parts at one time
    image      (height, width, 3)

A 2-D scene becomes shapes of matplotlib; a 3-D scene is rasterized, and matplotlib adds its labels.
"""

import io
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from prefero._support.arrays import Array, Image, Indices
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.rendering import rasterizer
from prefero.rendering.labels import boxes_around, place_labels
from prefero.rendering.rasterizer import (
    Framebuffer,
    ProjectedTriangles,
    Projection,
    Triangles,
    transform,
    triangles_of,
)
from prefero.rendering.scenes import Camera, Capsule, Mesh, Part, Polygon, Scene, Window

View = TypeVar("View", bound=Window | Camera)

DPI = 128  # of a canvas; a power of two, so that pixels / DPI * DPI is exact
TEXT_COLOR = "#222222"
IMAGE_SUFFIXES = (".png", ".pdf", ".svg")
PANEL, GAP, LINE = 2.0, 0.05, 0.26  # inches: the height of a filmstrip's panels, the gap, a line of text
SIZE_3D = (540, 360)
MIN_SIZE = 0.03  # a main part of a 3-D scene is drawn at least this large, as a fraction of the height
HALO, RING, RING_EDGE = "#ffd84d", "#ffffff", "#1b2430"
POINT = 72 / DPI  # a pixel of a canvas in points, the unit of matplotlib's line widths
RING_RADIUS, RING_GAP = 8, 4  # pixels: its smallest radius, and its distance from the part
TRAIL_WIDTH, TRAIL_ALPHA = 2.5, 0.7
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


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


def _view(scene: Scene, kind: type[View]) -> View:
    if not isinstance(scene.view, kind):
        raise ValueError(
            f"this draws scenes whose view is a {kind.__name__}, but the scene has a "
            f"{type(scene.view).__name__}: draw it with canvas_for or save_filmstrip"
        )
    return scene.view


def _check_pose(scene: Scene, pose: Array) -> Array:
    scene.check_poses(np.asarray(pose)[None])
    return np.asarray(pose, dtype=float)


def _new_figure(scene: Scene, width: int, height: int) -> tuple[Any, Any]:
    """A figure of this many pixels and its canvas; without pyplot, which would keep it in memory."""
    figure = need("matplotlib.figure", extra="plots").Figure((width / DPI, height / DPI), dpi=DPI)
    figure.set_facecolor(scene.background)
    return figure, need("matplotlib.backends.backend_agg", extra="plots").FigureCanvasAgg(figure)


def _add_text(surface: Any, position: Sequence[float] | Array, text: str, **more: Any) -> Any:
    """Small dark text with a light outline, legible on every color."""
    outline = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=1.6, foreground="white")
    style = {"fontsize": 7, "color": TEXT_COLOR, "ha": "center", "va": "center", "path_effects": [outline]}
    return surface.text(*position, text, **(style | more))


# --- filmstrips -------------------------------------------------------------------------------------------


def save_filmstrip(path: Path, scene: Scene, poses: Array, *, frames: int = 6, title: str = "") -> None:
    """Save the scene at `frames` times, evenly spaced, or at all times if there are fewer."""
    scene.check_poses(poses)
    if path.suffix.lower() not in IMAGE_SUFFIXES or frames < 1:
        raise ValueError(
            f"a filmstrip has one frame or more and is saved as {', '.join(IMAGE_SUFFIXES)}, "
            f"but {frames} frames were to be saved as {path.name!r}"
        )
    indices = np.linspace(0, len(poses) - 1, min(frames, len(poses))).round().astype(int)
    memory = io.BytesIO()
    _filmstrip(scene, poses, indices, title).savefig(memory, format=path.suffix[1:].lower(), dpi=180)
    write_atomically(path, memory.getvalue())


def _filmstrip(scene: Scene, poses: Array, indices: Indices, title: str) -> Any:
    aspect = _size(scene.view) if isinstance(scene.view, Window) else SIZE_3D
    panel = PANEL * aspect[0] / aspect[1]
    width, height = (panel + GAP) * len(indices) + GAP, PANEL + LINE + (LINE if title else GAP)
    figure = need("matplotlib.figure", extra="plots").Figure((width, height))
    canvas = None if scene.is_2d else canvas_for(scene, *SIZE_3D, poses)
    arrival = scene.arrival(poses)
    for number, index in enumerate(indices):
        left = GAP + number * (panel + GAP)
        axis = figure.add_axes((left / width, LINE / height, panel / width, PANEL / height))
        _draw_panel(axis, scene, canvas, poses[: index + 1], index >= arrival)
        axis.set_xlabel(f"{index * scene.frame_time:.1f} s", fontsize=9, color=TEXT_COLOR)
    figure.text(0.5, 1 - LINE / 2 / height, title, fontsize=10, color=TEXT_COLOR, ha="center", va="center")
    return figure


def _draw_panel(axis: Any, scene: Scene, canvas: Canvas | None, past: Array, arrived: bool) -> None:
    if canvas is None:
        draw_2d(axis, scene, past[-1], past=past, arrived=arrived)
    else:
        axis.imshow(canvas.render(past[-1], past, arrived))
        _hide_frame(axis)


def _hide_frame(axis: Any) -> None:
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


# --- 2-D --------------------------------------------------------------------------------------------------


class Canvas2D:
    """Draws a 2-D scene; the window is widened, never stretched, until it fills the image."""

    def __init__(self, scene: Scene, width: int, height: int, poses: Array | None = None) -> None:
        self.scene, self.aspect = scene, width / height
        self.figure, self.canvas = _new_figure(scene, width, height)
        self.axis = self.figure.add_axes((0, 0, 1, 1))
        self.axis.set_axis_off()
        _show(self.axis, _fit_aspect(_view(scene, Window), self.aspect))
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
    _view(scene, Window)
    axis.set(aspect="equal", facecolor=scene.background)
    _show(axis, scene.window_at(_check_pose(scene, pose)))
    artists = _add_parts(axis, scene, past, alpha)
    _move(axis, scene, artists, pose, past, arrived)
    _hide_frame(axis)


def draw_path(axis: Any, scene: Scene, poses: Array, part: str, color: str) -> None:
    """Draw the path of a moving part of a 2-D scene, below the part itself."""
    _view(scene, Window)
    scene.check_poses(poses)
    x, y, _ = poses[:, scene.index(part)].T
    index = [known.name for known in scene.parts].index(part)
    axis.plot(x, y, color=color, linewidth=1.6, solid_capstyle="round", zorder=_zorder(scene, index - 0.5))


def _size(window: Window) -> tuple[float, float]:
    return window.right - window.left, window.top - window.bottom


def _fit_aspect(window: Window, aspect: float) -> Window:
    """The smallest window around this one whose width is `aspect` times its height."""
    width, height = _size(window)
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
        moving: _add_text(axis, (0, 0), part.label, clip_on=True, alpha=alpha, va="bottom")
        for moving, part in enumerate(scene.moving)
        if part.label
    }
    moving = [transform for transform, part in zip(transforms, scene.parts, strict=True) if part.moves]
    return Artists(moving, trails, labels, _add_ring(axis, alpha))


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
        halo = collection(outlines, facecolors="none", edgecolors=HALO, linewidths=6 * POINT, **style)
        axis.add_collection(halo, autolim=False)
    edges = {"edgecolors": 0.6 * colors if part.moves else "none", "linewidths": 0.6}
    axis.add_collection(collection(outlines, facecolors=colors, **edges, **style), autolim=False)


def _add_line(axis: Any, color: str, zorder: float, alpha: float) -> Any:
    style = {"solid_capstyle": "round", "solid_joinstyle": "round", "linewidth": TRAIL_WIDTH * POINT}
    return axis.plot([], [], color=color, zorder=zorder, alpha=alpha, **style)[0]


def _add_ring(surface: Any, alpha: float = 1.0, **more: Any) -> Any:
    """A white ring with a dark edge, visible on every color."""
    edge = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=4 * POINT, foreground=RING_EDGE)
    line = need("matplotlib.lines", extra="plots").Line2D
    style = {"marker": "o", "markerfacecolor": "none", "markeredgecolor": RING, "path_effects": [edge]}
    ring = line([], [], linestyle="none", markeredgewidth=2 * POINT, alpha=alpha, zorder=3, **style, **more)
    surface.add_artist(ring)
    return ring


def _add_labels(axis: Any, scene: Scene, poses: Array | None, alpha: float) -> None:
    """Labels of the parts that stay, beside them."""
    parts = [part for part in scene.parts if part.label and not part.moves]
    if not parts:
        return
    scale = np.array([1, -1]) * _pixels_per_meter(axis)  # y points down in the boxes
    texts = [_add_text(axis, (0, 0), part.label, clip_on=True, alpha=alpha) for part in parts]
    sizes = np.array([_text_size(text) for text in texts])
    anchors = np.array([_box(part.points[:, :2] * scale) for part in parts])
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


def _text_size(text: Any) -> Array:
    box = text.get_window_extent()
    return np.array([box.width, box.height])


def _box(points: Array) -> Array:
    """The bounding box (4,) of points (K, 2)."""
    return np.concatenate([points.min(axis=0), points.max(axis=0)])


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
    pose = _check_pose(scene, pose)
    for to_scene, (x, y, angle) in zip(artists.transforms, pose, strict=True):
        to_scene.clear().rotate(angle).translate(x, y)
    for moving, line in artists.trails.items():
        line.set_data(*np.empty((2, 0)) if past is None else past[:, moving, :2].T)
    for moving, label in artists.labels.items():
        left, _, right, top = _box(_rotated(scene.moving[moving].points, pose[moving, 2]))
        label.set_position(pose[moving, :2] + [(left + right) / 2, top])
    ring = artists.ring
    ring.set_visible(arrived and scene.main_part is not None)
    if ring.get_visible():
        main = scene.index(str(scene.main_part))
        ring.set_data(pose[main, :1], pose[main, 1:2])
        pixels = scene.moving[main].radius * _pixels_per_meter(axis)
        ring.set_markersize(2 * _ring_radius(pixels) * 72 / axis.figure.dpi)


def _rotated(points: Array, angle: float) -> Array:
    """The points (K, 2) of a part, rotated counterclockwise about its origin."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.asarray(points[:, :2] @ [[cos, sin], [-sin, cos]])


def _ring_radius(part_radius: float) -> float:
    """The radius of the ring around a part, in pixels."""
    return max(RING_RADIUS, part_radius + RING_GAP)


def _show(axis: Any, window: Window) -> None:
    axis.set(xlim=(window.left, window.right), ylim=(window.bottom, window.top))


# --- 3-D --------------------------------------------------------------------------------------------------


class Canvas3D:
    """Rasterizes a 3-D scene; the parts that stay are rasterized once."""

    def __init__(self, scene: Scene, width: int, height: int, poses: Array | None = None) -> None:
        fine = rasterizer.SAMPLES * width, rasterizer.SAMPLES * height
        self.scene, self.projection = scene, Projection(_view(scene, Camera), *fine)
        self.moves = np.array([part.moves for part in scene.parts], dtype=bool)
        triangles = triangles_of(scene)
        moving = self.moves[triangles.part]
        self.moving = triangles.select(moving)
        blank = Framebuffer.blank(*fine, scene.background)
        self.still = blank.draw(self.projection.project(triangles.select(~moving)))
        self.figure, self.canvas = _new_figure(scene, width, height)
        pixels = {"transform": need("matplotlib.transforms", extra="plots").IdentityTransform()}
        self.labels = self._place_labels(poses, pixels)
        self.moving_labels = {
            index: _add_text(self.figure, (0, 0), part.label, va="bottom", **pixels)
            for index, part in enumerate(scene.moving)
            if part.label
        }
        self.ring = _add_ring(self.figure, **pixels)

    def render(self, pose: Array, past: Array | None = None, arrived: bool = False) -> Image:
        """The scene with its moving parts at this pose (P, 7)."""
        pose = _check_pose(self.scene, pose)
        poses = np.tile(IDENTITY, (len(self.scene.parts), 1))
        poses[self.moves] = pose
        moving = self.projection.project(self._enlarged(pose).at(poses))
        image = self.still.draw(moving.join(*self._trails(past))).resolve()
        texts = [*self.labels, *self._moving_texts(pose), *self._ring_at(pose, arrived)]
        return self._with_artists(image, texts) if texts else image

    def _with_artists(self, image: Image, artists: Sequence[Any]) -> Image:
        """The image with texts and the ring, which matplotlib draws."""
        renderer = self.canvas.get_renderer()
        pixels = np.asarray(self.canvas.buffer_rgba())
        pixels[:] = np.dstack([image, np.full(image.shape[:2], 255)])
        for artist in artists:
            artist.draw(renderer)
        return pixels[..., :3].copy()

    def _place_labels(self, poses: Array | None, style: dict[str, Any]) -> list[Any]:
        """The labels of the parts that stay, clear of the targets and of the main part's path."""
        parts = [part for part in self.scene.parts if part.label and not part.moves]
        if not parts:
            return []
        texts = [_add_text(self.figure, (0, 0), part.label, **style) for part in parts]
        anchors = np.array([_box(self.pixels_of(part.points)) for part in parts])
        width, height = self.canvas.get_width_height()
        boxes = place_labels(
            np.array([_text_size(text) for text in texts]),
            anchors,
            self._path_boxes(poses),
            np.array([0, 0, width, height]),
        )
        shown = [(text, box) for text, box in zip(texts, boxes, strict=True) if box is not None]
        for text, (left, top, right, bottom) in shown:
            text.set_position(((left + right) / 2, height - (top + bottom) / 2))
        return [text for text, _ in shown]

    def _path_boxes(self, poses: Array | None) -> Array:
        """Boxes around the main part at all poses (T, P, 7)."""
        if self.scene.main_part is None or poses is None:
            return np.empty((0, 4))
        positions = poses[:, self.scene.index(self.scene.main_part), :3]
        return boxes_around(self.pixels_of(positions), np.array([self._main_radius(p) for p in positions]))

    def pixels_of(self, points: Array) -> Array:
        """Where points (K, 3) are in the image, from its upper left corner."""
        camera = self.projection.to_camera(points)
        camera[:, 2] = np.maximum(camera[:, 2], self.projection.near)
        return self.projection.to_pixels(camera) / rasterizer.SAMPLES

    def _main_radius(self, position: Array, enlarged: bool = True) -> float:
        """The radius of the main part in pixels, as it is drawn."""
        part = self.scene.moving[self.scene.index(str(self.scene.main_part))]
        depth = max(self.projection.to_camera(position)[2], self.projection.near)
        radius = self.projection.focal_length / rasterizer.SAMPLES * part.radius / depth
        smallest = MIN_SIZE * self.canvas.get_width_height()[1] / 2 if enlarged else 0.0
        return float(max(radius, smallest))

    def _enlarged(self, pose: Array) -> Triangles:
        """The moving triangles; the main part is enlarged where it would be too small to see."""
        if self.scene.main_part is None:
            return self.moving
        position = pose[self.scene.index(self.scene.main_part), :3]
        scale = self._main_radius(position) / max(self._main_radius(position, enlarged=False), 1e-9)
        names = [part.name for part in self.scene.parts]
        main = self.moving.part == names.index(self.scene.main_part)
        return replace(self.moving, corners=self.moving.corners * np.where(main, scale, 1.0)[:, None, None])

    def _trails(self, past: Array | None) -> Iterator[ProjectedTriangles]:
        for index, part in enumerate(self.scene.moving):
            if part.trail and past is not None:
                width = TRAIL_WIDTH * rasterizer.SAMPLES
                yield self.projection.ribbon(past[:, index, :3].astype(float), width, part.color)

    def _moving_texts(self, pose: Array) -> Iterator[Any]:
        """The labels of moving parts, above them."""
        for index, text in self.moving_labels.items():
            points = transform(self.scene.moving[index].points, pose[index])
            if np.all(self.projection.to_camera(points)[:, 2] > self.projection.near):
                left, top, right, _ = _box(self.pixels_of(points))
                text.set_position(((left + right) / 2, self.canvas.get_width_height()[1] - top))
                yield text

    def _ring_at(self, pose: Array, arrived: bool) -> Iterator[Any]:
        if arrived and self.scene.main_part is not None:
            position = pose[self.scene.index(self.scene.main_part), :3]
            ((x, y),) = self.pixels_of(position[None])
            self.ring.set_data([x], [self.canvas.get_width_height()[1] - y])
            self.ring.set_markersize(2 * _ring_radius(self._main_radius(position)) * POINT)
            yield self.ring
