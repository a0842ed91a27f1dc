"""Rotations as unit quaternions (scalar first), and meshes of triangles."""

from collections.abc import Iterable

import numpy as np

from prefero._support.arrays import Array


def rotation_matrix(quaternion: Array) -> Array:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), scalar first."""
    w, x, y, z = np.moveaxis(np.asarray(quaternion, dtype=float), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def quaternion_product(first: Array, second: Array) -> Array:
    """The rotation `second` followed by `first`: (..., 4), (..., 4) -> (..., 4), scalar first."""
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


def cluster_vertices(vertices: Array, faces: Array, cell: float) -> tuple[Array, Array]:
    """A simplified mesh: vertices are merged on a grid of this size; triangles that collapse are removed."""
    cells, cluster = np.unique(np.round(vertices / cell), axis=0, return_inverse=True)
    merged = cluster.reshape(-1)[faces]
    a, b, c = merged.T
    kept = (a != b) & (b != c) & (a != c)
    return cells * cell, merged[kept]


def surface_of_revolution(
    radii: Iterable[float], heights: Iterable[float], sides: int = 20
) -> tuple[Array, Array]:
    """The mesh of a profile, given from bottom to top, rotated about the z axis: spheres, discs, capsules."""
    angles = 2 * np.pi * np.arange(sides) / sides
    rings = [
        np.column_stack([r * np.cos(angles), r * np.sin(angles), np.full(sides, h)])
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
