"""Judges: slow, plain ways to the numbers of the library, sharing no code with it.

    first, second   (N, d)   features of the trajectories of each answer; the first was preferred
    f               (2N,)    latent rewards of all of them, first ones first
    d               (N,)     latent differences f(first) - f(second)
    C               (N, N)   prior covariance of the differences
    noise                    the paper's sigma; scale = sqrt(2) noise
    margin                   within it a person says "about equal"
    lapse                    the probability of an answer at random
    gap, spread              mean and variance of the difference of two rewards

The paper's Laplace with its 2N x 2N matrices, the best pair by trying every one, information by adaptive
quadrature, exact posteriors of one and two answers by integration, and a long run of elliptical slice
sampling. None of them is fast, and none of them is used by the library.
"""

from collections.abc import Callable, Iterable, Sequence
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
        _integral(lambda u, power=power: weighted(u, power), -12.0, 12.0, points) for power in range(3)
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


# --- information ------------------------------------------------------------------------------------------


def entropy_bits(probabilities: Iterable[float]) -> float:
    """-sum p log2 p."""
    return float(sum(special.entr(p) for p in probabilities) / np.log(2.0))


def answer_probabilities(x: float, margin: float, lapse: float = 0.0) -> tuple[float, ...]:
    """Of A, B and (with a margin) "about equal", at a difference x, both in units of the scale."""
    meant = [special.ndtr(x - margin), special.ndtr(-x - margin)]
    if margin > 0:
        meant.append(special.ndtr(margin - abs(x)) - special.ndtr(-margin - abs(x)))
    return tuple(float((1.0 - lapse) * p + lapse / len(meant)) for p in meant)


def quadrature_bits(gap: float, spread: float, noise: float, margin: float = 0.0) -> float:
    """h(E[p]) - E[h(p)] by adaptive quadrature, for two answers or, with a margin, three."""
    return mixture_quadrature_bits([(1.0, gap, spread, noise, margin)])


def mixture_quadrature_bits(parts: Sequence[tuple[float, ...]]) -> float:
    """The same under a mixture whose parts are (weight, gap, spread, noise, margin), and perhaps a lapse."""
    total, remains = np.zeros(2), 0.0
    for weight, gap, spread, noise, margin, *rest in parts:
        root, lapse = np.sqrt(2 * noise**2 + spread), sum(rest)
        chosen = special.ndtr(np.array([gap - margin, -gap - margin]) / root)
        total += weight * ((1.0 - lapse) * chosen + lapse / (3 if margin > 0 else 2))
        remains += weight * expected_entropy(gap, spread, noise, margin, lapse)
    return entropy_bits([*total, max(1.0 - total.sum(), 0.0)]) - remains


def expected_entropy(
    gap: float, spread: float, noise: float, margin: float = 0.0, lapse: float = 0.0
) -> float:
    """E[h(p)] over N(gap, spread) by adaptive quadrature in x = difference / scale."""
    scale = np.sqrt(2.0) * noise
    M, sd, m = gap / scale, np.sqrt(spread) / scale, margin / scale
    if sd == 0:
        return entropy_bits(answer_probabilities(M, m, lapse))
    certain = entropy_bits(answer_probabilities(np.inf, m, lapse))  # far away

    def integrand(x: float) -> float:
        more = entropy_bits(answer_probabilities(x, m, lapse)) - certain
        return float(more * np.exp(-0.5 * ((x - M) / sd) ** 2) / sd)

    low, high = max(M - 12 * sd, -m - 12.0), min(M + 12 * sd, m + 12.0)
    if low >= high:
        return certain
    points = [p for p in (-m, 0.0, m, M - 3 * sd, M, M + 3 * sd) if low < p < high]
    return certain + _integral(integrand, low, high, points) / float(np.sqrt(2 * np.pi))


def _integral(function: Callable[..., float], low: float, high: float, points: Sequence[float]) -> float:
    options: dict[str, Any] = {"epsabs": 1e-13, "epsrel": 1e-11, "limit": 400}
    edges = [low, *sorted(set(points)), high]
    pieces = [integrate.quad(function, a, b, **options)[0] for a, b in pairwise(edges)]
    return float(sum(pieces))


def paper_objective(gap: float, spread: float, noise: float) -> float:
    """The paper's objective, symbol for symbol as printed; it errs in its second term."""
    first = entropy_bits(answer_probabilities(gap / np.sqrt(2 * noise**2 + spread), 0.0))
    c = np.pi * np.log(2) * noise**2
    m = np.sqrt(c) * np.exp(-(gap**2) / (c + 2 * spread)) / np.sqrt(c + 2 * spread)
    return float(first - m)


def sampled_utility(a: float, b: float, spread: float, rng: np.random.Generator, count: int) -> float:
    """E[max(f(A), f(B))] from antithetic draws of their difference around means a and b."""
    half = np.sqrt(spread) * rng.standard_normal(count)
    difference = a - b + np.concatenate([half, -half])
    return float(0.5 * (a + b) + 0.5 * np.mean(np.abs(difference)))


# --- the best pair ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """One Gaussian of a mixture, as the rewards of a pool: mean (M,) and covariance (M, M)."""

    weight: float
    mean: Array
    covariance: Array
    noise: float
    margin: float = 0.0

    def difference(self, i: int, j: int) -> tuple[float, float]:
        """Mean and variance of f_i - f_j."""
        c = self.covariance
        return float(self.mean[i] - self.mean[j]), max(float(c[i, i] + c[j, j] - 2 * c[i, j]), 0.0)


def pair_bits(parts: Sequence[Part], i: int, j: int) -> float:
    """Bits of one question, by quadrature."""
    rows = [(p.weight, *p.difference(i, j), p.noise, p.margin) for p in parts]
    return mixture_quadrature_bits(rows)


def pair_paper(parts: Sequence[Part], i: int, j: int) -> float:
    """The paper's objective for one question, under a single Gaussian."""
    (part,) = parts
    return paper_objective(*part.difference(i, j), part.noise)


def pair_utility(parts: Sequence[Part], i: int, j: int) -> float:
    """E[max] of one question by the textbook formula for two correlated normals (Clark, 1961)."""
    total = 0.0
    for part in parts:
        (gap, spread), a, b = part.difference(i, j), part.mean[i], part.mean[j]
        sd = np.sqrt(spread)
        z = gap / sd if sd > 0 else np.copysign(np.inf, gap) if gap else 0.0
        total += part.weight * (a * stats.norm.cdf(z) + b * stats.norm.cdf(-z) + sd * stats.norm.pdf(z))
    return float(total)


def best_pair(
    value: Callable[[Sequence[Part], int, int], float],
    parts: Sequence[Part],
    exclude: Iterable[tuple[int, int]] = (),
    same: float = 1e-9,
) -> tuple[tuple[int, int], float]:
    """The best pair i < j by trying every one in order, and its value; of equals the first."""
    forbidden = {tuple(sorted(pair)) for pair in exclude}
    count, best, found = len(parts[0].mean), -np.inf, (-1, -1)
    for i in range(count):
        for j in range(i + 1, count):
            worth = value(parts, i, j) if (i, j) not in forbidden else -np.inf
            if worth > best + same:
                best, found = worth, (i, j)
    return found, float(best)
