"""The expected utility of the best option (EUBO): E[max(f(A), f(B))], in closed form.

With D = f(A) - f(B) ~ N(gap, gap_variance) the larger of two rewards is half their sum and half |D|, and

    E|D| = gap (2 Phi(z) - 1) + 2 sd phi(z),   z = gap / sd,   sd = sqrt(gap_variance).

It needs no model of the answers: what it rewards is that one of the two shown is good. Under a mixture it is
the average over the components. Elementwise, and by the array API standard.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from prefero._support.arrays import AnyArray, namespace_of, ndtr
from prefero.acquisition.base import PairMoments
from prefero.acquisition.entropy import TINY
from prefero.models.likelihood import SQRT_2PI


@dataclass(frozen=True)
class ExpectedUtility:
    """E[max(f(A), f(B))], the expected utility of the best option (EUBO): finds the best trajectory soon."""

    unit: ClassVar[str] = "utility"

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """The expected reward of the better one."""
        total = 0.0
        for part in pairs:
            xp, gap = namespace_of(part.gap_variance), part.gap
            sd = xp.sqrt(xp.clip(part.gap_variance, min=TINY))
            z = gap / sd
            distance = gap * (2.0 * ndtr(z) - 1.0) + 2.0 * sd * xp.exp(-0.5 * z * z) / SQRT_2PI
            total = total + part.weight * 0.5 * (part.left + part.right + distance)
        return total

    def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """With E|D| <= sqrt(E[D^2]) in the place of E|D|."""
        total = 0.0
        for part in pairs:
            xp = namespace_of(part.gap_variance)
            distance = xp.sqrt(xp.clip((part.left - part.right) ** 2 + part.gap_variance, min=0.0))
            total = total + part.weight * 0.5 * (part.left + part.right + distance)
        return total
