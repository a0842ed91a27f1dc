"""Expectation propagation (EP), the default inference (GPML, section 3.6): one loop for all that is said.

    latent           what the rows of all answers have in common: `prefero.models.inference.latent`
    factors          what each group of answers says about its rows: `prefero.models.likelihood.factors`
    flat     (K, D)  the sites of K models, each in one array: `prefero.models.inference.sites`
    residual (K,)    the largest distance of the posterior's moments from those of the tilted distributions,
                     in standard deviations
    bounded  (K,)    whether precisions must not be negative

All sites are updated at once, and accelerated by Anderson's method. A model leaves the iteration when it has
converged.

With lapses, and for rankings with ties of three, an answer's likelihood is not log-concave, so a site may
have a negative precision: an unexpected answer makes less certain. Such sites are allowed as long as the
posterior and all cavity distributions are proper. Where that leads nowhere, more noise shows the way, and at
last the precisions are bounded by 0; a site at the bound matches the mean alone. There may also be several
fixed points: what is found then depends on the start.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.acceleration import AndersonAcceleration
from prefero.models.inference.latent import Latent, Single, Stack
from prefero.models.inference.sites import NUMBERS, Packing
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.likelihood.factors import Factors, Intervals, Tilted, factors_of
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout

MORE_NOISE = (8.0, 2.0)  # times as much, to find sites that EP can start from
ROUGH = 0.1  # the tolerance with more noise than there is
DIVERGED = 1e4  # standard deviations: a residual beyond this means that the parallel updates diverge
ROUNDING, UNCHANGED = 1e-7, 6  # a residual below this that has not fallen for so many sweeps is rounding
CIRCLING = 20  # sweeps after which a residual that does not fall any more is not expected to
MISLED = 0.1, 0.3  # standard deviations: sites of several models that are farther off are not used; wide ones


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


CONCAVE = Policy(bounded=True)
FREE = Policy(bounded=False, sweeps=40)
TRIAL = replace(FREE, sweeps=15, nearly=1.0)  # from a start where bounded sites have converged
CAUTIOUS = Policy(bounded=True, damping=0.5, accelerated=40, parallel=160)
WIDE_CAUTIOUS = Policy(bounded=True, damping=0.5, sweeps=100)  # for answers of several rows
TOGETHER = Policy(sweeps=40, careful=False, improper=40, few=(3, 12))
ROUGHLY = Policy(sweeps=60, bounded=True)  # several models of answers with several rows, which overshoot
CLOSE = 1e-3  # standard deviations: there such models stop, since each makes its last sweeps alone


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
            own = Tilted(*(part[one].copy() for part in at))
            cavity = m[one].copy(), V[one].copy()
            log_evidence += float(place.algebra.log_z(own, *cavity, *place.of(flat)).sum())
            cavities.append((cavity[0][0], cavity[1][0]))
            tilted.append(Tilted(*(part[0] for part in own)))
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
        factors: Of each group of answers.
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

    def start(self, is_final: bool) -> WarmStart:
        """The sites to start from; if they are final, with the solution."""
        if is_final:
            solution = self.solution()
            return WarmStart(solution.W, solution.shift, solution)
        return WarmStart(*self.problem.latent.packing.stored(self.sweep.flat[self.model]))


def propagate(problem: Problem, start: Array, tolerance: float, policy: Policy) -> list[Found | None]:
    """Iterate from flat sites, (K, D): for every model the sites that came closest to a fixed point.

    Args:
        problem: The answers under K models.
        start: Their sites.
        tolerance: When a model has converged.
        policy: How to iterate.

    Returns:
        What was found; None where every sweep led to improper distributions.
    """
    found: list[Found | None] = [None] * len(start)
    going = _Going(problem, problem.projected(start), policy)
    for sweep in range(1, policy.limit + 1):
        at = going.problem.sweep(going.flat)
        for place in np.flatnonzero(at.residual < going.best).tolist():
            found[going.models[place]] = Found(going.problem, at, place, sweep)
        going.note(at.residual)
        left = going.left(at.residual, tolerance, sweep)
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

    def __init__(self, problem: Problem, flat: Array, policy: Policy) -> None:
        count = len(flat)
        self.problem, self.flat, self.policy = problem, flat, policy
        self.models, self.last = np.arange(count), flat
        self.best, self.unchanged = np.full(count, np.inf), np.zeros(count, dtype=np.intp)
        self.improper = np.zeros(count, dtype=np.intp)
        self.acceleration = AndersonAcceleration(problem.units, policy.damping, policy.memory, policy.careful)

    def note(self, residual: Array) -> None:
        """Remember how close the models have come."""
        self.unchanged = np.where(residual < self.best, 0, self.unchanged + 1)
        self.best = np.minimum(self.best, residual)

    def left(self, residual: Array, tolerance: float, sweep: int) -> Flags:
        """Which models go on: neither converged, nor lost."""
        policy, smallest, largest = self.policy, residual.min(), residual.max()
        left: Flags = residual > tolerance
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
        for name in ("flat", "models", "last", "best", "unchanged", "improper"):
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
    precision, shift = (part.copy() for part in problem.latent.packing.stored(at.flat[0]))
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


def expectation_propagation(
    basis: Array | TallMatrix,
    layout: Layout,
    probit: Probit,
    start: WarmStart,
    tolerance: float,
    neglected: Array | float = 0.0,
    most: int = 300,
) -> Solution:
    """EP of one model from a start; where it does not converge, with more noise first, and at last bounded.

    Bounded sites may circle around a fixed point. Then those that came closest are taken, whose distance from
    it is the solution's `residual`.

    Args:
        basis: The rows of all answers are basis @ u, (N, r).
        layout: The answers.
        probit: Their likelihood.
        start: Sites to start from.
        tolerance: When to stop, in standard deviations of the differences.
        neglected: Variances of the rows besides, (N,).
        most: Sweeps.

    Returns:
        The solution.

    Raises:
        ConvergenceError: If it does not converge.
    """
    latent = Single(basis, Packing.of(layout))

    def run(policy: Policy, start: WarmStart, goal: float, louder: float = 1.0) -> Found:
        policy = replace(policy, sweeps=min(policy.sweeps, most))
        person = replace(probit, noise=louder * probit.noise)
        problem = Problem.of(latent, layout, [person], policy, neglected)
        flat = latent.packing.flat(start.precision, start.shift)[None]
        (found,) = propagate(problem, flat, goal, policy)
        if found is None:
            raise ConvergenceError("the sites of expectation propagation lead to improper distributions")
        return found

    def converged(policy: Policy, start: WarmStart, goal: float, louder: float = 1.0) -> Solution:
        found = run(policy, start, goal, louder)
        if found.residual > max(goal, ROUNDING):
            raise _not_converged(layout, probit, found, goal)
        return found.solution()

    if layout.width == 1 and not probit.lapse:
        return converged(CONCAVE, start, tolerance)
    free = FREE if probit.lapse else replace(FREE, sweeps=CONCAVE.sweeps)
    if start.precision.any():
        if layout.width == 1 or not probit.lapse:
            return converged(free, start, tolerance)
        with suppress(ConvergenceError):
            return converged(TRIAL, start, tolerance)
        return converged(WIDE_CAUTIOUS, start, tolerance)
    with suppress(ConvergenceError):
        return converged(free, start, tolerance)
    with suppress(ConvergenceError):
        between = start
        for louder in MORE_NOISE:
            found = converged(free, between, ROUGH, louder)
            between = WarmStart(found.W, found.shift)
        return converged(free, between, tolerance)
    cautious = CAUTIOUS if layout.width == 1 else WIDE_CAUTIOUS
    return run(cautious, start, tolerance).solution()


def _not_converged(layout: Layout, probit: Probit, found: Found, tolerance: float) -> ConvergenceError:
    return ConvergenceError(
        f"expectation propagation did not converge: after {found.sweeps} sweeps the moments were still off "
        f"by {found.residual:.1e} standard deviations, asked for {tolerance:.1e} "
        f"({layout.n_answers} answers, noise {probit.noise:g}): is the noise tiny relative to the reward?"
    )


def warm_starts(
    bases: Sequence[Array],
    layout: Layout,
    probits: Sequence[Probit],
    starts: Sequence[WarmStart],
    tolerance: float,
) -> list[WarmStart]:
    """Sites near the fixed point of every model, perhaps with their solution; or those it started from.

    Args:
        bases: The basis of every model, (N, r) each.
        layout: The answers.
        probits: The likelihood of answers in every model.
        starts: The sites to start from.
        tolerance: When a model has converged, in standard deviations of the differences.

    Returns:
        The sites; the residual of a solution says whether the model has converged.
    """
    if not layout.rows or len(bases) < 2:
        return list(starts)
    packing = Packing.of(layout)
    plain = packing.is_plain
    policy, goal, most = (TOGETHER, tolerance, MISLED[0]) if plain else (ROUGHLY, CLOSE, MISLED[1])
    problem = Problem.of(Stack(bases, packing), layout, probits, policy)
    flat = np.stack([packing.flat(start.precision, start.shift) for start in starts])
    found, sites = propagate(problem, flat, goal, policy), list(starts)
    for model, one in enumerate(found):
        if one is not None and one.residual < most:
            with suppress(LinAlgError):  # the posterior of this model would be improper
                sites[model] = one.start(is_final=plain)
    return sites
