"""What moves in pictures that are drawn here, so that every place, speed, tilt and shift is known."""

import numpy as np
import pytest

from prefero._support.arrays import Array
from prefero.datasets.features.embeddings.object_tracks import (
    SIDE,
    Scenery,
    camera_moves,
    doubled,
    palette,
    shifts,
    track_names,
    tracks_of,
)

BLUE, RED, GRAY = (0.1, 0.2, 0.9), (0.9, 0.1, 0.1), (0.5, 0.5, 0.5)
CELLS = np.arange(SIDE)


def bar(frame: Array, x: float, y: float, angle: float, color: tuple[float, ...]) -> None:
    """Draw a bar of 20 by 6 cells around a place."""
    right, down = CELLS[None, :] - x, CELLS[:, None] - y
    along = right * np.cos(angle) + down * np.sin(angle)
    across = down * np.cos(angle) - right * np.sin(angle)
    frame[(np.abs(along) <= 10) & (np.abs(across) <= 3)] = color


def fixed_camera(steps: int = 12) -> tuple[Array, Scenery]:
    """A blue bar that moves to the right by 4 cells a frame, and a red one that turns."""
    frames = np.full((steps, SIDE, SIDE, 3), GRAY)
    for step, frame in enumerate(frames):
        bar(frame, 20 + 4 * step, 30, 0.0, BLUE)
        bar(frame, 60, 70, 0.2 * step, RED)
    return frames, Scenery(np.array([BLUE, RED]), np.full((SIDE * SIDE, 3), GRAY), moves=False)


def column(tracks: Array, name: str) -> Array:
    found: Array = tracks[:, track_names((tracks.shape[1] - 2) // 7).index(name)]
    return found


def test_objects_are_where_they_were_drawn() -> None:
    tracks = tracks_of(*fixed_camera(), seconds=0.1)
    steps = np.arange(12)
    # the little weight at the center pulls by a few percent of the way
    np.testing.assert_allclose(column(tracks, "x of object 1"), (20 + 4 * steps) / (SIDE - 1), atol=0.03)
    np.testing.assert_allclose(column(tracks, "y of object 1"), 30 / (SIDE - 1), atol=0.03)
    np.testing.assert_allclose(column(tracks, "speed of object 1")[1:], 40 / (SIDE - 1), rtol=0.1)
    assert column(tracks, "direction cos of object 1")[1:].min() > 0.95
    assert column(tracks, "speed of object 2").max() < 0.05
    assert np.abs(column(tracks, "camera x")).max() == 0.0


def test_a_turned_object_has_the_doubled_angle() -> None:
    tracks = tracks_of(*fixed_camera(), seconds=0.1)
    angle = np.arctan2(column(tracks, "tilt sin of object 2"), column(tracks, "tilt cos of object 2"))
    turned = np.unwrap(angle) / 2
    np.testing.assert_allclose(turned - turned[0], 0.2 * np.arange(12), atol=0.1)


def test_a_direction_and_its_opposite_are_one() -> None:
    np.testing.assert_allclose(doubled(np.array(1.0), np.array(1.0), 0.0), (0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(doubled(np.array(-1.0), np.array(-1.0), 0.0), (0.0, 1.0), atol=1e-12)
    assert np.all(doubled(np.zeros(1), np.zeros(1), 1e-6) == 0.0)


def moving_camera(speed: float, steps: int = 8) -> Array:
    """Smooth waves that move to the left and down, and a blue bar that stays in the picture."""
    columns, rows = np.meshgrid(CELLS.astype(float), CELLS.astype(float))
    frames = np.zeros((steps, SIDE, SIDE, 3))
    for step, frame in enumerate(frames):
        x, y = columns + speed * step, rows - 0.5 * speed * step
        waves = np.sin(x / 9) + np.sin(y / 7 + x / 30)
        frame[:] = (0.5 + 0.15 * waves)[..., None]
        bar(frame, 48, 60, 0.5, BLUE)
    return frames


@pytest.mark.parametrize("speed", [0.5, 2.0, 5.0])
def test_the_shift_of_the_picture_is_found(speed: float) -> None:
    found = shifts(moving_camera(speed))[1:]
    np.testing.assert_allclose(found.mean(axis=0) * SIDE, (-speed, 0.5 * speed), atol=0.15 * speed)


def test_a_camera_that_follows_an_object_shows_how_the_object_moves() -> None:
    scenery = Scenery(np.array([BLUE]), np.array([GRAY] * 4), moves=True)
    tracks = tracks_of(moving_camera(2.0), scenery, seconds=0.1)
    way = np.ptp(column(tracks, "x of object 1"))
    assert way == pytest.approx(7 * 2.0 / SIDE, rel=0.2)
    assert column(tracks, "camera x")[-1] == pytest.approx(7 * 2.0 / SIDE, rel=0.2)


def test_whether_the_camera_moves_is_seen() -> None:
    assert camera_moves([moving_camera(2.0)])
    assert not camera_moves([fixed_camera()[0]])


def test_one_object_before_what_stays_is_no_camera() -> None:
    rng, steps = np.random.default_rng(0), 8
    still = rng.uniform(0.3, 0.7, (SIDE, SIDE, 1))
    for behind in (np.full((SIDE, SIDE, 3), GRAY), np.tile(still, 3)):
        frames = np.repeat(behind[None], steps, axis=0)
        for step, frame in enumerate(frames):
            bar(frame, 30 + 4 * step, 40 + 2 * step, 0.0, BLUE)
        assert not camera_moves([frames])
        assert not camera_moves([frames + 0.02 * rng.standard_normal(frames.shape)])


def test_a_palette_has_rare_colors_that_differ() -> None:
    rng = np.random.default_rng(0)
    colors = np.concatenate([np.tile(GRAY, (900, 1)), np.tile(BLUE, (80, 1)), np.tile(RED, (20, 1))])
    found = palette(colors + 0.01 * rng.standard_normal(colors.shape), np.ones(1000), 3)
    away = np.linalg.norm(found[:, None] - np.array([GRAY, BLUE, RED]), axis=-1)
    assert sorted(away.argmin(axis=1).tolist()) == [0, 1, 2]
    assert away.min(axis=1).max() < 0.02
