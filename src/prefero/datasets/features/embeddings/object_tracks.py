"""What moves in a video, frame by frame: objects of another color than what is behind them, and the camera.

    frames       (T, SIDE, SIDE, 3)  colors from 0 to 1; the frame is squeezed to a square
    shift        (T, 2)              how far the picture moved since the one before, in x and y; 1: its width
    colors       (K, 3)              of the objects
    behind       (B, 3)              colors behind them, where the camera moves
                 (SIDE * SIDE, 3)    where it does not: of each place
    weights      (T, SIDE, SIDE, K)  how much of each object a place shows
    tracks       (T, 7 K + 2)        by `track_names`, in pictures and pictures a second

The shift is found by Lucas and Kanade's least squares on blurred frames, with little weight where something
moves by itself. Weights are a softmax of squared distances of colors; an object is at their mean,
and their covariance says how it is turned. Angles are doubled, so that a turn by half is none.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from prefero._support.arrays import Array

SIDE, COARSE = 96, 48  # cells of a frame; of those that the shift is found in
BLUR, MARGIN, ROUNDS = 3.0, 4, 3  # of the shift: cells, cells at the border that do not count, iterations
ROBUST = 0.03  # a difference of gray from which on something else moves
COLOR_WIDTH = 0.1  # distance of colors that are hard to tell apart
BLOCKS = 8  # of a frame on each side, where the camera is looked for
NOTABLE = 0.01  # root mean square distance of colors from which on a block changes
LEFT = 0.6  # of its mean square, at most, once the shift is taken off; of mere noise, more is left
WINDOW = 0.1  # of a picture, around an object
ALONG = np.linspace(0.0, 1.0, SIDE)
LITTLE = 1e-3  # the weight at the center, for each cell: too little of an object for a person to see
SLOW = 0.02 / COARSE**2  # squared pictures a frame: below, a direction counts less
PARTS = ("x", "y", "speed", "direction cos", "direction sin", "tilt cos", "tilt sin")


class Scenery(NamedTuple):
    """What is looked for: the objects' colors, what is behind them, and whether the camera moves."""

    colors: Array
    behind: Array
    moves: bool


def track_names(objects: int) -> list[str]:
    """The names of the columns of tracks."""
    return [f"{part} of object {n + 1}" for n in range(objects) for part in PARTS] + ["camera x", "camera y"]


def tracks_of(frames: Array, scenery: Scenery, seconds: float) -> Array:
    """Where each object is at every frame, how fast, in which direction, and how it is turned.

    Places are those in the first picture: where the camera moves, they are not bound to it.
    """
    camera = np.cumsum(shifts(frames), axis=0) if scenery.moves else np.zeros((len(frames), 2))
    place, tilt = moments(weights(frames, scenery))
    place = place - camera[:, None]
    velocity = np.diff(place, axis=0, prepend=place[:1])
    direction = doubled(velocity[..., 0], velocity[..., 1], SLOW)
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True) / seconds
    parts = np.concatenate([place, speed, direction, tilt], axis=-1)
    return np.concatenate([parts.reshape(len(frames), -1), -camera], axis=1)


def doubled(x: Array, y: Array, least: float) -> Array:
    """The direction of (x, y) by cosine and sine of the doubled angle; of short ones, less than length 1."""
    total = x**2 + y**2 + least
    return np.stack([(x**2 - y**2) / total, 2 * x * y / total], axis=-1)


# --- the camera -------------------------------------------------------------------------------------------


def shifts(frames: Array) -> Array:
    """How far each picture moved since the one before, (T, 2), as fractions of it."""
    from scipy.ndimage import gaussian_filter

    gray = coarse(frames).mean(axis=-1)
    blurred: Array = gaussian_filter(gray, (0, BLUR, BLUR))
    found = np.zeros((len(frames), 2))
    for now in range(1, len(frames)):
        found[now] = _shift(blurred[now - 1], blurred[now], found[now - 1])
    return found / COARSE


def coarse(frames: Array) -> Array:
    """Frames of COARSE cells."""
    each = SIDE // COARSE
    cells: Array = frames.reshape(len(frames), COARSE, each, COARSE, each, 3).mean(axis=(2, 4))
    return cells


def _shift(before: Array, now: Array, start: Array) -> Array:
    """Cells in x and y by which `now` is moved, from the shift of the frame before."""
    shift, inner = start.copy(), (slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN))
    for _ in range(ROUNDS):
        moved = shifted(before, shift)
        slopes: Any = np.gradient(moved)
        down, right = (slope[inner].ravel() for slope in slopes)
        rest = (now - moved)[inner].ravel()
        weight = 1 / (1 + (rest / ROBUST) ** 2)
        a, b, c = (np.sum(weight * p) for p in (right * right, right * down, down * down))
        p, q = np.sum(weight * right * rest), np.sum(weight * down * rest)
        a, c = a + 1e-4, c + 1e-4
        step = np.array([c * p - b * q, a * q - b * p]) / (a * c - b * b)
        shift = np.clip(shift - step, -COARSE / 4, COARSE / 4)
    return shift


def shifted(image: Array, shift: Array) -> Array:
    """An image (h, w) moved by so many cells in x and y."""
    from scipy.ndimage import shift as move

    moved: Array = move(image, (shift[1], shift[0]), order=1, mode="nearest")
    return moved


def changes(frames: Array, shift: Array) -> Array:
    """How much each place changes against the frame before, moved by the shift: (T, SIDE, SIDE)."""
    found = np.zeros(frames.shape[:3])
    for now in range(1, len(frames)):
        before = frames[now - 1]
        if np.abs(shift[now]).max() * SIDE > 0.05:
            before = np.stack([shifted(before[..., c], shift[now] * SIDE) for c in range(3)], axis=-1)
        found[now] = np.linalg.norm(frames[now] - before, axis=-1)
    return found


# --- objects ----------------------------------------------------------------------------------------------


def weights(frames: Array, scenery: Scenery) -> Array:
    """How much of each object a place shows, (T, SIDE, SIDE, K)."""
    colors = square_distances(frames, scenery.colors)
    if scenery.moves:
        behind = square_distances(frames, scenery.behind)
    else:
        behind = np.sum((frames - scenery.behind.reshape(SIDE, SIDE, 3)) ** 2, axis=-1, keepdims=True)
    powers = np.concatenate([colors, behind], axis=-1) / (-2 * COLOR_WIDTH**2)
    likely = np.exp(powers - powers.max(axis=-1, keepdims=True))
    shown: Array = (likely / likely.sum(axis=-1, keepdims=True))[..., : colors.shape[-1]]
    return shown


def square_distances(values: Array, colors: Array) -> Array:
    """Of colors (..., 3) to each of (K, 3): (..., K)."""
    return np.stack([np.sum((values - color) ** 2, axis=-1) for color in colors], axis=-1)


def moments(shown: Array) -> tuple[Array, Array]:
    """Where each object is, (T, K, 2), from 0 (left, top) to 1; and how it is turned, by doubled angles.

    Its tilt is that of the part within WINDOW of its place, since a few cells far away would outweigh it.
    """
    right, down = (ALONG - middle[..., None] for middle in _middle(shown))  # (T, K, SIDE)
    across, upright = (np.exp(-(away**2) / (2 * WINDOW**2)) for away in (right, down))
    near = np.einsum("tjik,tki,tkj->tjik", shown, across, upright, optimize=True)
    x, y = _middle(near)
    total = near.sum(axis=(1, 2)) + LITTLE * SIDE**2
    right, down = ALONG - x[..., None], ALONG - y[..., None]
    xx = np.einsum("tik,tki->tk", near.sum(axis=1), right**2)
    yy = np.einsum("tjk,tkj->tk", near.sum(axis=2), down**2)
    xy = np.einsum("tjik,tki,tkj->tk", near, right, down, optimize=True)
    size = xx + yy + 1e-5 * total
    tilt = np.stack([(xx - yy) / size, 2 * xy / size], axis=-1)
    return _drawn_to_the_center(shown), tilt


def _middle(shown: Array) -> tuple[Array, Array]:
    """The means of x and y, (T, K) each."""
    total = shown.sum(axis=(1, 2)) + 1e-12
    x, y = (np.einsum("tik,i->tk", shown.sum(axis=axis), ALONG) / total for axis in (1, 2))
    return x, y


def _drawn_to_the_center(shown: Array) -> Array:
    """The same with a little weight at the center, so that what is hardly to be seen has no wild places."""
    total, little = shown.sum(axis=(1, 2)), LITTLE * SIDE**2
    places: Array = (np.stack(_middle(shown), axis=-1) * total[..., None] + 0.5 * little) / (
        total[..., None] + little
    )
    return places


# --- what to look for -------------------------------------------------------------------------------------


def camera_moves(videos: Sequence[Array]) -> bool:
    """Do most blocks of the pictures change, and much less so against those before, moved by the shift?

    One object before what stays takes few blocks, however well its own way explains what changes.
    """
    return float(np.mean([_share_moving(frames) for frames in videos])) > 0.5


def _share_moving(frames: Array) -> float:
    """The share of the blocks that change as the shift says."""
    shift = shifts(frames)
    still, moved = _by_blocks(changes(frames, np.zeros_like(shift))), _by_blocks(changes(frames, shift))
    return float(np.mean((still > NOTABLE**2) & (moved < LEFT * still)))


def _by_blocks(change: Array) -> Array:
    """Mean squares over the cells of each block and the frames."""
    each = SIDE // BLOCKS
    means: Array = np.mean(change[1:].reshape(-1, BLOCKS, each, BLOCKS, each) ** 2, axis=(0, 2, 4))
    return means


def palette(colors: Array, weight: Array, count: int) -> Array:
    """Colors that stand for weighted ones (N, 3): the farthest from each other, then means of groups."""
    chosen, distance = np.zeros((0, 3)), np.ones(len(colors))
    for _ in range(count):
        chosen = np.vstack([chosen, colors[int(np.argmax(distance * weight))]])
        distance = np.minimum(distance, np.sum((colors - chosen[-1]) ** 2, axis=1))
    for _ in range(10):
        group = np.argmin(square_distances(colors, chosen), axis=1)
        sums = np.array([np.bincount(group, weight * c, count) for c in colors.T]).T
        totals = np.bincount(group, weight, count)[:, None]
        chosen = np.where(totals > 0, sums / np.maximum(totals, 1e-300), chosen)
    return chosen
