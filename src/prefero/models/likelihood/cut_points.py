"""The cut points of ratings in terms of the widths of the inner levels, which are what is learned.

    cuts      (L - 1,)   where the levels of a rating end, above the bar
    gaps      (L - 2,)   the widths of the levels between two cut points, all positive
    cuts = placed(L) @ gaps

The bar is in the middle: the middle cut point of an even number of levels, and the middle of the middle level
of an odd one. All gaps are free, so that the cut points above the bar need not mirror those below it.
"""

from functools import cache

import numpy as np

from prefero._support.arrays import Array
from prefero.questions.kinds.base import CUTS, TYPICAL_CUT_POINTS

Points = tuple[float, ...]
FIRST = int(CUTS[3][0])  # the number of the first cut point among the bounds


@cache
def placed(levels: int) -> Array:
    """From gaps to cut points, (L - 1, L - 2)."""
    below = np.tril(np.ones((levels - 1, levels - 2)), -1)  # from the first cut point
    middle = 0.5 * (below[(levels - 2) // 2] + below[(levels - 1) // 2])
    return np.asarray(below - middle)


def cuts_of(levels: int) -> slice:
    """Where the cut points of so many levels are among all of them."""
    numbers = CUTS[levels] - FIRST
    return slice(int(numbers[0]), int(numbers[-1]) + 1)


def gaps_of(cut_points: Array, levels: int) -> Array:
    """The widths of the inner levels."""
    return np.diff(cut_points[cuts_of(levels)])


def with_gaps(cut_points: Array, levels: int, gaps: Array) -> Array:
    """All cut points, of which those of so many levels are the ones with these gaps."""
    changed = np.array(cut_points, dtype=float)
    changed[cuts_of(levels)] = placed(levels) @ gaps
    return changed


def impression_std(noise: float) -> float:
    """The standard deviation over the pool of an impression's distance from the bar's."""
    return float(np.sqrt(1.0 + 2.0 * noise**2))


def of_impressions(relative: Points, noise: float, width: float = 1.0) -> Points:
    """Cut points in units of the reward.

    Args:
        relative: In standard deviations of impressions over the pool; () for the typical ones.
        noise: Of the impressions.
        width: Of a person's scale, as a multiple of the common one.
    """
    scale = width * impression_std(noise)
    return tuple((scale * np.array(relative or TYPICAL_CUT_POINTS)).tolist())
