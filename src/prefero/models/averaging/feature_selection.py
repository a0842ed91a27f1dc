"""Which of many features matter: Bayesian model averaging over small sets of terms.

    term                 a feature, the square of one, or a soft threshold of one
    D           (N, t)   answered differences: terms of the preferred minus those of the other trajectory
    set                  k of the terms; given it the reward is linear in them, with weights w ~ N(0, I / k)
    prior                of a set: 2^-k times k! times the product of its terms' probabilities
    evidence             of a set: the Laplace approximation of the probability of the answers
    relevance            of a term: the sum of the posterior probabilities of the sets that have it, each
                         divided by its size; the relevances add up to 1

All single terms are tried. Then the best sets grow by one term each, by those that promise most: how much a
term would raise the evidence follows from the gradient of the log-likelihood along it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp

from prefero._support.arrays import Array
from prefero._support.ordering import largest_first
from prefero.models.averaging.thresholds import Thresholds
from prefero.models.likelihood.probit import LOG_SQRT_2PI, SQRT_2

SQUARE = 0.5  # the prior of a feature's square, relative to that of the feature
STEP = 0.5  # and of all its thresholds together
STEPS_BEFORE = STEP / (1 + SQUARE + STEP)  # relevance of all thresholds before any answer

Columns = tuple[int, ...]


@dataclass(frozen=True)
class BeamSearch:
    """How far the search over sets goes."""

    depth: int = 6  # terms of a set
    width: int = 10  # sets that grow, of every size
    branches: int = 8  # terms that each of them is tried with


BEAM = BeamSearch()


@dataclass(frozen=True, eq=False)
class Selection:
    """How much each term matters, and how probable the answers are under all sets together."""

    relevance: Array  # (t,)
    log_evidence: float


@dataclass(frozen=True, eq=False)
class FeatureSelection:
    """How much each feature matters: by itself or its square, and by its thresholds."""

    smooth: Array  # (d,)
    steps: Array  # (T,), of each threshold
    log_evidence: float


class _Fits(NamedTuple):
    """Several sets of one size: log evidence (B,), gradients and curvatures of the log-likelihood (B, N)."""

    evidence: Array
    gradients: Array
    curvatures: Array


def feature_relevance(
    winners: Array, losers: Array, noises: Mapping[float, float], thresholds: Thresholds
) -> FeatureSelection:
    """How much each standardized feature (N, d) matters."""
    squares = (winners**2 - losers**2) / SQRT_2  # of variance 1 for normal features
    D = np.hstack([winners - losers, squares, thresholds.steps(winners) - thresholds.steps(losers)])
    d, columns = winners.shape[1], thresholds.columns
    places = place_priors(d)
    each = STEP * places[columns] / np.bincount(columns, minlength=d)[columns]
    priors = np.concatenate([places, SQUARE * places, each])
    found = term_relevance(D, priors / priors.sum(), noises)
    smooth = found.relevance[: 2 * d].reshape(2, -1).sum(axis=0)
    return FeatureSelection(smooth, found.relevance[2 * d :], found.log_evidence)


def place_priors(features: int) -> Array:
    """Prior probabilities of features, (d,): those listed first are more probable, as 1 / (place + 3)."""
    weights = 1.0 / (np.arange(features, dtype=float) + 3.0)
    priors: Array = weights / weights.sum()
    return priors


def term_relevance(differences: Array, priors: Array, noises: Mapping[float, float]) -> Selection:
    """The relevance of all terms, with priors (t,), averaged over noises with these prior weights."""
    found: dict[Columns, float] = {}
    logs_of_terms = np.log(priors)
    for noise, weight in noises.items():
        for columns, evidence in _searched(differences, logs_of_terms, noise).items():
            found[columns] = float(np.logaddexp(found.get(columns, -np.inf), evidence + np.log(weight)))
    logs = np.array(list(found.values())) + log_priors(list(found), logs_of_terms)
    total = float(logsumexp(logs))
    relevance = np.zeros(len(priors))
    for columns, probability in zip(found, np.exp(logs - total).tolist(), strict=True):
        relevance[list(columns)] += probability / len(columns)
    return Selection(relevance, total)


def log_priors(sets: Sequence[Columns], logs_of_terms: Array) -> Array:
    """The log prior of each set."""
    sizes = np.array([len(columns) for columns in sets])
    chosen = np.array([logs_of_terms[list(columns)].sum() for columns in sets])
    logs: Array = gammaln(sizes + 1) - sizes * np.log(2.0) + chosen
    return logs


def _searched(differences: Array, logs_of_terms: Array, noise: float) -> dict[Columns, float]:
    """The log evidence of the sets that were tried."""
    terms = differences.shape[1]
    sets: list[Columns] = [(j,) for j in range(terms)]
    found: dict[Columns, float] = {}
    for size in range(1, min(BEAM.depth, terms) + 1):
        fits = _fit(np.stack([differences[:, list(columns)] for columns in sets]), noise)
        found |= dict(zip(sets, fits.evidence.tolist(), strict=True))
        best = largest_first(fits.evidence + log_priors(sets, logs_of_terms), BEAM.width).tolist()
        grown = (
            _promising(differences, logs_of_terms, sets[b], fits.gradients[b], fits.curvatures[b])
            for b in best
        )
        sets = sorted({columns for some in grown for columns in some if len(columns) > size})
        if not sets:
            break
    return found


def _fit(D: Array, noise: float, steps: int = 30, tolerance: float = 1e-6) -> _Fits:
    """The Laplace approximation for each of several sets, D (B, N, k), by Newton's method."""
    size, scale = D.shape[2], SQRT_2 * noise
    weights = np.zeros((len(D), size, 1))
    for _ in range(steps):
        log, gradients, curvatures = _likelihood((D @ weights)[:, :, 0] / scale, scale)
        H = np.swapaxes(D, 1, 2) @ (curvatures[:, :, None] * D) + size * np.eye(size)
        step = np.linalg.solve(H, np.swapaxes(D, 1, 2) @ gradients[:, :, None] - size * weights)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < tolerance:
            break
    prior = 0.5 * size * (np.log(size) - np.sum(weights**2, axis=(1, 2)))
    return _Fits(log.sum(axis=1) + prior - 0.5 * np.linalg.slogdet(H)[1], gradients, curvatures)


def _likelihood(z: Array, scale: float) -> tuple[Array, Array, Array]:
    """log Phi(z), its gradient and its negated curvature by the difference, z times the scale."""
    log = log_ndtr(z)
    hazard = np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log)
    return log, hazard / scale, hazard * (hazard + z) / scale**2


def _promising(
    D: Array, logs_of_terms: Array, columns: Columns, gradients: Array, curvatures: Array
) -> list[Columns]:
    """The set with one more term each: those that raise the quadratic approximation of the evidence most.

    Along a new term with prior variance v, gradient g and curvature h, given the others, the gain is
    (g^2 v / (1 + v h) - log(1 + v h)) / 2.
    """
    size, old = len(columns), D[:, list(columns)]
    H = old.T @ (curvatures[:, None] * old) + size * np.eye(size)
    mixed = old.T @ (curvatures[:, None] * D)
    h = np.maximum(curvatures @ D**2 - np.sum(mixed * np.linalg.solve(H, mixed), axis=0), 0.0)
    v = 1.0 / (size + 1)
    gain = 0.5 * ((D.T @ gradients) ** 2 * v / (1 + v * h) - np.log1p(v * h))
    gain += logs_of_terms
    gain[list(columns)] = -np.inf
    best = largest_first(gain, BEAM.branches).tolist()
    return [tuple(sorted((*columns, j))) for j in best if j not in columns]
