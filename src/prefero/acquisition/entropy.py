"""The entropy of an answer, written as a sum of Gaussians so that its expectation has a closed form.

    x            (f(A) - f(B)) / scale, scale = sqrt(2) noise
    M, V         mean and variance of x
    h(x)         entropy in bits of the answer to (A, B) when the reward is known

    h(x) = sum_k a_k exp(-(x - t_k)^2 / (2 b_k))
    E[h(x)] = sum_k a_k sqrt(b_k / (b_k + V)) exp(-(M - t_k)^2 / (2 (b_k + V)))   for x ~ N(M, V)

Three Gaussians with t = 0 are within 2e-7 bits for two answers; for three answers (A, B, about equal) they
are fitted to the margin. Everything here is elementwise and follows the array API standard.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import AnyArray, namespace_of, ndtr
from prefero.models.likelihood import Probit

TINY = 1e-30  # above the smallest number of single precision
WIDE_MARGIN = 6.0  # in units of the scale


class GaussianSum(NamedTuple):
    """A function of x as a sum of Gaussians."""

    heights: tuple[float, ...]
    centers: tuple[float, ...]
    variances: tuple[float, ...]

    def expectation(self, M: AnyArray, V: AnyArray) -> AnyArray:
        """The function's expectation at x ~ N(M, V)."""
        xp = namespace_of(V)
        total = 0.0 * (M + V)
        for a, t, b in zip(self.heights, self.centers, self.variances, strict=True):
            wide = V + b
            total += a * xp.sqrt(b / wide) * xp.exp(-0.5 * (M - t) ** 2 / wide)
        return total


TWO_ANSWERS = GaussianSum(
    (1.44187909, -0.45805773, 0.01617876), (0.0,) * 3, (1.02157809, 0.88369757, 0.63769179)
)


@lru_cache(maxsize=64)
def three_answers(margin: float) -> GaussianSum:
    """The entropy of A, B or "about equal" as a function of x, for a margin in units of the scale."""
    if margin > WIDE_MARGIN:  # A and B are never confused: one pair of answers on each side
        two = TWO_ANSWERS
        return GaussianSum(two.heights * 2, (margin,) * 3 + (-margin,) * 3, two.variances * 2)
    reach, variance, apart = margin + 7.0, 0.6, 0.55
    centers = np.linspace(-reach, reach, 2 * int(np.ceil(reach / apart)) + 1)
    x = np.linspace(-reach - 3.0, reach + 3.0, 16 * len(centers))
    entropy = entropy_of_probabilities(*(ndtr(v) for v in (x - margin, -x - margin)))
    gaussians = np.exp(-((x[:, None] - centers) ** 2) / (2 * variance))
    heights = np.linalg.lstsq(gaussians, entropy, rcond=1e-13)[0]
    heights = 0.5 * (heights + heights[::-1])  # symmetric in A and B
    return GaussianSum(tuple(heights.tolist()), tuple(centers.tolist()), (variance,) * len(centers))


def entropy_of_answers(probit: Probit) -> GaussianSum:
    """The entropy of this person's answers, as a function of x."""
    return three_answers(probit.margin / probit.scale) if probit.margin else TWO_ANSWERS


def entropy_of_probabilities(first: AnyArray, second: AnyArray) -> AnyArray:
    """Entropy in bits of an answer that is A, B, or (with the rest of the probability) about equal."""
    xp = namespace_of(first)

    def term(p: AnyArray) -> AnyArray:
        return -p * xp.log2(xp.clip(p, min=TINY))

    equal = xp.clip(1.0 - first - second, min=0.0)
    return term(first) + term(second) + term(equal)
