"""Drawing 3-D scenes: rasterized, with labels and the ring drawn by matplotlib.

pose       (P, 7)   position and unit quaternion of the moving parts at one time
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.rendering import rasterizer
from prefero.rendering.artists import (
    POINT,
    TRAIL_WIDTH,
    add_ring,
    add_text,
    bounding_box,
    check_pose,
    new_figure,
    ring_radius,
    text_size,
    view_of,
)
from prefero.rendering.labels import boxes_around, place_labels
from prefero.rendering.rasterizer import (
    Framebuffer,
    ProjectedTriangles,
    Projection,
    Triangles,
    transform,
    triangles_of,
)
from prefero.rendering.scenes import Camera, Scene

MIN_SIZE = 0.03  # the main part is drawn at least this large, as a fraction of the image's height
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class Canvas3D:
    """Rasterizes a 3-D scene; the parts that stay are rasterized once."""

    def __init__(self, scene: Scene, width: int, height: int, poses: Array | None = None) -> None:
        fine = rasterizer.SAMPLES * width, rasterizer.SAMPLES * height
        self.scene, self.projection = scene, Projection(view_of(scene, Camera), *fine)
        self.moves = np.array([part.moves for part in scene.parts], dtype=bool)
        triangles = triangles_of(scene)
        moving = self.moves[triangles.part]
        self.moving = triangles.select(moving)
        blank = Framebuffer.blank(*fine, scene.background)
        self.still = blank.draw(self.projection.project(triangles.select(~moving)))
        self.figure, self.canvas = new_figure(scene, width, height)
        pixels = {"transform": need("matplotlib.transforms", extra="plots").IdentityTransform()}
        self.labels = self._place_labels(poses, pixels)
        self.moving_labels = {
            index: add_text(self.figure, (0, 0), part.label, va="bottom", **pixels)
            for index, part in enumerate(scene.moving)
            if part.label
        }
        self.ring = add_ring(self.figure, **pixels)

    def render(self, pose: Array, past: Array | None = None, arrived: bool = False) -> Image:
        """The scene with its moving parts at this pose (P, 7)."""
        pose = check_pose(self.scene, pose)
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
        texts = [add_text(self.figure, (0, 0), part.label, **style) for part in parts]
        anchors = np.array([bounding_box(self.pixels_of(part.points)) for part in parts])
        width, height = self.canvas.get_width_height()
        boxes = place_labels(
            np.array([text_size(text) for text in texts]),
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
                left, top, right, _ = bounding_box(self.pixels_of(points))
                text.set_position(((left + right) / 2, self.canvas.get_width_height()[1] - top))
                yield text

    def _ring_at(self, pose: Array, arrived: bool) -> Iterator[Any]:
        if arrived and self.scene.main_part is not None:
            position = pose[self.scene.index(self.scene.main_part), :3]
            ((x, y),) = self.pixels_of(position[None])
            self.ring.set_data([x], [self.canvas.get_width_height()[1] - y])
            self.ring.set_markersize(2 * ring_radius(self._main_radius(position)) * POINT)
            yield self.ring
