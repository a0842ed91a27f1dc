"""Images of a 3-D scene: its meshes and trails, without labels and rings.

pose       (P, 7)      position and unit quaternion of the moving parts at one time
past       (T, P, 7)   the poses so far, which leave trails
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from prefero._support.arrays import Array, Image
from prefero.rendering import rasterizer
from prefero.rendering.artists import TRAIL_WIDTH, check_pose
from prefero.rendering.rasterizer import (
    Backdrop,
    Framebuffer,
    ProjectedTriangles,
    Projection,
    Triangles,
    triangles_of,
)
from prefero.rendering.scenes import Camera, Scene

MIN_SIZE = 0.03  # the main part is drawn at least this large, as a fraction of the image's height
USUAL_HEIGHT = 360  # pixels; trails are as much wider as an image is higher
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])


class SceneRasterizer:
    """Rasterizes a 3-D scene; the parts that stay are rasterized once."""

    def __init__(self, scene: Scene, width: int, height: int) -> None:
        fine = rasterizer.SAMPLES * width, rasterizer.SAMPLES * height
        self.scene, self.height = scene, height
        self.trail_width = TRAIL_WIDTH * max(height / USUAL_HEIGHT, 1.0) * rasterizer.SAMPLES
        assert isinstance(scene.view, Camera)
        self.projection = Projection(scene.view, *fine)
        self.moves = np.array([part.moves for part in scene.parts], dtype=bool)
        triangles = triangles_of(scene)
        moving = self.moves[triangles.part]
        self.moving = triangles.select(moving)
        still = Framebuffer.blank(*fine, scene.background)
        still.put(still.fragments(self.projection.project(triangles.select(~moving))))
        self.still = Backdrop(still)

    def image(self, pose: Array, past: Array | None = None) -> Image:
        """The scene with its moving parts at this pose."""
        pose = check_pose(self.scene, pose)
        poses = np.tile(IDENTITY, (len(self.scene.parts), 1))
        poses[self.moves] = pose
        moving = self.projection.project(self._enlarged(pose).at(poses))
        return self.still.draw(moving.join(*self._trails(past)))

    def pixels_of(self, points: Array) -> Array:
        """Where points (K, 3) are in the image, from its upper left corner."""
        camera = self.projection.to_camera(points)
        camera[:, 2] = np.maximum(camera[:, 2], self.projection.near)
        return self.projection.to_pixels(camera) / rasterizer.SAMPLES

    def main_radius(self, position: Array, enlarged: bool = True) -> float:
        """The radius of the main part in pixels, as it is drawn."""
        part = self.scene.moving[self.scene.index(str(self.scene.main_part))]
        depth = max(self.projection.to_camera(position)[2], self.projection.near)
        radius = self.projection.focal_length / rasterizer.SAMPLES * part.radius / depth
        return float(max(radius, MIN_SIZE * self.height / 2 if enlarged else 0.0))

    def _enlarged(self, pose: Array) -> Triangles:
        """The moving triangles; the main part is enlarged where it would be too small to see."""
        if self.scene.main_part is None:
            return self.moving
        position = pose[self.scene.index(self.scene.main_part), :3]
        scale = self.main_radius(position) / max(self.main_radius(position, enlarged=False), 1e-9)
        names = [part.name for part in self.scene.parts]
        main = self.moving.part == names.index(self.scene.main_part)
        return replace(self.moving, corners=self.moving.corners * np.where(main, scale, 1.0)[:, None, None])

    def _trails(self, past: Array | None) -> Iterator[ProjectedTriangles]:
        for index, part in enumerate(self.scene.moving):
            if part.trail and past is not None:
                yield self.projection.ribbon(past[:, index, :3].astype(float), self.trail_width, part.color)
