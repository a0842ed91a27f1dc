"""Statistics of small samples: the standard error of a mean, and a paired test."""

import numpy as np

from prefero._support.arrays import Array


def paired_test(first: Array, second: Array) -> float:
    """The p-value of Wilcoxon's signed-rank test of paired values; 1 where all are equal."""
    from scipy.stats import wilcoxon  # takes long to import

    difference = np.round(first - second, 12)  # differences like 0.8 - 0.6 and 1.0 - 0.8 must tie
    return float(wilcoxon(difference).pvalue) if difference.any() else 1.0


def standard_error(values: Array) -> float:
    """Of the mean."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
