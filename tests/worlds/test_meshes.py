"""The meshes of a MuJoCo model, checked by volumes and against MuJoCo's own positions and bounding boxes."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from prefero._support.arrays import Array
from prefero.rendering.scenes import Mesh
from prefero.worlds.golf import Golf
from prefero.worlds.mujoco.meshes import meshes_of
from rendering.measure_meshes import outward, volume

SHAPES = """
<mujoco>
  <asset><mesh name="wedge" vertex="0 0 0  1 0 0  0 1 0  0 0 1" /></asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <geom name="post" type="box" size="0.1 0.2 0.3" pos="1 2 3" euler="20 30 40" rgba="1 0.5 0 1"/>
    <body name="arm" pos="0.5 0 1" euler="0 90 10">
      <joint type="hinge"/>
      <geom name="ball" type="sphere" size="0.25" pos="0.3 0 0"/>
      <geom name="bone" type="capsule" size="0.1 0.4" pos="0 0.5 0" euler="45 0 0"/>
      <body name="hand" pos="0 0 1" euler="0 0 30">
        <geom name="fist" type="box" size="0.2 0.2 0.2" pos="0.1 0 0"/>
        <geom name="wedge" type="mesh" mesh="wedge" pos="0.4 0 0" euler="10 20 30"/>
      </body>
      <body name="finger" pos="0 0 2">
        <joint type="slide"/>
        <geom name="tip" type="sphere" size="0.05"/>
      </body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture(scope="module")
def model() -> Any:
    return mujoco.MjModel.from_xml_string(SHAPES)


def capsule_volume(radius: float, half: float) -> float:
    return float(np.pi * radius**2 * (2 * half + 4 * radius / 3))


@pytest.mark.parametrize(
    ("body", "volumes"),
    [
        ("world", [8 * 0.1 * 0.2 * 0.3]),
        ("arm", [4 / 3 * np.pi * 0.25**3, capsule_volume(0.1, 0.4), 8 * 0.2**3, 1 / 6]),
        ("finger", [4 / 3 * np.pi * 0.05**3]),
    ],
)
def test_every_geom_of_a_rigid_body_is_there_with_its_volume(
    model: Any, body: str, volumes: list[float]
) -> None:
    meshes = list(meshes_of(model, model.body(body).id))
    found = [volume(mesh.vertices, mesh.faces) for mesh in meshes]
    assert len(found) == len(volumes)
    for mine, wanted in zip(found, volumes, strict=True):
        assert 0.85 * wanted < mine < 1.02 * wanted  # round things are drawn with corners


def test_surfaces_of_a_model_look_outward(model: Any) -> None:
    for body in ("world", "arm", "finger"):
        for mesh in meshes_of(model, model.body(body).id):
            assert outward(mesh.vertices, mesh.faces, mesh.vertices.mean(axis=0))


def test_surfaces_lie_where_mujoco_has_them(model: Any) -> None:
    """Middles, in the frame of the body, against MuJoCo's places of geoms in another posture."""
    data = mujoco.MjData(model)
    data.qpos[:] = [0.7, 0.1]
    mujoco.mj_forward(model, data)
    arm = model.body("arm").id
    turn = Rotation.from_matrix(data.xmat[arm].reshape(3, 3))
    names = ["ball", "bone", "fist"]
    for mesh, name in zip(meshes_of(model, arm), names, strict=False):
        middle = (mesh.vertices.min(axis=0) + mesh.vertices.max(axis=0)) / 2
        found = turn.apply(middle) + data.xpos[arm]
        np.testing.assert_allclose(found, data.geom_xpos[model.geom(name).id], atol=1e-9)


def test_the_vertices_of_a_mesh_are_the_files(model: Any) -> None:
    """MuJoCo moves a mesh to its centre of mass; what is drawn is where the file has it."""
    wedge = list(meshes_of(model, model.body("arm").id))[3]
    inside = Rotation.from_euler("XYZ", [10, 20, 30], degrees=True)
    hand = Rotation.from_euler("z", 30, degrees=True)
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    wanted = hand.apply(inside.apply(corners) + np.array([0.4, 0, 0])) + np.array([0, 0, 1])
    apart = np.linalg.norm(wanted[:, None] - wedge.vertices, axis=2).min(axis=1)
    assert apart.max() < 0.006  # drawn on a grid of 6 mm


def test_colors_are_those_of_the_model(model: Any) -> None:
    (post,) = meshes_of(model, 0)
    assert post.color == "#ff8000"


def close_to_box(mesh: Mesh, model: Any, geom: int, place: Callable[[Array], Array]) -> bool:
    """Do the vertices fill MuJoCo's own bounding box of the geom, but for the grid they lie on?"""
    inside = place(mesh.vertices)
    middle, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    low, high = inside.min(axis=0), inside.max(axis=0)
    return bool(np.allclose(low, middle - half, atol=0.008) and np.allclose(high, middle + half, atol=0.008))


def test_the_whole_robot_is_drawn_and_fills_mujocos_own_boxes(golf: Golf) -> None:
    model, data = golf.model, mujoco.MjData(golf.model)
    mujoco.mj_forward(model, data)
    drawn = 0
    for body in [0, *np.flatnonzero(model.body_weldid == np.arange(model.nbody))[1:]]:
        geoms = [g for g in range(model.ngeom) if model.body_weldid[model.geom_bodyid[g]] == body]
        shown = [g for g in geoms if model.geom(g).name != "floor"]
        meshes = list(meshes_of(model, int(body)))
        assert len(meshes) == len(shown)
        for mesh, geom in zip(meshes, shown, strict=True):
            to_world = Rotation.from_matrix(data.xmat[body].reshape(3, 3))
            to_geom = Rotation.from_matrix(data.geom_xmat[geom].reshape(3, 3)).inv()
            centre, origin = data.geom_xpos[geom], data.xpos[body]
            assert close_to_box(
                mesh,
                model,
                geom,
                lambda v: to_geom.apply(to_world.apply(v) + origin - centre),  # noqa: B023
            ), model.geom(geom).name
            drawn += 1
    assert drawn == model.ngeom - 1
    parts = [part for part in golf.scene.parts if part.moves or part.name == "robot"]
    assert sum(len(part.shapes) for part in parts) == drawn
