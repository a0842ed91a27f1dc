"""The most informative question over all of feature space, without a pool: the paper's problem as stated.

    a, b           (d,)   features of the two trajectories, anywhere in a box
    gap, gap_variance     mean and variance of f(a) - f(b), for each component of the posterior

The mutual information is maximized by L-BFGS-B from many starts, with analytic gradients: of the mutual
information by gap and gap variance, and of these by a and b through the kernel's gradient.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from prefero._support.arrays import Array, one_thread
from prefero._support.ordering import largest_first
from prefero.acquisition.base import PairMoments
from prefero.acquisition.entropy import entropy_of_answers
from prefero.acquisition.functions.mutual_information import mutual_information
from prefero.models.likelihood.probit import SQRT_2PI, Probit
from prefero.models.posterior.gaussian import Posterior
from prefero.models.posterior.mixture import MixturePosterior

TRIED = 64  # random pairs for every start, of which the best are climbed from


@dataclass(frozen=True, eq=False)
class ContinuousQuestion:
    """A question about two points of feature space, trajectories that may not exist yet.

    Args:
        left: The features of one, (d,).
        right: The features of the other, (d,).
        value: Of the acquisition function.
        unit: Of the value.
    """

    left: Array
    right: Array
    value: float
    unit: str = "bits"


@one_thread
def best_continuous_question(
    belief: Posterior | MixturePosterior,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    *,
    starts: int = 8,
    seed: int = 0,
) -> ContinuousQuestion:
    """The most informative pair of points in a box of features.

    Args:
        belief: The posterior over rewards.
        low: The smallest values, (d,), in the model's units.
        high: The largest values, (d,).
        starts: How many pairs the search starts from.
        seed: Of the starts.

    Returns:
        The question.
    """
    from scipy.optimize import minimize

    if starts < 1:
        raise ValueError(f"a search needs one start or more, but starts is {starts}")
    d = belief.n_features
    bottom, top = _box(low, high, d)
    rng = np.random.default_rng(seed)
    tried = rng.uniform(np.tile(bottom, 2), np.tile(top, 2), (TRIED * starts, 2 * d))
    first = largest_first(_bits_of_rows(belief, tried[:, :d], tried[:, d:]), starts)
    bounds = list(zip(np.tile(bottom, 2), np.tile(top, 2), strict=True))
    climbs = [
        minimize(lambda z: _negated(belief, z), tried[n], jac=True, method="L-BFGS-B", bounds=bounds)
        for n in first
    ]
    best = min(climbs, key=lambda climb: float(climb.fun))
    return ContinuousQuestion(best.x[:d], best.x[d:], -float(best.fun))


def _box(low: npt.ArrayLike, high: npt.ArrayLike, d: int) -> tuple[Array, Array]:
    bottom, top = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if not bottom.shape == top.shape == (d,) or not np.all(
        (-np.inf < bottom) & (bottom < top) & (top < np.inf)
    ):
        raise ValueError(
            f"the box needs a low and a high number for each of {d} features, low below high, "
            f"but is {low!r} to {high!r}"
        )
    return bottom, top


def _moments(weight: float, probit: Probit, gap: Array, gap_variance: Array) -> PairMoments:
    """To the mutual information only the difference of the two means matters."""
    return PairMoments(weight, probit, gap, np.zeros_like(gap), gap_variance)


def _bits_of_rows(belief: Posterior | MixturePosterior, a: Array, b: Array) -> Array:
    """The mutual information of many questions, row by row."""
    return np.asarray(
        mutual_information(
            [_moments(w, gaussian.probit, *gaussian.difference(a, b)) for w, gaussian in belief.components]
        )
    )


def _negated(belief: Posterior | MixturePosterior, z: Array) -> tuple[float, Array]:
    value, gradient = mutual_information_and_gradient(belief, z)
    return -value, -gradient


def mutual_information_and_gradient(belief: Posterior | MixturePosterior, pair: Array) -> tuple[float, Array]:
    """Bits of the question (a, b), with a and b in one vector (2d,), and their gradient (2d,)."""
    a, b = np.split(pair, 2)
    found = [_difference(gaussian, a, b) for _, gaussian in belief.components]
    pairs = [
        _moments(weight, gaussian.probit, np.array([at.gap]), np.array([at.gap_variance]))
        for (weight, gaussian), at in zip(belief.components, found, strict=True)
    ]
    value = float(mutual_information(pairs)[0])
    by_gap, by_variance = _by_gap_and_variance(pairs)
    gradient = sum(
        by_gap[k] * at.gap_gradient + by_variance[k] * at.variance_gradient for k, at in enumerate(found)
    )
    return value, np.asarray(gradient)


class _Difference(NamedTuple):
    """Mean and variance of f(a) - f(b), and their gradients (2d,) by a and b."""

    gap: float
    gap_variance: float
    gap_gradient: Array
    variance_gradient: Array


def _difference(gaussian: Posterior, a: Array, b: Array) -> _Difference:
    both = np.stack([a, b])
    mean, learned = gaussian.project(both)
    by_input = gaussian.kernel.input_gradient
    cross = by_input(both, gaussian.points) - by_input(both, gaussian.others)
    mean_gradient = np.einsum("prd,r->pd", cross, gaussian.alpha)
    apart = learned[0] - learned[1]
    learned_gradient = np.einsum("prd,r->pd", cross, gaussian.whitener @ apart)
    prior, prior_gradient = gaussian.kernel(both, both), by_input(both, both)
    variance = max(float(prior[0, 0] + prior[1, 1] - 2 * prior[0, 1] - apart @ apart), 0.0)
    by_a = 2.0 * (prior_gradient[0, 0] - prior_gradient[0, 1] - learned_gradient[0])
    by_b = 2.0 * (prior_gradient[1, 1] - prior_gradient[1, 0] + learned_gradient[1])
    return _Difference(
        float(mean[0] - mean[1]),
        variance,
        np.concatenate([mean_gradient[0], -mean_gradient[1]]),
        np.concatenate([by_a, by_b]),
    )


def _by_gap_and_variance(pairs: Sequence[PairMoments]) -> tuple[list[float], list[float]]:
    """Derivatives of the mixture's mutual information by each component's gap and gap variance."""
    at = [
        (component.probit, float(component.left[0]), float(component.gap_variance[0])) for component in pairs
    ]
    outcomes = [_outcomes(*one) for one in at]
    weights = np.array([component.weight for component in pairs])
    first, second = (float(weights @ [o[k][0] for o in outcomes]) for k in (0, 1))
    equal = max(1.0 - first - second, 0.0)
    ternary = any(component.probit.margin for component in pairs)
    # d(entropy) = sum of -log2(p) dp over the outcomes, whose changes add up to 0
    surprise = [
        -np.log2(max(p, 1e-300)) - (-np.log2(max(equal, 1e-300)) if ternary else 0.0) for p in (first, second)
    ]
    by_gap, by_variance = [], []
    for component, outcome, one in zip(pairs, outcomes, at, strict=True):
        remains_by_gap, remains_by_variance = _expected_entropy_gradient(*one)
        entropy_by_gap, entropy_by_variance = (
            sum(s * o[k] for s, o in zip(surprise, outcome, strict=True)) for k in (1, 2)
        )
        by_gap.append(component.weight * (entropy_by_gap - remains_by_gap))
        by_variance.append(component.weight * (entropy_by_variance - remains_by_variance))
    return by_gap, by_variance


def _outcomes(probit: Probit, gap: float, gap_variance: float) -> list[tuple[float, float, float]]:
    """P(A) and P(B), each with its derivatives by gap and gap variance."""
    total = probit.scale**2 + gap_variance
    result = []
    for sign in (1.0, -1.0):
        z = (sign * gap - probit.margin) / np.sqrt(total)
        density = np.exp(-0.5 * z * z) / SQRT_2PI
        density *= 1.0 - probit.lapse
        chosen = float(probit.with_lapses(ndtr(z)))
        result.append((chosen, float(sign * density / np.sqrt(total)), float(-0.5 * density * z / total)))
    return result


def _expected_entropy_gradient(probit: Probit, gap: float, gap_variance: float) -> tuple[float, float]:
    """Derivatives of the expected entropy by gap and gap variance."""
    a, t, b = (np.array(v) for v in entropy_of_answers(probit)[:3])
    wide, off = b + gap_variance / probit.scale**2, gap / probit.scale - t
    each = a * np.sqrt(b / wide) * np.exp(-0.5 * off**2 / wide)
    by_M, by_V = -each * off / wide, 0.5 * each * (off**2 / wide - 1.0) / wide
    return float(by_M.sum() / probit.scale), float(by_V.sum() / probit.scale**2)
