"""Scenes drawn: frames for video, filmstrips, and flat scenes and paths for the pictures of a paper.

    pose       (P, 3) or (P, 7)   where the moving parts are at one time
    picture    (height, width, 3)

A flat scene becomes matplotlib's shapes; a solid one is drawn pixel by pixel, and matplotlib labels it.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.files import write_whole
from prefero._support.optional import need
from prefero.rendering import rasterizer
from prefero.rendering.rasterizer import Film, Lens, Picture, placed, surfaces_of
from prefero.rendering.scenes import Camera, Capsule, Mesh, Part, Polygon, Scene, Window

View = TypeVar("View", bound=Window | Camera)

DPI = 128  # of a canvas; a power of two, so that pixels / DPI * DPI is exact
INK = "#222222"
STRIPS = (".png", ".pdf", ".svg")
PANEL, GAP, LINE = 2.0, 0.05, 0.26  # inches: how high a filmstrip's panels are, between them, and for text
SOLID_SHAPE = (480, 360)
ABOVE = 0.035  # a solid part's label is written above its middle by this share of the picture's height
UNMOVED = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class Canvas(Protocol):
    """Something that draws one scene again and again."""

    def frame(self, pose: Array) -> Picture:
        """The scene with its moving parts at this pose."""


def canvas_for(scene: Scene, width: int = 480, height: int = 360) -> Canvas:
    """A canvas of this many pixels."""
    return FlatCanvas(scene, width, height) if scene.flat else SolidCanvas(scene, width, height)


def _view(scene: Scene, kind: type[View]) -> View:
    if not isinstance(scene.view, kind):
        raise ValueError(
            f"this draws scenes that are seen through a {kind.__name__}, but the scene has a "
            f"{type(scene.view).__name__}: draw it with canvas_for or save_strip"
        )
    return scene.view


def _checked(scene: Scene, pose: Array) -> Array:
    scene.check_poses(np.asarray(pose)[None])
    return np.asarray(pose, dtype=float)


def _blank(scene: Scene, width: int, height: int) -> tuple[Any, Any]:
    """A figure of this many pixels and its canvas; without pyplot, which would keep it alive."""
    figure = need("matplotlib.figure", extra="plots").Figure((width / DPI, height / DPI), dpi=DPI)
    figure.set_facecolor(scene.background)
    return figure, need("matplotlib.backends.backend_agg", extra="plots").FigureCanvasAgg(figure)


def _drawn(canvas: Any) -> Picture:
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()  # the next frame is drawn over this one


def _rgb(colors: Sequence[str]) -> Array:
    return np.asarray(need("matplotlib.colors", extra="plots").to_rgba_array(colors)[:, :3])


def _middle(points: Array) -> Array:
    return np.asarray((points.min(axis=0) + points.max(axis=0)) / 2)


def _write(surface: Any, place: Sequence[float] | Array, text: str, **more: Any) -> Any:
    """Small dark text with a light edge, so that it can be read on every color."""
    edge = need("matplotlib.patheffects", extra="plots").withStroke(linewidth=1.6, foreground="white")
    style = {"fontsize": 7, "color": INK, "ha": "center", "va": "center", "path_effects": [edge]}
    return surface.text(*place, text, **style, **more)


# --- filmstrips -------------------------------------------------------------------------------------------


def save_strip(path: Path, scene: Scene, poses: Array, *, frames: int = 6, title: str = "") -> None:
    """A filmstrip: the scene at `frames` moments evenly over the time, or at all if there are fewer."""
    scene.check_poses(poses)
    if path.suffix.lower() not in STRIPS or frames < 1:
        raise ValueError(
            f"a filmstrip has one frame or more and is saved as {', '.join(STRIPS)}, "
            f"but {frames} frames were to be saved as {path.name!r}"
        )
    moments = np.linspace(0, len(poses) - 1, min(frames, len(poses))).round().astype(int)
    memory = io.BytesIO()
    _strip(scene, poses, moments, title).savefig(memory, format=path.suffix[1:].lower(), dpi=180)
    write_whole(path, memory.getvalue())


def _strip(scene: Scene, poses: Array, moments: Indices, title: str) -> Any:
    wide, high = _extent(scene.view) if isinstance(scene.view, Window) else SOLID_SHAPE
    panel = PANEL * wide / high
    width, height = (panel + GAP) * len(moments) + GAP, PANEL + LINE + (LINE if title else GAP)
    figure = need("matplotlib.figure", extra="plots").Figure((width, height))
    canvas = None if scene.flat else SolidCanvas(scene, *SOLID_SHAPE)
    for place, moment in enumerate(moments):
        left = GAP + place * (panel + GAP)
        axis = figure.add_axes((left / width, LINE / height, panel / width, PANEL / height))
        _fill_panel(axis, scene, canvas, poses[moment])
        axis.set_xlabel(f"{moment * scene.frame_time:.1f} s", fontsize=9, color=INK)
    figure.text(0.5, 1 - LINE / 2 / height, title, fontsize=10, color=INK, ha="center", va="center")
    return figure


def _fill_panel(axis: Any, scene: Scene, canvas: Canvas | None, pose: Array) -> None:
    if canvas is None:
        draw_flat(axis, scene, pose)
    else:
        axis.imshow(canvas.frame(pose))
        _bare(axis)


def _bare(axis: Any) -> None:
    axis.set(xticks=[], yticks=[])
    axis.spines[:].set_visible(False)


# --- flat -------------------------------------------------------------------------------------------------


class FlatCanvas:
    """Draws a flat scene; the window is widened, never stretched, until it fills the picture."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        self.scene, self.window = scene, _widened(_view(scene, Window), width / height)
        self.figure, self.canvas = _blank(scene, width, height)
        self.axis = self.figure.add_axes((0, 0, 1, 1))
        self.axis.set_axis_off()
        self.placements = _add_parts(self.axis, scene)

    def frame(self, pose: Array) -> Picture:
        """The scene with its moving parts at this pose (P, 3)."""
        _move(self.axis, self.scene, self.window, self.placements, pose)
        return _drawn(self.canvas)


def draw_flat(axis: Any, scene: Scene, pose: Array, faded: float = 1.0) -> None:
    """Draw a flat scene at one pose onto a matplotlib axis; `faded` says how strongly, from 0 to 1.

    Several poses can be drawn onto one axis: what stays does not hide what moved over it before.
    """
    window = _view(scene, Window)
    _move(axis, scene, window, _add_parts(axis, scene, faded), pose)
    axis.set(aspect="equal", facecolor=scene.background)
    _bare(axis)


def draw_path(axis: Any, scene: Scene, poses: Array, part: str, color: str) -> None:
    """Draw the way that a moving part of a flat scene takes; it lies under the part itself."""
    _view(scene, Window)
    scene.check_poses(poses)
    x, y, _ = poses[:, scene.index(part)].T
    place = [known.name for known in scene.parts].index(part)
    axis.plot(x, y, color=color, linewidth=1.6, solid_capstyle="round", zorder=_order(scene, place - 0.5))


def _extent(window: Window) -> tuple[float, float]:
    return window.right - window.left, window.top - window.bottom


def _widened(window: Window, aspect: float) -> Window:
    """The smallest window around this one that is `aspect` times as wide as high."""
    width, height = _extent(window)
    x, y = max(height * aspect - width, 0) / 2, max(width / aspect - height, 0) / 2
    return Window(window.left - x, window.right + x, window.bottom - y, window.top + y, window.follow)


def _order(scene: Scene, place: float) -> float:
    """Parts lie on each other in their order, also where a scene is drawn several times."""
    return 1 + place / len(scene.parts)


def _add_parts(axis: Any, scene: Scene, faded: float = 1.0) -> list[Any]:
    """Artists for all parts; returns the transforms by which those that move are moved."""
    transforms = need("matplotlib.transforms", extra="plots")
    placements = []
    for place, part in enumerate(scene.parts):
        placement = transforms.Affine2D()
        if part.shapes:
            style = {"transform": placement + axis.transData, "alpha": faded}
            _add_part(axis, part, _order(scene, place), style)
        placements += [placement] * part.moves
    return placements


def _add_part(axis: Any, part: Part, order: float, style: dict[str, Any]) -> None:
    """What moves has an outline, so that it stands out from what stays."""
    outlines = [_outline(shape) for shape in part.shapes if not isinstance(shape, Mesh)]
    colors = _rgb([shape.color for shape in part.shapes])
    edges = {"edgecolors": 0.6 * colors if part.moves else "none", "linewidths": 0.6}
    collection = need("matplotlib.collections", extra="plots").PolyCollection
    # Snapped to whole pixels, thin shapes would change their width from frame to frame.
    shapes = collection(outlines, facecolors=colors, zorder=order, snap=False, **edges, **style)
    axis.add_collection(shapes, autolim=False)
    if part.label:
        _write(axis, _middle(np.concatenate(outlines)), part.label, clip_on=True, **style)


def _outline(shape: Polygon | Capsule, sides: int = 32) -> Array:
    """The points around a shape; a capsule has half a circle around each end."""
    if isinstance(shape, Polygon):
        return shape.points
    start, end = np.array(shape.start), np.array(shape.end)
    turns = np.arctan2(*(end - start)[::-1]) + np.linspace(np.pi / 2, 3 * np.pi / 2, sides + 1)
    half = shape.radius * np.column_stack([np.cos(turns), np.sin(turns)])
    return np.concatenate([start + half, end - half])


def _move(axis: Any, scene: Scene, window: Window, placements: Sequence[Any], pose: Array) -> None:
    pose = _checked(scene, pose)
    for placement, (x, y, angle) in zip(placements, pose, strict=True):
        placement.clear().rotate(angle).translate(x, y)
    shift = 0.0 if window.follow is None else pose[scene.index(window.follow), 1]
    axis.set(xlim=(window.left, window.right), ylim=(window.bottom + shift, window.top + shift))


# --- solid ------------------------------------------------------------------------------------------------


class SolidCanvas:
    """Takes pictures of a solid scene; what stays is laid on film once."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        fine = rasterizer.SAMPLES * width, rasterizer.SAMPLES * height
        self.scene, self.lens = scene, Lens(_view(scene, Camera), *fine)
        self.moves = np.array([part.moves for part in scene.parts], dtype=bool)
        surfaces = surfaces_of(scene)
        self.moving = surfaces.only(self.moves[surfaces.owner])
        film = Film.blank(*fine, scene.background)
        self.film = film.lay(self.lens.seen(surfaces.only(~self.moves[surfaces.owner])))
        self.figure, self.canvas = _blank(scene, width, height)
        self.labels = [_label(self.figure, part) for part in scene.parts]

    def frame(self, pose: Array) -> Picture:
        """The scene with its moving parts at this pose (P, 7)."""
        poses = np.tile(UNMOVED, (len(self.scene.parts), 1))
        poses[self.moves] = _checked(self.scene, pose)
        picture = self.film.lay(self.lens.seen(self.moving.at(poses))).picture()
        return self._labelled(picture, poses) if any(part.label for part in self.scene.parts) else picture

    def _labelled(self, picture: Picture, poses: Array) -> Picture:
        renderer = self.canvas.get_renderer()
        pixels = np.asarray(self.canvas.buffer_rgba())
        pixels[:] = np.dstack([picture, np.full(picture.shape[:2], 255)])
        for (middle, text), pose in zip(self.labels, poses, strict=True):
            point = self.lens.ahead(placed(middle, pose))[0]
            if point[2] > self.lens.near:
                x, y = self.lens.on_picture(point) / rasterizer.SAMPLES
                text.set_position((x, len(picture) - y + ABOVE * len(picture)))
                text.draw(renderer)
        return pixels[..., :3].copy()


def _label(figure: Any, part: Part) -> tuple[Array, Any]:
    """The middle (1, 3) of a solid part, and the text that belongs there."""
    points = [shape.vertices for shape in part.shapes if isinstance(shape, Mesh)] or [np.zeros((1, 3))]
    pixels = need("matplotlib.transforms", extra="plots").IdentityTransform()
    return _middle(np.concatenate(points))[None], _write(figure, (0, 0), part.label, transform=pixels)
