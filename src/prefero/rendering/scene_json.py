"""Scenes and replays as JSON, in types: the one form that `Scene.to_json` writes and the page reads.

The page's own types are generated from these.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Literal

Point = tuple[float, float]
Place = tuple[float, float, float]


def plain(value: Any) -> dict[str, Any]:
    """A value of one of these types as JSON has it."""
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if is_dataclass(value):
        return plain(value)
    if isinstance(value, list) and value and is_dataclass(value[0]):
        return [plain(one) for one in value]
    return list(value) if isinstance(value, tuple) else value


@dataclass(frozen=True)
class Polygon:
    """A filled outline in the plane."""

    shape: Literal["polygon"]
    points: list[Point]
    color: str


@dataclass(frozen=True)
class Capsule:
    """A thick line with round ends in the plane; a disc where both ends are the same."""

    shape: Literal["capsule"]
    start: Point
    end: Point
    radius: float
    color: str


@dataclass(frozen=True)
class Mesh:
    """A surface of triangles: x, y, z of each vertex, and three vertices a face, both flattened."""

    shape: Literal["mesh"]
    vertices: list[float]
    faces: list[int]
    color: str


@dataclass(frozen=True)
class Window:
    """The visible rectangle of a flat scene.

    It moves up and down with the part it follows, and sideways as far as is needed to show that part. Most of
    what it shows at first stays in view: if the part goes farther, the window becomes wider.
    """

    kind: Literal["window"]
    left: float
    right: float
    bottom: float
    top: float
    follow: str | None


@dataclass(frozen=True)
class Camera:
    """Where a solid scene is seen from; `fov` is the vertical field of view in degrees.

    `name` tells it from others of the scene.
    """

    kind: Literal["camera"]
    eye: Place
    target: Place
    fov: float
    name: str = ""


@dataclass(frozen=True)
class FlatPart:
    """A rigid part of a flat scene; `label` is written beside it, `trail`: draw the path behind it."""

    name: str
    moves: bool
    label: str
    trail: bool
    shapes: list[Polygon | Capsule]


@dataclass(frozen=True)
class SolidPart:
    """A rigid part of a solid scene; `label` is written beside it, `trail`: draw the path behind it."""

    name: str
    moves: bool
    label: str
    trail: bool
    shapes: list[Mesh]


@dataclass(frozen=True)
class FlatScene:
    """A scene in two dimensions.

    `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
    """

    format: int
    frame_time: float
    background: str
    main_part: str | None
    dimensions: Literal[2]
    view: Window
    parts: list[FlatPart]


@dataclass(frozen=True)
class SolidScene:
    """A scene in three dimensions.

    `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
    `cameras` are those that a person may choose, the one of `view` first; none if there is no choice.
    """

    format: int
    frame_time: float
    background: str
    main_part: str | None
    dimensions: Literal[3]
    view: Camera
    parts: list[SolidPart]
    cameras: list[Camera] = field(default_factory=list)


@dataclass(frozen=True)
class Replay:
    """Poses of the scene's moving parts, one list a time.

    A pose is x, y, angle in a flat scene; x, y, z and the quaternion w, x, y, z in a solid one.
    """

    format: int
    frame_time: float
    poses: list[list[list[float]]]
