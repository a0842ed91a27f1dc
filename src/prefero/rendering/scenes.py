"""Scenes: what a world looks like, said once, for pictures, for the browser and for video.

A scene is flat or solid. It is made of parts; a part is rigid, is made of shapes, and stays or moves.

    poses     (T, P, 3)   flat:  x, y and angle (radians, anticlockwise, going on past a full turn) of the
                          P moving parts at T times
              (T, P, 7)   solid: x, y, z and the unit quaternion w, x, y, z
    frame_time            seconds from one time to the next

Shapes are given in the frame of their part; a part that stays has the frame of the scene.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from prefero._support.arrays import Array

FORMAT = 1  # of the JSON; a change that old pages cannot read raises it
FLAT, SOLID = 3, 7  # numbers in a pose


@dataclass(frozen=True, eq=False)
class Polygon:
    """A filled flat outline."""

    points: Array  # (K, 2)
    color: str

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {"shape": "polygon", "points": _rounded(self.points), "color": self.color}


@dataclass(frozen=True, eq=False)
class Capsule:
    """A flat thick line with round ends; a disc where both ends are the same."""

    start: tuple[float, float]
    end: tuple[float, float]
    radius: float
    color: str

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {
            "shape": "capsule",
            "start": list(self.start),
            "end": list(self.end),
            "radius": self.radius,
            "color": self.color,
        }


@dataclass(frozen=True, eq=False)
class Mesh:
    """A solid surface of triangles."""

    vertices: Array  # (V, 3)
    faces: Array  # (F, 3) indices of vertices, anticlockwise from outside
    color: str

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {
            "shape": "mesh",
            "vertices": _rounded(self.vertices.ravel()),
            "faces": self.faces.ravel().tolist(),
            "color": self.color,
        }


Shape = Polygon | Capsule | Mesh


@dataclass(frozen=True)
class Part:
    """Something rigid."""

    name: str
    shapes: tuple[Shape, ...]
    moves: bool = False
    label: str = ""  # written on it

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {
            "name": self.name,
            "moves": self.moves,
            "label": self.label,
            "shapes": [shape.to_json() for shape in self.shapes],
        }


@dataclass(frozen=True)
class Window:
    """The part of a flat scene that is seen; it moves up and down with the part it follows."""

    left: float
    right: float
    bottom: float
    top: float
    follow: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {"kind": "window", **vars(self)}


@dataclass(frozen=True)
class Camera:
    """Where a solid scene is seen from; z points up."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    fov: float = 40.0  # vertical field of view in degrees

    def to_json(self) -> dict[str, Any]:
        """Plain values for the browser."""
        return {"kind": "camera", "eye": list(self.eye), "target": list(self.target), "fov": self.fov}


@dataclass(frozen=True)
class Scene:
    """Everything that is drawn of a world, but for where the moving parts are."""

    parts: tuple[Part, ...]
    view: Window | Camera
    frame_time: float
    background: str = "#ffffff"

    def __post_init__(self) -> None:
        names = [part.name for part in self.parts]
        if len(set(names)) != len(names):
            raise ValueError(f"the parts of a scene need names of their own, but have {names}")
        for part in self.parts:
            if any(isinstance(shape, Mesh) == self.flat for shape in part.shapes):
                kind = "flat" if self.flat else "solid"
                raise ValueError(f"the scene is {kind}, but part {part.name!r} has a shape that is not")
        if self.flat and self.view.follow not in (None, *(part.name for part in self.moving)):  # type: ignore[union-attr]
            raise ValueError(f"the view follows a part that does not move: {self.view}")

    @property
    def flat(self) -> bool:
        """Two dimensions, or three?"""
        return isinstance(self.view, Window)

    @cached_property
    def moving(self) -> tuple[Part, ...]:
        """The parts that poses are about, in their order."""
        return tuple(part for part in self.parts if part.moves)

    def index(self, name: str) -> int:
        """The place of a moving part in the poses."""
        names = [part.name for part in self.moving]
        if name not in names:
            raise ValueError(f"no part {name!r} moves in this scene: those that do are {', '.join(names)}")
        return names.index(name)

    def check_poses(self, poses: Array) -> None:
        """An error unless `poses` (T, P, 3 or 7) are finite and of this scene."""
        wanted = (len(self.moving), FLAT if self.flat else SOLID)
        if poses.ndim != 3 or len(poses) == 0 or poses.shape[1:] != wanted:
            raise ValueError(
                f"this scene has {wanted[0]} moving parts with {wanted[1]} numbers each, "
                f"so poses have shape (times, {wanted[0]}, {wanted[1]}), but these have {poses.shape}"
            )
        if not np.all(np.isfinite(poses)):
            raise ValueError("poses must be finite, but some are not")

    def at_rate(self, poses: Array, rate: float) -> Array:
        """The poses at `rate` frames a second, between the given ones where there are none."""
        self.check_poses(poses)
        last = len(poses) - 1
        times = np.minimum(
            np.arange(int(last * self.frame_time * rate + 1e-6) + 1) / (rate * self.frame_time), last
        )
        before = np.minimum(times.astype(int), max(last - 1, 0))
        share = (times - before)[:, None, None]
        after = poses[np.minimum(before + 1, last)]
        between: Array = (1 - share) * poses[before] + share * _same_hemisphere(after, poses[before])
        if not self.flat:
            between[..., 3:] /= np.linalg.norm(between[..., 3:], axis=-1, keepdims=True)
        return between

    def to_json(self) -> dict[str, Any]:
        """The scene for the browser: sent once, and then poses for every clip."""
        return {
            "format": FORMAT,
            "dimensions": 2 if self.flat else 3,
            "frame_time": self.frame_time,
            "background": self.background,
            "view": self.view.to_json(),
            "parts": [part.to_json() for part in self.parts],
        }

    def replay(self, poses: Array) -> dict[str, Any]:
        """One clip for the browser."""
        self.check_poses(poses)
        return replay(self.frame_time, poses)


def replay(frame_time: float, poses: Array) -> dict[str, Any]:
    """Poses of a known scene, for the browser."""
    return {"format": FORMAT, "frame_time": frame_time, "poses": _rounded(poses)}


def _same_hemisphere(after: Array, before: Array) -> Array:
    """q and -q turn alike: take the one that is nearer. Flat poses pass unchanged."""
    if after.shape[-1] == FLAT:
        return after
    opposite = np.sum(after[..., 3:] * before[..., 3:], axis=-1, keepdims=True) < 0
    return np.concatenate([after[..., :3], np.where(opposite, -1.0, 1.0) * after[..., 3:]], axis=-1)


def _rounded(values: Array) -> Any:
    """Nested lists with four decimals: tenths of a millimetre."""
    return np.round(np.asarray(values, dtype=float), 4).tolist()


def box(left: float, right: float, bottom: float, top: float, color: str) -> Polygon:
    """A flat upright rectangle."""
    return Polygon(np.array([[left, bottom], [right, bottom], [right, top], [left, top]]), color)


def rotation(quaternion: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_product(first: Array, second: Array) -> Array:
    """The turn that is `second`, seen from within `first`: (..., 4), (..., 4) -> (..., 4), scalar first."""
    a, b, c, d = np.moveaxis(np.asarray(first), -1, 0)
    w, x, y, z = np.moveaxis(np.asarray(second), -1, 0)
    return np.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def coarser(vertices: Array, faces: Array, cell: float) -> tuple[Array, Array]:
    """A mesh with its vertices drawn together on a grid of this size, and what thereby vanishes left out."""
    cells, place = np.unique(np.round(vertices / cell), axis=0, return_inverse=True)
    merged = place.reshape(-1)[faces]
    a, b, c = merged.T
    kept = (a != b) & (b != c) & (a != c)
    return cells * cell, merged[kept]


def solid_of_revolution(
    radii: Iterable[float], heights: Iterable[float], sides: int = 20
) -> tuple[Array, Array]:
    """The mesh that a profile, from below to above, sweeps about the z axis: spheres, discs and capsules."""
    turns = 2 * np.pi * np.arange(sides) / sides
    rings = [
        np.column_stack([r * np.cos(turns), r * np.sin(turns), np.full(sides, h)])
        for r, h in zip(radii, heights, strict=True)
    ]
    here = np.arange(sides)
    there = (here + 1) % sides
    quads = [
        np.concatenate(
            [
                np.column_stack([k * sides + here, k * sides + there, (k + 1) * sides + there]),
                np.column_stack([k * sides + here, (k + 1) * sides + there, (k + 1) * sides + here]),
            ]
        )
        for k in range(len(rings) - 1)
    ]
    return np.concatenate(rings), np.concatenate(quads)
