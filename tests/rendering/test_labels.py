"""Labels are placed beside their parts, and cover nothing that people look at."""

import numpy as np
import pytest

from prefero.rendering.labels import boxes_around, overlap, place_labels

BOUNDS = np.array([0.0, 0.0, 300.0, 200.0])
SIZE = np.array([[40.0, 12.0]])
NOTHING = np.empty((0, 4))


def disc(x: float, y: float, radius: float = 10.0) -> np.ndarray:
    return boxes_around(np.array([[x, y]]), radius)


def test_a_label_is_above_its_part_where_there_is_room() -> None:
    (box,) = place_labels(SIZE, disc(100, 100), NOTHING, BOUNDS)
    assert box is not None
    assert box.tolist() == [80, 76, 120, 88]


def test_a_label_goes_below_or_beside_its_part_where_something_is_above() -> None:
    (at_the_edge,) = place_labels(SIZE, disc(100, 10), NOTHING, BOUNDS)
    (between,) = place_labels(SIZE, disc(100, 100), np.vstack([disc(100, 80, 5), disc(100, 120, 5)]), BOUNDS)
    assert at_the_edge is not None
    assert between is not None
    assert at_the_edge[1] == 22
    assert between[0] == 112


@pytest.mark.parametrize("seed", range(20))
def test_labels_cover_no_part_no_path_and_no_other_label_and_stay_in_the_picture(seed: int) -> None:
    rng = np.random.default_rng(seed)
    anchors = boxes_around(rng.uniform([20, 20], [280, 180], (8, 2)), 10.0)
    path = boxes_around(np.linspace([0, 0], rng.uniform([0, 0], [300, 200]), 60), 6.0)
    boxes = [
        box for box in place_labels(np.repeat(SIZE, 8, axis=0), anchors, path, BOUNDS) if box is not None
    ]
    assert len(boxes) >= 4  # some of these parts overlap each other, so that their labels find no place
    for index, box in enumerate(boxes):
        assert not overlap(box, np.vstack([anchors, path, *boxes[:index]])).any()
        assert np.all(box[:2] >= 0)
        assert np.all(box[2:] <= BOUNDS[2:])


def test_a_label_that_finds_no_room_is_left_out() -> None:
    assert place_labels(SIZE, disc(100, 100), BOUNDS[None], BOUNDS) == [None]
