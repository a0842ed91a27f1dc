"""How expectation propagation finds a fixed point: attempts, one after the other, of one model or of several.

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

from prefero._support.arrays import Array
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.ep import ROUNDING, Found, Policy, Problem, propagate
from prefero.models.inference.latent import Latent, Single, Stack
from prefero.models.inference.sites import Packing
from prefero.models.inference.solution import ConvergenceError, Solution, WarmStart
from prefero.models.likelihood.probit import Probit
from prefero.models.likelihood.regions import Layout

CONCAVE = Policy(bounded=True)
FREE = Policy(bounded=False, sweeps=40)
TRIAL = replace(FREE, sweeps=15, nearly=1.0)  # from a start where bounded sites have converged
CAUTIOUS = Policy(bounded=True, damping=0.5, accelerated=40, parallel=160)
WIDE_CAUTIOUS = Policy(bounded=True, damping=0.5, sweeps=100)  # for answers of several rows
TOGETHER = Policy(sweeps=40, careful=False, improper=40, few=(3, 12))
ROUGHLY = Policy(sweeps=60, bounded=True)  # several models of answers with several rows, which overshoot

MORE_NOISE = (8.0, 2.0)  # times as much, to find sites that EP can start from
ROUGH = 0.1  # the tolerance with more noise than there is
NEAR = 0.1  # standard deviations: the next attempt continues from sites that came so close
COLD = 1e-4  # the tolerance of models with lapses, which always start from nothing and so end in the same way
BOUNDED = 1e-2  # the tolerance of bounded sites, which are only near a fixed point of EP
CLOSE = 1e-3  # where several models of answers with several rows stop: each makes its last sweeps alone
MISLED = 0.3  # standard deviations: their sites are not used if they are farther off


@dataclass(frozen=True)
class Attempt:
    """A way to a fixed point.

    Args:
        policy: How to iterate.
        goal: The tolerance, where that of the inference is smaller.
        noise_factor: Times as much noise as there is: the next attempt starts from the sites that are found.
        from_start: Whether it starts from the first sites, and not from where the last attempt ended.
        is_last: Whether the sites that came closest are taken, converged or not.
    """

    policy: Policy
    goal: float = 0.0
    noise_factor: float = 1.0
    from_start: bool = False
    is_last: bool = False


def _from_nothing(free: Policy, cautious: Attempt) -> tuple[Attempt, ...]:
    """Free sites; these with more noise first; and at last bounded ones."""
    first, *others = (Attempt(free, ROUGH, noise_factor) for noise_factor in MORE_NOISE)
    return Attempt(free), replace(first, from_start=True), *others, Attempt(free), cautious


LAPSES = _from_nothing(FREE, Attempt(CAUTIOUS, BOUNDED, from_start=True, is_last=True))
WIDE_LAPSES = _from_nothing(FREE, Attempt(WIDE_CAUTIOUS, from_start=True, is_last=True))
WIDE = _from_nothing(replace(FREE, sweeps=CONCAVE.sweeps), WIDE_LAPSES[-1])
SEVERAL_MODELS = (Attempt(TOGETHER), *LAPSES)


def attempts_for(layout: Layout, probit: Probit, is_warm: bool) -> tuple[Attempt, ...]:
    """What is tried for one model; from a warm start, only what leads to a fixed point near it."""
    if layout.width == 1:
        return LAPSES[: 1 if is_warm else None] if probit.lapse else (Attempt(CONCAVE),)
    if not probit.lapse:
        return WIDE[: 1 if is_warm else None]
    return (Attempt(TRIAL), Attempt(WIDE_CAUTIOUS, from_start=True)) if is_warm else WIDE_LAPSES


@dataclass(frozen=True, eq=False)
class Models:
    """The same answers under several models, or under one.

    Args:
        bases: The rows of all answers are basis @ u, (N, r) each.
        layout: The answers.
        probits: Their likelihood in every model.
        neglected: Variances of the rows besides, (N,).
    """

    bases: Sequence[Array | TallMatrix]
    layout: Layout
    probits: Sequence[Probit]
    neglected: Array | float = 0.0

    def attempted(self, attempt: Attempt, flat: Array, tolerance: Array) -> list[Found | None]:
        """What one attempt finds from flat sites, (K, D)."""
        probits = [replace(probit, noise=attempt.noise_factor * probit.noise) for probit in self.probits]
        problem = Problem.of(self._latent(), self.layout, probits, attempt.policy, self.neglected)
        return propagate(problem, flat, np.maximum(attempt.goal, tolerance), attempt.policy)

    def some(self, which: Sequence[int]) -> "Models":
        """Some of the models."""
        bases, probits = [self.bases[k] for k in which], [self.probits[k] for k in which]
        return replace(self, bases=bases, probits=probits)

    def _latent(self) -> Latent:
        packing = Packing.of(self.layout)
        if len(self.bases) == 1:
            return Single(self.bases[0], packing)
        return Stack([basis for basis in self.bases if isinstance(basis, np.ndarray)], packing)


@dataclass(frozen=True, eq=False)
class Ending:
    """What the attempts at a model ended with: the sites that came closest, and whether they are taken."""

    closest: Found | None = None
    is_taken: bool = False


def attempt_all(models: Models, attempts: Sequence[Attempt], start: Array, tolerance: Array) -> list[Ending]:
    """Try one attempt after the other, each with the models for which those before it found nothing.

    Args:
        models: The answers under K models.
        attempts: In their order.
        start: Flat sites to start from, (K, D).
        tolerance: When each model has converged, in standard deviations of the differences, (K,).

    Returns:
        How it ended for every model.
    """
    endings, sites = [Ending()] * len(start), dict(enumerate(start))
    for attempt in attempts:
        if attempt.from_start:
            sites = dict(enumerate(start))
        going = [model for model in sites if not endings[model].is_taken]
        if not going:
            continue
        flat = np.stack([sites[model] for model in going])
        for model, one in zip(
            going, models.some(going).attempted(attempt, flat, tolerance[going]), strict=True
        ):
            if one is None or one.residual > NEAR:
                del sites[model]
            else:
                sites[model] = one.sweep.flat[one.model]
            if attempt.noise_factor == 1.0:
                goal = max(attempt.goal, float(tolerance[model]), ROUNDING)
                endings[model] = Ending(one, one is not None and (attempt.is_last or one.residual <= goal))
    return endings


def expectation_propagation(
    basis: Array | TallMatrix,
    layout: Layout,
    probit: Probit,
    start: WarmStart,
    tolerance: float,
    neglected: Array | float = 0.0,
    most: int = 300,
) -> Solution:
    """EP of one model from a start.

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
    models = Models([basis], layout, [probit], neglected)
    attempts = [
        replace(one, policy=replace(one.policy, sweeps=min(one.policy.sweeps, most)))
        for one in attempts_for(layout, probit, bool(start.precision.any()))
    ]
    flat = Packing.of(layout).flat(start.precision, start.shift)
    (ending,) = attempt_all(models, attempts, flat[None], np.array([tolerance]))
    if ending.closest is None:
        raise ConvergenceError("the sites of expectation propagation lead to improper distributions")
    if not ending.is_taken:
        raise _not_converged(layout, probit, ending.closest, tolerance)
    return ending.closest.solution()


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
    """Sites at or near the fixed point of every model; or those it started from.

    Args:
        bases: The basis of every model, (N, r) each.
        layout: The answers.
        probits: The likelihood of answers in every model.
        starts: The sites to start from.
        tolerance: When a model has converged, in standard deviations of the differences.

    Returns:
        The sites; final ones with their solution.
    """
    if not layout.rows or len(bases) < 2:
        return list(starts)
    models, packing = Models(bases, layout, probits), Packing.of(layout)
    flat = np.stack([packing.flat(start.precision, start.shift) for start in starts])
    if not packing.is_plain:
        rough = models.attempted(Attempt(ROUGHLY), flat, np.full(len(flat), CLOSE))
        return [_near(one, start) for one, start in zip(rough, starts, strict=True)]
    each = zip(probits, starts, strict=True)
    goals = [COLD if probit.lapse and not start.precision.any() else tolerance for probit, start in each]
    endings = attempt_all(models, SEVERAL_MODELS, flat, np.array(goals))
    return [_final(*each) for each in zip(endings, probits, starts, strict=True)]


def _near(found: Found | None, start: WarmStart) -> WarmStart:
    """The sites that were found, unless they are far from a fixed point."""
    return start if found is None or found.residual >= MISLED else WarmStart(*found.sites())


def _final(ending: Ending, probit: Probit, start: WarmStart) -> WarmStart:
    """The solution that was found; one of a log-concave likelihood must have converged."""
    found = ending.closest
    if found is None or not ending.is_taken or (not probit.lapse and found.residual > BOUNDED):
        return start
    with suppress(LinAlgError):  # the posterior of this model would be improper
        solution = found.solution()
        return WarmStart(solution.W, solution.shift, solution, is_final=True)
    return start
