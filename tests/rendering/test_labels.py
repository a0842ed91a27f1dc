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
def test_all_labels_are_in_the_picture_and_cover_no_part_and_no_other_label(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grid = np.array([(70 * (i % 4) + 30, 90 * (i // 4) + 40) for i in range(8)])
    anchors = boxes_around(grid + rng.uniform([0, 0], [30, 40], (8, 2)), 10.0)
    path = boxes_around(np.linspace([0, 0], rng.uniform([0, 0], [300, 200]), 60), 6.0)
    boxes = [
        box for box in place_labels(np.repeat(SIZE, 8, axis=0), anchors, path, BOUNDS) if box is not None
    ]
    assert len(boxes) == 8
    for index, box in enumerate(boxes):
        assert not overlap(box, np.vstack([anchors, *boxes[:index]])).any()
        assert np.all(box[:2] >= 0)
        assert np.all(box[2:] <= BOUNDS[2:])
        assert not overlap(box, path).any()


def test_a_label_covers_as_little_as_it_can_where_there_is_no_room() -> None:
    (anywhere,) = place_labels(SIZE, disc(100, 100), BOUNDS[None], BOUNDS)
    (right,) = place_labels(SIZE, disc(100, 100), np.array([[0.0, 0.0, 130.0, 200.0]]), BOUNDS)
    assert anywhere is not None
    assert right is not None
    assert anywhere[1] == 76
    assert right[0] > 112


def test_a_label_is_left_out_only_if_its_part_is_outside_the_picture() -> None:
    outside, at_the_edge = place_labels(
        np.repeat(SIZE, 2, axis=0), np.vstack([disc(-50, 100), disc(5, 100)]), NOTHING, BOUNDS
    )
    assert outside is None
    assert at_the_edge is not None
    assert at_the_edge.tolist() == [0, 76, 40, 88]
