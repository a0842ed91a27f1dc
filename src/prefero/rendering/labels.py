"""Where the labels of a scene go: beside their parts, clear of everything that people look at.

    boxes     (N, 4)   left, top, right and bottom in pixels; y points down
    anchors   (L, 4)   the boxes of the L parts that have a label
    sizes     (L, 2)   widths and heights of the labels

The page places its labels by the same rules: `web/src/player/labels.ts`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array

GAP = 2.0  # pixels between a part and its label
RINGS = (0.0, 0.5, 1.0)  # distances from its part that are tried for a label, in lines of text
CORNERS = ((0.6, -1), (-0.6, -1), (0.6, 1), (-0.6, 1), (1, -0.7), (-1, -0.7), (1, 0.7), (-1, 0.7))
DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0), *CORNERS)  # the best first


@dataclass(frozen=True)
class _Picture:
    anchors: Array
    obstacles: Array
    bounds: Array | None


@dataclass(frozen=True, order=True)
class _Cost:
    """What a label covers, as areas in pixels: the first matters more."""

    hides: float = 0.0  # of labelled parts and other labels; all of it if it seems to belong to another part
    crosses: float = 0.0  # of obstacles


@dataclass(frozen=True)
class _Place:
    box: Array
    cost: _Cost


FREE = _Cost()


def place_labels(
    sizes: Array, anchors: Array, obstacles: Array, bounds: Array | None = None
) -> list[Array | None]:
    """The boxes of the labels: inside `bounds`, without overlap with any anchor, obstacle or other label.

    A label that fits nowhere near its part is where it covers least. Only labels of parts outside `bounds`
    are left out (None).
    """
    picture = _Picture(anchors, obstacles, bounds)
    order = [own for own in range(len(sizes)) if bounds is None or overlap(bounds, anchors[[own]]).any()]
    best = _place_in_order(order, sizes, picture)
    while crowded := [own for own, place in sorted(best.items()) if place.cost != FREE]:
        order = [*crowded, *(own for own in order if own not in crowded)]  # they choose first this time
        places = _place_in_order(order, sizes, picture)
        if _total_cost(places) >= _total_cost(best):
            break
        best = places
    return [best[own].box if own in best else None for own in range(len(sizes))]


def _place_in_order(order: list[int], sizes: Array, picture: _Picture) -> dict[int, _Place]:
    """Each label in turn takes the best place that is left."""
    taken = picture.anchors.reshape(-1, 4)
    places: dict[int, _Place] = {}
    for own in order:
        places[own] = _best_place(own, sizes[own], taken, picture)
        taken = np.vstack([taken, places[own].box])
    return places


def _best_place(own: int, size: Array, taken: Array, picture: _Picture) -> _Place:
    best: _Place | None = None
    for candidate in _candidates(picture.anchors[own], size):
        box = _moved_into(candidate, picture.bounds)
        misleads = 0.0 if _nearest(box, picture.anchors) == own else float(np.prod(size))
        cost = _Cost(_covered_area(box, taken) + misleads, _covered_area(box, picture.obstacles))
        if best is None or cost < best.cost:
            best = _Place(box, cost)
        if cost == FREE:
            break
    assert best is not None  # there are always candidates
    return best


def _total_cost(places: dict[int, _Place]) -> _Cost:
    costs = [place.cost for place in places.values()]
    return _Cost(sum(cost.hides for cost in costs), sum(cost.crosses for cost in costs))


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


def _covered_area(box: Array, others: Array) -> float:
    """In pixels; an overlap that is thinner than a pixel counts as one."""
    others = others[overlap(box, others)]
    common = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(common.prod(axis=1), 1.0).sum())


def _moved_into(box: Array, bounds: Array | None) -> Array:
    """The box, moved as far as is needed to lie inside the bounds."""
    if bounds is None:
        return box
    size = box[2:] - box[:2]
    corner = np.maximum(np.minimum(box[:2], bounds[2:] - size), bounds[:2])
    return np.concatenate([corner, corner + size])


def _nearest(box: Array, anchors: Array) -> int:
    """The anchor closest to a box: a label belongs to that part in the eyes of a reader."""
    apart = np.maximum(np.maximum(anchors[:, :2] - box[2:], box[:2] - anchors[:, 2:]), 0.0)
    return int(np.argmin(np.linalg.norm(apart, axis=1)))


def boxes_around(centers: Array, radius: Array | float) -> Array:
    """Boxes (N, 4) around points (N, 2)."""
    reach = np.broadcast_to(np.asarray(radius, dtype=float).reshape(-1, 1), (len(centers), 1))
    return np.concatenate([centers - reach, centers + reach], axis=1)
