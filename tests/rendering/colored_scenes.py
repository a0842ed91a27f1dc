"""Scenes in plain colors, and where an image of them has each color."""

from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from prefero._support.arrays import Array, Flags, Image
from prefero.rendering.scenes import (
    Camera,
    Mesh,
    Part,
    Scene,
    Window,
    rectangle,
)

RED, GREEN, BLUE, GREY = "#ff0000", "#00ff00", "#0000ff", "#808080"
STILL = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
CUBE_FACES = np.array([
    [0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1],
    [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3],
])  # fmt: skip


def rgb(color: str) -> Any:
    return np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)])


def where(image: Image, color: str, tolerance: int = 60) -> Flags:
    """The pixels of a color, whatever its light: red is red where there is little else."""
    share = image / np.maximum(image.max(axis=2, keepdims=True), 1)
    bright = image.max(axis=2) > 60
    return np.asarray(bright & (np.abs(255 * share - rgb(color)).max(axis=2) <= tolerance))


def extent(mask: Flags) -> tuple[int, int, int, int]:
    """First and last row, first and last column."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return int(rows[0]), int(rows[-1]), int(columns[0]), int(columns[-1])


# --- 2-D --------------------------------------------------------------------------------------------------


def scene_2d(*parts: Part, window: Window | None = None) -> Scene:
    return Scene(parts, window or Window(0, 4, 0, 3), frame_time=0.1)


# --- on an axis -------------------------------------------------------------------------------------------

ROAD = scene_2d(
    Part("road", (rectangle(0, 4, 0, 3, GREY),)),
    Part("car", (rectangle(-0.3, 0.3, -0.3, 0.3, RED),), moves=True),
)


# --- 3-D --------------------------------------------------------------------------------------------------

CAMERA = Camera((3.0, -2.0, 1.5), (0.2, 0.3, 0.4))


def cube(size: Any = 0.2, center: Any = (0.0, 0.0, 0.0), color: str = RED) -> Mesh:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    return Mesh(corners * size + np.array(center), CUBE_FACES, color)


def scene_3d(*parts: Part, camera: Camera = CAMERA) -> Scene:
    return Scene(parts, camera, frame_time=0.1)


def at(*place: float, turn: Rotation | None = None) -> Array:
    x, y, z, w = (turn or Rotation.identity()).as_quat()
    return np.array([*place, w, x, y, z])


SKY = Scene((Part("cube", (cube(0.4),), moves=True),), CAMERA, 0.1, background="#bbddff")
