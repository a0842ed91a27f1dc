"""Soft thresholds: values of features at which a reward may step, or from which on it may level off.

    rows         (R, d)   standardized features that stand for the pool
    threshold             a quantile of a feature over the rows
    width                 of a threshold: a fraction of the feature's standard deviation over the rows
    step                  tanh((x - threshold) / width), shifted and scaled to mean 0 and variance 1

A bonus at a goal is a step of the feature that shows the goal. A feature with two values has no threshold:
all its steps are linear functions of it.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.kernels import Kernel, Linear, Standardized, Thresholded

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
WIDTH = 0.4


@dataclass(frozen=True, eq=False)
class Thresholds:
    """The thresholds of all features.

    columns     (T,)   the feature of each threshold
    values      (T,)
    center      (T,)   the mean of each tanh over the rows
    scale       (T,)   and its standard deviation
    """

    columns: Indices
    values: Array
    center: Array
    scale: Array

    @classmethod
    def of(cls, rows: Array) -> Self:
        """Of standardized features that stand for the pool; equal thresholds of a feature are one."""
        values = np.quantile(rows, QUANTILES, axis=0)
        ends = np.stack([rows.min(axis=0), rows.max(axis=0)])
        has_more = ((rows > ends[0]) & (rows < ends[1])).any(axis=0)
        new = np.concatenate([np.full((1, rows.shape[1]), True), np.diff(values, axis=0) > 1e-9]) & has_more
        columns, places = np.nonzero(new.T)
        found = values[places, columns]
        steps = np.tanh((rows[:, columns] - found) / WIDTH)
        center, scale = steps.mean(axis=0), steps.std(axis=0)
        varies = scale > 1e-6
        return cls(columns[varies], found[varies], center[varies], scale[varies])

    def steps(self, rows: Array) -> Array:
        """The steps of standardized features: (M, T)."""
        made: Array = np.tanh((rows[:, self.columns] - self.values) / WIDTH)
        made -= self.center
        made /= self.scale
        return made

    def kernel(self, relevance: Array) -> Kernel:
        """The kernel of linear rewards of some steps, those with a relevance (T,): its root scales a step."""
        some = np.flatnonzero(relevance)
        scale = self.scale[some] / np.sqrt(relevance[some])
        return Thresholded(
            Standardized(Linear(), tuple(self.center[some]), tuple(scale)),
            tuple(self.columns[some]),
            tuple(self.values[some]),
            (WIDTH,) * len(some),
        )
