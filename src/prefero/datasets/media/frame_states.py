"""Numbers that describe each frame of a video, so that features can be extracted of videos alone.

A frame is first averaged to SIDE by SIDE cells with red, green and blue from 0 to 1, so its size and shape
do not matter. Of the cells c(i) of a frame, with x(i) from 0 (left) to 1 (right) and y(i) from 0 (top) to 1
(bottom), there are two kinds of states:

statistics   red, green, blue    the means of the three colors over the cells
             motion              the mean of m(i), the change of a cell since the frame before, per second:
                                 |c(i) - c_before(i)|, averaged over the colors, times the frame rate
             motion x, y         where it moves: the means of x(i) and y(i), weighted by m(i)
             motion std          the weighted standard deviation of these places
             color x, y, std     the same, weighted by the saturation: the largest color minus the least
pixels       the colors of COARSE by COARSE cells

Weights sum up to at least a little weight at the center, so that a still or gray frame has no wild places.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.media.video_files import frame_rate, read_frames

Kind = Literal["statistics", "pixels"]
KINDS: tuple[Kind, ...] = ("statistics", "pixels")
SIDE, COARSE = 32, 8
PLACES = ("x", "y", "std")
STATISTICS = (
    "red",
    "green",
    "blue",
    "motion",
    *(f"motion {place}" for place in PLACES),
    *(f"color {place}" for place in PLACES),
)
LITTLE = 1e-3  # the weight at the center, for each cell: too little color or motion for a person to see


def state_names(kind: Kind) -> tuple[str, ...]:
    """The names of the states of this kind."""
    if kind == "statistics":
        return STATISTICS
    cells = [(y + 1, x + 1) for y in range(COARSE) for x in range(COARSE)]
    return tuple(f"{color} {y},{x}" for y, x in cells for color in ("red", "green", "blue"))


def frame_states(path: Path, kind: Kind) -> tuple[Array, float]:
    """The states of every frame of a video, (T, s), and the frame rate."""
    rate = frame_rate(path)
    frames = read_frames(path, side=SIDE if kind == "statistics" else COARSE)
    cells = (frame / 255.0 for frame in frames)
    rows = list(_statistics(cells, rate)) if kind == "statistics" else [frame.ravel() for frame in cells]
    return np.array(rows).reshape(len(rows), len(state_names(kind))), rate


def _statistics(frames: Iterable[Array], rate: float) -> Iterator[list[float]]:
    before: Array | None = None
    for frame in frames:
        motion = np.abs(frame - (frame if before is None else before)).mean(axis=2) * rate
        saturation = frame.max(axis=2) - frame.min(axis=2)
        colors = frame.mean(axis=(0, 1)).tolist()
        yield [*colors, float(motion.mean()), *place_of(motion), *place_of(saturation)]
        before = frame


def place_of(weights: Array) -> tuple[float, float, float]:
    """The weighted means of x and y over the cells (h, w), and the weighted standard deviation of both."""
    y, x = (np.linspace(0.0, 1.0, count) for count in weights.shape)
    columns, rows, center = weights.sum(axis=0), weights.sum(axis=1), LITTLE * weights.size
    total = columns.sum() + center
    mean_x, mean_y = (columns @ x + 0.5 * center) / total, (rows @ y + 0.5 * center) / total
    variance = (columns @ (x - mean_x) ** 2 + rows @ (y - mean_y) ** 2) / total
    return float(mean_x), float(mean_y), float(np.sqrt(variance))
