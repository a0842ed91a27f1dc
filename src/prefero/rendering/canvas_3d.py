"""Drawing 3-D scenes: rasterized, with labels and the ring drawn by matplotlib.

pose       (P, 7)   position and unit quaternion of the moving parts at one time
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.rendering.artists import (
    POINT,
    add_ring,
    add_text,
    bounding_box,
    check_pose,
    new_figure,
    ring_radius,
    text_size,
)
from prefero.rendering.labels import boxes_around, place_labels
from prefero.rendering.rasterizer import transform
from prefero.rendering.scene_rasterizer import SceneRasterizer
from prefero.rendering.scenes import Scene


class Canvas3D:
    """Draws a 3-D scene with its labels, and a ring where its main part has arrived."""

    def __init__(self, scene: Scene, width: int, height: int, poses: Array | None = None) -> None:
        self.scene, self.rasterizer = scene, SceneRasterizer(scene, width, height)
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
        image = self.rasterizer.image(pose, past)
        texts = [*self.labels, *self._moving_texts(pose), *self._ring_at(pose, arrived)]
        return self._with_artists(image, texts) if texts else image

    def _with_artists(self, image: Image, artists: Sequence[Any]) -> Image:
        """The image with texts and the ring, which matplotlib draws."""
        renderer = self.canvas.get_renderer()
        pixels = np.asarray(self.canvas.buffer_rgba())
        pixels[..., :3], pixels[..., 3] = image, 255
        for artist in artists:
            artist.draw(renderer)
        return pixels[..., :3].copy()

    def _place_labels(self, poses: Array | None, style: dict[str, Any]) -> list[Any]:
        """The labels of the parts that stay, clear of the targets and of the main part's path."""
        parts = [part for part in self.scene.parts if part.label and not part.moves]
        if not parts:
            return []
        texts = [add_text(self.figure, (0, 0), part.label, **style) for part in parts]
        anchors = np.array([bounding_box(self.rasterizer.pixels_of(part.points)) for part in parts])
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
        return boxes_around(
            self.rasterizer.pixels_of(positions),
            np.array([self.rasterizer.main_radius(p) for p in positions]),
        )

    def _moving_texts(self, pose: Array) -> Iterator[Any]:
        """The labels of moving parts, above them."""
        for index, text in self.moving_labels.items():
            points = transform(self.scene.moving[index].points, pose[index])
            if np.all(self.rasterizer.projection.to_camera(points)[:, 2] > self.rasterizer.projection.near):
                left, top, right, _ = bounding_box(self.rasterizer.pixels_of(points))
                text.set_position(((left + right) / 2, self.canvas.get_width_height()[1] - top))
                yield text

    def _ring_at(self, pose: Array, arrived: bool) -> Iterator[Any]:
        if arrived and self.scene.main_part is not None:
            position = pose[self.scene.index(self.scene.main_part), :3]
            ((x, y),) = self.rasterizer.pixels_of(position[None])
            self.ring.set_data([x], [self.canvas.get_width_height()[1] - y])
            self.ring.set_markersize(2 * ring_radius(self.rasterizer.main_radius(position)) * POINT)
            yield self.ring
