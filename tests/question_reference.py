"""Judges of questions: information by adaptive quadrature, and the best pair by trying every one.

    gap, gap_variance    mean and variance of the difference of two rewards
    noise                the paper's sigma; scale = sqrt(2) noise
    margin               within it a person says "about equal"
    lapse                the probability of an answer at random

They share no code with the library.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from reference import Array, integral_of

NODES, WEIGHTS = special.roots_legendre(1500)  # of Gauss's quadrature on [-1, 1]


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


def quadrature_bits(gap: float, gap_variance: float, noise: float, margin: float = 0.0) -> float:
    """h(E[p]) - E[h(p)] by adaptive quadrature, for two answers or, with a margin, three."""
    return mixture_quadrature_bits([(1.0, gap, gap_variance, noise, margin)])


def mixture_quadrature_bits(components: Sequence[tuple[float, ...]]) -> float:
    """The same under a mixture of (weight, gap, gap_variance, noise, margin), and perhaps a lapse."""
    total, remains = np.zeros(2), 0.0
    for weight, gap, gap_variance, noise, margin, *rest in components:
        root, lapse = np.sqrt(2 * noise**2 + gap_variance), sum(rest)
        chosen = special.ndtr(np.array([gap - margin, -gap - margin]) / root)
        total += weight * ((1.0 - lapse) * chosen + lapse / (3 if margin > 0 else 2))
        remains += weight * expected_entropy(gap, gap_variance, noise, margin, lapse)
    return entropy_bits([*total, max(1.0 - total.sum(), 0.0)]) - remains


def expected_entropy(
    gap: float, gap_variance: float, noise: float, margin: float = 0.0, lapse: float = 0.0
) -> float:
    """E[h(p)] over N(gap, gap_variance) by adaptive quadrature in x = difference / scale."""
    scale = np.sqrt(2.0) * noise
    M, sd, m = gap / scale, np.sqrt(gap_variance) / scale, margin / scale
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
    return certain + integral_of(integrand, low, high, points) / float(np.sqrt(2 * np.pi))


def paper_objective(gap: float, gap_variance: float, noise: float) -> float:
    """The paper's objective, symbol for symbol as printed; it errs in its second term."""
    first = entropy_bits(answer_probabilities(gap / np.sqrt(2 * noise**2 + gap_variance), 0.0))
    c = np.pi * np.log(2) * noise**2
    m = np.sqrt(c) * np.exp(-(gap**2) / (c + 2 * gap_variance)) / np.sqrt(c + 2 * gap_variance)
    return float(first - m)


def sampled_utility(a: float, b: float, gap_variance: float, rng: np.random.Generator, count: int) -> float:
    """E[max(f(A), f(B))] from antithetic draws of their difference around means a and b."""
    half = np.sqrt(gap_variance) * rng.standard_normal(count)
    difference = a - b + np.concatenate([half, -half])
    return float(0.5 * (a + b) + 0.5 * np.mean(np.abs(difference)))


# --- the best pair ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Component:
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


def pair_bits(components: Sequence[Component], i: int, j: int) -> float:
    """Bits of one question, by quadrature."""
    rows = [(p.weight, *p.difference(i, j), p.noise, p.margin) for p in components]
    return mixture_quadrature_bits(rows)


def pair_paper(components: Sequence[Component], i: int, j: int) -> float:
    """The paper's objective for one question, under a single Gaussian."""
    (component,) = components
    return paper_objective(*component.difference(i, j), component.noise)


def pair_utility(components: Sequence[Component], i: int, j: int) -> float:
    """E[max] of one question by the textbook formula for two correlated normals (Clark, 1961)."""
    total = 0.0
    for component in components:
        (gap, gap_variance), a, b = component.difference(i, j), component.mean[i], component.mean[j]
        sd = np.sqrt(gap_variance)
        z = gap / sd if sd > 0 else np.copysign(np.inf, gap) if gap else 0.0
        total += component.weight * (a * stats.norm.cdf(z) + b * stats.norm.cdf(-z) + sd * stats.norm.pdf(z))
    return float(total)


def best_pair(
    value: Callable[[Sequence[Component], int, int], float],
    components: Sequence[Component],
    exclude: Iterable[tuple[int, int]] = (),
    same: float = 1e-9,
) -> tuple[tuple[int, int], float]:
    """The best pair i < j by trying every one in order, and its value; of equals the first."""
    forbidden = {tuple(sorted(pair)) for pair in exclude}
    count, best, found = len(components[0].mean), -np.inf, (-1, -1)
    for i in range(count):
        for j in range(i + 1, count):
            worth = value(components, i, j) if (i, j) not in forbidden else -np.inf
            if worth > best + same:
                best, found = worth, (i, j)
    return found, float(best)
