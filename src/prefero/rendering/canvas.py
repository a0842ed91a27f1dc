"""Drawing scenes: frames of a video, filmstrips, and 2-D scenes and paths for figures.

    pose       (P, 3) or (P, 7)        the poses of the moving parts at one time
    image      (height, width, 3)

A 2-D scene becomes shapes of matplotlib; a 3-D scene is rasterized, and matplotlib adds its labels.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from prefero._support.arrays import Array, Image, Indices
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.rendering import rasterizer
from prefero.rendering.rasterizer import Framebuffer, Projection, transform, triangles_of
from prefero.rendering.scenes import Camera, Capsule, Mesh, Part, Polygon, Scene, Window

View = TypeVar("View", bound=Window | Camera)

DPI = 128  # of a canvas; a power of two, so that pixels / DPI * DPI is exact
TEXT_COLOR = "#222222"
IMAGE_SUFFIXES = (".png", ".pdf", ".svg")
PANEL, GAP, LINE = 2.0, 0.05, 0.26  # inches: the height of a filmstrip's panels, the gap, a line of text
SIZE_3D = (480, 360)
LABEL_OFFSET = 0.035  # a label is drawn above the center of a 3-D part by this fraction of the image's height
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class Canvas(Protocol):
    """Draws one scene many times."""

    def render(self, pose: Array) -> Image:
        """The scene with its moving parts at this pose."""


def canvas_for(scene: Scene, width: int = 480, height: int = 360) -> Canvas:
    """A canvas of this many pixels."""
    return Canvas2D(scene, width, height) if scene.is_2d else Canvas3D(scene, width, height)


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


def _center(points: Array) -> Array:
    return np.asarray((points.min(axis=0) + points.max(axis=0)) / 2)


def _add_text(surface: Any, position: Sequence[float] | Array, text: str, **more: Any) -> Any:
    """Small dark text with a light outline, legible on every color."""
    outline = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=1.6, foreground="white")
    style = {"fontsize": 7, "color": TEXT_COLOR, "ha": "center", "va": "center", "path_effects": [outline]}
    return surface.text(*position, text, **style, **more)


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
    canvas = None if scene.is_2d else Canvas3D(scene, *SIZE_3D)
    for number, index in enumerate(indices):
        left = GAP + number * (panel + GAP)
        axis = figure.add_axes((left / width, LINE / height, panel / width, PANEL / height))
        _draw_panel(axis, scene, canvas, poses[index])
        axis.set_xlabel(f"{index * scene.frame_time:.1f} s", fontsize=9, color=TEXT_COLOR)
    figure.text(0.5, 1 - LINE / 2 / height, title, fontsize=10, color=TEXT_COLOR, ha="center", va="center")
    return figure


def _draw_panel(axis: Any, scene: Scene, canvas: Canvas | None, pose: Array) -> None:
    if canvas is None:
        draw_2d(axis, scene, pose)
    else:
        axis.imshow(canvas.render(pose))
        _hide_frame(axis)


def _hide_frame(axis: Any) -> None:
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


# --- 2-D --------------------------------------------------------------------------------------------------


class Canvas2D:
    """Draws a 2-D scene; the window is widened, never stretched, until it fills the image."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        self.scene, self.window = scene, _fit_aspect(_view(scene, Window), width / height)
        self.figure, self.canvas = _new_figure(scene, width, height)
        self.axis = self.figure.add_axes((0, 0, 1, 1))
        self.axis.set_axis_off()
        self.transforms = _add_parts(self.axis, scene)

    def render(self, pose: Array) -> Image:
        """The scene with its moving parts at this pose (P, 3)."""
        _move(self.axis, self.scene, self.window, self.transforms, pose)
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba())[..., :3].copy()  # the next frame reuses the buffer


def draw_2d(axis: Any, scene: Scene, pose: Array, alpha: float = 1.0) -> None:
    """Draw a 2-D scene at one pose onto a matplotlib axis.

    Several poses can be drawn onto one axis: parts that stay do not hide parts that moved over them.
    """
    window = _view(scene, Window)
    _move(axis, scene, window, _add_parts(axis, scene, alpha), pose)
    axis.set(aspect="equal", facecolor=scene.background)
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


def _add_parts(axis: Any, scene: Scene, alpha: float = 1.0) -> list[Any]:
    """Add artists for all parts; returns the transforms of those that move."""
    affine = need("matplotlib.transforms", extra="plots").Affine2D
    transforms = []
    for index, part in enumerate(scene.parts):
        to_scene = affine()
        if part.shapes:
            style = {"transform": to_scene + axis.transData, "alpha": alpha}
            _add_part(axis, part, _zorder(scene, index), style)
        transforms += [to_scene] * part.moves
    return transforms


def _add_part(axis: Any, part: Part, zorder: float, style: dict[str, Any]) -> None:
    """Add artists for one part; a part that moves has an outline, so that it stands out."""
    outlines = [_outline(shape) for shape in part.shapes if not isinstance(shape, Mesh)]
    colors = np.asarray(
        need("matplotlib.colors", extra="plots").to_rgba_array([shape.color for shape in part.shapes])[:, :3]
    )
    edges = {"edgecolors": 0.6 * colors if part.moves else "none", "linewidths": 0.6}
    collection = need("matplotlib.collections", extra="plots").PolyCollection
    # Snapped to whole pixels, thin shapes would change their width from frame to frame.
    shapes = collection(outlines, facecolors=colors, zorder=zorder, snap=False, **edges, **style)
    axis.add_collection(shapes, autolim=False)
    if part.label:
        _add_text(axis, _center(np.concatenate(outlines)), part.label, clip_on=True, **style)


def _outline(shape: Polygon | Capsule, sides: int = 32) -> Array:
    """The points around a shape; a capsule has half a circle around each end."""
    if isinstance(shape, Polygon):
        return shape.points
    start, end = np.array(shape.start), np.array(shape.end)
    angles = np.arctan2(*(end - start)[::-1]) + np.linspace(np.pi / 2, 3 * np.pi / 2, sides + 1)
    half = shape.radius * np.column_stack([np.cos(angles), np.sin(angles)])
    return np.concatenate([start + half, end - half])


def _move(axis: Any, scene: Scene, window: Window, transforms: Sequence[Any], pose: Array) -> None:
    pose = _check_pose(scene, pose)
    for to_scene, (x, y, angle) in zip(transforms, pose, strict=True):
        to_scene.clear().rotate(angle).translate(x, y)
    shift = 0.0 if window.follow is None else pose[scene.index(window.follow), 1]
    axis.set(xlim=(window.left, window.right), ylim=(window.bottom + shift, window.top + shift))


# --- 3-D --------------------------------------------------------------------------------------------------


class Canvas3D:
    """Rasterizes a 3-D scene; the parts that stay are rasterized once."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        fine = rasterizer.SAMPLES * width, rasterizer.SAMPLES * height
        self.scene, self.projection = scene, Projection(_view(scene, Camera), *fine)
        self.moves = np.array([part.moves for part in scene.parts], dtype=bool)
        triangles = triangles_of(scene)
        moving = self.moves[triangles.part]
        self.moving = triangles.select(moving)
        blank = Framebuffer.blank(*fine, scene.background)
        self.still = blank.draw(self.projection.project(triangles.select(~moving)))
        self.figure, self.canvas = _new_figure(scene, width, height)
        self.labels = [_label(self.figure, part) for part in scene.parts]

    def render(self, pose: Array) -> Image:
        """The scene with its moving parts at this pose (P, 7)."""
        poses = np.tile(IDENTITY, (len(self.scene.parts), 1))
        poses[self.moves] = _check_pose(self.scene, pose)
        image = self.still.draw(self.projection.project(self.moving.at(poses))).resolve()
        return self._with_labels(image, poses) if any(part.label for part in self.scene.parts) else image

    def _with_labels(self, image: Image, poses: Array) -> Image:
        renderer = self.canvas.get_renderer()
        pixels = np.asarray(self.canvas.buffer_rgba())
        pixels[:] = np.dstack([image, np.full(image.shape[:2], 255)])
        for (center, text), pose in zip(self.labels, poses, strict=True):
            point = self.projection.to_camera(transform(center, pose))[0]
            if point[2] > self.projection.near:
                x, y = self.projection.to_pixels(point) / rasterizer.SAMPLES
                text.set_position((x, len(image) - y + LABEL_OFFSET * len(image)))
                text.draw(renderer)
        return pixels[..., :3].copy()


def _label(figure: Any, part: Part) -> tuple[Array, Any]:
    """The center (1, 3) of a 3-D part, and the text that belongs there."""
    points = [shape.vertices for shape in part.shapes if isinstance(shape, Mesh)] or [np.zeros((1, 3))]
    pixels = need("matplotlib.transforms", extra="plots").IdentityTransform()
    return _center(np.concatenate(points))[None], _add_text(figure, (0, 0), part.label, transform=pixels)
