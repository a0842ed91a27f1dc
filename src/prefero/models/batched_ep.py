"""EP for many models of the same answers at once.

    K, N, r              models, answers, and the largest rank of a basis
    bases      (K, N, r)   as in `prefero.models.ep`; columns beyond a model's rank are 0, and change nothing
    precision  (K, N)      of the sites
    shift      (K, N)      of the sites

With few answers a sweep of one model is mostly overhead, so all models make theirs together; a model leaves
the batch when it has converged. Some may not: what is found of these is a place to start from for
`expectation_propagation`. Models with lapses may have negative precisions; one whose distributions become
improper goes halfway back.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.ep import MEMORY, PROPER, log_evidence
from prefero.models.likelihood import Likelihood, Probit
from prefero.models.linalg import posterior_mean, precision_factor, regular_solutions, stacked
from prefero.models.solution import Solution, WarmStart

SWEEPS = 40
FOR_ALL, FEW = 12, 3  # after so many sweeps, so few models go on alone: for them a batch saves nothing
MOST_ANSWERS = 50  # with more, the linear algebra of one model outweighs the overhead
CLOSER = 0.1  # of the tolerance: a batch goes so far, so that results hardly depend on the start
MISLED = 0.1  # standard deviations: sites that are farther from a fixed point are no better than the old ones


def warm_starts(
    bases: Sequence[Array],
    tied: Flags,
    probits: Sequence[Probit],
    starts: Sequence[WarmStart],
    tolerance: float,
) -> list[WarmStart]:
    """Sites near the fixed point of every model, with their solution; otherwise those it started from.

    Args:
        bases: The basis of every model, (N, r) each.
        tied: Whether an answer was "about equal", (N,).
        probits: The likelihood of answers in every model.
        starts: The sites to start from.
        tolerance: When a model has converged, in standard deviations of the differences.

    Returns:
        The sites; the residual of a solution says whether the model has converged.
    """
    if not len(tied) or len(tied) > MOST_ANSWERS or len(bases) < 2:
        return list(starts)
    sweeps = _Sweeps(stacked(bases), tied, probits)
    precision = np.maximum([start.precision for start in starts], sweeps.lowest)
    sites = _Sites(precision, np.array([start.shift for start in starts]))
    best = _Sites(*(part.copy() for part in sites))
    batch, smallest = _Batch(sweeps, sites), np.full(len(bases), MISLED)
    for sweep in range(1, SWEEPS + 1):
        at, residual = batch.sweep()
        closer = residual < smallest[batch.models]
        best.set(batch.models[closer], at.of(closer))
        smallest[batch.models[closer]] = residual[closer]
        batch.keep(~(residual <= CLOSER * tolerance))
        if len(batch.models) <= (FEW if sweep > FOR_ALL else 0):
            break
    close, found = np.flatnonzero(smallest < MISLED), list(starts)
    for model, solution in zip(close, _solutions(sweeps, best, bases, close), strict=True):
        if solution is not None:
            found[model] = WarmStart(solution.W, solution.shift, solution)
    return found


def _solutions(
    sweeps: "_Sweeps", sites: "_Sites", bases: Sequence[Array], close: Indices
) -> Iterator[Solution | None]:
    """Those of some of the models; None where the posterior would be improper."""
    if not len(close):
        return
    sites = sites.of(close)
    moments = sweeps.of_models(close).moments(sites)
    for place, model in enumerate(close):
        try:
            yield _solution(bases[model], place, sites, moments)
        except LinAlgError:
            yield None


def _solution(basis: Array, place: int, sites: "_Sites", moments: "_Moments") -> Solution:
    """Everything that the sites of a model say; LinAlgError if its posterior is improper."""
    # copies, for a row of a matrix would keep all of it in memory
    W, shift, m, v = (part[place].copy() for part in (*sites, *moments.cavity))
    tilted = Likelihood(*(part[place].copy() for part in moments.tilted))
    factor = precision_factor(basis, W)  # as for sites from a file, to the last bit
    evidence = log_evidence(tilted, (m, v), W, shift, moments.mean[place], factor)
    u_mean, residual = posterior_mean(basis, factor, shift), float(moments.residual[place])
    return Solution(u_mean, W, shift, factor, evidence, 1, residual, tilted, (m, v))


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

    def of(self, models: Flags | Indices) -> "_Sites":
        """The sites of some models."""
        return _Sites(self.precision[models], self.shift[models])

    def set(self, models: Indices, others: "_Sites") -> None:
        """Take the sites of some models from others."""
        self.precision[models], self.shift[models] = others


class _Batch:
    """The models that have not converged, and their sites."""

    def __init__(self, sweeps: "_Sweeps", sites: _Sites) -> None:
        self.sweeps, self.models = sweeps, np.arange(len(sites.shift))
        self.sites = self.proper = sites
        self.acceleration = _Acceleration(sweeps.scale, sweeps.lowest)

    def sweep(self) -> tuple[_Sites, Array]:
        """The present sites and how far the moments are off; then it moves on."""
        at = self.sites
        moments = self.sweeps.moments(at)
        is_proper = np.isfinite(moments.residual)
        self.proper = at.where(is_proper, self.proper)
        moved = self.acceleration(at, moments.steps, is_proper)
        self.sites = moved.where(is_proper, at.halfway_to(self.proper))
        return at, moments.residual

    def keep(self, which: Flags) -> None:
        """Let the other models leave."""
        if which.all():
            return
        self.sweeps, self.models = self.sweeps.of_models(np.flatnonzero(which)), self.models[which]
        self.sites, self.proper = self.sites.of(which), self.proper.of(which)
        self.acceleration = self.acceleration.of_models(which)


class _Moments(NamedTuple):
    """What sites say of the differences, and the steps to sites that match the tilted distributions.

    The residual, (K,), says how far the moments are off; it is infinite where a distribution is improper.
    """

    mean: Array
    cavity: tuple[Array, Array]
    tilted: Likelihood
    steps: _Sites
    residual: Array


class _Sweeps:
    """The steps of all sites of all models."""

    def __init__(self, bases: Array, tied: Flags, probits: Sequence[Probit]) -> None:
        self.bases, self.tied, self.probits = bases, tied, probits
        self.scale = np.array([[probit.scale] for probit in probits])
        self.lowest = np.array([[-np.inf if probit.lapse else 0.0] for probit in probits])
        self.groups = [
            (probit, np.array([k for k, one in enumerate(probits) if one == probit]))
            for probit in dict.fromkeys(probits)
        ]

    def of_models(self, models: Indices) -> "_Sweeps":
        """The same for some of the models."""
        return _Sweeps(self.bases[models], self.tied, [self.probits[model] for model in models])

    def moments(self, sites: _Sites) -> _Moments:
        """The moments of the differences, and the steps of the sites."""
        (precision, shift), (mean, variance) = sites, self._mean_and_variance(sites)
        rest = 1.0 - precision * variance
        improper = np.any((rest < PROPER) | (variance <= 0.0), axis=1)
        rest, variance = np.maximum(rest, PROPER), np.maximum(variance, 0.0)
        m, v = (mean - shift * variance) / rest, variance / rest
        tilted = self._tilted(m, v)
        curvature = np.maximum(tilted.curvature, self.lowest)
        left_over = 1.0 - v * curvature
        to_precision = curvature / left_over - precision
        to_shift = (tilted.gradient + m * curvature) / left_over - shift
        off = np.abs(to_precision) * variance + np.abs(to_shift - mean * to_precision) * np.sqrt(variance)
        residual = np.where(improper, np.inf, off.max(axis=1))
        return _Moments(mean, (m, v), tilted, _Sites(to_precision, to_shift), residual)

    def _precision(self, sites: _Sites) -> Array:
        """Lambda of every model, (K, r, r)."""
        weighted = np.swapaxes(self.bases, 1, 2) * sites.precision[:, None, :]
        return np.eye(self.bases.shape[2]) + weighted @ self.bases

    def _mean_and_variance(self, sites: _Sites) -> tuple[Array, Array]:
        """Of the differences."""
        # where Lambda is singular the variances become 0, which makes this model improper, and no other
        along = regular_solutions(self._precision(sites), np.swapaxes(self.bases, 1, 2))
        mean = (self.bases @ (along @ sites.shift[:, :, None]))[:, :, 0]
        return mean, np.einsum("knr,krn->kn", self.bases, along)

    def _tilted(self, mean: Array, variance: Array) -> Likelihood:
        found = Likelihood(*(np.empty_like(mean) for _ in Likelihood._fields))
        for probit, models in self.groups:
            tied = np.tile(self.tied, len(models))
            likelihood = probit(mean[models].ravel(), tied, variance[models].ravel())
            for whole, part in zip(found, likelihood, strict=True):
                whole[models] = part.reshape(len(models), -1)
        return found


class _Point(NamedTuple):
    at: Array  # (K, 2N) precisions, multiplied by the noise, and shifts
    step: Array
    is_proper: Flags  # (K,) whether the step is one


class _Acceleration:
    """Anderson's acceleration of every model's fixed-point iteration."""

    def __init__(self, scale: Array, lowest: Array) -> None:
        self.scale, self.lowest = scale, lowest
        self.points: list[_Point] = []

    def of_models(self, which: Flags) -> "_Acceleration":
        """The same for some of the models."""
        other = _Acceleration(self.scale[which], self.lowest[which])
        other.points = [
            _Point(point.at[which], point.step[which], point.is_proper[which]) for point in self.points
        ]
        return other

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
