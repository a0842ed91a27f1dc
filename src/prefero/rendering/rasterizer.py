"""A software rasterizer for 3-D scenes: perspective projection, a depth buffer, and flat shading.

    corners         (F, 3, 3)   triangles in the scene's coordinates, or in the camera's: right, down, forward
    points          (F, 3, 2)   projected triangles, in pixels from the upper left corner of the image
    inverse depth               1 / depth, which is linear over the image, as depth is not; larger is nearer

Matplotlib cannot draw these scenes correctly: it sorts whole triangles by one depth each, and a large
triangle such as a tabletop has no single depth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags, Image, Indices
from prefero.rendering.geometry import rotation_matrix
from prefero.rendering.scenes import Camera, Mesh, Scene

AMBIENT = 0.5  # the fraction of the light that comes from all directions
NEAR = 0.02  # the near plane, as a fraction of the distance from the eye to its target
SAMPLES = 2  # supersampling: a pixel of the image is the mean of SAMPLES x SAMPLES pixels
DEPTH_BIAS = 1e-7  # each mesh counts as nearer by this fraction than the one before: no z-fighting
MIN_AREA = 1e-9  # triangles of a smaller projected area, in square pixels, are left out


@dataclass(frozen=True, eq=False)
class Triangles:
    """The triangles of a scene."""

    corners: Array
    colors: Array  # (F, 3)
    part: Indices  # (F,) the index of the part in the scene
    mesh: Indices  # (F,) the index of the mesh among all meshes

    def select(self, mask: Flags) -> "Triangles":
        """The triangles where `mask` (F,) is true."""
        return Triangles(self.corners[mask], self.colors[mask], self.part[mask], self.mesh[mask])

    def at(self, poses: Array) -> "Triangles":
        """The triangles with every part of the scene moved to its pose, (parts, 7)."""
        return replace(self, corners=transform(self.corners, poses[self.part]))


class ProjectedTriangles(NamedTuple):
    """Triangles on the image, shaded."""

    points: Array
    inverse_depth: Array  # (F, 3)
    colors: Image  # (F, 3)

    def join(self, *others: "ProjectedTriangles") -> "ProjectedTriangles":
        """These triangles and others."""
        return ProjectedTriangles(*(np.concatenate(arrays) for arrays in zip(self, *others, strict=True)))


class Fragments(NamedTuple):
    """Pixels that triangles cover; those of several triangles are there several times."""

    pixel: Indices  # in a framebuffer that is flattened
    inverse_depth: Array
    colors: Image


@dataclass(frozen=True, eq=False)
class Framebuffer:
    """Color and depth of every pixel: of all triangles drawn, the nearest shows."""

    inverse_depth: Array  # (height, width)
    colors: Image

    @classmethod
    def blank(cls, width: int, height: int, background: str) -> "Framebuffer":
        """The background, infinitely far away."""
        return cls(
            np.zeros((height, width)), np.tile(_to_uint8(_parse_colors([background])), (height, width, 1))
        )

    def copy(self) -> "Framebuffer":
        """The same pixels, to be drawn over."""
        return Framebuffer(self.inverse_depth.copy(), self.colors.copy())

    def fragments(self, triangles: ProjectedTriangles) -> Fragments:
        """The pixels that these triangles cover: the rows of each, and the pixels of every row."""
        height, width = self.inverse_depth.shape
        y = triangles.points[..., 1]
        triangle, row = _pixels_between(y.min(axis=1), y.max(axis=1), height)
        span, column = _pixels_between(*_spans(triangles.points[triangle], row), width)
        triangle, row = triangle[span], row[span]
        gradient, intercept = _depth_planes(triangles)
        depths = (
            intercept[triangle] + gradient[triangle, 0] * (column + 0.5) + gradient[triangle, 1] * (row + 0.5)
        )
        return Fragments(width * row + column, depths, triangles.colors[triangle])

    def put(self, fragments: Fragments) -> None:
        """Draw these pixels where they are the nearest."""
        pixel, depths, colors = fragments
        nearest = self.inverse_depth.reshape(-1)
        np.maximum.at(nearest, pixel, depths)
        visible = depths == nearest[pixel]
        self.colors.reshape(-1, 3)[pixel[visible]] = colors[visible]

    def take_over(self, other: "Framebuffer", pixel: Indices) -> None:
        """Copy these pixels of another one."""
        self.inverse_depth.reshape(-1)[pixel] = other.inverse_depth.reshape(-1)[pixel]
        self.colors.reshape(-1, 3)[pixel] = other.colors.reshape(-1, 3)[pixel]


class Backdrop:
    """What stays the same in many images: each takes time for what is drawn over it, not for every pixel."""

    def __init__(self, still: Framebuffer) -> None:
        self.still, self._work = still, still.copy()  # the same between two images
        height, width = still.inverse_depth.shape
        self.image: Image = np.empty((height // SAMPLES, width // SAMPLES, 3), dtype=np.uint8)
        self.image = self._resolved(np.arange(height * width))

    def draw(self, triangles: ProjectedTriangles) -> Image:
        """The image with these triangles."""
        fragments = self.still.fragments(triangles)
        self._work.put(fragments)
        image = self._resolved(fragments.pixel)
        self._work.take_over(self.still, fragments.pixel)
        return image

    def _resolved(self, changed: Indices) -> Image:
        """The image where only these pixels have changed: the mean of every SAMPLES x SAMPLES of them."""
        height, width, _ = self.image.shape
        row, column = np.divmod(changed, SAMPLES * width)
        touched = np.zeros(height * width, dtype=bool)
        touched[row // SAMPLES * width + column // SAMPLES] = True
        pixel = np.flatnonzero(touched)
        first = pixel // width * SAMPLES**2 * width + pixel % width * SAMPLES  # of its SAMPLES x SAMPLES
        offsets = (SAMPLES * width * down + across for down, across in np.ndindex(SAMPLES, SAMPLES))
        fine = self._work.colors.reshape(-1, 3)
        total = sum((fine[first + offset].astype(np.uint16) for offset in offsets), start=np.uint16(0))
        image = self.image.copy()
        image.reshape(-1, 3)[pixel] = total // SAMPLES**2
        return image


def _pixels_between(low: Array, high: Array, size: int) -> tuple[Indices, Indices]:
    """All pixels from 0 to `size` with their center between a low and a high: which interval, which pixel."""
    first, end = (np.clip(np.ceil(edge - 0.5), 0, size).astype(np.intp) for edge in (low, high))
    count = np.maximum(end - first, 0)
    interval = np.repeat(np.arange(len(count)), count)
    return interval, np.arange(len(interval)) + (first - np.cumsum(count) + count)[interval]


def _spans(points: Array, rows: Indices) -> tuple[Array, Array]:
    """The x at which the center lines of rows enter their triangles, and at which they leave them."""
    y = rows[:, None] + 0.5
    ax, ay = np.moveaxis(points, -1, 0)
    bx, by = np.roll(ax, -1, axis=1), np.roll(ay, -1, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # horizontal edges, which do not count
        # Reversing an edge changes no bit of this, so there are no gaps between neighbors.
        x = (ax * (by - y) + bx * (y - ay)) / (by - ay)
    return np.where(by > ay, x, -np.inf).max(axis=1), np.where(by < ay, x, np.inf).min(axis=1)


def _depth_planes(triangles: ProjectedTriangles) -> tuple[Array, Array]:
    """Inverse depth as a linear function of the pixel: its gradient (F, 2), and its value at (0, 0)."""
    points, depth = triangles.points, triangles.inverse_depth
    edges, rise = points[:, 1:] - points[:, :1], depth[:, 1:] - depth[:, :1]
    gradient = np.asarray(np.linalg.solve(edges, rise[..., None])[..., 0], dtype=float)
    return gradient, depth[:, 0] - np.sum(gradient * points[:, 0], axis=1)


class Projection:
    """A pinhole camera with a directional light above its left shoulder."""

    def __init__(self, camera: Camera, width: int, height: int) -> None:
        self.eye = np.array(camera.eye, dtype=float)
        distance = float(np.linalg.norm(camera.target - self.eye))
        forward = (camera.target - self.eye) / distance
        up = np.array([0.0, 0.0, 1.0] if abs(forward[2]) < 0.9999 else [0.0, 1.0, 0.0])
        right = _normalize(np.cross(forward, up))
        self.axes = np.array([right, np.cross(forward, right), forward])
        self.light = _normalize(up - 0.5 * right - 0.8 * forward)
        self.center = np.array([width, height]) / 2
        self.focal_length = height / 2 / np.tan(np.radians(camera.fov) / 2)
        self.near = NEAR * distance

    def project(self, triangles: Triangles) -> ProjectedTriangles:
        """The triangles that face the camera, clipped at the near plane, shaded and projected."""
        a, b, c = np.moveaxis(triangles.corners, 1, 0)
        normals = np.cross(b - a, c - a)
        front = np.sum(normals * (self.eye - a), axis=1) > 0
        light = AMBIENT + (1 - AMBIENT) * np.maximum(_normalize(normals[front]) @ self.light, 0)
        corners, source = _clip_near(self.to_camera(triangles.corners[front]), self.near)
        points, mesh = self.to_pixels(corners), triangles.mesh[front][source]
        kept = np.linalg.det(points[:, 1:] - points[:, :1]) < -MIN_AREA  # negative, since y points down
        inverse_depth = (1 + DEPTH_BIAS * mesh[:, None]) / corners[..., 2]
        shaded = _to_uint8(light[:, None] * triangles.colors[front])[source]
        return ProjectedTriangles(points[kept], inverse_depth[kept], shaded[kept])

    def ribbon(self, points: Array, width: float, color: str) -> ProjectedTriangles:
        """A line through points (T, 3), `width` pixels wide on the image, without light or shade."""
        camera = self.to_camera(points)
        ends = np.stack([camera[:-1], camera[1:]], axis=1)  # (T - 1, 2, 3)
        ends = ends[(ends[..., 2] > self.near).all(axis=1)]
        pixels = self.to_pixels(ends)
        along = pixels[:, 1] - pixels[:, 0]
        length = np.linalg.norm(along, axis=1)
        seen = length > 1e-6
        ends, pixels, along = ends[seen], pixels[seen], (along[seen].T / length[seen]).T * width / 2
        across = np.column_stack([-along[:, 1], along[:, 0]])
        start, end = pixels[:, 0] - along / 2, pixels[:, 1] + along / 2  # longer, so that there are no gaps
        corners = np.stack([start + across, start - across, end - across, end + across], axis=1)
        depth = 1 / np.repeat(ends[..., 2], 2, axis=1)
        halves = np.array([[0, 2, 1], [0, 3, 2]])  # their corners in the order that `draw` needs
        shade = np.broadcast_to(_to_uint8(_parse_colors([color])), (2 * len(ends), 3))
        return ProjectedTriangles(
            corners[:, halves].reshape(-1, 3, 2), depth[:, halves].reshape(-1, 3), np.ascontiguousarray(shade)
        )

    def to_camera(self, points: Array) -> Array:
        """Points in the camera's coordinates: right of the eye, below it, in front of it."""
        return np.asarray((points - self.eye) @ self.axes.T)

    def to_pixels(self, points: Array) -> Array:
        """The pixels of points in the camera's coordinates."""
        return np.asarray(self.center + self.focal_length * points[..., :2] / points[..., 2:])


def triangles_of(scene: Scene) -> Triangles:
    """All triangles of a scene."""
    found = [(index, mesh) for index, part in enumerate(scene.parts) for mesh in part.shapes]
    meshes = [mesh for _, mesh in found if isinstance(mesh, Mesh)]
    mesh = np.repeat(np.arange(len(meshes)), np.array([len(mesh.faces) for mesh in meshes], dtype=int))
    corners = np.concatenate([np.empty((0, 3, 3)), *(mesh.vertices[mesh.faces] for mesh in meshes)])
    part = np.array([index for index, _ in found], dtype=np.intp)[mesh]
    return Triangles(corners, _parse_colors([mesh.color for mesh in meshes])[mesh], part, mesh)


def transform(points: Array, poses: Array) -> Array:
    """Points (..., K, 3) of rigid bodies, rotated and translated to poses (..., 7)."""
    rotated = np.einsum("...ij,...kj->...ki", rotation_matrix(poses[..., 3:]), points)
    return np.asarray(rotated + poses[..., None, :3])


def _clip_near(corners: Array, near: float) -> tuple[Array, Indices]:
    """The pieces of triangles in front of the near plane, and the triangle that each comes from."""
    inside = corners[..., 2] > near
    count = inside.sum(axis=1)
    whole, cut = np.flatnonzero(count == 3), np.flatnonzero(count % 3)
    tip, rest = count[cut] == 1, count[cut] == 2
    alone = (inside[cut] == tip[:, None]).argmax(axis=1)  # the corner with no other on its side of the plane
    a, b, c = (corners[cut, (alone + turn) % 3] for turn in range(3))
    ab, ac = (a + (near - a[:, 2:]) / (end - a)[:, 2:] * (end - a) for end in (b, c))
    pieces = [np.stack([a, ab, ac], 1)[tip], np.stack([ab, b, c], 1)[rest], np.stack([ab, c, ac], 1)[rest]]
    source = np.concatenate([whole, cut[tip], cut[rest], cut[rest]])
    return np.concatenate([corners[whole], *pieces]), source


def _normalize(vectors: Array) -> Array:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))


def _to_uint8(fractions: Array) -> Image:
    return np.round(255 * fractions).astype(np.uint8)


def _parse_colors(colors: Sequence[str]) -> Array:
    """Colors like "#a0b1c2" as fractions of red, green and blue, (K, 3)."""
    return np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors]).reshape(-1, 3)
