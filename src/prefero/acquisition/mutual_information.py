"""What the answer to a question would tell, in bits; and what the better of two options is worth.

    gap          mean_A - mean_B, the expected difference of the two rewards
    spread       Var[f(A) - f(B)] = var_A + var_B - 2 cov_AB
    noise        the paper's sigma; scale = sqrt(2) noise
    M, V         gap / scale, spread / scale^2
    h(p)         entropy of the answer in bits

The bits of a question are the entropy of the answer less what would remain of it if the reward were known,
h(E[p]) - E[h(p)], with p the probability of the answer given the reward. E[p] has a closed form; for E[h(p)]
the entropy as a function of x = (f(A) - f(B)) / scale is written as a sum of Gaussians,

    h(Phi(x)) = sum_k a_k exp(-(x - t_k)^2 / (2 b_k)),

whose expectation is again one: sum_k a_k sqrt(b_k / (b_k + V)) exp(-(M - t_k)^2 / (2 (b_k + V))). Three of
them with t = 0 are within 2e-7 bits for two answers; for three answers (A, B, about equal) they are fitted to
the margin. Under a belief, a mixture of Gaussians, both terms are averages over its parts.

Whatever the distribution of x, a question brings at most log2(1 + Var[x]) / 2 bits, the capacity of a
channel with Gaussian noise, and at most h(p) where p = (1 + Var[x]) / (1 + Var[x] + E[x]^2) is Cantelli's
bound on the probability of the less likely of two answers. Many questions are ruled out by these two alone.

Everything here is elementwise and follows the array API standard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log2
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np

from prefero._support.arrays import AnyArray, Array, namespace_of, ndtr
from prefero.models.likelihood import SQRT_2PI, Probit

Formula = Literal["exact", "houlsby", "paper"]
FORMULAS = ("exact", "houlsby", "paper")
PI_LN_2, ONE_OVER_LN_4 = float(np.pi * np.log(2.0)), float(1.0 / np.log(4.0))
TINY = 1e-30  # above the smallest number of single precision
WIDE = 6.0
# Phi(z) = (1 + tanh(z (CENTRE + CUBE z^2))) / 2 to 2e-4: in entropy below ALLOWANCE, rounding included
CENTRE, CUBE, ALLOWANCE = 0.79788456, 0.03567741, 3e-3


class Part(NamedTuple):
    """One Gaussian of a mixture: its weight, and how the person answers in it."""

    weight: float
    probit: Probit


Parts = Sequence[Part]
Arrays = Sequence[AnyArray]  # one for each part


class Bells(NamedTuple):
    """A function of x as a sum of Gaussians."""

    heights: tuple[float, ...]
    centres: tuple[float, ...]
    widths: tuple[float, ...]  # variances

    def expected(self, M: AnyArray, V: AnyArray) -> AnyArray:
        """The function's expectation at x ~ N(M, V)."""
        xp = namespace_of(V)
        total = 0.0 * (M + V)
        for a, t, b in zip(self.heights, self.centres, self.widths, strict=True):
            wide = V + b
            total += a * xp.sqrt(b / wide) * xp.exp(-0.5 * (M - t) ** 2 / wide)
        return total


TWO_ANSWERS = Bells((1.44187909, -0.45805773, 0.01617876), (0.0,) * 3, (1.02157809, 0.88369757, 0.63769179))


@lru_cache(maxsize=64)
def three_answers(margin: float) -> Bells:
    """The entropy of A, B or "about equal" as a function of x, for a margin in units of the scale."""
    if margin > WIDE:  # nobody wavers between A and B: two questions of two answers, at both ends
        two = TWO_ANSWERS
        return Bells(two.heights * 2, (margin,) * 3 + (-margin,) * 3, two.widths * 2)
    reach, width, apart = margin + 7.0, 0.6, 0.55
    centres = np.linspace(-reach, reach, 2 * int(np.ceil(reach / apart)) + 1)
    x = np.linspace(-reach - 3.0, reach + 3.0, 16 * len(centres))
    entropy = outcome_entropy(*(ndtr(v) for v in (x - margin, -x - margin)))
    bells = np.exp(-((x[:, None] - centres) ** 2) / (2 * width))
    heights = np.linalg.lstsq(bells, entropy, rcond=1e-13)[0]
    heights = 0.5 * (heights + heights[::-1])  # A and B are alike
    return Bells(tuple(heights.tolist()), tuple(centres.tolist()), (width,) * len(centres))


def bells_for(probit: Probit) -> Bells:
    """The entropy of this person's answers, as a function of x."""
    return three_answers(probit.margin / probit.scale) if probit.margin else TWO_ANSWERS


def outcome_entropy(first: AnyArray, second: AnyArray) -> AnyArray:
    """Entropy in bits of an answer that is A, B, or (with the rest of the probability) about equal."""
    xp = namespace_of(first)

    def term(p: AnyArray) -> AnyArray:
        return -p * xp.log2(xp.clip(p, min=TINY))

    equal = xp.clip(1.0 - first - second, min=0.0)
    return term(first) + term(second) + term(equal)


def check_formula(formula: str) -> None:
    """An error unless there is such a formula."""
    if formula not in FORMULAS:
        raise ValueError(f"formula must be one of {', '.join(FORMULAS)}, but is {formula!r}")


def _check(formula: str, probit: Probit) -> None:
    check_formula(formula)
    if formula != "exact" and probit.margin:
        raise ValueError(f"formula {formula!r} knows only two answers: with a margin, use 'exact'")


def expected_entropy(gap: AnyArray, spread: AnyArray, probit: Probit, formula: Formula = "exact") -> AnyArray:
    """What would remain of the answer's entropy, on average, if the reward were known."""
    _check(formula, probit)
    if formula == "exact":
        return bells_for(probit).expected(gap / probit.scale, spread / probit.scale**2)
    xp = namespace_of(spread)
    # "paper" prints pi ln2 / 2 where the substitution x = difference / scale gives pi ln2
    c = (1.0 if formula == "houlsby" else 0.5) * PI_LN_2 * probit.noise**2
    return xp.sqrt(c / (c + spread)) * xp.exp(-0.5 * gap**2 / (c + spread))


def bits(parts: Parts, gaps: Arrays, spreads: Arrays, formula: Formula = "exact") -> AnyArray:
    """Bits of questions under a mixture of Gaussians; `gaps` and `spreads` hold one array for each part."""
    first, second, remains = 0.0, 0.0, 0.0
    for (weight, probit), gap, spread in zip(parts, gaps, spreads, strict=True):
        root = namespace_of(spread).sqrt(spread + probit.scale**2)
        one = ndtr((gap - probit.margin) / root)
        first = first + weight * one
        second = second + weight * (ndtr((-gap - probit.margin) / root) if probit.margin else 1.0 - one)
        remains = remains + weight * expected_entropy(gap, spread, probit, formula)
    gained = outcome_entropy(first, second) - remains
    if formula != "exact":
        return gained
    xp = namespace_of(gained)
    gained = xp.clip(gained, min=0.0, max=1.0 if not any(part.probit.margin for part in parts) else None)
    if len(parts) == 1:  # what is known brings nothing, not even the fit's 2e-7
        gained = xp.where(spreads[0] > 0.0, gained, 0.0 * gained)
    return gained


def information_gain(
    mean: Array, cov: Array, noise: float, formula: Formula = "exact", margin: float = 0.0
) -> Array:
    """Bits of every question about M trajectories, shape (M, M), from the rewards' mean and covariance.

    `formula` is "exact", "houlsby" (one Gaussian for the entropy, off by up to 0.003 bits) or "paper" (the
    paper's equation as printed, off by up to 0.25 bits). With a `margin`, "about equal" is an answer too.
    """
    mean, cov = np.asarray(mean, dtype=float), np.asarray(cov, dtype=float)
    if mean.ndim != 1 or cov.shape != (len(mean), len(mean)):
        raise ValueError(
            f"mean must have shape (M,) and cov (M, M), but they have {mean.shape} and {cov.shape}"
        )
    if not (np.isfinite(mean).all() and np.isfinite(cov).all()):
        raise ValueError("mean and cov must be finite, but have nan or infinite entries")
    variance = cov.diagonal()
    gap = mean[:, None] - mean[None, :]
    spread = np.maximum(variance[:, None] + variance[None, :] - 2 * cov, 0.0)
    gained: Array = bits([Part(1.0, Probit(noise, margin))], [gap], [spread], formula)
    return gained


class Criterion(Protocol):
    """What makes a question good, for the search over all pairs of a pool.

    All three take the parts of the mixture and, for each, the means of both trajectories and their spread.
    """

    unit: ClassVar[str]  # of the values

    def score(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        """The value of each question."""

    def ceiling(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        """A number no smaller than the value, and cheaper."""

    def least_spread(self, parts: Parts, value: float) -> float:
        """Below this spread no question of a single Gaussian reaches `value`; 0 where that is unknown."""


@dataclass(frozen=True)
class Information:
    """The bits of a question: learns the reward everywhere."""

    formula: Formula = "exact"
    unit: ClassVar[str] = "bits"

    def score(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        return bits(parts, [a - b for a, b in zip(left, right, strict=True)], spread, self.formula)

    def ceiling(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        if any(part.probit.margin for part in parts):
            return self._entropy_ceiling(parts, left, right, spread)
        tilt, remains, xp = 0.0, 0.0, namespace_of(spread[0])
        for (weight, probit), a, b, s in zip(parts, left, right, spread, strict=True):
            root = xp.sqrt(xp.astype(s, xp.float32) + probit.scale**2)
            near = xp.mean(a)  # what all means share would drown their differences in single precision
            gap = xp.astype(a - near, xp.float32) - xp.astype(b - near, xp.float32)
            z = gap / root
            square = z * z
            if self.formula == "exact":  # E[h] is at least this, since h(Phi(x)) >= exp(-x^2 / 2)
                bell = xp.exp(-0.5 * square)
                bell *= (weight * probit.scale) / root
            else:
                bell = weight * expected_entropy(gap, xp.astype(s, xp.float32), probit, self.formula)
            bell += remains
            remains = bell
            square *= CUBE
            square += CENTRE
            z *= square
            lean = xp.tanh(z)
            lean *= weight
            lean += tilt
            tilt = lean  # 2 p - 1
        unsure = xp.clip(1.0 - tilt * tilt, min=1e-30)
        # h(p) <= (4 p (1 - p))^(1 / ln 4)
        return xp.exp(xp.log(unsure) * ONE_OVER_LN_4) + ALLOWANCE - remains

    def least_spread(self, parts: Parts, value: float) -> float:
        probit = parts[0].probit
        if len(parts) > 1 or self.formula != "exact" or probit.margin or not 0.0 < value < 1.0:
            return 0.0
        return _least_spread(value - 1e-6) * probit.scale**2

    def _entropy_ceiling(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        first, second = 0.0, 0.0
        for (weight, probit), a, b, s in zip(parts, left, right, spread, strict=True):
            root = namespace_of(s).sqrt(s + probit.scale**2)
            first = first + weight * ndtr((a - b - probit.margin) / root)
            second = second + weight * ndtr((b - a - probit.margin) / root)
        return outcome_entropy(first, second) + 1e-6


@dataclass(frozen=True)
class Utility:
    """E[max(f(A), f(B))], the expected utility of the best option: finds the best trajectory soon."""

    unit: ClassVar[str] = "utility"

    def score(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        total = 0.0
        for (weight, _), a, b, s in zip(parts, left, right, spread, strict=True):
            xp, gap = namespace_of(s), a - b
            root = xp.sqrt(xp.clip(s, min=TINY))
            z = gap / root
            away = gap * (2.0 * ndtr(z) - 1.0) + 2.0 * root * xp.exp(-0.5 * z * z) / SQRT_2PI
            total = total + weight * 0.5 * (a + b + away)  # max = half the sum and half the distance
        return total

    def ceiling(self, parts: Parts, left: Arrays, right: Arrays, spread: Arrays) -> AnyArray:
        total = 0.0
        for (weight, _), a, b, s in zip(parts, left, right, spread, strict=True):
            xp = namespace_of(s)
            away = xp.sqrt(xp.clip((a - b) ** 2 + s, min=0.0))  # E|D| <= sqrt(E[D^2])
            total = total + weight * 0.5 * (a + b + away)
        return total

    def least_spread(self, parts: Parts, value: float) -> float:  # noqa: ARG002
        return 0.0


class Limits(NamedTuple):
    """What the moments of x must be for a question with two answers to bring so many bits."""

    least_variance: float
    farthest: float  # the largest E[x]^2 / (1 + Var[x])


def limits(value: float) -> Limits:
    """The limits for a question of `value` bits, a little wider for rounding."""
    wanted = min(value, 1.0) - 1e-6
    if wanted <= 0.0:
        return Limits(-np.inf, np.inf)
    low, high = 0.0, 0.5
    for _ in range(60):
        p = 0.5 * (low + high)
        entropy = -p * log2(p) - (1.0 - p) * log2(1.0 - p)
        low, high = (low, p) if entropy >= wanted else (p, high)
    return Limits(4.0**wanted - 1.0, 1.0 / max(low, TINY) - 1.0)


@lru_cache(maxsize=256)
def _least_spread(value: float) -> float:
    """The V at which a question with gap 0 brings `value` bits, by bisection in its logarithm."""
    low, high = -30.0, 60.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        reached = 1.0 - float(TWO_ANSWERS.expected(np.zeros(1), np.full(1, np.exp(middle)))[0])
        low, high = (low, middle) if reached >= value else (middle, high)
    return float(np.exp(low))
