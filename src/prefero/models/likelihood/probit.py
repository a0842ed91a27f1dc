"""The likelihood of an answer: a probit model of a choice and of "about equal", and of lapses.

    difference d            f(winner) - f(loser)
    noise                   the paper's sigma
    scale                   sqrt(2) noise: the person compares d + v with v ~ N(0, scale^2)
    margin                  within it the person says "about equal"; 0 where that is no answer
    strong_margin           beyond it the person says "much better", if asked; 0 where nobody was asked
    low, high               the answer says that d + v lies between them
    a, b                    (low - d) / scale, (high - d) / scale
    Z = Phi(b) - Phi(a)     the probability of the answer, if the person attends
    lapse                   the probability that the person answers at random instead
    n                       how many answers there are: 3 with a margin, 2 without
    attended                the probability, given the answer, that it was no lapse

A choice is the interval (margin, infinity), so that P = Phi((d - margin) / (sqrt(2) noise)), and "about
equal" is (-margin, margin). All that inference needs follows from one function of a and b, since
log Z generates the cumulants of a standard normal truncated to [a, b]. Where d itself is uncertain with
variance V, scale^2 becomes 2 noise^2 + V and nothing else changes: that is how EP uses it.

With lapses the probability of the answer is (1 - lapse) Z + lapse / n, and the derivatives of its logarithm
follow from those of log Z and from attended = (1 - lapse) Z / ((1 - lapse) Z + lapse / n). Its logarithm is
no longer concave: far from the answer it is flat. All functions are stable in both tails.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from scipy.special import erfcx, expit, log_ndtr, ndtr

from prefero._support.arrays import AnyArray, Array, Flags
from prefero.questions.answer import SOURCES
from prefero.questions.kinds.base import TYPICAL_CUT_POINTS

SQRT_2 = float(np.sqrt(2.0))
SQRT_2PI = float(np.sqrt(2.0 * np.pi))
LOG_SQRT_2PI = float(np.log(SQRT_2PI))
TAIL = 40.0  # beyond this many standard deviations the asymptotic series is exact to rounding
NARROW = 1.0  # half widths up to this are summed by quadrature wherever the interval lies
NODES, WEIGHTS = np.polynomial.legendre.leggauss(40)


class Likelihood(NamedTuple):
    """log Z of every answer and its derivatives by the difference, each of shape (N,).

    Args:
        log: log Z.
        gradient: The first derivative.
        curvature: The second derivative, negated.
        third: The third derivative.
    """

    log: Array
    gradient: Array
    curvature: Array  # negated, so that without lapses it is positive: log Z is concave
    third: Array


class MarginDerivatives(NamedTuple):
    """Derivatives by the margin of log Z, of its gradient and of its curvature, each of shape (N,)."""

    log: Array
    gradient: Array
    curvature: Array


@dataclass(frozen=True)
class Probit:
    """The probit likelihood of answers: rewards are compared with noise, small differences are equal.

    Args:
        noise: The paper's sigma.
        margin: Perceived differences below it are answered "about equal".
        lapse: The lapse rate, the probability of an answer at random.
        strong_margin: Perceived differences above it are answered "much better", where that is an answer.
        cut_points: How far above the bar the levels of ratings end (`prefero.questions.kinds.base`), (20,).
        source_noise: The noise of answers from each of `prefero.questions.answer.SOURCES`, as a multiple.
    """

    noise: float
    margin: float = 0.0
    lapse: float = 0.0
    strong_margin: float = 0.0
    cut_points: tuple[float, ...] = field(default=tuple(TYPICAL_CUT_POINTS.tolist()), repr=False)
    source_noise: tuple[float, ...] = (1.0,) * len(SOURCES)

    def __post_init__(self) -> None:
        if not (np.isfinite(self.noise) and self.noise > 0):
            raise ValueError(
                f"noise must be a positive number (the paper's sigma, in units of the reward), "
                f"but is {self.noise!r}: for a person who never errs, take a thousandth of the reward's "
                "standard deviation"
            )
        if not (np.isfinite(self.margin) and self.margin >= 0):
            raise ValueError(f"margin must be 0 (no ties) or positive, but is {self.margin!r}")
        if not 0.0 <= self.lapse < 1.0:
            raise ValueError(
                f"lapse must be 0 (every answer is meant) or a probability below 1, but is {self.lapse!r}: "
                "people who answer carefully lapse in 0.01 to 0.05 of all questions"
            )
        if self.strong_margin and not (np.isfinite(self.strong_margin) and self.strong_margin > self.margin):
            raise ValueError(
                f"strong_margin must be 0 (nobody says 'much better') or larger than the margin, "
                f"{self.margin!r}, but is {self.strong_margin!r}"
            )

    @property
    def scale(self) -> float:
        """sqrt(2) noise."""
        return SQRT_2 * self.noise

    @property
    def n_answers(self) -> int:
        """How many answers are possible: with a margin "about equal" is one."""
        return 3 if self.margin else 2

    @property
    def forced(self) -> "Probit":
        """The same person where "about equal" is no answer."""
        return replace(self, margin=0.0)

    def with_lapses(self, probability: AnyArray, other: AnyArray | float = 1.0) -> AnyArray:
        """The probability of one of the answers, given what it would be without lapses.

        Args:
            probability: Of the answer without lapses; or of the answer and some other event.
            other: The probability of that event.

        Returns:
            The probability with lapses.
        """
        return lapsing(probability, self.lapse, self.n_answers, other) if self.lapse else probability

    def __call__(self, differences: Array, tied: Flags, variance: Array | float = 0.0) -> Likelihood:
        """The answers' log-probabilities and derivatives.

        Args:
            differences: Winner minus loser, (N,).
            tied: Whether the answer was "about equal", (N,).
            variance: How uncertain the differences are, (N,).

        Returns:
            The log-probabilities with their derivatives.
        """
        scale = np.sqrt(self.scale**2 + variance)
        if np.shape(scale) != differences.shape:
            scale = np.broadcast_to(scale, differences.shape)
        chosen = choice_likelihood((differences - self.margin) / scale)
        if tied.any():
            ends = _ends(differences[tied], scale[tied], self.margin)
            for all_rows, some in zip(chosen, interval_likelihood(*ends), strict=True):
                all_rows[tied] = some
        attentive = Likelihood(
            chosen.log, chosen.gradient / scale, chosen.curvature / scale**2, chosen.third / scale**3
        )
        return self._mixed(attentive) if self.lapse else attentive

    def by_margin(self, differences: Array, tied: Flags, variance: Array | float = 0.0) -> MarginDerivatives:
        """How the answers' log-probabilities change with the margin.

        Args:
            differences: Winner minus loser, (N,).
            tied: Whether the answer was "about equal", (N,).
            variance: How uncertain the differences are, (N,).

        Returns:
            The derivatives of the log-probabilities, and of their own derivatives.
        """
        scale = np.broadcast_to(np.sqrt(self.scale**2 + variance), differences.shape)
        at = replace(self, lapse=0.0)(differences, tied, variance)
        by_margin = MarginDerivatives(
            -at.gradient, at.curvature.copy(), at.third.copy()
        )  # a choice only shifts
        if tied.any():
            s = scale[tied]
            inside = _interval_by_margin(*_ends(differences[tied], s, self.margin))
            by_margin.log[tied], by_margin.gradient[tied] = inside.log / s, inside.gradient / s**2
            by_margin.curvature[tied] = inside.curvature / s**3
        return self._mixed_by_margin(at, by_margin) if self.lapse else by_margin

    def probabilities(self, gap: Array, gap_variance: Array | float) -> tuple[Array, Array]:
        """P(first preferred) and P(second preferred) where the difference is N(gap, gap_variance).

        Args:
            gap: The mean of the difference.
            gap_variance: Its variance.

        Returns:
            The two probabilities.
        """
        scale = np.sqrt(self.scale**2 + gap_variance)
        chosen = ndtr((gap - self.margin) / scale), ndtr((-gap - self.margin) / scale)
        return self.with_lapses(chosen[0]), self.with_lapses(chosen[1])

    def log_with_lapses(self, log: Array) -> Array:
        """The log-probability of one of the answers, given what it would be without lapses."""
        if not self.lapse:
            return log
        return np.asarray(np.logaddexp(log + np.log1p(-self.lapse), np.log(self.lapse / self.n_answers)))

    def _odds(self, log: Array) -> tuple[Array, Array]:
        """`attended` and its complement, neither rounded to 0 by the other."""
        log_odds = log + np.log1p(-self.lapse) - np.log(self.lapse / self.n_answers)
        return expit(log_odds), expit(-log_odds)

    def _mixed(self, at: Likelihood) -> Likelihood:
        """The likelihood with lapses, from that without."""
        attended, lapsed = self._odds(at.log)
        g, by_lapse = at.gradient, attended * lapsed * at.gradient
        return Likelihood(
            self.log_with_lapses(at.log),
            attended * g,
            attended * at.curvature - by_lapse * g,
            attended * at.third + by_lapse * ((lapsed - attended) * g**2 - 3.0 * at.curvature),
        )

    def _mixed_by_margin(self, at: Likelihood, by_margin: MarginDerivatives) -> MarginDerivatives:
        """The derivatives with lapses, from those without."""
        attended, lapsed = self._odds(at.log)
        g, both = at.gradient, attended * lapsed
        bend = at.curvature - (lapsed - attended) * g**2
        return MarginDerivatives(
            attended * by_margin.log,
            attended * by_margin.gradient + both * g * by_margin.log,
            attended * by_margin.curvature + both * (bend * by_margin.log - 2.0 * g * by_margin.gradient),
        )


def lapsing(
    probability: AnyArray, lapse: AnyArray | float, answers: int = 2, other: AnyArray | float = 1.0
) -> AnyArray:
    """The probability of one of so many answers with lapses, given that without, see `Probit.with_lapses`."""
    return (1.0 - lapse) * probability + (lapse / answers) * other


def _ends(d: Array, scale: Array, margin: float) -> tuple[Array, Array]:
    """The middle of the interval (-margin, margin) as seen from d, and its half width."""
    return -d / scale, margin / scale


def choice_likelihood(z: Array) -> Likelihood:
    """log Phi(z) and its derivatives by z."""
    hazard = (2.0 / SQRT_2PI) / erfcx(-z / SQRT_2)  # pdf / cdf without 0 / 0
    curvature = hazard * (hazard + z)
    third = hazard * ((hazard + z) * (2.0 * hazard + z) - 1.0)
    in_tail = z < -TAIL
    if in_tail.any():  # hazard + z cancels there: the variance of a tail is 1/z^2 - 6/z^4 + 50/z^6 - ...
        t = z[in_tail] ** -2
        curvature[in_tail] = 1.0 - t * (1.0 - t * (6.0 - t * (50.0 - t * 518.0)))
        third[in_tail] = -2.0 * t / z[in_tail] * (1.0 - t * (12.0 - t * (150.0 - t * 2072.0)))
    return Likelihood(log_ndtr(z), hazard, curvature, third)


def interval_likelihood(middle: Array, half: Array) -> Likelihood:
    """log(Phi(b) - Phi(a)) and its derivatives by a shift of the normal; a, b = middle -+ half."""
    sign = np.where(middle < 0, -1.0, 1.0)  # by symmetry, look at intervals right of the middle
    a, b = np.abs(middle) - half, np.abs(middle) + half
    plain = _plain(a, half)
    near, far = _near(a, b), _far(np.where(plain, 0.0, a), 2.0 * half)
    result = Likelihood(*(np.where(plain, n, f) for n, f in zip(near, far, strict=True)))
    return Likelihood(result.log, sign * result.gradient, result.curvature, sign * result.third)


def _plain(a: Array, half: Array) -> Flags:
    """Where the plain formulas lose nothing: wide intervals around 0."""
    return (a < 0) & (half > NARROW)


def _near(a: Array, b: Array) -> Likelihood:
    """The interval around 0 (a < 0 < b): plain formulas, every sum free of cancellation."""
    a = np.minimum(a, 0.0)
    outside = ndtr(a) + ndtr(-b)
    Z = np.where(outside < 0.5, 1.0 - outside, ndtr(b) - ndtr(a))
    at_a, at_b = _density(a) / Z, _density(b) / Z
    log = np.where(outside < 0.5, np.log1p(-np.minimum(outside, 0.5)), np.log(Z))
    gradient = at_a - at_b
    second, third = a * at_a - b * at_b, (a**2 - 1) * at_a - (b**2 - 1) * at_b
    return Likelihood(log, gradient, gradient**2 - second, third - 3 * second * gradient + 2 * gradient**3)


def _far(a: Array, width: Array) -> Likelihood:
    """Narrow intervals, and those right of 0: by the moments of exp(-a y - y^2 / 2), y in [0, width]."""
    mass, mean, variance, skew = _moments(a, width)
    # the third cumulant is the third derivative
    return Likelihood(np.log(mass) - 0.5 * a**2 - LOG_SQRT_2PI, a + mean, 1.0 - variance, skew)


def _moments(a: Array, width: Array) -> tuple[Array, Array, Array, Array]:
    """Mass, mean, variance and third central moment of exp(-a y - y^2 / 2), y in [0, width].

    Central moments are summed as they are, so nothing cancels however far away the interval is.
    """
    tail = np.maximum(a, 0.0)
    reach = np.minimum(width, 83.0 / (tail + np.sqrt(tail**2 + 83.0)))  # the rest is below 1e-18 of it
    y = 0.5 * reach[:, None] * (1.0 + NODES)
    weight = 0.5 * reach[:, None] * WEIGHTS * np.exp(-y * (a[:, None] + 0.5 * y))
    mass = weight.sum(1)
    mean = (weight * y).sum(1) / mass
    centered = y - mean[:, None]
    return mass, mean, (weight * centered**2).sum(1) / mass, (weight * centered**3).sum(1) / mass


def _interval_by_margin(middle: Array, half: Array) -> MarginDerivatives:
    """Derivatives of `interval_likelihood` by its half width: how moments change as both ends move out."""
    sign = np.where(middle < 0, -1.0, 1.0)
    a, b = np.abs(middle) - half, np.abs(middle) + half
    plain, near = _plain(a, half), _near(a, b)
    mass, mean, variance, _ = _moments(np.where(plain, 0.0, a), 2.0 * half)
    Z = np.exp(near.log)
    at_a = np.where(plain, _density(a) / Z, 1.0 / mass)
    at_b = np.where(plain, _density(b) / Z, np.exp(-half * (a + b)) / mass)
    below = np.where(plain, near.gradient - a, mean)  # from the lower end to the mean
    above = 2.0 * half - below
    variance = np.where(plain, 1.0 - near.curvature, variance)
    variance_moves = at_a * (below**2 - variance) + at_b * (above**2 - variance)
    return MarginDerivatives(at_a + at_b, sign * (at_b * above - at_a * below), -variance_moves)


def _density(x: Array) -> Array:
    return np.exp(-0.5 * x**2) / SQRT_2PI
