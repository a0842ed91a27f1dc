"""The geoms of a loaded MuJoCo model as meshes of a scene."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.rendering.geometry import cluster_vertices, rotation_matrix, surface_of_revolution
from prefero.rendering.scenes import Mesh
from prefero.worlds.mujoco.rollout import engine

CELL = 0.006  # vertices of robot meshes are merged on a grid of this size: half the triangles
LATITUDES = np.pi * np.arange(-4, 5) / 8

Surface = tuple[Array, Array]


def meshes_of(model: Any, body: int) -> Iterator[Mesh]:
    """Meshes of every geom that is rigidly attached to a body (0: the world), in the body's coordinates."""
    data = engine().MjData(model)
    engine().mj_forward(model, data)
    rotation, position = rotation_matrix(data.xquat[body]), data.xpos[body]
    for geom in range(model.ngeom):
        kind = int(model.geom_type[geom])
        if model.body_weldid[model.geom_bodyid[geom]] == body and kind in SURFACES:
            vertices, faces = SURFACES[kind](model, geom)
            in_world = vertices @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom]
            yield Mesh((in_world - position) @ rotation, faces, _color(model, geom))


def _color(model: Any, geom: int) -> str:
    red, green, blue = (round(255 * float(c)) for c in model.geom_rgba[geom][:3])
    return f"#{red:02x}{green:02x}{blue:02x}"


def _mesh(model: Any, geom: int) -> Surface:
    mesh = model.geom_dataid[geom]
    vertices = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    return cluster_vertices(np.array(model.mesh_vert[vertices], dtype=float), model.mesh_face[faces], CELL)


def _box(model: Any, geom: int) -> Surface:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return corners * model.geom_size[geom], np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _sphere(model: Any, geom: int) -> Surface:
    radius = model.geom_size[geom][0]
    return surface_of_revolution(radius * np.cos(LATITUDES), radius * np.sin(LATITUDES))


def _capsule(model: Any, geom: int) -> Surface:
    radius, half = model.geom_size[geom][:2]
    south, north = LATITUDES[LATITUDES <= 0], LATITUDES[LATITUDES >= 0]
    heights = [radius * np.sin(south) - half, radius * np.sin(north) + half]
    return surface_of_revolution(radius * np.cos(np.concatenate([south, north])), np.concatenate(heights))


SURFACES: dict[int, Callable[[Any, int], Surface]] = {2: _sphere, 3: _capsule, 6: _box, 7: _mesh}  # mjtGeom
