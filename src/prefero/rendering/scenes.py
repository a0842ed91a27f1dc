"""Scenes: what a world looks like, described once, for images, for video and for the browser.

A scene is 2-D or 3-D. It consists of parts; a part is rigid, consists of shapes, and either stays or moves.

    poses       (T, P, 3)   2-D: x, y and angle of the P moving parts at T times; the angle is in radians,
                            counterclockwise, and continues past a full turn
                (T, P, 7)   3-D: x, y, z and the unit quaternion w, x, y, z
    frame_time              seconds from one pose to the next

Shapes are given in the coordinates of their part; a part that stays has the coordinates of the scene.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering import scene_json

FORMAT = 1  # of the JSON; a change that older pages cannot read increases it
POSE_2D, POSE_3D = 3, 7  # numbers in a pose
FOLLOW_MARGIN = 1 / 6  # of a window's width: it moves sideways when the followed part is nearer to an edge
FOLLOW_KEEP = 0.6  # of a window's first width: it stays in view, however far the followed part goes
REST = 0.005  # a part has arrived when it is nearer to its last position than this fraction of its path


@dataclass(frozen=True, eq=False)
class Polygon:
    """A filled 2-D polygon.

    Args:
        points: Its corners, (n, 2).
        color: "#rrggbb".
    """

    points: Array  # (K, 2)
    color: str

    def as_json(self) -> scene_json.Polygon:
        """For the browser."""
        return scene_json.Polygon("polygon", _rounded(self.points), self.color)


@dataclass(frozen=True, eq=False)
class Capsule:
    """A thick 2-D line with round ends; a disc where both ends are the same.

    Args:
        start: One end, (x, y).
        end: The other end.
        radius: Half of its width.
        color: "#rrggbb".
    """

    start: tuple[float, float]
    end: tuple[float, float]
    radius: float
    color: str

    def as_json(self) -> scene_json.Capsule:
        """For the browser."""
        return scene_json.Capsule("capsule", self.start, self.end, self.radius, self.color)


@dataclass(frozen=True, eq=False)
class Mesh:
    """A 3-D surface of triangles.

    Args:
        vertices: The corners, (V, 3).
        faces: Triangles of corners, (F, 3).
        color: "#rrggbb".
    """

    vertices: Array  # (V, 3)
    faces: Array  # (F, 3) indices of vertices, counterclockwise as seen from outside
    color: str

    def as_json(self) -> scene_json.Mesh:
        """For the browser."""
        faces = self.faces.ravel().astype(np.intp).tolist()
        return scene_json.Mesh("mesh", _rounded(self.vertices.ravel()), faces, self.color)


Shape = Polygon | Capsule | Mesh


@dataclass(frozen=True)
class Part:
    """A rigid body: it moves as a whole, or stays.

    Args:
        name: Its name.
        shapes: What it is made of.
        moves: Whether it has poses.
        label: A text that is drawn beside it.
        trail: Whether its path is drawn.
    """

    name: str
    shapes: tuple[Shape, ...]
    moves: bool = False
    label: str = ""  # a text that is drawn beside it
    trail: bool = False  # whether the path that it has moved along is drawn

    @cached_property
    def points(self) -> Array:
        """The corners of its shapes, (K, 2) or (K, 3); of a capsule, four points around each end."""
        return np.concatenate([_points(shape) for shape in self.shapes]) if self.shapes else np.zeros((1, 3))

    @property
    def radius(self) -> float:
        """The distance from its origin to its farthest point."""
        return float(np.linalg.norm(self.points, axis=1).max())

    @property
    def color(self) -> str:
        """The color of its first shape."""
        return self.shapes[0].color if self.shapes else "#000000"


@dataclass(frozen=True)
class Window:
    """The visible rectangle of a 2-D scene.

    It moves up and down with the part that it follows, and sideways as far as is needed to show that part.
    Most of what it shows at first stays in view: if the part goes farther, the window becomes wider.

    Args:
        left: The smallest x.
        right: The largest x.
        bottom: The smallest y.
        top: The largest y.
        follow: The part that it follows; None stays.
    """

    left: float
    right: float
    bottom: float
    top: float
    follow: str | None = None

    def edges(self, positions: Array) -> Array:
        """Left, right, bottom and top while the followed part is at `positions`: (..., 2) -> (..., 4)."""
        width = self.right - self.left
        margin, farthest = FOLLOW_MARGIN * width, (1 - FOLLOW_KEEP) * width
        x, y = positions[..., 0], positions[..., 1]
        sideways = x - np.clip(x, self.left + margin, self.right - margin)
        left, right = np.minimum(sideways, farthest), np.maximum(sideways, -farthest)
        return np.stack([self.left + left, self.right + right, self.bottom + y, self.top + y], axis=-1)

    def as_json(self) -> scene_json.Window:
        """For the browser."""
        return scene_json.Window("window", self.left, self.right, self.bottom, self.top, self.follow)


@dataclass(frozen=True)
class Camera:
    """The camera of a 3-D scene; z points up.

    Args:
        eye: Where it is, (x, y, z).
        target: The point that it looks at.
        fov: The vertical angle of view, in degrees.
        name: What a person who may choose among cameras calls it.
    """

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    fov: float = 40.0  # vertical field of view in degrees
    name: str = ""

    def as_json(self) -> scene_json.Camera:
        """For the browser."""
        return scene_json.Camera("camera", self.eye, self.target, self.fov, self.name)


@dataclass(frozen=True)
class Scene:
    """Everything that is drawn of a world, except for the poses of the moving parts.

    Args:
        parts: What is drawn, in this order.
        view: A `Window` of a 2-D scene, or the `Camera` of a 3-D one.
        frame_time: Seconds from one pose to the next.
        background: A color.
        main_part: The moving part that people judge; it is marked, and never drawn too small.
        other_cameras: Of a 3-D scene, beside `view`: a person may choose one on the page.
    """

    parts: tuple[Part, ...]
    view: Window | Camera
    frame_time: float
    background: str = "#ffffff"
    main_part: str | None = None  # the moving part that people judge: it is marked, and never drawn too small
    other_cameras: tuple[Camera, ...] = ()

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise ValueError(f"the parts of a scene need different names, but have {names}")
        for part in self.parts:
            if any(isinstance(shape, Mesh) == self.is_2d for shape in part.shapes):
                kind = "2-D" if self.is_2d else "3-D"
                raise ValueError(f"the scene is {kind}, but part {part.name!r} has a shape that is not")
        moving = [None, *(part.name for part in self.moving)]
        if isinstance(self.view, Window) and self.view.follow not in moving:
            raise ValueError(f"the view follows a part that does not move: {self.view}")
        cameras = [camera.name for camera in (self.view, *self.other_cameras) if isinstance(camera, Camera)]
        if self.other_cameras and (self.is_2d or len({*cameras, ""}) <= len(cameras)):
            raise ValueError(
                f"cameras to choose from are of a 3-D scene and have different names, not {cameras}"
            )
        if self.main_part not in moving:
            raise ValueError(f"the main part must be one that moves, but {self.main_part!r} does not")

    @property
    def is_2d(self) -> bool:
        """Whether the scene has two dimensions; otherwise it has three."""
        return isinstance(self.view, Window)

    @cached_property
    def moving(self) -> tuple[Part, ...]:
        """The parts that move, in the order of the poses."""
        return tuple(part for part in self.parts if part.moves)

    def index(self, name: str) -> int:
        """The index of a moving part in the poses."""
        names = [part.name for part in self.moving]
        if name not in names:
            raise ValueError(f"no part {name!r} moves in this scene: the moving parts are {', '.join(names)}")
        return names.index(name)

    def window_at(self, pose: Array) -> Window:
        """The window of a 2-D scene while the moving parts are at this pose (P, 3)."""
        if not isinstance(self.view, Window):
            raise ValueError("a 3-D scene has a camera, not a window")
        follow = self.view.follow
        if follow is None:
            return self.view
        left, right, bottom, top = self.view.edges(np.asarray(pose)[self.index(follow), :2]).tolist()
        return Window(left, right, bottom, top, follow)

    def arrival(self, poses: Array) -> int:
        """The index of the pose (T, P, 3 or 7) from which on the main part stays where it ends."""
        if self.main_part is None:
            return len(poses) - 1
        positions = poses[:, self.index(self.main_part), : 2 if self.is_2d else 3]
        length = np.linalg.norm(np.diff(positions, axis=0), axis=1).sum()
        away = np.linalg.norm(positions - positions[-1], axis=1) > REST * length
        return int(np.flatnonzero(away)[-1]) + 1 if away.any() else len(poses) - 1

    def check_poses(self, poses: Array) -> None:
        """Raise an error unless `poses` (T, P, 3 or 7) are finite and fit this scene."""
        wanted = (len(self.moving), POSE_2D if self.is_2d else POSE_3D)
        if poses.ndim != 3 or len(poses) == 0 or poses.shape[1:] != wanted:
            raise ValueError(
                f"this scene has {wanted[0]} moving parts with {wanted[1]} numbers each, "
                f"so poses have shape (times, {wanted[0]}, {wanted[1]}), but these have {poses.shape}"
            )
        if not np.all(np.isfinite(poses)):
            raise ValueError("poses must be finite, but some are not")

    def resample(self, poses: Array, fps: float) -> Array:
        """The poses at another number of frames per second, linearly interpolated.

        Args:
            poses: (T, P, k).
            fps: Frames per second.

        Returns:
            The poses.
        """
        self.check_poses(poses)
        last = len(poses) - 1
        count = int(last * self.frame_time * fps + 1e-6) + 1
        times = np.minimum(np.arange(count) / (fps * self.frame_time), last)
        before = np.minimum(times.astype(int), max(last - 1, 0))
        fraction = (times - before)[:, None, None]
        after = poses[np.minimum(before + 1, last)]
        found: Array = (1 - fraction) * poses[before] + fraction * _same_hemisphere(after, poses[before])
        if not self.is_2d:
            found[..., 3:] /= np.linalg.norm(found[..., 3:], axis=-1, keepdims=True)
        return found

    def as_json(self) -> scene_json.FlatScene | scene_json.SolidScene:
        """For the browser."""
        look = FORMAT, self.frame_time, self.background, self.main_part
        if isinstance(self.view, Window):
            flat = [
                scene_json.FlatPart(
                    *(part.name, part.moves, part.label, part.trail),
                    [shape.as_json() for shape in part.shapes if not isinstance(shape, Mesh)],
                )
                for part in self.parts
            ]
            return scene_json.FlatScene(*look, 2, self.view.as_json(), flat)
        solid = [
            scene_json.SolidPart(
                *(part.name, part.moves, part.label, part.trail),
                [shape.as_json() for shape in part.shapes if isinstance(shape, Mesh)],
            )
            for part in self.parts
        ]
        cameras = [self.view, *self.other_cameras] if self.other_cameras else []
        return scene_json.SolidScene(
            *look, 3, self.view.as_json(), solid, [camera.as_json() for camera in cameras]
        )

    def to_json(self) -> dict[str, Any]:
        """The scene for the browser, which needs it once, and a replay for every trajectory."""
        return scene_json.plain(self.as_json())

    def replay(self, poses: Array) -> dict[str, Any]:
        """The poses of one trajectory for the browser."""
        self.check_poses(poses)
        return scene_json.plain(replay(self.frame_time, poses))


def replay(frame_time: float, poses: Array) -> scene_json.Replay:
    """The poses of one trajectory of a known scene, for the browser."""
    return scene_json.Replay(FORMAT, frame_time, _rounded(poses))


def _same_hemisphere(after: Array, before: Array) -> Array:
    """q and -q are the same rotation: take the nearer one. 2-D poses pass unchanged."""
    if after.shape[-1] == POSE_2D:
        return after
    opposite = np.sum(after[..., 3:] * before[..., 3:], axis=-1, keepdims=True) < 0
    return np.concatenate([after[..., :3], np.where(opposite, -1.0, 1.0) * after[..., 3:]], axis=-1)


def _points(shape: Shape) -> Array:
    if isinstance(shape, Polygon):
        return shape.points
    if isinstance(shape, Mesh):
        return shape.vertices
    around = shape.radius * np.array([[-1, 0], [1, 0], [0, -1], [0, 1]])
    return np.concatenate([shape.start + around, shape.end + around])


def _rounded(values: Array) -> Any:
    """Nested lists with four decimals: tenths of a millimetre."""
    return np.round(np.asarray(values, dtype=float), 4).tolist()


def rectangle(left: float, right: float, bottom: float, top: float, color: str) -> Polygon:
    """A rectangle with sides along the axes.

    Args:
        left: The smallest x.
        right: The largest x.
        bottom: The smallest y.
        top: The largest y.
        color: "#rrggbb".

    Returns:
        The rectangle.
    """
    return Polygon(np.array([[left, bottom], [right, bottom], [right, top], [left, top]]), color)
