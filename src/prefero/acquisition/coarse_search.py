"""The best question about a pool within a stated share: every pair is looked at, in single precision.

The upper bound of every pair is computed, a tile of the M x M square at a time, and only questions that may
be better than the best so far by more than the tolerance are scored, in double precision. Tiles are shared
among the cores; on a GPU they are larger.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from prefero._support.arrays import AnyArray, namespace_of, to_numpy
from prefero._support.parallel import map_parallel
from prefero.acquisition.base import HasUpperBound
from prefero.acquisition.incumbent import Incumbent
from prefero.acquisition.projection import Projection, projections
from prefero.questions import Question

TILE = {"cpu": 256, "gpu": 8192}
SINGLE = 6e-8  # the rounding error of single precision
ALLOWED = 1e-3  # of the noise's variance: rounding errors of gap variances that the bound allows for


class CoarseSearch:
    """Looks at every pair of a pool.

    Args:
        incumbent: The best question so far; its acquisition function has an upper bound.
        x: The pool as an array of the library, and on the device, that computes.
    """

    def __init__(self, incumbent: Incumbent, x: AnyArray) -> None:
        assert isinstance(incumbent.acquisition, HasUpperBound)
        self.incumbent, self.bounded, self.x = incumbent, incumbent.acquisition, x
        self.views = [_single_precision(view) for view in projections(incumbent.belief, x)]

    def run(self) -> Question:
        """The best question found; none is better by more than the tolerance."""
        self.incumbent.first_look()
        here = isinstance(self.x, np.ndarray)
        tiles = _tiles(self.x.shape[0], TILE["cpu" if here else "gpu"])
        if here:
            map_parallel(self._look_at, tiles)
        else:
            for tile in tiles:
                self._look_at(tile)
        return self.incumbent.question(self.incumbent.tolerance)

    def _look_at(self, tile: tuple[slice, slice]) -> None:
        """Score the questions of a tile that may be better."""
        rows, columns = tile
        xp = namespace_of(self.x)
        bound = self.bounded.upper_bound([view.pairs(rows, columns) for view in self.views])
        shape = (rows.stop - rows.start, columns.stop - columns.start)
        i, j = xp.nonzero(xp.broadcast_to(bound, shape) > self.incumbent.threshold)
        if i.shape[0]:
            found = np.column_stack([to_numpy(i) + rows.start, to_numpy(j) + columns.start])
            self.incumbent.score(found[found[:, 0] < found[:, 1]])


def suffices(incumbent: Incumbent) -> bool:
    """Whether single precision is precise enough for the rewards of this pool."""
    views = projections(incumbent.belief, incumbent.x[:: max(len(incumbent.x) // 1000, 1)])
    return all(
        SINGLE * float(np.max(np.abs(view.diagonal))) < ALLOWED * view.component.probit.scale**2
        for view in views
    )


def _single_precision(view: Projection) -> Projection:
    xp = namespace_of(view.x)
    mean = view.mean - xp.mean(view.mean)
    names = {"x": view.x, "mean": mean, "variance": view.variance}
    names |= {"diagonal": view.diagonal, "learned": view.learned}
    return replace(view, **{name: xp.astype(array, xp.float32) for name, array in names.items()})


def _tiles(count: int, size: int) -> Iterator[tuple[slice, slice]]:
    """The upper triangle of the count x count square in tiles."""
    ends = [slice(start, min(start + size, count)) for start in range(0, count, size)]
    return ((rows, columns) for place, rows in enumerate(ends) for columns in ends[place:])
