"""Solid scenes as pictures: of all surfaces, every pixel shows the nearest.

    corners    (F, 3, 3)   triangles in the scene
    points     (F, 3, 2)   triangles on the picture, in pixels from its upper left
    nearness               one over the depth; on the picture it is linear, which depth is not

Matplotlib cannot do this, since it sorts whole triangles, and a tabletop has no one depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Flags, Indices
from prefero.rendering.scenes import Camera, Mesh, Scene, rotation

Picture = npt.NDArray[np.uint8]  # (height, width, 3)

AMBIENT = 0.5  # the share of the light that comes from everywhere
NEAR = 0.02  # what is nearer to the eye is cut off; in distances from the eye to its target
SAMPLES = 2  # a pixel is the mean of so many by so many
LATER = 1e-7  # where surfaces coincide the later one shows, since it counts as nearer by this share
SLIVER = 1e-9  # square pixels; smaller triangles are left out


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Triangles of a scene."""

    corners: Array
    colors: Array  # (F, 3)
    owner: Indices  # (F,) the place of the part in the scene
    rank: Indices  # (F,) the place of the mesh among all

    def only(self, chosen: Flags) -> "Surfaces":
        """Some of them."""
        return Surfaces(self.corners[chosen], self.colors[chosen], self.owner[chosen], self.rank[chosen])

    def at(self, poses: Array) -> "Surfaces":
        """The same where all parts of the scene have these poses."""
        return replace(self, corners=placed(self.corners, poses[self.owner]))


class Seen(NamedTuple):
    """Triangles as the camera sees them."""

    points: Array
    nearness: Array  # (F, 3)
    colors: Picture  # (F, 3) in their light


@dataclass(frozen=True, eq=False)
class Film:
    """A picture in the making: of all that is laid on it, the nearest shows."""

    nearness: Array  # (height, width)
    colors: Picture

    @classmethod
    def blank(cls, width: int, height: int, background: str) -> "Film":
        """Nothing but the background, infinitely far."""
        return cls(np.zeros((height, width)), np.tile(_bytes(_rgb([background])), (height, width, 1)))

    def lay(self, seen: Seen) -> "Film":
        """Another film, with these triangles: the rows of each, and the pixels of every row."""
        height, width = self.nearness.shape
        rows_of = seen.points[..., 1]
        triangle, row = _spread(rows_of.min(axis=1), rows_of.max(axis=1), height)
        line, column = _spread(*_ends(seen.points[triangle], row), width)
        triangle, pixel = triangle[line], width * row[line] + column
        slope, start = _planes(seen)
        near = start[triangle] + slope[triangle, 0] * (column + 0.5) + slope[triangle, 1] * (row[line] + 0.5)
        nearness, colors = self.nearness.ravel().copy(), self.colors.reshape(-1, 3).copy()
        np.maximum.at(nearness, pixel, near)
        won = near == nearness[pixel]
        colors[pixel[won]] = seen.colors[triangle[won]]
        return Film(nearness.reshape(height, width), colors.reshape(height, width, 3))

    def picture(self) -> Picture:
        """The mean of every SAMPLES by SAMPLES pixels."""
        fine = self.colors.astype(np.uint16)
        steps = [slice(start, None, SAMPLES) for start in range(SAMPLES)]
        total = sum((fine[down, across] for down in steps for across in steps), start=np.uint16(0))
        return np.asarray(total // SAMPLES**2, dtype=np.uint8)


def _spread(low: Array, high: Array, size: int) -> tuple[Indices, Indices]:
    """All pixels from 0 to `size` whose middle is between a low and a high: which of these, which pixel."""
    first, end = (np.clip(np.ceil(edge - 0.5), 0, size).astype(np.intp) for edge in (low, high))
    count = np.maximum(end - first, 0)
    which = np.repeat(np.arange(len(count)), count)
    return which, np.arange(len(which)) + (first - np.cumsum(count) + count)[which]


def _ends(points: Array, rows: Indices) -> tuple[Array, Array]:
    """Where the middles of rows enter their triangles, and where they leave."""
    y = rows[:, None] + 0.5
    ax, ay = np.moveaxis(points, -1, 0)
    bx, by = np.roll(ax, -1, axis=1), np.roll(ay, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # level edges, which do not count
        # Turning an edge round changes no bit of this, so there are no gaps between neighbours.
        x = (ax * (by - y) + bx * (y - ay)) / (by - ay)
    return np.where(by > ay, x, -np.inf).max(axis=1), np.where(by < ay, x, np.inf).min(axis=1)


def _planes(seen: Seen) -> tuple[Array, Array]:
    """Nearness on the picture: its slopes (F, 2) along x and y, and its value at 0."""
    sides, rise = seen.points[:, 1:] - seen.points[:, :1], seen.nearness[:, 1:] - seen.nearness[:, :1]
    slope = np.asarray(np.linalg.solve(sides, rise[..., None])[..., 0], dtype=float)
    return slope, seen.nearness[:, 0] - np.sum(slope * seen.points[:, 0], axis=1)


class Lens:
    """A pinhole camera with a light above its left shoulder."""

    def __init__(self, camera: Camera, width: int, height: int) -> None:
        self.eye = np.array(camera.eye, dtype=float)
        distance = float(np.linalg.norm(camera.target - self.eye))
        forward = (camera.target - self.eye) / distance
        up = np.array([0.0, 0.0, 1.0] if abs(forward[2]) < 0.9999 else [0.0, 1.0, 0.0])
        right = _unit(np.cross(forward, up))
        self.axes = np.array([right, np.cross(forward, right), forward])
        self.light = _unit(up - 0.5 * right - 0.8 * forward)
        self.centre = np.array([width, height]) / 2
        self.focal = height / 2 / np.tan(np.radians(camera.fov) / 2)
        self.near = NEAR * distance

    def seen(self, surfaces: Surfaces) -> Seen:
        """The triangles that turn their front to the eye."""
        a, b, c = np.moveaxis(surfaces.corners, 1, 0)
        normals = np.cross(b - a, c - a)
        front = np.sum(normals * (self.eye - a), axis=1) > 0
        light = AMBIENT + (1 - AMBIENT) * np.maximum(_unit(normals[front]) @ self.light, 0)
        corners, source = _cut(self.ahead(surfaces.corners[front]), self.near)
        points, rank = self.on_picture(corners), surfaces.rank[front][source]
        wide = np.linalg.det(points[:, 1:] - points[:, :1]) < -SLIVER  # below 0, since y points down
        nearness = (1 + LATER * rank[:, None]) / corners[..., 2]
        lit = _bytes(light[:, None] * surfaces.colors[front])[source]
        return Seen(points[wide], nearness[wide], lit[wide])

    def ahead(self, points: Array) -> Array:
        """How far points are to the right of the eye, below it and ahead of it."""
        return np.asarray((points - self.eye) @ self.axes.T)

    def on_picture(self, points: Array) -> Array:
        """The pixels of points ahead of the eye."""
        return np.asarray(self.centre + self.focal * points[..., :2] / points[..., 2:])


def surfaces_of(scene: Scene) -> Surfaces:
    """All triangles of a scene."""
    found = [(place, mesh) for place, part in enumerate(scene.parts) for mesh in part.shapes]
    meshes = [mesh for _, mesh in found if isinstance(mesh, Mesh)]
    rank = np.repeat(np.arange(len(meshes)), np.array([len(mesh.faces) for mesh in meshes], dtype=int))
    corners = np.concatenate([np.empty((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in meshes)])
    owner = np.array([place for place, _ in found], dtype=np.intp)[rank]
    return Surfaces(corners, _rgb([mesh.color for mesh in meshes])[rank], owner, rank)


def placed(points: Array, poses: Array) -> Array:
    """Points (..., K, 3) of rigid things at poses (..., 7)."""
    turned = np.einsum("...ij,...kj->...ki", rotation(poses[..., 3:]), points)
    return np.asarray(turned + poses[..., None, :3])


def _cut(corners: Array, near: float) -> tuple[Array, Indices]:
    """What of triangles lies farther ahead than `near`, and which triangle every piece is of."""
    ahead = corners[..., 2] > near
    count = ahead.sum(axis=1)
    whole, cut = np.flatnonzero(count == 3), np.flatnonzero(count % 3)
    tip, rest = count[cut] == 1, count[cut] == 2
    alone = (ahead[cut] == tip[:, None]).argmax(axis=1)  # the corner that has its side to itself
    a, b, c = (corners[cut, (alone + turn) % 3] for turn in range(3))
    ab, ac = (a + (near - a[:, 2:]) / (end - a)[:, 2:] * (end - a) for end in (b, c))
    pieces = [np.stack([a, ab, ac], 1)[tip], np.stack([ab, b, c], 1)[rest], np.stack([ab, c, ac], 1)[rest]]
    source = np.concatenate([whole, cut[tip], cut[rest], cut[rest]])
    return np.concatenate([corners[whole], *pieces]), source


def _unit(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _bytes(shares: Array) -> Picture:
    return np.round(255 * shares).astype(np.uint8)


def _rgb(colors: Sequence[str]) -> Array:
    """Colors like "#a0b1c2" as shares of red, green and blue, (K, 3)."""
    return np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors]).reshape(-1, 3)
