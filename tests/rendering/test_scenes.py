"""Scenes: what they refuse, poses between poses, and geometry judged by volumes and by another library."""

import json
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from prefero._support.arrays import Array
from prefero.rendering.scenes import (
    Camera,
    Capsule,
    Mesh,
    Part,
    Polygon,
    Scene,
    Window,
    box,
    coarser,
    quaternion_product,
    rotation,
    solid_of_revolution,
)
from prefero.worlds.golf import Golf
from prefero.worlds.mujoco.meshes import meshes_of

WINDOW = Window(-1.0, 1.0, -2.0, 2.0)
CAMERA = Camera((3.0, 3.0, 3.0), (0.0, 0.0, 0.0))
BALL = Capsule((0.0, 0.0), (0.0, 0.0), 0.1, "#ff0000")
TILE = Mesh(np.eye(3), np.array([[0, 1, 2]]), "#00ff00")


def flat(moving: int = 2, frame_time: float = 0.5) -> Scene:
    parts = [Part("floor", (box(-1.0, 1.0, -2.0, 0.0, "#cccccc"),))]
    parts += [Part(f"ball {number}", (BALL,), moves=True) for number in range(moving)]
    return Scene(tuple(parts), WINDOW, frame_time)


def solid(moving: int = 2, frame_time: float = 0.5) -> Scene:
    parts = [Part("floor", (TILE,))]
    parts += [Part(f"tile {number}", (TILE,), moves=True) for number in range(moving)]
    return Scene(tuple(parts), CAMERA, frame_time)


def turns(*shape: int, seed: int = 0) -> Array:
    """Random unit quaternions."""
    values = np.random.default_rng(seed).standard_normal((*shape, 4))
    normed: Array = values / np.linalg.norm(values, axis=-1, keepdims=True)
    return normed


def flat_poses(times: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((times, 2, 3))


def solid_poses(times: int, seed: int = 0) -> Array:
    places = np.random.default_rng(seed).standard_normal((times, 2, 3))
    return np.concatenate([places, turns(times, 2, seed=seed + 1)], axis=-1)


# --- what a scene is --------------------------------------------------------------------------------------


def test_the_parts_that_move_have_their_place_in_the_poses() -> None:
    scene = flat(3)
    assert scene.flat
    assert [part.name for part in scene.moving] == ["ball 0", "ball 1", "ball 2"]
    assert [scene.index(name) for name in ("ball 0", "ball 2")] == [0, 2]
    with pytest.raises(ValueError, match="floor"):
        scene.index("floor")
    assert not solid().flat


def test_parts_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"need names of their own, but have \['a', 'b', 'a'\]"):
        Scene(tuple(Part(name, ()) for name in "aba"), WINDOW, 0.1)


@pytest.mark.parametrize(
    ("view", "shape", "kind"),
    [(WINDOW, TILE, "flat"), (CAMERA, BALL, "solid"), (CAMERA, box(0, 1, 0, 1, "#123456"), "solid")],
)
def test_flat_and_solid_shapes_do_not_mix(view: Any, shape: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=f"the scene is {kind}, but part 'odd' has a shape that is not"):
        Scene((Part("odd", (shape,)),), view, 0.1)


@pytest.mark.parametrize("follow", ["floor", "nobody"])
def test_a_view_follows_only_what_moves(follow: str) -> None:
    parts = (Part("floor", (BALL,)), Part("ball", (BALL,), moves=True))
    Scene(parts, Window(0, 1, 0, 1, follow="ball"), 0.1)
    with pytest.raises(ValueError, match="the view follows a part that does not move"):
        Scene(parts, Window(0, 1, 0, 1, follow=follow), 0.1)


@pytest.mark.parametrize(
    "shape", [(5, 2), (5, 2, 4), (5, 2, 7), (5, 1, 3), (5, 3, 3), (0, 2, 3), (1, 5, 2, 3), (6,), ()]
)
def test_poses_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(
        ValueError, match=r"2 moving parts with 3 numbers each, so poses have shape \(times, 2, 3\), but"
    ):
        flat().check_poses(np.zeros(shape))


def test_poses_of_a_solid_scene_have_seven_numbers() -> None:
    solid().check_poses(solid_poses(1))
    with pytest.raises(ValueError, match="2 moving parts with 7 numbers each"):
        solid().check_poses(flat_poses(1))


# --- JSON -------------------------------------------------------------------------------------------------


def test_a_flat_scene_is_told_as_documented() -> None:
    parts = (
        Part("floor", (Polygon(np.array([[0, 0], [1, 0], [1.23456, 1]]), "#cccccc"),)),
        Part("ball", (Capsule((0.0, 1.0), (2.0, 3.0), 0.5, "#ff0000"),), moves=True, label="A"),
    )
    told = Scene(parts, Window(-1, 1, -2, 2, follow="ball"), 0.25, "#abcdef").to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == {
        "format": 1,
        "dimensions": 2,
        "frame_time": 0.25,
        "background": "#abcdef",
        "view": {"kind": "window", "left": -1, "right": 1, "bottom": -2, "top": 2, "follow": "ball"},
        "parts": [
            {
                "name": "floor",
                "moves": False,
                "label": "",
                "shapes": [{"shape": "polygon", "points": [[0, 0], [1, 0], [1.2346, 1]], "color": "#cccccc"}],
            },
            {
                "name": "ball",
                "moves": True,
                "label": "A",
                "shapes": [
                    {"shape": "capsule", "start": [0, 1], "end": [2, 3], "radius": 0.5, "color": "#ff0000"}
                ],
            },
        ],
    }


def test_a_solid_scene_is_told_as_documented() -> None:
    told = json.loads(json.dumps(Scene((Part("tile", (TILE,)),), CAMERA, 0.1).to_json(), allow_nan=False))
    assert told["dimensions"] == 3
    assert told["view"] == {"kind": "camera", "eye": [3, 3, 3], "target": [0, 0, 0], "fov": 40.0}
    assert told["parts"][0]["shapes"] == [
        {"shape": "mesh", "vertices": [1, 0, 0, 0, 1, 0, 0, 0, 1], "faces": [0, 1, 2], "color": "#00ff00"}
    ]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_replay_keeps_poses_to_tenths_of_a_millimetre(kind: type) -> None:
    poses: Array = flat_poses(4).astype(kind)
    told = json.loads(json.dumps(flat().replay(poses), allow_nan=False))
    assert set(told) == {"format", "frame_time", "poses"}
    np.testing.assert_allclose(told["poses"], poses, atol=5.1e-5)
    assert len(json.dumps(told)) < 400


def test_a_replay_of_other_poses_is_refused() -> None:
    with pytest.raises(ValueError, match="moving parts"):
        flat().replay(np.zeros((3, 1, 3)))


# --- poses between poses ----------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2, 7])
def test_at_their_own_rate_poses_stay_as_they_are(times: int) -> None:
    np.testing.assert_allclose(flat().at_rate(flat_poses(times), 2.0), flat_poses(times), atol=1e-12)
    found, wanted = solid().at_rate(solid_poses(times), 2.0), solid_poses(times)
    np.testing.assert_allclose(found[..., :3], wanted[..., :3], atol=1e-12)
    turned = [Rotation.from_quat(p[..., 3:].reshape(-1, 4), scalar_first=True) for p in (found, wanted)]
    np.testing.assert_allclose(turned[0].as_matrix(), turned[1].as_matrix(), atol=1e-12)


def test_half_way_in_time_is_half_way_in_place() -> None:
    poses = flat_poses(5)
    found = flat().at_rate(poses, 4.0)
    assert len(found) == 9
    np.testing.assert_allclose(found[::2], poses, atol=1e-12)
    np.testing.assert_allclose(found[1::2], (poses[1:] + poses[:-1]) / 2, atol=1e-12)


@given(st.integers(1, 12), st.floats(0.01, 2.0), st.floats(0.5, 60.0))
def test_frames_fill_the_time_and_lie_on_the_line(times: int, frame_time: float, rate: float) -> None:
    scene, poses = flat(frame_time=frame_time), flat_poses(times)
    found, length = scene.at_rate(poses, rate), (times - 1) * frame_time
    assert (len(found) - 1) / rate <= length + 1e-5
    assert len(found) / rate > length - 1e-5
    moments, known = np.minimum(np.arange(len(found)) / rate, length), np.arange(times) * frame_time
    for part, value in np.ndindex(2, 3):
        wanted = np.interp(moments, known, poses[:, part, value])
        np.testing.assert_allclose(found[:, part, value], wanted, atol=1e-9)


def test_a_trajectory_of_one_pose_is_one_frame() -> None:
    for scene, poses in ((flat(), flat_poses(1)), (solid(), solid_poses(1))):
        np.testing.assert_allclose(scene.at_rate(poses, 25.0), poses, atol=1e-12)


@settings(max_examples=50)
@given(st.integers(0, 1000), st.floats(1.0, 40.0))
def test_turns_between_turns_have_unit_length(seed: int, rate: float) -> None:
    found = solid().at_rate(solid_poses(4, seed), rate)
    np.testing.assert_allclose(np.linalg.norm(found[..., 3:], axis=-1), 1.0, atol=1e-12)


def test_half_way_between_turns_is_half_of_the_turn() -> None:
    poses = solid_poses(2, seed=5)
    middle = solid().at_rate(poses, 4.0)[1]
    for part in range(2):
        known = Rotation.from_quat(poses[:, part, 3:], scalar_first=True)
        wanted = Slerp([0.0, 1.0], known)(0.5)
        off = (wanted.inv() * Rotation.from_quat(middle[part, 3:], scalar_first=True)).magnitude()
        assert off == pytest.approx(0.0, abs=1e-7)


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    poses = solid_poses(6)
    turned = poses.copy()
    turned[1::2, :, 3:] *= -1.0
    for rate in (2.0, 7.0):
        one, other = solid().at_rate(poses, rate), solid().at_rate(turned, rate)
        np.testing.assert_allclose(one[..., :3], other[..., :3], atol=1e-12)
        np.testing.assert_allclose(rotation(one[..., 3:]), rotation(other[..., 3:]), atol=1e-12)


def test_the_poses_given_are_not_changed() -> None:
    poses = solid_poses(3)
    before = poses.copy()
    solid().at_rate(poses, 9.0)
    np.testing.assert_array_equal(poses, before)


def test_poses_of_another_scene_have_no_rate() -> None:
    with pytest.raises(ValueError, match="moving parts"):
        flat().at_rate(solid_poses(3), 10.0)


# --- turning ----------------------------------------------------------------------------------------------


def test_rotations_are_those_of_scipy() -> None:
    quaternions = turns(4, 5)
    matrices = rotation(quaternions)
    assert matrices.shape == (4, 5, 3, 3)
    wanted = Rotation.from_quat(quaternions.reshape(-1, 4), scalar_first=True).as_matrix()
    np.testing.assert_allclose(matrices.reshape(-1, 3, 3), wanted, atol=1e-12)


def test_products_are_those_of_scipy() -> None:
    first, second = turns(30, seed=1), turns(30, seed=2)
    wanted = Rotation.from_quat(first, scalar_first=True) * Rotation.from_quat(second, scalar_first=True)
    np.testing.assert_allclose(rotation(quaternion_product(first, second)), wanted.as_matrix(), atol=1e-12)


def test_products_of_one_with_many() -> None:
    one, many = turns(seed=3), turns(2, 6, seed=4)
    found = quaternion_product(one, many)
    assert found.shape == (2, 6, 4)
    np.testing.assert_allclose(found[1, 2], quaternion_product(one, many[1, 2]), atol=1e-15)


# --- surfaces ---------------------------------------------------------------------------------------------


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


def latitudes(steps: int) -> Array:
    return np.linspace(-np.pi / 2, np.pi / 2, steps)


@pytest.mark.parametrize("radius", [0.1, 2.0])
def test_a_sphere_has_its_volume_and_looks_outward(radius: float) -> None:
    angles = latitudes(60)
    vertices, faces = solid_of_revolution(radius * np.cos(angles), radius * np.sin(angles), sides=80)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), radius, rtol=1e-12)
    assert volume(vertices, faces) == pytest.approx(4 / 3 * np.pi * radius**3, rel=0.01)
    assert outward(vertices, faces, np.zeros(3))


def test_a_sphere_is_closed() -> None:
    """Every edge between places is passed once in either direction."""
    angles = latitudes(9)
    vertices, faces = solid_of_revolution(np.cos(angles), np.sin(angles), sides=7)
    _, place = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    edges = [(place.ravel()[f[i]], place.ravel()[f[(i + 1) % 3]]) for f in faces for i in range(3)]
    passed = [(a, b) for a, b in edges if a != b]
    assert sorted(passed) == sorted((b, a) for a, b in passed)


def test_a_cylinder_has_its_volume() -> None:
    vertices, faces = solid_of_revolution([0.0, 0.3, 0.3, 0.0], [-1.0, -1.0, 1.0, 1.0], sides=200)
    assert volume(vertices, faces) == pytest.approx(np.pi * 0.3**2 * 2, rel=1e-3)
    assert outward(vertices, faces, np.zeros(3))


def test_a_disc_looks_up() -> None:
    vertices, faces = solid_of_revolution([0.14, 0.0], [0.0, 0.0], sides=32)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    assert normals[:, 2].min() >= 0.0
    assert normals[:, 2].sum() / 2 == pytest.approx(np.pi * 0.14**2, rel=0.01)


def test_a_profile_needs_a_height_for_every_radius() -> None:
    with pytest.raises(ValueError, match="shorter"):
        solid_of_revolution([1.0, 2.0], [0.0])


def fine_sphere() -> tuple[Array, Array]:
    angles = latitudes(30)
    return solid_of_revolution(np.cos(angles), np.sin(angles), sides=40)


@pytest.mark.parametrize("cell", [0.02, 0.1, 0.3])
def test_a_coarser_surface_stays_close(cell: float) -> None:
    fine, faces = fine_sphere()
    coarse, fewer = coarser(fine, faces, cell)
    limit = cell * np.sqrt(3) / 2 + 1e-12
    there = np.linalg.norm(fine[:, None] - coarse, axis=2)
    assert there.min(axis=1).max() <= limit
    assert there.min(axis=0).max() <= limit
    assert len(fewer) < len(faces)
    assert 0 <= fewer.min() <= fewer.max() < len(coarse)
    assert volume(coarse, fewer) == pytest.approx(volume(fine, faces), rel=1.5 * cell)


def test_a_coarser_surface_has_no_faces_without_area_by_name() -> None:
    fine, faces = fine_sphere()
    _, fewer = coarser(fine, faces, 0.2)
    assert all(len(set(face)) == 3 for face in fewer.tolist())


def test_a_surface_finer_than_the_cell_is_only_moved() -> None:
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = np.array([[0, 1, 3], [4, 6, 7]])
    moved, kept = coarser(cube, faces, 0.25)
    np.testing.assert_allclose(moved[kept], cube[faces])


def test_a_surface_smaller_than_the_cell_vanishes() -> None:
    assert len(coarser(*fine_sphere(), 10.0)[1]) == 0


# --- surfaces of a MuJoCo model ---------------------------------------------------------------------------

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
