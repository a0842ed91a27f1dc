"""The best question over all of feature space: the paper's problem as it is stated, without a pool.

    a, b         (d,)     features of the two trajectories, anywhere in a box
    gap, spread           mean and variance of f(a) - f(b), for each part of the belief
    by_gap, by_spread     derivatives of the bits

Many starts, each climbed by L-BFGS-B with analytic gradients: the bits by gap and spread, and these by a
and b through the kernel's slope.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from prefero._support.arrays import Array, one_thread
from prefero.acquisition.mutual_information import Part, bells_for, bits
from prefero.models.likelihood import SQRT_2PI, Probit
from prefero.models.mixture import MixturePosterior
from prefero.models.posterior import Posterior


@dataclass(frozen=True, eq=False)
class Synthesised:
    """A question made for the purpose: features of two trajectories that may not exist yet."""

    left: Array
    right: Array
    bits: float


@one_thread
def synthesise(
    belief: Posterior | MixturePosterior,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    starts: int = 8,
    seed: int = 0,
) -> Synthesised:
    """The most informative pair of points in the box from `low` to `high` (in the model's features)."""
    from scipy.optimize import minimize

    bottom, top = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if starts < 1:
        raise ValueError(f"a search needs one start or more, but starts is {starts}")
    d = belief.components[0][1].data.winners.shape[1]
    if not bottom.shape == top.shape == (d,) or not np.all(
        (-np.inf < bottom) & (bottom < top) & (top < np.inf)
    ):
        raise ValueError(
            f"the box needs a low and a high number for each of {d} features, low below high, "
            f"but is {low!r} to {high!r}"
        )
    box = list(zip(np.tile(bottom, 2), np.tile(top, 2), strict=True))
    rng = np.random.default_rng(seed)
    tried = rng.uniform(np.tile(bottom, 2), np.tile(top, 2), (64 * starts, 2 * d))
    first = np.argsort(-_bits_of_rows(belief, tried[:, :d], tried[:, d:]), kind="stable")[:starts]
    climbs = [
        minimize(lambda z: _negated(belief, z), tried[n], jac=True, method="L-BFGS-B", bounds=box)
        for n in first
    ]
    best = min(climbs, key=lambda climb: float(climb.fun))
    return Synthesised(best.x[:d], best.x[d:], -float(best.fun))


def _bits_of_rows(belief: Posterior | MixturePosterior, a: Array, b: Array) -> Array:
    """The bits of many questions, row by row."""
    gaps, spreads = zip(*(part.difference(a, b) for _, part in belief.components), strict=True)
    return np.asarray(bits([Part(w, part.probit) for w, part in belief.components], gaps, spreads))


def _negated(belief: Posterior | MixturePosterior, z: Array) -> tuple[float, Array]:
    value, slope = bits_and_slope(belief, z)
    return -value, -slope


def bits_and_slope(belief: Posterior | MixturePosterior, pair: Array) -> tuple[float, Array]:
    """The bits of the question (a, b), with a and b in one vector (2d,), and their gradient (2d,)."""
    a, b = np.split(pair, 2)
    views = [_gap_and_spread(part, a, b) for _, part in belief.components]
    parts = [Part(weight, part.probit) for weight, part in belief.components]
    gaps, spreads = [np.array([v[0]]) for v in views], [np.array([v[1]]) for v in views]
    value = float(bits(parts, gaps, spreads)[0])
    by_gap, by_spread = _by_gap_and_spread(parts, gaps, spreads)
    slope = sum(
        by_gap[k] * gap_slope + by_spread[k] * spread_slope
        for k, (_, _, gap_slope, spread_slope) in enumerate(views)
    )
    return value, np.asarray(slope)


def _gap_and_spread(part: Posterior, a: Array, b: Array) -> tuple[float, float, Array, Array]:
    """Mean and variance of f(a) - f(b), and their gradients (2d,)."""
    both = np.stack([a, b])
    mean, learned = part.project(both)
    ends = part.pivots.winners, part.pivots.losers
    cross = part.kernel.input_gradient(both, ends[0]) - part.kernel.input_gradient(both, ends[1])
    mean_slope = np.einsum("prd,r->pd", cross, part.alpha)
    apart = learned[0] - learned[1]
    learned_slope = np.einsum("prd,r->pd", cross, part.whitener @ apart)
    prior, prior_slope = part.kernel(both, both), part.kernel.input_gradient(both, both)
    spread = max(float(prior[0, 0] + prior[1, 1] - 2 * prior[0, 1] - apart @ apart), 0.0)
    by_a = 2.0 * (prior_slope[0, 0] - prior_slope[0, 1] - learned_slope[0])
    by_b = 2.0 * (prior_slope[1, 1] - prior_slope[1, 0] + learned_slope[1])
    gap_slope = np.concatenate([mean_slope[0], -mean_slope[1]])
    return float(mean[0] - mean[1]), spread, gap_slope, np.concatenate([by_a, by_b])


def _by_gap_and_spread(
    parts: list[Part], gaps: list[Array], spreads: list[Array]
) -> tuple[list[float], list[float]]:
    """Derivatives of the mixture's bits by each part's gap and spread."""
    outcomes = [
        _outcomes(part.probit, float(g[0]), float(s[0]))
        for part, g, s in zip(parts, gaps, spreads, strict=True)
    ]
    weights = np.array([part.weight for part in parts])
    first, second = (float(weights @ [o[k][0] for o in outcomes]) for k in (0, 1))
    equal = max(1.0 - first - second, 0.0)
    ternary = any(part.probit.margin for part in parts)
    # d(entropy) = sum of -log2(p) dp over the outcomes, whose changes add up to 0
    surprise = [
        -np.log2(max(p, 1e-300)) - (-np.log2(max(equal, 1e-300)) if ternary else 0.0) for p in (first, second)
    ]
    by_gap, by_spread = [], []
    for part, outcome, gap, spread in zip(parts, outcomes, gaps, spreads, strict=True):
        remains_gap, remains_spread = _remains_slope(part.probit, float(gap[0]), float(spread[0]))
        from_gap, from_spread = (
            sum(s * o[k] for s, o in zip(surprise, outcome, strict=True)) for k in (1, 2)
        )
        by_gap.append(part.weight * (from_gap - remains_gap))
        by_spread.append(part.weight * (from_spread - remains_spread))
    return by_gap, by_spread


def _outcomes(probit: Probit, gap: float, spread: float) -> list[tuple[float, float, float]]:
    """P(A) and P(B), each with its derivatives by gap and spread."""
    total = probit.scale**2 + spread
    result = []
    for sign in (1.0, -1.0):
        z = (sign * gap - probit.margin) / np.sqrt(total)
        density = np.exp(-0.5 * z * z) / SQRT_2PI
        result.append(
            (float(ndtr(z)), float(sign * density / np.sqrt(total)), float(-0.5 * density * z / total))
        )
    return result


def _remains_slope(probit: Probit, gap: float, spread: float) -> tuple[float, float]:
    """Derivatives of the expected entropy by gap and spread."""
    a, t, b = (np.array(v) for v in bells_for(probit))
    wide, off = b + spread / probit.scale**2, gap / probit.scale - t
    each = a * np.sqrt(b / wide) * np.exp(-0.5 * off**2 / wide)
    by_M, by_V = -each * off / wide, 0.5 * each * (off**2 / wide - 1.0) / wide
    return float(by_M.sum() / probit.scale), float(by_V.sum() / probit.scale**2)
