"""Drawings in two dimensions are checked by their pixels: positions against formulas."""

from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from prefero._support.arrays import Image
from prefero.rendering.canvas import Canvas, canvas_for, render_poses
from prefero.rendering.canvas_2d import draw_2d, draw_path
from prefero.rendering.scenes import (
    Capsule,
    Part,
    Polygon,
    Scene,
    Window,
    rectangle,
)
from rendering.colored_scenes import (
    BLUE,
    GREEN,
    GREY,
    RED,
    ROAD,
    extent,
    rgb,
    scene_2d,
    where,
)

NOWHERE = np.empty((0, 3))


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
