"""Which of many features matter: Bayesian model averaging over small sets of them.

    D           (N, d)   answered differences: features of the preferred minus those of the other trajectory
    set                  k of the features; given it the reward is linear, x[set] @ w with w ~ N(0, I / k)
    prior                of a set: 2^-k times k! times the product of p_j, where p_j is proportional to
                         1 / (j + 3) for the feature in place j: features listed first are more probable
    evidence             of a set: the Laplace approximation of the probability of the answers
    share                of a feature: the sum of the posterior probabilities of the sets that have it, each
                         divided by its size; the shares add up to 1

All single features are tried. Then the best sets grow by one feature each, by those that promise most: how
much a feature would raise the evidence follows from the slope of the log-likelihood along it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, log_ndtr, logsumexp

from prefero._support.arrays import Array
from prefero.models.likelihood import LOG_SQRT_2PI, SQRT_2

MAX_SIZE = 6  # features of a set
WIDTH = 10  # sets that grow, of every size
GROWTH = 8  # features that each of them is tried with
NEWTON_STEPS, SETTLED = 30, 1e-6
FIRST = 3.0  # in the prior of a feature, 1 / (place + FIRST)

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Relevance:
    """How much each feature matters, and how probable the answers are under all sets together."""

    shares: Array  # (d,)
    log_evidence: float


class _Fits(NamedTuple):
    """Several sets of one size: log evidence (B,), slopes and curvatures of the log-likelihood (B, N)."""

    evidence: Array
    slopes: Array
    curvatures: Array


def relevance(differences: Array, noises: Mapping[float, float]) -> Relevance:
    """The shares of all features, averaged over noises with these prior weights."""
    found: dict[Columns, float] = {}
    for noise, weight in noises.items():
        for columns, evidence in _searched(differences, noise).items():
            found[columns] = float(np.logaddexp(found.get(columns, -np.inf), evidence + np.log(weight)))
    d = differences.shape[1]
    logs = np.array(list(found.values())) + log_priors(list(found), d)
    total = float(logsumexp(logs))
    shares = np.zeros(d)
    for columns, probability in zip(found, np.exp(logs - total).tolist(), strict=True):
        shares[list(columns)] += probability / len(columns)
    return Relevance(shares, total)


def log_priors(sets: Sequence[Columns], features: int) -> Array:
    """The log prior of each set."""
    one = -np.log(np.arange(features) + FIRST)
    one -= logsumexp(one)
    sizes = np.array([len(columns) for columns in sets])
    chosen = np.array([one[list(columns)].sum() for columns in sets])
    logs: Array = gammaln(sizes + 1) - sizes * np.log(2.0) + chosen
    return logs


def _searched(differences: Array, noise: float) -> dict[Columns, float]:
    """The log evidence of the sets that were tried."""
    d = differences.shape[1]
    sets: list[Columns] = [(j,) for j in range(d)]
    found: dict[Columns, float] = {}
    for size in range(1, min(MAX_SIZE, d) + 1):
        fits = _fit(np.stack([differences[:, list(columns)] for columns in sets]), noise)
        found |= dict(zip(sets, fits.evidence.tolist(), strict=True))
        best = np.argsort(-(fits.evidence + log_priors(sets, d)), kind="stable")[:WIDTH].tolist()
        grown = (_promising(differences, sets[b], fits.slopes[b], fits.curvatures[b]) for b in best)
        sets = sorted({columns for some in grown for columns in some if len(columns) > size})
        if not sets:
            break
    return found


def _fit(D: Array, noise: float) -> _Fits:
    """The Laplace approximation for each of several sets, D (B, N, k), by Newton's method."""
    size, scale = D.shape[2], SQRT_2 * noise
    weights = np.zeros((len(D), size, 1))
    for _ in range(NEWTON_STEPS):
        log, slopes, curvatures = _likelihood((D @ weights)[:, :, 0] / scale, scale)
        H = np.swapaxes(D, 1, 2) @ (curvatures[:, :, None] * D) + size * np.eye(size)
        step = np.linalg.solve(H, np.swapaxes(D, 1, 2) @ slopes[:, :, None] - size * weights)
        weights = weights + step
        if np.abs(step).max(initial=0.0) < SETTLED:
            break
    prior = 0.5 * size * (np.log(size) - np.sum(weights**2, axis=(1, 2)))
    return _Fits(log.sum(axis=1) + prior - 0.5 * np.linalg.slogdet(H)[1], slopes, curvatures)


def _likelihood(z: Array, scale: float) -> tuple[Array, Array, Array]:
    """log Phi(z), its slope and its negated curvature by the difference, z times the scale."""
    log = log_ndtr(z)
    hazard = np.exp(-0.5 * z**2 - LOG_SQRT_2PI - log)
    return log, hazard / scale, hazard * (hazard + z) / scale**2


def _promising(D: Array, columns: Columns, slopes: Array, curvatures: Array) -> list[Columns]:
    """The set with one more feature each: those that raise the quadratic approximation of the evidence most.

    Along a new feature with prior variance v, slope g and curvature h, given the others, the gain is
    (g^2 v / (1 + v h) - log(1 + v h)) / 2.
    """
    size, old = len(columns), D[:, list(columns)]
    H = old.T @ (curvatures[:, None] * old) + size * np.eye(size)
    mixed = old.T @ (curvatures[:, None] * D)
    h = np.maximum(curvatures @ D**2 - np.sum(mixed * np.linalg.solve(H, mixed), axis=0), 0.0)
    v = 1.0 / (size + 1)
    gain = 0.5 * ((D.T @ slopes) ** 2 * v / (1 + v * h) - np.log1p(v * h))
    gain += -np.log(np.arange(D.shape[1]) + FIRST)
    gain[list(columns)] = -np.inf
    best = np.argsort(-gain, kind="stable")[:GROWTH].tolist()
    return [tuple(sorted((*columns, j))) for j in best if j not in columns]
