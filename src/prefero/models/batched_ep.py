"""EP for many models of the same answers at once: sites from which each model's own EP needs one sweep.

    K, N, r              models, answers, and the largest rank of a basis
    bases      (K, N, r)   as in `prefero.models.ep`; columns beyond a model's rank are 0, and change nothing
    precision  (K, N)      of the sites
    shift      (K, N)      of the sites

With few answers a sweep of one model is mostly overhead, so all models make theirs together. It need not
converge: what it finds is a place to start from, and `expectation_propagation` decides when to stop.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models.likelihood import Probit
from prefero.models.solution import WarmStart

SWEEPS = 15
MEMORY = 3  # steps that are remembered for the acceleration
MOST_ANSWERS = 50  # with more, the linear algebra of one model outweighs the overhead
MISLED = (
    0.1  # standard deviations: sites farther from a fixed point than this are no better than the old ones
)


def warm_starts(
    bases: Sequence[Array],
    tied: Flags,
    probits: Sequence[Probit],
    starts: Sequence[WarmStart],
    tolerance: float,
) -> list[WarmStart]:
    """Sites near the fixed point of every model, where they are found; otherwise those it started from."""
    if not len(tied) or len(tied) > MOST_ANSWERS or len(bases) < 2:
        return list(starts)
    sweeps = _Sweeps(_stacked(bases), tied, probits)
    precision = np.maximum([start.precision for start in starts], 0.0)
    shift = np.array([start.shift for start in starts])
    acceleration = _Acceleration(sweeps.scale)
    best = precision, shift, np.full(len(bases), MISLED)
    for _ in range(SWEEPS):
        to_precision, to_shift, residual = sweeps.steps(precision, shift)
        better = (residual < best[2])[:, None]
        best = (
            np.where(better, precision, best[0]),
            np.where(better, shift, best[1]),
            np.fmin(residual, best[2]),
        )
        if np.all(best[2] <= tolerance):
            break
        precision, shift = acceleration(precision, shift, to_precision, to_shift)
    found = best[2] < MISLED
    return [WarmStart(best[0][k], best[1][k]) if found[k] else start for k, start in enumerate(starts)]


def _stacked(bases: Sequence[Array]) -> Array:
    rank = max(basis.shape[1] for basis in bases)
    return np.stack([np.pad(basis, ((0, 0), (0, rank - basis.shape[1]))) for basis in bases])


class _Sweeps:
    """The steps of all sites of all models."""

    def __init__(self, bases: Array, tied: Flags, probits: Sequence[Probit]) -> None:
        self.bases, self.tied = bases, tied
        self.scale = np.array([[probit.scale] for probit in probits])
        self.groups = [
            (probit, np.array([k for k, one in enumerate(probits) if one == probit]))
            for probit in dict.fromkeys(probits)
        ]

    def steps(self, precision: Array, shift: Array) -> tuple[Array, Array, Array]:
        """The steps to sites that match the moments, and how far the moments are off, (K,)."""
        bases, rank = self.bases, self.bases.shape[2]
        transposed = np.swapaxes(bases, 1, 2)
        inverse = np.linalg.inv(np.eye(rank) + (transposed * precision[:, None, :]) @ bases)
        along = bases @ inverse
        mean = (along @ (transposed @ shift[:, :, None]))[:, :, 0]
        variance = np.sum(along * bases, axis=2)
        rest = np.maximum(1.0 - precision * variance, 1e-12)
        m, v = (mean - shift * variance) / rest, variance / rest
        gradient, curvature = self._tilted(m, v)
        left_over = 1.0 - v * np.maximum(curvature, 0.0)
        to_precision = np.maximum(curvature, 0.0) / left_over - precision
        to_shift = (gradient + m * np.maximum(curvature, 0.0)) / left_over - shift
        off = np.abs(to_precision) * variance + np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
        return to_precision, to_shift, off.max(axis=1)

    def _tilted(self, mean: Array, variance: Array) -> tuple[Array, Array]:
        gradient, curvature = np.empty_like(mean), np.empty_like(mean)
        for probit, models in self.groups:
            tied = np.tile(self.tied, len(models))
            likelihood = probit(mean[models].ravel(), tied, variance[models].ravel())
            gradient[models] = likelihood.gradient.reshape(len(models), -1)
            curvature[models] = likelihood.curvature.reshape(len(models), -1)
        return gradient, curvature


class _Point(NamedTuple):
    at: Array  # (K, 2N) precisions, multiplied by the noise, and shifts
    step: Array


class _Acceleration:
    """Anderson's acceleration of every model's fixed-point iteration."""

    def __init__(self, scale: Array) -> None:
        self.scale = scale
        self.points: list[_Point] = []

    def __call__(
        self, precision: Array, shift: Array, to_precision: Array, to_shift: Array
    ) -> tuple[Array, Array]:
        """The next sites of every model."""
        new = _Point(
            np.concatenate([self.scale * precision, shift], axis=1),
            np.concatenate([self.scale * to_precision, to_shift], axis=1),
        )
        self.points = [*self.points[-MEMORY:], new]
        scaled, shift = np.split(new.at + new.step - self._correction(), 2, axis=1)
        return np.maximum(scaled / self.scale, 0.0), shift

    def _correction(self) -> Array:
        new = self.points[-1]
        if len(self.points) == 1:
            return np.zeros_like(new.at)
        pairs = list(zip(self.points[1:], self.points[:-1], strict=True))
        changes = np.stack([one.step - other.step for one, other in pairs], axis=1)  # (K, m, 2N)
        moves = np.stack([one.at - other.at for one, other in pairs], axis=1)
        gram = changes @ np.swapaxes(changes, 1, 2)
        ridge = 1e-10 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-300
        right = changes @ new.step[:, :, None]
        coefficients = np.linalg.solve(gram + ridge * np.eye(len(pairs)), right)
        correction: Array = np.sum((moves + changes) * coefficients, axis=1)
        size, limit = np.linalg.norm(correction, axis=1), 10.0 * np.linalg.norm(new.step, axis=1)
        return np.where((size <= limit)[:, None], correction, 0.0)
