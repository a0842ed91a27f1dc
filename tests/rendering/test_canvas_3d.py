"""Drawings in three dimensions: positions against a pinhole camera, visibility against a ray caster."""

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import prefero.rendering.canvas
import prefero.rendering.rasterizer
from prefero._support.arrays import Array, Image
from prefero.rendering.canvas import canvas_for
from prefero.rendering.geometry import surface_of_revolution
from prefero.rendering.scenes import (
    Camera,
    Mesh,
    Part,
    Scene,
)
from rendering.colored_scenes import (
    BLUE,
    CAMERA,
    GREEN,
    GREY,
    RED,
    STILL,
    at,
    cube,
    extent,
    rgb,
    scene_2d,
    scene_3d,
    where,
)


def pinhole(camera: Camera, point: Any, width: int, height: int) -> tuple[float, float]:
    """Row and column of a point: turn the world until the camera looks along x, then divide by x."""
    gaze = np.subtract(camera.target, camera.eye)
    across, up = np.arctan2(gaze[1], gaze[0]), np.arctan2(gaze[2], np.hypot(gaze[0], gaze[1]))
    turn = Rotation.from_euler("y", up) * Rotation.from_euler("z", -across)
    ahead, left, above = turn.apply(np.subtract(point, camera.eye))
    scale = height / (2 * np.tan(np.radians(camera.fov / 2)))
    return height / 2 - scale * above / ahead, width / 2 - scale * left / ahead


@pytest.mark.parametrize("camera", [CAMERA, Camera((-1, 4, 0.2), (0, 0, 1.0), fov=60)])
@pytest.mark.parametrize("place", [(0.2, 0.3, 0.4), (0.5, 0.0, 0.0), (-0.4, 0.9, 0.8)])
def test_a_small_cube_is_where_a_pinhole_puts_it(camera: Camera, place: tuple[float, float, float]) -> None:
    canvas = canvas_for(scene_3d(Part("cube", (cube(0.05),), moves=True), camera=camera), 320, 200)
    ink = 255 - canvas.render(at(*place)[None])[..., 1].astype(float)
    rows, columns = np.mgrid[:200, :320] + 0.5
    assert ink.sum() > 5 * 255
    found = (ink * rows).sum() / ink.sum(), (ink * columns).sum() / ink.sum()
    np.testing.assert_allclose(found, pinhole(camera, place, 320, 200), atol=0.3)


def test_straight_down_is_a_direction_too() -> None:
    scene = scene_3d(Part("cube", (cube(0.1, (0.3, 0.2, 0.0)),)), camera=Camera((0, 0, 2), (0, 0, 0)))
    rows, columns = np.nonzero(where(canvas_for(scene).render(np.empty((0, 7))), RED))
    assert columns.mean() > 260
    assert rows.mean() < 160


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearer_thing_hides_the_farther_one_whatever_their_order(order: int) -> None:
    camera = Camera((0, -4, 0), (0, 0, 0))
    parts = [Part("red", (cube(0.5),), moves=True), Part("blue", (cube(1.0, color=BLUE),), moves=True)]
    canvas = canvas_for(scene_3d(*parts[::order], camera=camera))
    front, back = at(0, -1, 0), at(0, 1, 0)
    before, behind = np.array([front, back]), np.array([back, front])
    assert where(canvas.render(before[::order]), RED)[180, 240]
    assert where(canvas.render(before[::order]), BLUE).sum() > 1000
    assert not where(canvas.render(behind[::order]), RED).any()


def test_what_stands_at_the_far_end_of_a_table_shows_and_what_is_under_it_does_not() -> None:
    table = Part("table", (cube((2, 2, 0.05), color=BLUE),))
    things = [Part("on", (cube(0.1),), moves=True), Part("under", (cube(0.1, color=GREEN),), moves=True)]
    canvas = canvas_for(scene_3d(table, *things, camera=Camera((0, -3, 2), (0, 0, 0))))
    image = canvas.render(np.array([at(0.3, 0.9, 0.075), at(-0.3, 0.2, -0.2)]))
    assert where(image, RED).sum() > 50
    assert not where(image, GREEN).any()


def test_the_ground_reaches_from_under_the_eye_to_the_horizon() -> None:
    plane = Mesh(np.array([[-1e3, -1e3, 0], [1e3, -1e3, 0], [1e3, 1e3, 0], [-1e3, 1e3, 0]], dtype=float),
                 np.array([[0, 1, 2], [0, 2, 3]]), BLUE)  # fmt: skip
    mat = Mesh(np.array([[-1, 3, 0], [1, 3, 0], [0, 6, 0]], dtype=float), np.array([[0, 1, 2]]), GREEN)
    scene = scene_3d(Part("ground", (plane,)), Part("mat", (mat,)), camera=Camera((0, 0, 1.5), (0, 5, 1.5)))
    image = canvas_for(scene).render(np.empty((0, 7)))
    assert (image[:180] == 255).all()
    assert (image[182:, :, 0] == 0).all()  # blue or green, and no white shines through
    assert where(image, GREEN).any()  # it lies in the same plane, and comes later


def test_surfaces_are_seen_from_outside_only() -> None:
    corners = np.array([[-1, 0, -1], [1, 0, -1], [0, 0, 1]], dtype=float)  # anticlockwise from the south
    scene = [Part("sail", (Mesh(corners, np.array([[0, 1, 2]]), RED),))]
    south, north = (Camera((0, y, 0), (0, 0, 0)) for y in (-4, 4))
    assert where(canvas_for(scene_3d(*scene, camera=south)).render(np.empty((0, 7))), RED).any()
    assert (canvas_for(scene_3d(*scene, camera=north)).render(np.empty((0, 7))) == 255).all()


def test_a_mesh_has_no_gaps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slanted lattice whose edges run through the middles of pixels, where rounding decides."""
    monkeypatch.setattr(prefero.rendering.rasterizer, "SAMPLES", 1)
    place = np.arange(-90.0, 91.0, 7) + 0.5
    across, up = (grid.ravel() for grid in np.meshgrid(place, place))
    corner = np.arange(len(across)).reshape(len(place), -1)[:-1, :-1].ravel()
    steps = np.array([[0, 1, len(place) + 1], [0, len(place) + 1, len(place)]])
    vertices = np.column_stack([across + (up - 0.5) * 2 / 3, up, 0 * up])
    mesh = Mesh(vertices, (corner[:, None, None] + steps).reshape(-1, 3), GREY)
    scene = scene_3d(Part("lattice", (mesh,)), camera=Camera((0, 0, 30), (0, 0, 0), fov=90))
    image = canvas_for(scene, 60, 60).render(np.empty((0, 7)))
    assert len(np.unique(image.reshape(-1, 3), axis=0)) == 1
    assert image.max() < 129


def cast(camera: Camera, corners: Array, width: int, height: int) -> Any:
    """The triangle that a ray through the center of a pixel meets first, or -1: Moller and Trumbore, 1997."""
    gaze = np.subtract(camera.target, camera.eye)
    right = np.cross(gaze, [0, 0, 1.0])
    up = np.cross(right, gaze)
    step = 2 * np.tan(np.radians(camera.fov / 2)) / height
    rows, columns = np.mgrid[:height, :width] + 0.5
    rays = (
        gaze / np.linalg.norm(gaze)
        + ((columns - width / 2) * step)[..., None] * right / np.linalg.norm(right)
        + ((height / 2 - rows) * step)[..., None] * up / np.linalg.norm(up)
    )[..., None, :]
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    p = np.cross(rays, ac)
    determinant = np.sum(p * ab, axis=-1)
    q = np.cross(np.array(camera.eye) - a, ab)
    u = np.sum(p * (np.array(camera.eye) - a), axis=-1) / determinant
    v = np.sum(rays * q, axis=-1) / determinant
    far = np.sum(q * ac, axis=-1) / determinant
    hit = (determinant > 0) & (u > 0) & (v > 0) & (u + v < 1) & (far > 0.02 * np.linalg.norm(gaze))
    return np.where(hit.any(axis=-1), np.argmin(np.where(hit, far, np.inf), axis=-1), -1)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("center", "count", "least"), [(CAMERA.target, 40, 10), (CAMERA.eye, 8, 4)])
def test_every_pixel_shows_what_a_ray_meets_first(
    seed: int, center: Any, count: int, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large triangles that pass through each other; where they are around the eye, most pass its sides."""
    monkeypatch.setattr(prefero.rendering.rasterizer, "SAMPLES", 1)
    monkeypatch.setattr(prefero.rendering.rasterizer, "AMBIENT", 1.0)
    camera = Camera(CAMERA.eye, CAMERA.target, fov=100)
    corners = np.random.default_rng(seed).normal(0, 1.5, (count, 3, 3)) + center
    corners = np.concatenate([corners, corners[:, ::-1]])  # with their backs
    colors = [f"#{40 + k:02x}{200 - k:02x}{3 * k:02x}" for k in range(2 * count)]
    parts = [
        Part(f"{k}", (Mesh(corners[k], np.array([[0, 1, 2]]), colors[k]),), moves=k % 2 == 1)
        for k in range(2 * count)
    ]
    image = canvas_for(scene_3d(*parts, camera=camera), 80, 60).render(np.tile(STILL, (count, 1)))
    met = cast(camera, corners, 80, 60)
    wanted = np.array([*map(rgb, colors), [255, 255, 255]])[met]
    assert len(np.unique(met)) >= least
    assert (image == wanted).all(axis=2).mean() > 0.999


def test_a_pose_is_a_turn_and_a_shift() -> None:
    turn = Rotation.from_euler("xyz", [0.4, -0.7, 1.1])
    moving = canvas_for(scene_3d(Part("cube", (cube((0.4, 0.6, 0.8)),), moves=True)))
    mesh = cube((0.4, 0.6, 0.8))
    placed = Mesh(turn.apply(mesh.vertices) + np.array([0.1, 0.2, 0.3]), mesh.faces, mesh.color)
    still = canvas_for(scene_3d(Part("cube", (placed,))))
    difference = moving.render(at(0.1, 0.2, 0.3, turn=turn)[None]).astype(int) - still.render(
        np.empty((0, 7))
    )
    assert np.abs(difference).max(axis=2).astype(bool).mean() < 1e-3


def test_what_moved_leaves_no_trace_in_later_images() -> None:
    """Only the pixels of what moves are drawn anew: each image is the one of a canvas that drew no other."""
    wall = Part("wall", (cube(0.4, (0.8, -0.3, 0.2), GREY),))
    scene = scene_3d(wall, Part("cube", (cube(0.3),), moves=True, trail=True))
    path = np.array([at(x, 0.1, 0.2) for x in np.linspace(-1, 1, 9)])[:, None]
    canvas = canvas_for(scene)
    kept = [canvas.render(path[index], path[: index + 1]) for index in (3, 8, 3)]
    alone = [canvas_for(scene).render(path[index], path[: index + 1]) for index in (3, 8, 3)]
    np.testing.assert_array_equal(kept, alone)
    assert (kept[0] != kept[1]).any()


def test_light_comes_from_above_and_nothing_is_black() -> None:
    slope = np.linspace(0, np.pi, 30)
    ball = Mesh(*surface_of_revolution(np.sin(slope), -np.cos(slope), 40), "#ffffff")
    scene = Scene((Part("ball", (ball,)),), Camera((0, -5, 0), (0, 0, 0)), 0.1, background="#000000")
    column = canvas_for(scene).render(np.empty((0, 7)))[:, 240, 0]
    lit = column[column > 0].astype(int)[3:-3]
    assert len(lit) > 150
    assert lit[: len(lit) // 3].mean() > lit[-len(lit) // 3 :].mean() + 40
    assert lit.min() >= 127
    assert lit.max() > 240


def test_edges_are_smooth() -> None:
    image = canvas_for(scene_3d(Part("cube", (cube(1.0, color="#000000"),)))).render(np.empty((0, 7)))
    assert len(np.unique(image)) > 3


def test_labels_in_3d_are_written_above_their_moving_parts() -> None:
    def rendered(label: str, place: tuple[float, float, float]) -> Image:
        part = Part("cube", (cube(0.4), cube(0.4, (0.4, 0, 0))), moves=True, label=label)
        return canvas_for(scene_3d(part)).render(at(*place)[None])

    top, bottom, left, right = extent((rendered("", (0, 0, 0)) != rendered("goal", (0, 0, 0))).any(axis=2))
    cubes = extent(where(rendered("", (0, 0, 0)), RED))
    assert abs((left + right) / 2 - (cubes[2] + cubes[3]) / 2) < 3
    assert 0 <= cubes[0] - bottom < 8
    assert rendered("goal", (0, 0, 0))[top:bottom, left:right].min() < 60
    behind = (6.0, -4.0, 3.0)
    np.testing.assert_array_equal(rendered("goal", behind), rendered("", behind))


def test_a_small_main_part_in_3d_is_drawn_large_enough_to_be_seen() -> None:
    def seen(size: float, main: str | None) -> int:
        scene = Scene((Part("cube", (cube(size),), moves=True),), CAMERA, 0.1, main_part=main)
        top, bottom, *_ = extent(where(canvas_for(scene).render(at(0, 0, 0)[None]), RED))
        return bottom - top + 1

    assert seen(0.02, None) < 6
    assert seen(0.02, "cube") >= 8
    assert seen(0.5, None) == seen(0.5, "cube")


def test_the_trail_in_3d_follows_the_path_and_hides_behind_what_is_nearer() -> None:
    ball = Part("ball", (cube(0.05, color=BLUE),), moves=True, trail=True)
    wall = Part("wall", (cube(0.4, (0.8, -0.3, 0.2), GREY),))
    path = np.array([at(x, 0.0, 0.0) for x in np.linspace(-1, 1, 21)])[:, None]
    pixels = (
        np.array([pinhole(CAMERA, tuple(place), 480, 360) for place in path[2:-2, 0, :3]]).round().astype(int)
    )

    def share(*parts: Part) -> float:
        blue = where(canvas_for(scene_3d(*parts)).render(path[-1], path), BLUE)
        return float(
            np.mean([blue[row - 1 : row + 2, column - 1 : column + 2].any() for row, column in pixels])
        )

    assert share(ball) == 1.0
    assert 0.2 < share(wall, ball) < 0.9


@pytest.mark.parametrize("parts", [(), (Part("nothing", (), moves=True, label="nothing"),)])
def test_a_scene_may_be_empty(parts: tuple[Part, ...]) -> None:
    for scene in (scene_2d(*parts), scene_3d(*parts)):
        image = canvas_for(scene, 64, 48).render(np.zeros((len(parts), 3 if scene.is_2d else 7)))
        assert image.shape == (48, 64, 3)
