"""Judges: slow, plain ways to the numbers of the library, sharing no code with it.

    first, second   (N, d)   features of the trajectories of each answer; the first was preferred
    f               (2N,)    latent rewards of all of them, first ones first
    d               (N,)     latent differences f(first) - f(second)
    C               (N, N)   prior covariance of the differences
    noise                    the paper's sigma; scale = sqrt(2) noise
    margin                   within it a person says "about equal"
    lapse                    the probability of an answer at random

The paper's Laplace with its 2N x 2N matrices, exact posteriors of one and two answers by integration, and a
long run of elliptical slice sampling. None of them is fast, and none of them is used by the library. Those
of questions are in question_reference.py.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import integrate, special, stats

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
CovarianceFunction = Callable[[Array, Array], Array]
LogLikelihood = Callable[[Array], Array]


# --- the person -------------------------------------------------------------------------------------------


def answer_probability(d: Array, tied: Flags, noise: float, margin: float = 0.0, lapse: float = 0.0) -> Array:
    """P(answer | differences d), where answer i is "the first" or, if tied, "about equal"."""
    scale = np.sqrt(2.0) * noise
    chosen = special.ndtr((d - margin) / scale)
    equal = special.ndtr((margin - d) / scale) - special.ndtr((-margin - d) / scale)
    answers = 3 if margin > 0 else 2
    return np.asarray(np.where(tied, equal, chosen) * (1.0 - lapse) + lapse / answers)


def log_answer_probability(
    d: Array, tied: Flags, noise: float, margin: float = 0.0, lapse: float = 0.0
) -> Array:
    """Its logarithm, good in the tails: log(Phi(b) - Phi(a)) from log Phi(-a) and log Phi(-b), a > 0."""
    if lapse > 0:  # there are no tails
        return np.log(answer_probability(d, tied, noise, margin, lapse))
    scale = np.sqrt(2.0) * noise
    near, far = (np.abs(d) - margin) / scale, (np.abs(d) + margin) / scale  # -b and -a of the mirror image
    with np.errstate(divide="ignore"):
        upper, lower = special.log_ndtr(-near), special.log_ndtr(-far)
        equal = upper + np.log1p(-np.exp(lower - upper))
    return np.asarray(np.where(tied, equal, special.log_ndtr((d - margin) / scale)))


# --- the paper's Laplace, 2N x 2N -------------------------------------------------------------------------


def conditioned_rbf(x: Array, y: Array, theta: float, anchor: Array) -> Array:
    """The paper's kernel, written out: exp(-theta |x - y|^2) - exp(-theta |x - a|^2 - theta |y - a|^2)."""
    rows = [
        [
            np.exp(-theta * np.sum((p - q) ** 2))
            - np.exp(-theta * np.sum((p - anchor) ** 2) - theta * np.sum((q - anchor) ** 2))
            for q in y
        ]
        for p in x
    ]
    return np.array(rows)


@dataclass(frozen=True)
class NaiveLaplace:
    """The paper's posterior: mean k*^T K^-1 f and covariance K0 - k* (I + W K)^-1 W k*^T."""

    kernel: CovarianceFunction
    shown: Array  # (2N, d)
    weights: Array  # K^-1 f, (2N,)
    W: Array  # (2N, 2N)
    log_evidence: float

    def __call__(self, x: Array) -> tuple[Array, Array]:
        across, K = self.kernel(x, self.shown), self.kernel(self.shown, self.shown)
        learned = np.linalg.solve(np.eye(len(K)) + self.W @ K, self.W @ across.T)
        return across @ self.weights, self.kernel(x, x) - across @ learned


def naive_laplace(
    kernel: CovarianceFunction, first: Array, second: Array, tied: Flags, noise: float, margin: float = 0.0
) -> NaiveLaplace:
    """The mode over all 2N rewards by damped Newton steps in weights = K^-1 f, so that K may be singular."""
    count, shown = len(first), np.concatenate([first, second])
    K, D = kernel(shown, shown), np.hstack([np.eye(count), -np.eye(count)])
    weights, height = np.zeros(2 * count), -np.inf
    for _ in range(200):
        slope, curvature = _plain_derivatives(D @ K @ weights, tied, noise, margin)
        W = D.T @ np.diag(curvature) @ D
        right = W @ K @ weights + D.T @ slope
        target = np.asarray(np.linalg.solve(np.eye(2 * count) + W @ K, right), dtype=float)
        tried, height = _uphill(K, D, tied, noise, margin, weights, target)
        moved, weights = float(np.max(np.abs(K @ (tried - weights)))), tried
        if moved < 1e-12 * noise:
            break
    _, curvature = _plain_derivatives(D @ K @ weights, tied, noise, margin)
    W = D.T @ np.diag(curvature) @ D
    log_determinant = np.linalg.slogdet(np.eye(2 * count) + W @ K)[1]
    return NaiveLaplace(kernel, shown, weights, W, float(height - 0.5 * log_determinant))


def _uphill(
    K: Array, D: Array, tied: Flags, noise: float, margin: float, weights: Array, target: Array
) -> tuple[Array, float]:
    def height(at: Array) -> float:
        likelihood = log_answer_probability(D @ K @ at, tied, noise, margin).sum()
        return float(likelihood - 0.5 * at @ K @ at)

    steps = [weights + 0.5**k * (target - weights) for k in range(30)]
    start = height(weights)
    best = next((step for step in steps if height(step) >= start - 1e-13 * abs(start)), weights)
    return best, height(best)


def _plain_derivatives(d: Array, tied: Flags, noise: float, margin: float) -> tuple[Array, Array]:
    """Slope and negated curvature of log P(answer), by pdf / probability."""
    scale = np.sqrt(2.0) * noise
    low, high = np.where(tied, -margin, margin), np.where(tied, margin, np.inf)
    a, b = (low - d) / scale, (high - d) / scale
    log_probability = log_answer_probability(d, tied, noise, margin)
    at_a, at_b = (np.exp(stats.norm.logpdf(end) - log_probability) for end in (a, b))
    slope = (at_a - at_b) / scale
    bend = (a * at_a - np.where(np.isinf(b), 0.0, b) * at_b) / scale**2
    return slope, slope**2 - bend


# --- integrals --------------------------------------------------------------------------------------------


def integral_of(function: Callable[..., float], low: float, high: float, points: Sequence[float]) -> float:
    """By adaptive quadrature, piece by piece between the points."""
    options: dict[str, Any] = {"epsabs": 1e-13, "epsrel": 1e-11, "limit": 400}
    edges = [low, *sorted(set(points)), high]
    pieces = [integrate.quad(function, a, b, **options)[0] for a, b in pairwise(edges)]
    return float(sum(pieces))


# --- exact posteriors of one and two answers --------------------------------------------------------------


class Moments(NamedTuple):
    """Of the differences given the answers: mean (N,), covariance (N, N), and log P(answers)."""

    mean: Array
    covariance: Array
    log_evidence: float


def exact_moments_of_one(
    variance: float, tied: bool, noise: float, margin: float = 0.0, lapse: float = 0.0
) -> Moments:
    """One answer: adaptive quadrature over d ~ N(0, variance)."""
    sd, flag = np.sqrt(variance), np.array([tied])

    def weighted(u: float, power: int) -> float:
        probability = answer_probability(np.array([sd * u]), flag, noise, margin, lapse)
        return float(u**power * probability[0] * np.exp(-0.5 * u * u) / np.sqrt(2 * np.pi))

    edges = [e / sd for e in (-margin, 0.0, margin) for e in (e - 4 * noise, e, e + 4 * noise)]
    points = sorted({e for e in edges if abs(e) < 12})
    zeroth, first, second = (
        integral_of(lambda u, power=power: weighted(u, power), -12.0, 12.0, points) for power in range(3)
    )
    mean, square = sd * first / zeroth, variance * second / zeroth
    return Moments(np.array([mean]), np.array([[square - mean**2]]), float(np.log(zeroth)))


def exact_moments_of_two(
    C: Array, tied: Flags, noise: float, margin: float = 0.0, lapse: float = 0.0
) -> Moments:
    """Two answers: the trapezoid rule, which converges exponentially here, over two standard normals."""
    line = np.linspace(-9.0, 9.0, 601)
    u = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    values, vectors = np.linalg.eigh(C)
    d = u @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
    weight = np.exp(-0.5 * np.sum(u**2, axis=1)) / (2 * np.pi) * (line[1] - line[0]) ** 2
    weight *= np.prod(answer_probability(d, tied, noise, margin, lapse), axis=1)
    mass = weight.sum()
    mean = weight @ d / mass
    centred = d - mean
    return Moments(mean, (centred.T * weight) @ centred / mass, float(np.log(mass)))


def predict_from_differences(
    across: Array, prior: Array, C: Array, mean: Array, covariance: Array
) -> tuple[Array, Array]:
    """Mean and covariance of rewards whose covariance with the differences is `across` (M, N)."""
    share = across @ np.linalg.pinv(C, rcond=1e-12, hermitian=True)
    return share @ mean, prior - share @ (C - covariance) @ share.T


# --- a long run of elliptical slice sampling --------------------------------------------------------------


def elliptical_slice(
    C: Array,
    log_likelihood: LogLikelihood,
    rng: np.random.Generator,
    *,
    chains: int = 400,
    steps: int = 300,
    burn: int = 100,
    thin: int = 1,
) -> Array:
    """Samples (chains * steps / thin, N) of N(0, C) weighted by a likelihood (Murray, Adams & MacKay, 2010).

    `log_likelihood` takes (chains, N) and gives (chains,): many short chains move together.
    """
    values, vectors = np.linalg.eigh(C)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    state = rng.standard_normal((chains, len(C))) @ root.T
    level, kept = log_likelihood(state), []
    for step in range(burn + steps):
        state, level = _slice_step(state, level, root, log_likelihood, rng)
        if step >= burn and (step - burn) % thin == 0:
            kept.append(state)
    return np.concatenate(kept)


def _slice_step(
    state: Array, level: Array, root: Array, log_likelihood: LogLikelihood, rng: np.random.Generator
) -> tuple[Array, Array]:
    """One step of every chain: shrink each bracket of angles until the likelihood is above the slice."""
    chains = len(state)
    partner = rng.standard_normal(state.shape) @ root.T
    threshold = level + np.log(rng.random(chains))
    angle = 2.0 * np.pi * rng.random(chains)
    low, high = angle - 2.0 * np.pi, angle.copy()
    new, new_level = state.copy(), level.copy()
    waiting = np.arange(chains)
    while len(waiting):
        turn = angle[waiting, None]
        tried = state[waiting] * np.cos(turn) + partner[waiting] * np.sin(turn)
        reached = log_likelihood(tried)
        good = reached > threshold[waiting]
        new[waiting[good]], new_level[waiting[good]] = tried[good], reached[good]
        waiting = waiting[~good]
        left, right = waiting[angle[waiting] < 0], waiting[angle[waiting] >= 0]
        low[left], high[right] = angle[left], angle[right]
        angle[waiting] = low[waiting] + (high - low)[waiting] * rng.random(len(waiting))
    return new, new_level


def sample_differences(
    C: Array,
    tied: Flags,
    noise: float,
    rng: np.random.Generator,
    *,
    margin: float = 0.0,
    lapse: float = 0.0,
    chains: int = 400,
    steps: int = 300,
    burn: int = 100,
    thin: int = 1,
) -> Array:
    """Samples of the differences given the answers, to judge EP and Laplace by."""

    def log_likelihood(d: Array) -> Array:
        return np.asarray(log_answer_probability(d, tied, noise, margin, lapse).sum(axis=1))

    return elliptical_slice(C, log_likelihood, rng, chains=chains, steps=steps, burn=burn, thin=thin)


class Predicted(NamedTuple):
    """Of f(a) - f(b), row by row: mean, variance, and P(a preferred)."""

    mean: Array
    variance: Array
    probability: Array


def predict_from_samples(
    samples: Array,
    C: Array,
    across: Array,
    prior: Array,
    noise: float,
    margin: float = 0.0,
    lapse: float = 0.0,
) -> Predicted:
    """Of pairs with prior variance `prior` (M,) and covariance `across` (M, N) with the differences.

    Given the sampled differences a further one is normal, so that the rest is exact.
    """
    share = across @ np.linalg.pinv(C, rcond=1e-12, hermitian=True)
    rest = np.maximum(prior - np.sum(share * across, axis=1), 0.0)
    centres = samples @ share.T
    chosen = special.ndtr((centres - margin) / np.sqrt(2 * noise**2 + rest))
    probability = (1.0 - lapse) * chosen.mean(axis=0) + lapse / (3 if margin > 0 else 2)
    return Predicted(centres.mean(axis=0), centres.var(axis=0) + rest, probability)
