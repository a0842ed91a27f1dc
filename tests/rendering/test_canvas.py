"""Drawings are checked by their pixels: positions against formulas, visibility against a ray caster."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread
from scipy.spatial.transform import Rotation

import prefero.rendering.canvas
import prefero.rendering.rasterizer
from prefero._support.arrays import Array, Flags, Image
from prefero._support.optional import MissingExtra
from prefero.rendering.canvas import Canvas, canvas_for, render_poses, save_filmstrip
from prefero.rendering.canvas_2d import draw_2d, draw_path
from prefero.rendering.canvas_3d import Canvas3D
from prefero.rendering.scenes import (
    Camera,
    Capsule,
    Mesh,
    Part,
    Polygon,
    Scene,
    Window,
    rectangle,
    surface_of_revolution,
)

RED, GREEN, BLUE, GREY = "#ff0000", "#00ff00", "#0000ff", "#808080"
NOWHERE = np.empty((0, 3))
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


def test_a_box_is_where_it_should_be() -> None:
    image = canvas_for(scene_2d(Part("box", (rectangle(1, 2, 0.5, 2, RED),)))).render(NOWHERE)
    assert image.shape == (360, 480, 3)
    assert image.dtype == np.uint8
    assert extent(where(image, RED)) == (120, 299, 120, 239)  # 120 pixels a unit, rows from the top
    assert (image[130:290, 130:230] == rgb(RED)).all()
    assert (image[:118] == 255).all()


def test_a_part_is_turned_anticlockwise_and_then_moved() -> None:
    arrow = Part("arrow", (Polygon(np.array([[0, -0.2], [1, 0], [0, 0.2]]), RED),), moves=True)
    canvas = canvas_for(scene_2d(arrow))
    ahead = extent(where(canvas.render(np.array([[1.0, 1.0, 0.0]])), RED))
    upward = extent(where(canvas.render(np.array([[1.0, 1.0, np.pi / 2]])), RED))
    np.testing.assert_allclose(ahead, (216, 263, 120, 239), atol=5)  # the tip is thin
    np.testing.assert_allclose(upward, (120, 239, 96, 143), atol=5)


@pytest.mark.parametrize("size", [(480, 360), (200, 360), (601, 201)])
@pytest.mark.parametrize("window", [Window(-1, 1, -1, 1), Window(-1, 1, -3, 3), Window(-4, 4, -1, 1)])
def test_the_window_fills_the_image_and_nothing_is_distorted(size: tuple[int, int], window: Window) -> None:
    disc = Part("disc", (Capsule((0.2, -0.1), (0.2, -0.1), 0.7, BLUE),))
    image = canvas_for(scene_2d(disc, window=window), *size).render(NOWHERE)
    assert image.shape == (size[1], size[0], 3)
    scale = min(size[0] / (window.right - window.left), size[1] / (window.top - window.bottom))
    top, bottom, left, right = extent(where(image, BLUE))
    assert abs((bottom - top + 1) - 1.4 * scale) <= 1.5
    assert abs((right - left + 1) - 1.4 * scale) <= 1.5
    assert abs((left + right + 1) / 2 - (size[0] / 2 + 0.2 * scale)) <= 1
    assert abs((top + bottom + 1) / 2 - (size[1] / 2 + 0.1 * scale)) <= 1


def test_a_capsule_has_the_area_of_a_stadium() -> None:
    start, end, radius = (1.0, 1.0), (2.5, 2.0), 0.3
    image = canvas_for(scene_2d(Part("pill", (Capsule(start, end, radius, "#000000"),)))).render(NOWHERE)
    ink = np.sum(255 - image[..., 0].astype(float)) / 255 / 120**2
    wanted = np.pi * radius**2 + 2 * radius * np.hypot(1.5, 1.0)
    assert abs(ink - wanted) < 0.005 * wanted


def test_the_followed_part_keeps_its_rows_and_the_others_pass() -> None:
    scene = scene_2d(
        Part("post", (rectangle(0, 1, 0, 1, GREEN),)),
        Part("car", (rectangle(-0.5, 0.5, -0.5, 0.5, RED),), moves=True),
        window=Window(0, 4, -1, 2, follow="car"),
    )
    canvas = canvas_for(scene)
    before, after = canvas.render(np.array([[2.0, 0.0, 0.0]])), canvas.render(np.array([[3.0, 0.25, 0.0]]))
    assert extent(where(before, RED))[:2] == extent(where(after, RED))[:2]
    assert extent(where(after, RED))[2] - extent(where(before, RED))[2] == 120
    assert extent(where(before, GREEN)) == (120, 239, 0, 119)
    assert extent(where(after, GREEN)) == (150, 269, 0, 119)


def test_the_window_goes_sideways_only_as_far_as_it_must() -> None:
    car = Part("car", (rectangle(-0.25, 0.25, -0.5, 0.5, RED),), moves=True)
    canvas = canvas_for(scene_2d(car, window=Window(0, 4, -1, 2, follow="car")))
    images = [canvas.render(np.array([[x, 0.0, 0.0]])) for x in (2.0, 3.0, 4.0, 0.0)]
    columns = [extent(where(image, RED))[2:] for image in images]
    wanted = [(210, 269), (330, 389), (370, 429), (50, 109)]  # 4 / 6 from an edge, 120 pixels a unit
    np.testing.assert_allclose(columns, wanted, atol=1)


def test_the_main_part_leaves_a_trail_and_gets_a_ring_where_it_ends() -> None:
    ball = Part("ball", (Capsule((0, 0), (0, 0), 0.1, BLUE),), moves=True, trail=True)
    scene = Scene((ball,), Window(0, 4, 0, 3), frame_time=0.1, main_part="ball")
    poses = np.column_stack([np.linspace(0.5, 3.5, 21), np.full(21, 1.5), np.zeros(21)])[:, None]
    frames = list(render_poses(scene, poses, 480, 360))
    trails = [extent((frame != 255).any(axis=2))[2:] for frame in frames]
    assert all(44 <= left <= 60 for left, _ in trails)  # it begins where the ball was, and ends at the ball
    np.testing.assert_allclose([right for _, right in trails[:-1]], 120 * poses[:-1, 0, 0] + 14, atol=4)
    rings = [extent((frame != 255).any(axis=2))[0] for frame in frames]
    assert set(rings[:-1]) == {rings[0]}
    assert rings[-1] <= rings[0] - 2


def test_a_label_covers_neither_its_part_nor_the_path_past_it() -> None:
    goal = Part("goal", (Capsule((2, 1.5), (2, 1.5), 0.2, GREEN),), label="goal")
    ball = Part("ball", (Capsule((0, 0), (0, 0), 0.15, RED),), moves=True)

    def ink(height: float) -> tuple[int, int, int, int]:
        poses = np.column_stack([np.linspace(0.5, 3.5, 21), np.full(21, height), np.zeros(21)])[:, None]
        image = canvas_for(scene_2d(goal, ball), poses=poses).render(poses[0])
        return extent(image.max(axis=2) < 90)

    for height, above in ((0.3, True), (1.8, False)):
        top, bottom, left, right = ink(height)
        assert abs((left + right) / 2 - 240) < 4
        assert (bottom < 180 - 24) if above else (top > 180 + 24)


def test_later_parts_lie_on_earlier_ones() -> None:
    low, high = Part("low", (rectangle(0, 4, 0, 3, BLUE),)), Part("high", (rectangle(1, 2, 1, 2, RED),))
    assert where(canvas_for(scene_2d(low, high)).render(NOWHERE), RED).sum() == 120**2
    assert where(canvas_for(scene_2d(high, low)).render(NOWHERE), RED).sum() == 0


def test_only_the_pixels_around_a_moving_part_change() -> None:
    scene = scene_2d(
        Part("field", (rectangle(0.1, 3.9, 0.1, 2.9, GREY),)),
        Part("ball", (Capsule((0, 0), (0, 0), 0.2, RED),), moves=True),
    )
    canvas = canvas_for(scene)
    first = canvas.render(np.array([[1.0, 1.5, 0.0]]))
    kept = first.copy()
    changed = (canvas.render(np.array([[3.0, 1.5, 0.0]])) != first).any(axis=2)
    np.testing.assert_array_equal(first, kept)  # the canvas does not draw into images it returned
    rows, columns = np.nonzero(changed)
    reach = np.minimum(np.hypot(columns - 120, rows - 180), np.hypot(columns - 360, rows - 180))
    assert changed.sum() > 2 * np.pi * 23**2
    assert reach.max() < 0.2 * 120 + 4
    np.testing.assert_array_equal(canvas.render(np.array([[1.0, 1.5, 0.0]])), first)


def test_a_label_is_written_above_its_moving_part_and_goes_with_it() -> None:
    def canvas(label: str) -> Canvas:
        return canvas_for(scene_2d(Part("box", (rectangle(0, 2, 0, 1, RED),), moves=True, label=label)))

    plain, labelled = canvas(""), canvas("robot")
    for x, y in ((0.5, 0.5), (1.5, 1.0)):
        pose = np.array([[x, y, 0.0]])
        top, bottom, left, right = extent((plain.render(pose) != labelled.render(pose)).any(axis=2))
        assert abs((left + right) / 2 - 120 * (x + 1)) < 3
        assert 0 <= 120 * (3 - y - 1) - bottom < 8
        assert 20 < right - left < 80
        assert labelled.render(pose)[top:bottom, left:right].min() < 60  # dark ink


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2, 7), (2,), (1, 2, 3)])
def test_poses_of_another_scene_are_refused(shape: tuple[int, ...]) -> None:
    parts = [Part(name, (rectangle(0, 1, 0, 1, RED),), moves=True) for name in "ab"]
    with pytest.raises(ValueError, match="2 moving parts with 3 numbers"):
        canvas_for(scene_2d(*parts)).render(np.zeros(shape))


def test_poses_may_be_of_single_precision() -> None:
    part = Part("box", (rectangle(0, 1, 0, 1, RED),), moves=True)
    canvas, pose = canvas_for(scene_2d(part)), np.array([[1.0, 0.5, 0.25]])
    np.testing.assert_array_equal(canvas.render(pose.astype(np.float32)), canvas.render(pose))


# --- on an axis -------------------------------------------------------------------------------------------

ROAD = scene_2d(
    Part("road", (rectangle(0, 4, 0, 3, GREY),)),
    Part("car", (rectangle(-0.3, 0.3, -0.3, 0.3, RED),), moves=True),
)


def axis_of(width: float = 4, height: float = 3) -> Any:
    return Figure((width, height), dpi=100).add_axes((0, 0, 1, 1))


def pixels(axis: Any) -> Image:
    canvas: Any = FigureCanvasAgg(axis.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def test_a_scene_drawn_on_an_axis_is_the_scene() -> None:
    axis = axis_of()
    draw_2d(axis, ROAD, np.array([[2.0, 1.5, 0.0]]))
    np.testing.assert_allclose(extent(where(pixels(axis), RED)), (120, 179, 170, 229), atol=1)


def test_scenes_drawn_over_each_other_show_every_pose() -> None:
    axis = axis_of()
    draw_2d(axis, ROAD, np.array([[1.0, 1.5, 0.0]]), alpha=0.5)
    draw_2d(axis, ROAD, np.array([[3.0, 1.5, 0.0]]))
    image = pixels(axis).astype(int)
    np.testing.assert_allclose(image[150, 300], rgb(RED), atol=1)
    np.testing.assert_allclose(image[150, 100], (rgb(RED) + rgb(GREY)) / 2, atol=2)
    np.testing.assert_allclose(image[150, 200], rgb(GREY), atol=1)


def test_a_path_runs_through_the_places_of_its_part_and_under_it() -> None:
    axis = axis_of()
    poses = np.array([[[0.5, 0.5, 0.0]], [[2.0, 0.5, 1.0]], [[2.0, 2.5, 2.0]]])
    draw_2d(axis, ROAD, poses[1])
    draw_path(axis, ROAD, poses, "car", BLUE)
    image = pixels(axis)
    assert where(image, BLUE)[250, 60:160].all()  # along y = 0.5
    assert where(image, BLUE)[60:200, 200].all()  # along x = 2
    assert where(image, RED)[250, 200]  # the corner lies under the car
    assert not where(image, BLUE)[:, 240:].any()


def test_only_2d_scenes_are_drawn_on_an_axis() -> None:
    scene = scene_3d(Part("cube", (cube(),), moves=True))
    with pytest.raises(ValueError, match="canvas_for"):
        draw_2d(axis_of(), scene, STILL[None])
    with pytest.raises(ValueError, match="canvas_for"):
        draw_path(axis_of(), scene, STILL[None, None], "cube", RED)
    with pytest.raises(ValueError, match="Camera"):
        Canvas3D(ROAD, 40, 30)


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


# --- filmstrips -------------------------------------------------------------------------------------------


def drive(times: int) -> Array:
    return np.column_stack([np.linspace(0.5, 3.5, times), np.full(times, 1.5), np.zeros(times)])[:, None]


def flight(times: int) -> Array:
    return np.stack([at(0, 0, height) for height in np.linspace(0, 0.5, times)])[:, None]


SKY = Scene((Part("cube", (cube(0.4),), moves=True),), CAMERA, 0.1, background="#bbddff")


@pytest.mark.parametrize(("scene", "poses"), [(ROAD, drive(21)), (SKY, flight(21))], ids=["2-D", "3-D"])
def test_a_filmstrip_has_as_many_panels_as_asked_for(tmp_path: Path, scene: Scene, poses: Array) -> None:
    save_filmstrip(tmp_path / "filmstrip.png", scene, poses, frames=5)
    image = imread(tmp_path / "filmstrip.png")[..., :3]
    white = (image[len(image) // 4] > 0.99).all(axis=1)
    assert (np.diff(white.astype(int)) == -1).sum() == 5
    assert [file.name for file in tmp_path.iterdir()] == ["filmstrip.png"]


def test_the_car_advances_from_panel_to_panel(tmp_path: Path) -> None:
    save_filmstrip(tmp_path / "filmstrip.png", ROAD, drive(11), frames=3)
    red = where((255 * imread(tmp_path / "filmstrip.png")[..., :3]).astype(np.uint8), RED)
    starts = np.flatnonzero(np.diff(red.any(axis=0).astype(int)) == 1)
    panel = red.shape[1] / 3
    np.testing.assert_allclose(starts / panel, [0.2 / 4, 1 + 1.7 / 4, 2 + 3.2 / 4], atol=0.03)


@pytest.mark.parametrize(("times", "frames", "shown"), [
    (21, 6, ["0.0 s", "0.4 s", "0.8 s", "1.2 s", "1.6 s", "2.0 s"]),
    (21, 1, ["0.0 s"]),
    (3, 6, ["0.0 s", "0.1 s", "0.2 s"]),
])  # fmt: skip
def test_every_panel_has_its_time(tmp_path: Path, times: int, frames: int, shown: list[str]) -> None:
    save_filmstrip(tmp_path / "filmstrip.svg", ROAD, drive(times), frames=frames, title="a drive")
    assert re.findall("<!-- (.*?) -->", (tmp_path / "filmstrip.svg").read_text(encoding="utf-8")) == [
        *shown,
        "a drive",
    ]


@pytest.mark.parametrize(("scene", "poses", "images"), [(ROAD, drive(5), False), (SKY, flight(5), True)])
def test_2d_scenes_stay_shapes_in_vector_files(
    tmp_path: Path, scene: Scene, poses: Array, images: bool
) -> None:
    for kind in ("pdf", "svg"):
        save_filmstrip(tmp_path / f"filmstrip.{kind}", scene, poses, frames=3)
    pdf, svg = (
        (tmp_path / "filmstrip.pdf").read_bytes(),
        (tmp_path / "filmstrip.svg").read_text(encoding="utf-8"),
    )
    assert pdf.startswith(b"%PDF-")
    assert (b"/Subtype /Image" in pdf) == images
    assert ("<image" in svg) == images
    assert len(re.findall(r'id="axes_\d+"', svg)) == 3


@pytest.mark.parametrize(("name", "frames"), [("filmstrip.jpg", 6), ("filmstrip", 6), ("filmstrip.png", 0)])
def test_a_filmstrip_that_cannot_be_is_refused(tmp_path: Path, name: str, frames: int) -> None:
    with pytest.raises(ValueError, match=re.escape(".png, .pdf, .svg")):
        save_filmstrip(tmp_path / name, ROAD, drive(5), frames=frames)
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_may_be_in_capitals(tmp_path: Path) -> None:
    save_filmstrip(tmp_path / "FILMSTRIP.PDF", ROAD, drive(2))
    assert (tmp_path / "FILMSTRIP.PDF").read_bytes().startswith(b"%PDF-")


def test_a_filmstrip_of_another_scene_leaves_the_old_file(tmp_path: Path) -> None:
    (tmp_path / "filmstrip.png").write_text("old", encoding="utf-8")
    with pytest.raises(ValueError, match="moving parts"):
        save_filmstrip(tmp_path / "filmstrip.png", ROAD, flight(5))
    assert (tmp_path / "filmstrip.png").read_text(encoding="utf-8") == "old"


# --- matplotlib -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("scene", "module"), [(ROAD, "figure"), (SKY, "figure")], ids=["2-D", "3-D"])
def test_without_matplotlib_the_error_says_what_to_install(
    scene: Scene, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, f"matplotlib.{module}", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[plots\]"):
        canvas_for(scene)


def test_matplotlib_is_imported_for_drawing_only_and_pyplot_never() -> None:
    code = (
        "import sys, numpy as np, prefero.rendering.canvas as d, prefero.rendering.video;"
        "from prefero.rendering.scenes import *;"
        "assert not {'matplotlib', 'av'} & set(sys.modules);"
        "d.canvas_for(Scene((), Window(0, 1, 0, 1), 0.1)).render(np.empty((0, 3)));"
        "assert 'matplotlib' in sys.modules and 'matplotlib.pyplot' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], check=False).returncode == 0
