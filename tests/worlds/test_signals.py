"""The signals of a scene follow from its poses."""

import numpy as np

from prefero.rendering.scenes import Camera, Part, Scene, Window, rectangle
from prefero.worlds.signals import scene_signals

TIME = 0.1 * np.arange(9)
BOX = (rectangle(0, 1, 0, 1, "#000000"),)


def test_a_flat_scene_has_positions_angles_and_the_speed_of_the_main_part() -> None:
    parts = (Part("floor", BOX), Part("arm", BOX, moves=True), Part("ball", BOX, moves=True))
    scene = Scene(parts, Window(0, 1, 0, 1), frame_time=0.1, main_part="ball")
    arm = np.column_stack([0 * TIME, 1 + 0 * TIME, TIME])
    ball = np.column_stack([3 * TIME, 4 * TIME, 0 * TIME])
    found = {one.name: one for one in scene_signals(scene, np.stack([arm, ball], axis=1), "m")}
    units = {"speed": "m/s", "x": "m", "y": "m", "angle": "rad"}
    assert {name: one.unit for name, one in found.items()} == {
        "ball speed": "m/s",
        **{f"{part} {what}": units[what] for part in ("arm", "ball") for what in ("x", "y", "angle")},
    }
    np.testing.assert_allclose(found["ball speed"].values, 5.0)
    np.testing.assert_allclose(found["arm angle"].values, TIME)
    np.testing.assert_allclose(found["ball y"].times, TIME)


def test_a_solid_scene_has_positions_without_rotations() -> None:
    camera = Camera((0, 0, 1), (0, 0, 0))
    scene = Scene((Part("ball", (), moves=True),), camera, frame_time=0.1, main_part="ball")
    poses = np.zeros((9, 1, 7))
    poses[:, 0, 2] = TIME**2
    found = {one.name: one for one in scene_signals(scene, poses, "")}
    assert list(found) == ["ball speed", "ball x", "ball y", "ball z"]
    assert {one.unit for one in found.values()} == {""}
    np.testing.assert_allclose(
        found["ball speed"].values[1:-1], 2 * TIME[1:-1]
    )  # exact inside, for a parabola
