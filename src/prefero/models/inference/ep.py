"""Expectation propagation (EP), the default inference (GPML, section 3.6): one loop for all that is said.

    latent           what the rows of all answers have in common: `prefero.models.inference.latent`
    factors          what each batch of answers says about its rows: `prefero.models.likelihood.factors`
    flat     (K, D)  the sites of K models, each in one array: `prefero.models.inference.sites`
    residual (K,)    the largest distance of the posterior's moments from those of the tilted distributions,
                     in standard deviations
    bounded  (K,)    whether precisions must not be negative

All sites are updated at once, and accelerated by Anderson's method. A model leaves the iteration when it has
converged.
Which policies are tried one after the other is `prefero.models.inference.attempts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.acceleration import AndersonAcceleration
from prefero.models.inference.latent import Latent, Single
from prefero.models.inference.sites import NUMBERS
from prefero.models.inference.solution import Solution
from prefero.models.likelihood.factors import Factors, Intervals, Tilted, factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout

DIVERGED = 1e4  # standard deviations: a residual beyond this means that the parallel updates diverge
ROUNDING, UNCHANGED = 1e-7, 6  # a residual below this that has not fallen for so many sweeps is rounding
CIRCLING = 20  # sweeps after which a residual that does not fall any more is not expected to


@dataclass(frozen=True)
class Policy:
    """How to iterate.

    Args:
        sweeps: The most that are made.
        bounded: Whether precisions must not be negative; None: in the models without lapses.
        damping: The fraction of a step that is taken.
        memory: Steps that are remembered for the acceleration.
        accelerated: Sweeps after which steps are not accelerated any more.
        parallel: Sweeps after which sites are updated one by one, where that is possible.
        careful: Whether the memory is dropped and steps become smaller where that does not come closer.
        improper: So many sweeps may lead to improper distributions.
        nearly: This close to a fixed point, more sweeps are made as long as they come closer.
        few: So few models stop, after so many sweeps: for them a stack saves nothing.
    """

    sweeps: int = 300
    bounded: bool | None = None
    damping: float = 1.0
    memory: int = 3
    accelerated: int = 300
    parallel: int = 60
    careful: bool = True
    improper: int = 5
    nearly: float = 0.0
    few: tuple[int, int] = (0, 0)

    @property
    def limit(self) -> int:
        """The most sweeps, also of models that are nearly at a fixed point."""
        return 300 if self.nearly else self.sweeps


@dataclass(frozen=True, eq=False)
class Sweep:
    """What flat sites say, and the steps to sites that match the moments of the tilted distributions."""

    flat: Array
    cavities: list[tuple[Array, Array]]
    tilted: list[Tilted]
    steps: Array
    residual: Array  # infinite where a distribution is improper

    def solution(self, problem: "Problem", model: int, sweeps: int) -> Solution:
        """What the sites of one of the models say, when they are as they should be."""
        packing, one = problem.latent.packing, slice(model, model + 1)
        flat = self.flat[one].copy()  # a row of a matrix would keep all of it in memory
        precision, shift = packing.stored(flat[0])
        center, log_evidence = problem.latent.center(model, flat[0]), 0.0
        cavities, tilted = [], []
        for place, (m, V), at in zip(packing.places, self.cavities, self.tilted, strict=True):
            own = Tilted(*(values[one].copy() for values in at))
            cavity = m[one].copy(), V[one].copy()
            log_evidence += float(place.algebra.log_z(own, *cavity, *place.of(flat)).sum())
            cavities.append((cavity[0][0], cavity[1][0]))
            tilted.append(Tilted(*(values[0] for values in own)))
        log_evidence += center.log_z(shift)
        residual = float(self.residual[model])
        return Solution(
            center.u_mean,
            precision,
            shift,
            center.factor,
            log_evidence,
            sweeps,
            residual,
            tuple(tilted),
            tuple(cavities),
        )


@dataclass(frozen=True, eq=False)
class Problem:
    """The answers under one model or several: what a sweep is computed from.

    Args:
        latent: Of all rows.
        factors: Of each batch of answers.
        bounded: Whether precisions must not be negative, (K,).
        scale: Of the noise, (K,).
    """

    latent: Latent
    factors: Sequence[Factors]
    bounded: Flags
    scale: Array

    @classmethod
    def of(
        cls,
        latent: Latent,
        layout: Layout,
        probits: Sequence[Probit],
        policy: Policy,
        neglected: Array | float = 0.0,
    ) -> "Problem":
        """The answers of a layout under models with these likelihoods."""
        bounded = [probit.lapse == 0.0 if policy.bounded is None else policy.bounded for probit in probits]
        scale = np.array([probit.scale for probit in probits])
        factors = factors_of(layout, probits, neglected)
        return cls(latent, factors, np.array(bounded, dtype=bool), scale)

    def of_models(self, which: Flags) -> "Problem":
        """Some of the models."""
        factors = [one.of_models(which) for one in self.factors]
        return Problem(self.latent.of_models(which), factors, self.bounded[which], self.scale[which])

    def sweep(self, flat: Array) -> Sweep:
        """The moments that these sites give, and the steps to the next ones."""
        places, models = self.latent.packing.places, len(flat)
        residual, improper = np.zeros(models), np.zeros(models, dtype=bool)
        cavities, found, steps = [], [], []
        try:
            moments = self.latent.moments(flat)
        except LinAlgError:  # of the only model
            return Sweep(flat, [], [], np.zeros_like(flat), np.full(models, np.inf))
        for place, factors, (mean, cov) in zip(places, self.factors, moments, strict=True):
            algebra, (S, h) = place.algebra, place.of(flat)
            m, V, bad = algebra.cavity(mean, cov, S, h, self.bounded)
            at = factors.tilted(m, V)
            matched = algebra.matched(at, m, V, self.bounded)
            to_S, to_h = matched[0] - S, matched[1] - h
            off = algebra.residual(to_S, to_h, mean, cov).max(axis=1, initial=0.0)
            residual, improper = np.maximum(residual, np.maximum(off, factors.moved)), improper | bad
            cavities.append((m, V))
            found.append(at)
            steps.append((to_S, to_h))
        residual = np.where(improper | np.isnan(residual), np.inf, residual)
        return Sweep(flat, cavities, found, self.latent.packing.join(steps), residual)

    def projected(self, flat: Array) -> Array:
        """Sites without negative precisions, where they are bounded."""
        if not self.bounded.any():
            return flat
        found = flat.copy()
        for place in self.latent.packing.places:
            S = place.algebra.projected(place.of(flat)[0], self.bounded)
            found[:, place.precision] = S.reshape(len(flat), -1)
        return found

    @property
    def units(self) -> Array:
        """What makes precisions as large as shifts, (K, D)."""
        return self.latent.packing.units(self.scale)


@dataclass(frozen=True, eq=False)
class Found:
    """The sites of one model that came closest to a fixed point."""

    problem: Problem
    sweep: Sweep
    model: int
    sweeps: int

    @property
    def residual(self) -> float:
        """How close."""
        return float(self.sweep.residual[self.model])

    def solution(self) -> Solution:
        """What they say."""
        return self.sweep.solution(self.problem, self.model, self.sweeps)

    def sites(self) -> tuple[Array, Array]:
        """Precisions and shifts, as they are stored."""
        return self.problem.latent.packing.stored(self.sweep.flat[self.model])


def propagate(problem: Problem, start: Array, tolerance: Array, policy: Policy) -> list[Found | None]:
    """Iterate from flat sites, (K, D): for every model the sites that came closest to a fixed point.

    Args:
        problem: The answers under K models.
        start: Their sites.
        tolerance: When each model has converged, (K,).
        policy: How to iterate.

    Returns:
        What was found; None where every sweep led to improper distributions.
    """
    found: list[Found | None] = [None] * len(start)
    going = _Going(problem, problem.projected(start), tolerance, policy)
    for sweep in range(1, policy.limit + 1):
        at = going.problem.sweep(going.flat)
        for place in np.flatnonzero(at.residual < going.best).tolist():
            found[going.models[place]] = Found(going.problem, at, place, sweep)
        going.note(at.residual)
        left = going.left(at.residual, sweep)
        few, after = policy.few
        if np.count_nonzero(left) <= (few if sweep > after else 0):
            break
        if not left.all():
            going, at = going.of_models(left), _some(at, left)
        going.step(at, sweep)
    return found


def _some(at: Sweep, which: Flags) -> Sweep:
    """What a step needs of some of the models."""
    return Sweep(at.flat[which], [], [], at.steps[which], at.residual[which])


class _Going:
    """The models that have not converged, with their sites."""

    def __init__(self, problem: Problem, flat: Array, tolerance: Array, policy: Policy) -> None:
        count = len(flat)
        self.problem, self.flat, self.tolerance, self.policy = problem, flat, tolerance, policy
        self.models, self.last = np.arange(count), flat
        self.best, self.unchanged = np.full(count, np.inf), np.zeros(count, dtype=np.intp)
        self.improper = np.zeros(count, dtype=np.intp)
        self.acceleration = AndersonAcceleration(problem.units, policy.damping, policy.memory, policy.careful)

    def note(self, residual: Array) -> None:
        """Remember how close the models have come."""
        self.unchanged = np.where(residual < self.best, 0, self.unchanged + 1)
        self.best = np.minimum(self.best, residual)

    def left(self, residual: Array, sweep: int) -> Flags:
        """Which models go on: neither converged, nor lost."""
        policy, smallest, largest = self.policy, residual.min(), residual.max()
        left: Flags = residual > self.tolerance
        if smallest <= ROUNDING:
            left &= ~((residual <= ROUNDING) & (self.unchanged >= UNCHANGED))
        if largest > DIVERGED:  # infinite, where a distribution is improper
            proper = np.isfinite(residual)
            self.improper = self.improper + ~proper
            left &= proper | (np.isfinite(self.best) & (self.improper < policy.improper))
            left &= ~proper | self.problem.bounded | (residual <= DIVERGED)
        if policy.nearly and sweep >= policy.sweeps:
            left &= (residual < policy.nearly) & (self.unchanged < CIRCLING)
        return left

    def of_models(self, which: Flags) -> "_Going":
        """Let the other models leave."""
        other = _Going.__new__(_Going)
        other.policy, other.problem = self.policy, self.problem.of_models(which)
        other.acceleration = self.acceleration.of_models(which)
        for name in ("flat", "tolerance", "models", "last", "best", "unchanged", "improper"):
            setattr(other, name, getattr(self, name)[which])
        return other

    def step(self, at: Sweep, sweep: int) -> None:
        """Move on; a model whose distributions have become improper goes halfway back."""
        proper = np.isfinite(at.residual)
        if sweep == self.policy.accelerated:  # bounds make kinks, which may mislead it
            self.acceleration.memory = 0
        if self._one_by_one(at, sweep):
            self.flat = self.last = _sequential_sweep(self.problem, at, self.policy.damping)
            return
        moved = self.problem.projected(self.acceleration(at.flat, at.steps, at.residual))
        if proper.all():
            self.last, self.flat = at.flat, moved
            return
        back = 0.5 * (at.flat + self.last)
        self.last = np.where(proper[:, None], at.flat, self.last)
        self.flat = np.where(proper[:, None], moved, back)

    def _one_by_one(self, at: Sweep, sweep: int) -> bool:
        if len(at.flat) > 1 or not _is_sequential(self.problem) or not np.isfinite(at.residual[0]):
            return False
        return bool(at.residual[0] > DIVERGED or sweep > self.policy.parallel)


def _is_sequential(problem: Problem) -> bool:
    """Whether sites can be updated one by one."""
    latent = problem.latent
    is_dense = isinstance(latent, Single) and not isinstance(latent.basis, TallMatrix)
    return is_dense and latent.packing.is_plain and bool(problem.bounded[0])


def _sequential_sweep(problem: Problem, at: Sweep, damping: float) -> Array:
    """A sweep of sequential EP (GPML, Algorithm 3.5): slower, and steady where answers contradict sharply."""
    assert isinstance(problem.latent, Single)
    basis, (factors,), bounded = problem.latent.basis, problem.factors, problem.bounded
    assert isinstance(basis, np.ndarray)
    assert isinstance(factors, Intervals)
    precision, shift = (sites.copy() for sites in problem.latent.packing.stored(at.flat[0]))
    center = problem.latent.center(0, at.flat[0])
    u_mean, covariance = center.u_mean.copy(), np.linalg.inv(center.factor @ center.factor.T)
    for i in range(len(basis)):
        one = slice(i, i + 1)
        along = covariance @ basis[i]
        variance, mean = basis[one] @ along, basis[one] @ u_mean
        S, h = precision[None, one], shift[None, one]
        m, V, _ = NUMBERS.cavity(mean[None], variance[None], S, h, bounded)
        to_S, to_h = NUMBERS.matched(factors.one(i).tilted(m, V), m, V, bounded)
        to_precision, to_shift = damping * (to_S - S)[0], damping * (to_h - h)[0]
        gain = along / (1.0 + to_precision * variance)
        u_mean += gain * (to_shift - to_precision * mean)
        covariance -= to_precision * np.outer(gain, along)
        precision[i], shift[i] = max(precision[i] + to_precision[0], 0.0), shift[i] + to_shift[0]
    return np.concatenate([precision, shift])[None]
