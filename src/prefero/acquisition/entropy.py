"""The entropy of an answer, written as a sum of Gaussians so that its expectation has a closed form.

    x            (f(A) - f(B)) / scale, scale = sqrt(2) noise
    M, V         mean and variance of x
    h(x)         entropy in bits of the answer to (A, B) when the reward is known

    h(x) = c + sum_k a_k exp(-(x - t_k)^2 / (2 b_k))
    E[h(x)] = c + sum_k a_k sqrt(b_k / (b_k + V)) exp(-(M - t_k)^2 / (2 (b_k + V)))   for x ~ N(M, V)

Three Gaussians with t = 0 are within 2e-7 bits for two answers; for three answers (A, B, about equal) they
are fitted to the margin. With lapses an answer is never certain: c is the entropy where the difference is
large, and the Gaussians are fitted to the lapse rate, within 2e-6 bits. Everything here is elementwise and
follows the array API standard.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import AnyArray, Array, namespace_of, ndtr
from prefero.models.likelihood.probit import Probit

TINY = 1e-30  # above the smallest number of single precision
WIDE_MARGIN = 6.0  # in units of the scale
VARIANCES = tuple(np.geomspace(0.15, 1.03, 12).tolist())  # of Gaussians in the middle between two answers


class GaussianSum(NamedTuple):
    """A function of x as a constant and a sum of Gaussians."""

    heights: tuple[float, ...]
    centers: tuple[float, ...]
    variances: tuple[float, ...]
    constant: float = 0.0

    def expectation(self, M: AnyArray, V: AnyArray) -> AnyArray:
        """The function's expectation at x ~ N(M, V)."""
        xp = namespace_of(V)
        total = 0.0 * (M + V) + self.constant
        for a, t, b in zip(self.heights, self.centers, self.variances, strict=True):
            wide = V + b
            total += a * xp.sqrt(b / wide) * xp.exp(-0.5 * (M - t) ** 2 / wide)
        return total


TWO_ANSWERS = GaussianSum(
    (1.44187909, -0.45805773, 0.01617876), (0.0,) * 3, (1.02157809, 0.88369757, 0.63769179)
)


@lru_cache(maxsize=64)
def two_answers(lapse: float) -> GaussianSum:
    """The entropy of A or B as a function of x."""
    return _between_two_answers(Probit(1.0, 0.0, lapse)) if lapse else TWO_ANSWERS


@lru_cache(maxsize=64)
def three_answers(margin: float, lapse: float = 0.0) -> GaussianSum:
    """The entropy of A, B or "about equal" as a function of x, for a margin in units of the scale."""
    person = Probit(1.0, margin, lapse)
    if margin > WIDE_MARGIN:  # A and B are never confused: one pair of answers on each side
        two = _between_two_answers(person) if lapse else TWO_ANSWERS
        sides = (margin,) * len(two.heights) + (-margin,) * len(two.heights)
        return GaussianSum(two.heights * 2, sides, two.variances * 2, two.constant)
    reach, variance, apart = margin + 7.0, 0.4 if lapse else 0.6, 0.45 if lapse else 0.55
    centers = np.linspace(-reach, reach, 2 * int(np.ceil(reach / apart)) + 1)
    x = np.linspace(-reach - 3.0, reach + 3.0, 16 * len(centers))
    constant = _certain(person)
    gaussians = np.exp(-((x[:, None] - centers) ** 2) / (2 * variance))
    heights = np.linalg.lstsq(gaussians, _entropy(person, x) - constant, rcond=1e-13)[0]
    heights = 0.5 * (heights + heights[::-1])  # symmetric in A and B
    return GaussianSum(tuple(heights.tolist()), tuple(centers.tolist()), (variance,) * len(centers), constant)


def _between_two_answers(person: Probit) -> GaussianSum:
    """The entropy as a function of x, as seen from where A and the answer next to it are equally likely."""
    x, constant = np.linspace(0.0, 9.0, 1801), _certain(person)
    gaussians = np.exp(-(x[:, None] ** 2) / (2 * np.array(VARIANCES)))
    heights = np.linalg.lstsq(gaussians, _entropy(person, x + person.margin) - constant, rcond=1e-13)[0]
    return GaussianSum(tuple(heights.tolist()), (0.0,) * len(VARIANCES), VARIANCES, constant)


def _entropy(person: Probit, x: Array) -> Array:
    """The entropy of the person's answers where x is known, their margin being in units of the scale."""
    chosen = (person.with_lapses(ndtr(v)) for v in (x - person.margin, -x - person.margin))
    return np.asarray(entropy_of_probabilities(*chosen))


def _certain(person: Probit) -> float:
    """The entropy of the answer where the difference is large: 0 without lapses."""
    return float(_entropy(person, np.array([np.inf]))[0]) if person.lapse else 0.0


class EntropyBound(NamedTuple):
    """A lower bound of the entropy of two answers: constant + (1 - constant) exp(-x^2 / (2 variance))."""

    constant: float
    variance: float


@lru_cache(maxsize=64)
def entropy_bound(lapse: float) -> EntropyBound:
    """The widest such Gaussian below the entropy; without lapses h(Phi(x)) >= exp(-x^2 / 2)."""
    if not lapse:
        return EntropyBound(0.0, 1.0)
    person = Probit(1.0, 0.0, lapse)
    x, constant = np.linspace(0.01, 7.0, 700), _certain(person)
    height = np.maximum(_entropy(person, x) - constant, TINY) / (1.0 - constant)
    variance = np.min(-0.5 * x**2 / np.log(height), where=height > 1e-9, initial=1.0)
    return EntropyBound(constant, 0.999 * float(variance))


def entropy_of_answers(probit: Probit) -> GaussianSum:
    """The entropy of this person's answers, as a function of x."""
    if probit.margin:
        return three_answers(probit.margin / probit.scale, probit.lapse)
    return two_answers(probit.lapse)


def entropy_terms(p: AnyArray) -> AnyArray:
    """-p log2(p) of each probability: their sum over the possible answers is the entropy in bits."""
    xp = namespace_of(p)
    return -p * xp.log2(xp.clip(p, min=TINY))


def entropy(p: Array) -> Array:
    """In bits, of probabilities along the last axis."""
    bits: Array = np.sum(entropy_terms(p), axis=-1)
    return bits


def entropy_of_probabilities(first: AnyArray, second: AnyArray) -> AnyArray:
    """Entropy in bits of an answer that is A, B, or (with the rest of the probability) about equal."""
    equal = namespace_of(first).clip(1.0 - first - second, min=0.0)
    return entropy_terms(first) + entropy_terms(second) + entropy_terms(equal)
