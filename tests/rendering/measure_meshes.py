"""Measures of triangle meshes."""

import numpy as np

from prefero._support.arrays import Array


def volume(vertices: Array, faces: Array) -> float:
    """By the divergence theorem; positive where the faces look outward."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    return float(np.sum(np.cross(a, b) * c) / 6)


def outward(vertices: Array, faces: Array, middle: Array) -> bool:
    """Do all faces of a convex surface look away from its middle? Those of no area have no side."""
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    away = np.sum(normals * ((a + b + c) / 3 - middle), axis=1)
    return bool(np.all(away >= -1e-15))
