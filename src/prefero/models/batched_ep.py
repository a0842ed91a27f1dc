"""EP for many models of the same answers at once: sites from which each model's own EP needs one sweep.

    K, N, r              models, answers, and the largest rank of a basis
    bases      (K, N, r)   as in `prefero.models.ep`; columns beyond a model's rank are 0, and change nothing
    precision  (K, N)      of the sites
    shift      (K, N)      of the sites

With few answers a sweep of one model is mostly overhead, so all models make theirs together. It need not
converge: what it finds is a place to start from, and `expectation_propagation` decides when to stop. Models
with lapses may have negative precisions; one whose distributions become improper goes halfway back.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models.ep import MEMORY, PROPER
from prefero.models.likelihood import Probit
from prefero.models.solution import WarmStart

SWEEPS = 15
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
    precision = np.maximum([start.precision for start in starts], sweeps.lowest)
    sites = best = proper = _Sites(precision, np.array([start.shift for start in starts]))
    smallest, acceleration = np.full(len(bases), MISLED), _Acceleration(sweeps.scale, sweeps.lowest)
    for _ in range(SWEEPS):
        steps, residual = sweeps.steps(sites)
        is_proper = np.isfinite(residual)
        proper, best = sites.where(is_proper, proper), sites.where(residual < smallest, best)
        smallest = np.fmin(residual, smallest)
        if np.all(smallest <= tolerance):
            break
        sites = acceleration(sites, steps, is_proper).where(is_proper, sites.halfway_to(proper))
    found = smallest < MISLED
    return [
        WarmStart(best.precision[k], best.shift[k]) if found[k] else start for k, start in enumerate(starts)
    ]


def _stacked(bases: Sequence[Array]) -> Array:
    rank = max(basis.shape[1] for basis in bases)
    return np.stack([np.pad(basis, ((0, 0), (0, rank - basis.shape[1]))) for basis in bases])


class _Sites(NamedTuple):
    """The sites of all models, or the steps that they take."""

    precision: Array
    shift: Array

    def where(self, models: Flags, others: "_Sites") -> "_Sites":
        """These sites for some models, and the others for the rest."""
        chosen = models[:, None]
        return _Sites(*(np.where(chosen, a, b) for a, b in zip(self, others, strict=True)))

    def halfway_to(self, others: "_Sites") -> "_Sites":
        """The mean of these sites and the others."""
        return _Sites(*(0.5 * (a + b) for a, b in zip(self, others, strict=True)))


class _Sweeps:
    """The steps of all sites of all models."""

    def __init__(self, bases: Array, tied: Flags, probits: Sequence[Probit]) -> None:
        self.bases, self.tied = bases, tied
        self.scale = np.array([[probit.scale] for probit in probits])
        self.lowest = np.array([[-np.inf if probit.lapse else 0.0] for probit in probits])
        self.groups = [
            (probit, np.array([k for k, one in enumerate(probits) if one == probit]))
            for probit in dict.fromkeys(probits)
        ]

    def steps(self, sites: _Sites) -> tuple[_Sites, Array]:
        """The steps to sites that match the moments, and how far the moments are off, (K,).

        That is infinite where a distribution would be improper.
        """
        (precision, shift), (mean, variance) = sites, self._moments(sites)
        rest = 1.0 - precision * variance
        improper = np.any((rest < PROPER) | (variance <= 0.0), axis=1)
        rest, variance = np.maximum(rest, PROPER), np.maximum(variance, 0.0)
        m, v = (mean - shift * variance) / rest, variance / rest
        gradient, curvature = self._tilted(m, v)
        curvature = np.maximum(curvature, self.lowest)
        left_over = 1.0 - v * curvature
        to_precision = curvature / left_over - precision
        to_shift = (gradient + m * curvature) / left_over - shift
        off = np.abs(to_precision) * variance + np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
        return _Sites(to_precision, to_shift), np.where(improper, np.inf, off.max(axis=1))

    def _moments(self, sites: _Sites) -> tuple[Array, Array]:
        """Means and variances of the differences."""
        bases, rank = self.bases, self.bases.shape[2]
        transposed = np.swapaxes(bases, 1, 2)
        inverse = np.linalg.inv(np.eye(rank) + (transposed * sites.precision[:, None, :]) @ bases)
        along = bases @ inverse
        mean = (along @ (transposed @ sites.shift[:, :, None]))[:, :, 0]
        return mean, np.sum(along * bases, axis=2)

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
    is_proper: Flags  # (K,) whether the step is one


class _Acceleration:
    """Anderson's acceleration of every model's fixed-point iteration."""

    def __init__(self, scale: Array, lowest: Array) -> None:
        self.scale, self.lowest = scale, lowest
        self.points: list[_Point] = []

    def __call__(self, sites: _Sites, steps: _Sites, is_proper: Flags) -> _Sites:
        """The next sites of every model."""
        new = _Point(self._scaled(sites), self._scaled(steps), is_proper)
        self.points = [*self.points[-MEMORY:], new]
        scaled, shift = np.split(new.at + new.step - self._correction(), 2, axis=1)
        return _Sites(np.maximum(scaled / self.scale, self.lowest), shift)

    def _scaled(self, sites: _Sites) -> Array:
        return np.concatenate([self.scale * sites.precision, sites.shift], axis=1)

    def _correction(self) -> Array:
        new = self.points[-1]
        if len(self.points) == 1:
            return np.zeros_like(new.at)
        pairs = list(zip(self.points[1:], self.points[:-1], strict=True))
        known = np.stack([one.is_proper & other.is_proper for one, other in pairs], axis=1)[:, :, None]
        changes = known * np.stack([one.step - other.step for one, other in pairs], axis=1)  # (K, m, 2N)
        moves = known * np.stack([one.at - other.at for one, other in pairs], axis=1)
        gram = changes @ np.swapaxes(changes, 1, 2)
        ridge = 1e-10 * np.trace(gram, axis1=1, axis2=2)[:, None, None] + 1e-300
        right = changes @ new.step[:, :, None]
        coefficients = np.linalg.solve(gram + ridge * np.eye(len(pairs)), right)
        correction: Array = np.sum((moves + changes) * coefficients, axis=1)
        size, limit = np.linalg.norm(correction, axis=1), 10.0 * np.linalg.norm(new.step, axis=1)
        return np.where((size <= limit)[:, None], correction, 0.0)
