"""Judges of the likelihood of answers: impressions by brute force, and orthants by another library."""

from itertools import pairwise

import numpy as np
from scipy.stats import multivariate_normal

from prefero._support.arrays import Array


def word_of(impressions: Array, form: str, margin: float, strong: float = 0.0) -> str:
    """What a person says who has these impressions, (k,)."""
    if form in ("best", "worst"):
        return str(int(np.argmax(impressions) if form == "best" else np.argmin(impressions)) + 1)
    if form in ("pair", "strength"):
        gap = impressions[0] - impressions[1]
        side = "left" if gap > 0 else "right"
        much = "much" if abs(gap) > strong else "slightly"
        return "equal" if abs(gap) < margin else side if form == "pair" else f"{side}-{much}"
    order = np.argsort(-impressions)
    groups = [[int(order[0])]]
    for better, worse in pairwise(order):
        if impressions[better] - impressions[worse] < margin:
            groups[-1].append(int(worse))
        else:
            groups.append([int(worse)])
    return ">".join("=".join(str(i + 1) for i in sorted(group)) for group in groups)


def box_probability(low: Array, high: Array, mean: Array, covariance: Array) -> float:
    """P(low < x < high) by inclusion and exclusion of SciPy's distribution functions."""
    total = 0.0
    for corner in np.ndindex(*(2,) * len(low)):
        ends = np.where(corner, low, high)
        if np.all(ends > -np.inf):
            below = multivariate_normal(mean, covariance, maxpts=10**6, abseps=1e-7, releps=1e-7).cdf(ends)
            total += (-1.0) ** sum(corner) * float(below)
    return total


def reweighted_moments(draws: Array, log_weights: Array) -> tuple[Array, Array, float]:
    """Mean and covariance of weighted draws, and the effective number of draws."""
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean: Array = weights @ draws
    centered = draws - mean
    return mean, (centered * weights[:, None]).T @ centered, float(1.0 / np.sum(weights**2))
