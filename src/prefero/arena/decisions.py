"""When it is decided which of two policies is better, or that no difference that matters is left.

    d          the difference of two strengths
    ratio(d)   posterior density / prior density at d: how likely the answers are if the difference is d,
               relative to how likely the model found them (the ratio of Savage and Dickey)
    EQUAL      the probability, before any answer, that two policies are equally good: d = 0
    least      the least difference that matters

A model without EQUAL becomes sure of anything: of two policies that are equally good, one will some day be
better with 95 %. With it, the answers have to speak against d = 0 by a factor that ever reaches c with a
probability of at most 1 / c, however often one looks (Ville's inequality). So does the factor by which they
have to speak for d = 0, and against d = least and d = -least, before no difference that matters is left.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from prefero._support.arrays import Array
from prefero.arena.strengths import Strengths

EQUAL = 1 / 3
WINS = (0.05, 0.95)  # quantiles of the fraction of wins that are reported


@dataclass(frozen=True)
class Difference:
    """What is known about two policies, of which the first one is expected to be better.

    Args:
        first: The one.
        other: The other one.
        better: The probability that the first one is better.
        small: The confidence that no difference that matters is left.
        wins: A 90 % interval of the fraction of comparisons that the first one wins.
    """

    first: str
    other: str
    better: float
    small: float
    wins: tuple[float, float]

    @property
    def known_with(self) -> float:
        """How sure it is what holds: that the first one is better, or that no difference matters."""
        return max(self.better, self.small)

    @property
    def is_small(self) -> bool:
        """Whether it is rather known that no difference matters than that the first one is better."""
        return self.small > self.better


def least_strength(least_difference: float) -> float:
    """The difference of strengths with which a policy wins this fraction of comparisons more than half."""
    return float(ndtri(0.5 + least_difference))


@dataclass(frozen=True, eq=False)
class Decisions:
    """What is known about each pair of policies.

    Args:
        strengths: The posterior over the strengths.
        least_difference: The least difference that matters: the better one wins by so much more than half.
    """

    strengths: Strengths
    least_difference: float

    @cached_property
    def _log_ratio(self) -> Array:
        return self.strengths.log_ratio(0.0)

    @cached_property
    def equal(self) -> Array:
        """The probability that two policies are equally good, (P, P)."""
        odds = EQUAL / (1 - EQUAL) * np.exp(self._log_ratio)
        found: Array = odds / (1 + odds)
        np.fill_diagonal(found, 1.0)
        return found

    @cached_property
    def better(self) -> Array:
        """P(the policy of the row is better than that of the column), (P, P)."""
        found: Array = (1 - self.equal) * self.strengths.better
        return found

    @cached_property
    def small(self) -> Array:
        """The confidence that no difference of two policies that matters is left, (P, P)."""
        least = least_strength(self.least_difference)
        large = np.maximum(self.strengths.log_ratio(least), self.strengths.log_ratio(-least))
        found: Array = np.maximum(-np.expm1(large - self._log_ratio), 0.0)
        return found

    def between(self, first: int, other: int) -> Difference:
        """What is known about two policies, given by their indices."""
        names, drawn = self.strengths.effects.plan.policies, self.strengths.draws
        low, high = np.quantile(ndtr(drawn[:, first] - drawn[:, other]), WINS).tolist()
        better, small = float(self.better[first, other]), float(self.small[first, other])
        return Difference(names[first], names[other], better, small, (low, high))
