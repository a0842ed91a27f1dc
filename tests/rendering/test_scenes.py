"""Scenes: validation, resampling of poses, and geometry checked by volumes and against SciPy."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

from prefero._support.arrays import Array
from prefero.rendering.geometry import (
    cluster_vertices,
    quaternion_product,
    rotation_matrix,
    surface_of_revolution,
)
from prefero.rendering.scenes import (
    Camera,
    Capsule,
    Mesh,
    Part,
    Polygon,
    Scene,
    Window,
    rectangle,
)
from rendering.measure_meshes import outward, volume

WINDOW = Window(-1.0, 1.0, -2.0, 2.0)
CAMERA = Camera((3.0, 3.0, 3.0), (0.0, 0.0, 0.0))
BALL = Capsule((0.0, 0.0), (0.0, 0.0), 0.1, "#ff0000")
TILE = Mesh(np.eye(3), np.array([[0, 1, 2]]), "#00ff00")


def scene_2d(moving: int = 2, frame_time: float = 0.5) -> Scene:
    parts = [Part("floor", (rectangle(-1.0, 1.0, -2.0, 0.0, "#cccccc"),))]
    parts += [Part(f"ball {number}", (BALL,), moves=True) for number in range(moving)]
    return Scene(tuple(parts), WINDOW, frame_time)


def scene_3d(moving: int = 2, frame_time: float = 0.5) -> Scene:
    parts = [Part("floor", (TILE,))]
    parts += [Part(f"tile {number}", (TILE,), moves=True) for number in range(moving)]
    return Scene(tuple(parts), CAMERA, frame_time)


def quaternions(*shape: int, seed: int = 0) -> Array:
    """Random unit quaternions."""
    values = np.random.default_rng(seed).standard_normal((*shape, 4))
    normed: Array = values / np.linalg.norm(values, axis=-1, keepdims=True)
    return normed


def poses_2d(times: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).standard_normal((times, 2, 3))


def poses_3d(times: int, seed: int = 0) -> Array:
    places = np.random.default_rng(seed).standard_normal((times, 2, 3))
    return np.concatenate([places, quaternions(times, 2, seed=seed + 1)], axis=-1)


# --- what a scene is --------------------------------------------------------------------------------------


def test_the_parts_that_move_have_their_place_in_the_poses() -> None:
    scene = scene_2d(3)
    assert scene.is_2d
    assert [part.name for part in scene.moving] == ["ball 0", "ball 1", "ball 2"]
    assert [scene.index(name) for name in ("ball 0", "ball 2")] == [0, 2]
    with pytest.raises(ValueError, match="floor"):
        scene.index("floor")
    assert not scene_3d().is_2d


def test_parts_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match=r"different names, .*\['a', 'b', 'a'\]"):
        Scene(tuple(Part(name, ()) for name in "aba"), WINDOW, 0.1)


@pytest.mark.parametrize(
    ("view", "shape", "kind"),
    [(WINDOW, TILE, "2-D"), (CAMERA, BALL, "3-D"), (CAMERA, rectangle(0, 1, 0, 1, "#123456"), "3-D")],
)
def test_2d_and_3d_shapes_do_not_mix(view: Any, shape: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=f"{kind}, .*'odd'"):
        Scene((Part("odd", (shape,)),), view, 0.1)


@pytest.mark.parametrize("follow", ["floor", "nobody"])
def test_a_view_follows_only_what_moves(follow: str) -> None:
    parts = (Part("floor", (BALL,)), Part("ball", (BALL,), moves=True))
    Scene(parts, Window(0, 1, 0, 1, follow="ball"), 0.1)
    with pytest.raises(ValueError, match="part that does not move"):
        Scene(parts, Window(0, 1, 0, 1, follow=follow), 0.1)


def test_the_main_part_is_one_that_moves() -> None:
    with pytest.raises(ValueError, match=r"main part .*'floor' does not"):
        Scene((Part("floor", ()), Part("ball", (), moves=True)), Window(0, 1, 0, 1), 0.1, main_part="floor")


def test_a_window_follows_a_part() -> None:
    parts = (Part("wind", (), moves=True), Part("ball", (), moves=True))
    scene = Scene(parts, Window(0, 6, -1, 1, follow="ball"), 0.1)
    poses = np.array([[[9, 9, 0], [2, 0, 0]], [[9, 9, 0], [7, 3, 1]], [[9, 9, 0], [-1, -4, 2]]], dtype=float)
    assert scene.window_at(poses[0]) == Window(0, 6, -1, 1, "ball")
    assert scene.window_at(poses[1]) == Window(2, 8, 2, 4, "ball")
    far = scene.window_at(np.array([[9, 9, 0], [12, 3, 1]]))
    assert [far.left, far.right] == pytest.approx([2.4, 13])  # wider: it still shows most of its first view
    assert scene.window_at(poses[2]) == Window(-2, 4, -5, -3, "ball")
    assert Scene(parts, Window(0, 6, -1, 1), 0.1).window_at(poses[1]) == Window(0, 6, -1, 1)


def test_a_part_arrives_when_it_moves_no_more() -> None:
    scene = Scene((Part("ball", (), moves=True),), Window(0, 4, 0, 4), 0.1, main_part="ball")
    x = np.array([0.0, 2.0, 3.0, 3.001, 3.0])
    rolls = np.column_stack([x, np.zeros(5), np.arange(5.0)])[:, None]  # it may still turn
    assert scene.arrival(rolls) == 2
    assert scene.arrival(rolls[:2]) == 1
    assert scene.arrival(rolls[:1]) == 0


@pytest.mark.parametrize(
    "shape", [(5, 2), (5, 2, 4), (5, 2, 7), (5, 1, 3), (5, 3, 3), (0, 2, 3), (1, 5, 2, 3), (6,), ()]
)
def test_poses_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"2 moving parts .*3 numbers .*\(times, 2, 3\)"):
        scene_2d().check_poses(np.zeros(shape))


def test_poses_of_a_3d_scene_have_seven_numbers() -> None:
    scene_3d().check_poses(poses_3d(1))
    with pytest.raises(ValueError, match=r"2 moving parts .*7 numbers"):
        scene_3d().check_poses(poses_2d(1))


# --- JSON -------------------------------------------------------------------------------------------------


def test_the_json_of_a_2d_scene_is_as_documented() -> None:
    parts = (
        Part("floor", (Polygon(np.array([[0, 0], [1, 0], [1.23456, 1]]), "#cccccc"),)),
        Part("ball", (Capsule((0.0, 1.0), (2.0, 3.0), 0.5, "#ff0000"),), moves=True, label="A", trail=True),
    )
    told = Scene(parts, Window(-1, 1, -2, 2, follow="ball"), 0.25, "#abcdef", "ball").to_json()
    assert json.loads(json.dumps(told, allow_nan=False)) == {
        "format": 1,
        "dimensions": 2,
        "frame_time": 0.25,
        "background": "#abcdef",
        "view": {"kind": "window", "left": -1, "right": 1, "bottom": -2, "top": 2, "follow": "ball"},
        "main_part": "ball",
        "parts": [
            {
                "name": "floor",
                "moves": False,
                "label": "",
                "trail": False,
                "shapes": [{"shape": "polygon", "points": [[0, 0], [1, 0], [1.2346, 1]], "color": "#cccccc"}],
            },
            {
                "name": "ball",
                "moves": True,
                "label": "A",
                "trail": True,
                "shapes": [
                    {"shape": "capsule", "start": [0, 1], "end": [2, 3], "radius": 0.5, "color": "#ff0000"}
                ],
            },
        ],
    }


def test_the_json_of_a_3d_scene_is_as_documented() -> None:
    told = json.loads(json.dumps(Scene((Part("tile", (TILE,)),), CAMERA, 0.1).to_json(), allow_nan=False))
    assert told["dimensions"] == 3
    assert told["view"] == {"kind": "camera", "eye": [3, 3, 3], "target": [0, 0, 0], "fov": 40.0, "name": ""}
    assert told["parts"][0]["shapes"] == [
        {"shape": "mesh", "vertices": [1, 0, 0, 0, 1, 0, 0, 0, 1], "faces": [0, 1, 2], "color": "#00ff00"}
    ]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_replay_keeps_poses_to_tenths_of_a_millimetre(kind: type) -> None:
    poses: Array = poses_2d(4).astype(kind)
    told = json.loads(json.dumps(scene_2d().replay(poses), allow_nan=False))
    assert set(told) == {"format", "frame_time", "poses"}
    np.testing.assert_allclose(told["poses"], poses, atol=5.1e-5)
    assert len(json.dumps(told)) < 400


def test_a_replay_of_other_poses_is_refused() -> None:
    with pytest.raises(ValueError, match="moving parts"):
        scene_2d().replay(np.zeros((3, 1, 3)))


# --- resampling -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 2, 7])
def test_poses_resampled_at_their_own_rate_stay_as_they_are(times: int) -> None:
    np.testing.assert_allclose(scene_2d().resample(poses_2d(times), 2.0), poses_2d(times), atol=1e-12)
    found, wanted = scene_3d().resample(poses_3d(times), 2.0), poses_3d(times)
    np.testing.assert_allclose(found[..., :3], wanted[..., :3], atol=1e-12)
    turned = [Rotation.from_quat(p[..., 3:].reshape(-1, 4), scalar_first=True) for p in (found, wanted)]
    np.testing.assert_allclose(turned[0].as_matrix(), turned[1].as_matrix(), atol=1e-12)


def test_half_way_in_time_is_half_way_in_place() -> None:
    poses = poses_2d(5)
    found = scene_2d().resample(poses, 4.0)
    assert len(found) == 9
    np.testing.assert_allclose(found[::2], poses, atol=1e-12)
    np.testing.assert_allclose(found[1::2], (poses[1:] + poses[:-1]) / 2, atol=1e-12)


@given(st.integers(1, 12), st.floats(0.01, 2.0), st.floats(0.5, 60.0))
def test_frames_fill_the_time_and_lie_on_the_line(times: int, frame_time: float, fps: float) -> None:
    scene, poses = scene_2d(frame_time=frame_time), poses_2d(times)
    found, length = scene.resample(poses, fps), (times - 1) * frame_time
    assert (len(found) - 1) / fps <= length + 1e-5
    assert len(found) / fps > length - 1e-5
    moments, known = np.minimum(np.arange(len(found)) / fps, length), np.arange(times) * frame_time
    for part, value in np.ndindex(2, 3):
        wanted = np.interp(moments, known, poses[:, part, value])
        np.testing.assert_allclose(found[:, part, value], wanted, atol=1e-9)


def test_a_trajectory_of_one_pose_is_one_frame() -> None:
    for scene, poses in ((scene_2d(), poses_2d(1)), (scene_3d(), poses_3d(1))):
        np.testing.assert_allclose(scene.resample(poses, 25.0), poses, atol=1e-12)


@settings(max_examples=50)
@given(st.integers(0, 1000), st.floats(1.0, 40.0))
def test_turns_between_turns_have_unit_length(seed: int, fps: float) -> None:
    found = scene_3d().resample(poses_3d(4, seed), fps)
    np.testing.assert_allclose(np.linalg.norm(found[..., 3:], axis=-1), 1.0, atol=1e-12)


def test_half_way_between_turns_is_half_of_the_turn() -> None:
    poses = poses_3d(2, seed=5)
    middle = scene_3d().resample(poses, 4.0)[1]
    for part in range(2):
        known = Rotation.from_quat(poses[:, part, 3:], scalar_first=True)
        wanted = Slerp([0.0, 1.0], known)(0.5)
        off = (wanted.inv() * Rotation.from_quat(middle[part, 3:], scalar_first=True)).magnitude()
        assert off == pytest.approx(0.0, abs=1e-7)


def test_the_sign_of_a_quaternion_does_not_matter() -> None:
    poses = poses_3d(6)
    turned = poses.copy()
    turned[1::2, :, 3:] *= -1.0
    for fps in (2.0, 7.0):
        one, other = scene_3d().resample(poses, fps), scene_3d().resample(turned, fps)
        np.testing.assert_allclose(one[..., :3], other[..., :3], atol=1e-12)
        np.testing.assert_allclose(rotation_matrix(one[..., 3:]), rotation_matrix(other[..., 3:]), atol=1e-12)


def test_the_poses_given_are_not_changed() -> None:
    poses = poses_3d(3)
    before = poses.copy()
    scene_3d().resample(poses, 9.0)
    np.testing.assert_array_equal(poses, before)


def test_poses_of_another_scene_are_not_resampled() -> None:
    with pytest.raises(ValueError, match="moving parts"):
        scene_2d().resample(poses_3d(3), 10.0)


# --- rotations --------------------------------------------------------------------------------------------


def test_rotations_are_those_of_scipy() -> None:
    random = quaternions(4, 5)
    matrices = rotation_matrix(random)
    assert matrices.shape == (4, 5, 3, 3)
    wanted = Rotation.from_quat(random.reshape(-1, 4), scalar_first=True).as_matrix()
    np.testing.assert_allclose(matrices.reshape(-1, 3, 3), wanted, atol=1e-12)


def test_products_are_those_of_scipy() -> None:
    first, second = quaternions(30, seed=1), quaternions(30, seed=2)
    wanted = Rotation.from_quat(first, scalar_first=True) * Rotation.from_quat(second, scalar_first=True)
    np.testing.assert_allclose(
        rotation_matrix(quaternion_product(first, second)), wanted.as_matrix(), atol=1e-12
    )


def test_products_of_one_with_many() -> None:
    one, many = quaternions(seed=3), quaternions(2, 6, seed=4)
    found = quaternion_product(one, many)
    assert found.shape == (2, 6, 4)
    np.testing.assert_allclose(found[1, 2], quaternion_product(one, many[1, 2]), atol=1e-15)


# --- meshes -----------------------------------------------------------------------------------------------


def latitudes(steps: int) -> Array:
    return np.linspace(-np.pi / 2, np.pi / 2, steps)


@pytest.mark.parametrize("radius", [0.1, 2.0])
def test_a_sphere_has_its_volume_and_looks_outward(radius: float) -> None:
    angles = latitudes(60)
    vertices, faces = surface_of_revolution(radius * np.cos(angles), radius * np.sin(angles), sides=80)
    np.testing.assert_allclose(np.linalg.norm(vertices, axis=1), radius, rtol=1e-12)
    assert volume(vertices, faces) == pytest.approx(4 / 3 * np.pi * radius**3, rel=0.01)
    assert outward(vertices, faces, np.zeros(3))


def test_a_sphere_is_closed() -> None:
    """Every edge between places is passed once in either direction."""
    angles = latitudes(9)
    vertices, faces = surface_of_revolution(np.cos(angles), np.sin(angles), sides=7)
    _, place = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    edges = [(place.ravel()[f[i]], place.ravel()[f[(i + 1) % 3]]) for f in faces for i in range(3)]
    passed = [(a, b) for a, b in edges if a != b]
    assert sorted(passed) == sorted((b, a) for a, b in passed)


def test_a_cylinder_has_its_volume() -> None:
    vertices, faces = surface_of_revolution([0.0, 0.3, 0.3, 0.0], [-1.0, -1.0, 1.0, 1.0], sides=200)
    assert volume(vertices, faces) == pytest.approx(np.pi * 0.3**2 * 2, rel=1e-3)
    assert outward(vertices, faces, np.zeros(3))


def test_a_disc_looks_up() -> None:
    vertices, faces = surface_of_revolution([0.14, 0.0], [0.0, 0.0], sides=32)
    a, b, c = vertices[faces].transpose(1, 0, 2)
    normals = np.cross(b - a, c - a)
    assert normals[:, 2].min() >= 0.0
    assert normals[:, 2].sum() / 2 == pytest.approx(np.pi * 0.14**2, rel=0.01)


def test_a_profile_needs_a_height_for_every_radius() -> None:
    with pytest.raises(ValueError, match="shorter"):
        surface_of_revolution([1.0, 2.0], [0.0])


def fine_sphere() -> tuple[Array, Array]:
    angles = latitudes(30)
    return surface_of_revolution(np.cos(angles), np.sin(angles), sides=40)


@pytest.mark.parametrize("cell", [0.02, 0.1, 0.3])
def test_a_clustered_surface_stays_close(cell: float) -> None:
    fine, faces = fine_sphere()
    coarse, fewer = cluster_vertices(fine, faces, cell)
    limit = cell * np.sqrt(3) / 2 + 1e-12
    there = np.linalg.norm(fine[:, None] - coarse, axis=2)
    assert there.min(axis=1).max() <= limit
    assert there.min(axis=0).max() <= limit
    assert len(fewer) < len(faces)
    assert 0 <= fewer.min() <= fewer.max() < len(coarse)
    assert volume(coarse, fewer) == pytest.approx(volume(fine, faces), rel=1.5 * cell)


def test_a_clustered_surface_has_no_collapsed_faces() -> None:
    fine, faces = fine_sphere()
    _, fewer = cluster_vertices(fine, faces, 0.2)
    assert all(len(set(face)) == 3 for face in fewer.tolist())


def test_a_surface_finer_than_the_cell_is_only_moved() -> None:
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    faces = np.array([[0, 1, 3], [4, 6, 7]])
    moved, kept = cluster_vertices(cube, faces, 0.25)
    np.testing.assert_allclose(moved[kept], cube[faces])


def test_a_surface_smaller_than_the_cell_vanishes() -> None:
    assert len(cluster_vertices(*fine_sphere(), 10.0)[1]) == 0
