"""Where the labels of a scene go: beside their parts, clear of everything that people look at.

    boxes     (N, 4)   left, top, right and bottom in pixels; y points down
    anchors   (L, 4)   the boxes of the L parts that have a label
    sizes     (L, 2)   widths and heights of the labels

The page places its labels by the same rules: `web/src/player/labels.ts`.
"""

from collections.abc import Iterator

import numpy as np

from prefero._support.arrays import Array

GAP = 2.0  # pixels between a part and its label
RINGS = (0.0, 0.5, 1.0)  # distances from its part that are tried for a label, in lines of text
CORNERS = ((0.6, -1), (-0.6, -1), (0.6, 1), (-0.6, 1), (1, -0.7), (-1, -0.7), (1, 0.7), (-1, 0.7))
DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0), *CORNERS)  # the best first


def place_labels(
    sizes: Array, anchors: Array, obstacles: Array, bounds: Array | None = None
) -> list[Array | None]:
    """The boxes of the labels: inside `bounds`, without overlap with any anchor, obstacle or other label.

    A label that fits nowhere near its part is left out (None).
    """
    order = list(range(len(sizes)))
    best = _place_in_order(order, sizes, anchors, obstacles, bounds)
    while missing := _missing_from(best):
        order = [*missing, *(own for own in order if own not in missing)]  # they choose first this time
        placed = _place_in_order(order, sizes, anchors, obstacles, bounds)
        if len(_missing_from(placed)) >= len(missing):
            break
        best = placed
    return best


def _missing_from(boxes: list[Array | None]) -> list[int]:
    return [own for own, box in enumerate(boxes) if box is None]


def _place_in_order(
    order: list[int], sizes: Array, anchors: Array, obstacles: Array, bounds: Array | None
) -> list[Array | None]:
    """Each label in turn takes the best place that is still free."""
    taken = np.concatenate([anchors.reshape(-1, 4), obstacles.reshape(-1, 4)])
    placed: list[Array | None] = [None] * len(sizes)
    for own in order:
        for box in _candidates(anchors[own], sizes[own]):
            free = not overlap(box, taken).any() and _nearest(box, anchors) == own
            if free and _inside(box, bounds):
                placed[own], taken = box, np.vstack([taken, box])
                break
    return placed


def _candidates(anchor: Array, size: Array) -> Iterator[Array]:
    """Boxes of this size around an anchor, the nearest first."""
    middle, reach = (anchor[:2] + anchor[2:]) / 2, (anchor[2:] - anchor[:2] + size) / 2
    for ring in RINGS:
        for direction in DIRECTIONS:
            center = middle + np.array(direction) * (reach + GAP + ring * size[1])
            yield np.concatenate([center - size / 2, center + size / 2])


def overlap(box: Array, others: Array) -> Array:
    """Which of the other boxes (N, 4) overlap this one."""
    return np.asarray((others[:, :2] < box[2:]).all(axis=1) & (others[:, 2:] > box[:2]).all(axis=1))


def _inside(box: Array, bounds: Array | None) -> bool:
    return bounds is None or bool(np.all(box[:2] >= bounds[:2]) and np.all(box[2:] <= bounds[2:]))


def _nearest(box: Array, anchors: Array) -> int:
    """The anchor closest to a box: a label belongs to that part in the eyes of a reader."""
    apart = np.maximum(np.maximum(anchors[:, :2] - box[2:], box[:2] - anchors[:, 2:]), 0.0)
    return int(np.argmin(np.linalg.norm(apart, axis=1)))


def boxes_around(centers: Array, radius: Array | float) -> Array:
    """Boxes (N, 4) around points (N, 2)."""
    reach = np.broadcast_to(np.asarray(radius, dtype=float).reshape(-1, 1), (len(centers), 1))
    return np.concatenate([centers - reach, centers + reach], axis=1)
