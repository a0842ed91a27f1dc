"""How unusual each trajectory is among others, by its features alone, and what that is due to.

    features     (M, d)
    deviations   (M, d)   z: distances from the median of a feature, in robust standard deviations. For values
                          above the median, these are of the half above it, and for values below of the other
                          half: so a skewed feature makes no trajectory unusual
    surprises    (M, d)   e: what is left of z after the linear prediction from all other features, in robust
                          standard deviations too: a value may be usual alone, and not beside the others

The unusualness of a trajectory is the largest |z| or |e|. Nothing is squared or summed before it is compared
with a quantile, so that a few trajectories cannot hide each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Flags, Indices

QUARTILE = 0.6744897501960817  # of the standard normal distribution
OUTER, OUTER_QUANTILE = 1.6448536269514722, 0.95  # where more than half of the values are equal
USUAL = 3.0  # features further away predict others as if they were at this distance
NAMED = 0.8  # the feature alone is named if it says this share of what all of them together say
ROUNDING = 1e-9  # of the largest value: a smaller deviation is none


@dataclass(frozen=True, eq=False)
class Unusualness:
    """How unusual each of M trajectories is.

    Args:
        values: The largest deviation of any feature, in usual (robust standard) deviations, (M,).
        columns: The feature with this deviation, (M,).
        alone: Whether it is a deviation from the others' values of this feature; or else from what the
            trajectory's other features suggest, (M,).
        above: Whether it is above, (M,).
    """

    values: Array
    columns: Indices
    alone: Flags
    above: Flags

    @property
    def order(self) -> Indices:
        """The trajectories, the most unusual first."""
        return np.argsort(-self.values, kind="stable")

    def reason(self, row: int, names: Sequence[str]) -> str:
        """Why a trajectory is unusual, in words.

        Args:
            row: Of the trajectory.
            names: Of the features.

        Returns:
            The feature that is most unusual, and by how much; "" where nothing varies.
        """
        if self.values[row] == 0.0:
            return ""
        than = "the others" if self.alone[row] else "what its other features suggest"
        side = "above" if self.above[row] else "below"
        return f"{names[self.columns[row]]} {self.values[row]:.1f} times the usual deviation {side} {than}"


def unusualness(features: Array) -> Unusualness:
    """How unusual each trajectory is among these.

    Args:
        features: (M, d), in any units.

    Returns:
        The unusualness, with what it is due to.
    """
    alone = robust_deviations(features)
    given = robust_deviations(_unpredicted(alone))
    of_alone, of_given = np.abs(alone).max(axis=1), np.abs(given).max(axis=1)
    by_itself = of_alone >= NAMED * of_given
    deviations = np.where(by_itself[:, None], alone, given)
    columns = np.abs(deviations).argmax(axis=1)
    largest = np.take_along_axis(deviations, columns[:, None], axis=1)[:, 0]
    return Unusualness(np.maximum(of_alone, of_given), columns, by_itself, largest > 0)


def robust_deviations(features: Array) -> Array:
    """Distances from the median in robust standard deviations of their side, (M, d)."""
    center = np.median(features, axis=0)
    distance = features - center
    distance[np.abs(distance) <= ROUNDING * np.abs(features).max(axis=0)] = 0.0
    above, below = _scale(distance), _scale(-distance)
    deviations: Array = distance / np.where(distance > 0, above, below)
    return deviations


def _scale(distance: Array) -> Array:
    """The robust standard deviation of the values above the median, (d,).

    By the upper quartile; of features that are mostly equal, by a quantile further out, and of those that
    nearly all are, by the mean square.
    """
    quartile = np.quantile(distance, 0.75, axis=0) / QUARTILE
    outer = np.quantile(distance, OUTER_QUANTILE, axis=0) / OUTER
    spread = np.sqrt(np.mean(np.maximum(distance, 0.0) ** 2, axis=0))
    scale = np.where(quartile > 0, quartile, np.where(outer > 0, outer, spread))
    positive: Array = np.where(scale > 0, scale, 1.0)
    return positive


def _unpredicted(deviations: Array) -> Array:
    """What is left of each feature after its linear prediction from all others, (M, d).

    The precision matrix is that of the features without their extremes, shrunk towards independence where
    there are few trajectories for so many features.
    """
    count, width = deviations.shape
    usual = np.clip(deviations, -USUAL, USUAL)
    centered = usual - usual.mean(axis=0)
    covariance = centered.T @ centered / count
    shrinkage = (width + 1.0) / (count + width + 1.0)
    covariance *= 1.0 - shrinkage
    covariance[np.diag_indices(width)] += shrinkage
    precision = np.linalg.inv(covariance)
    by_others = -precision / np.diag(precision)  # column j predicts feature j
    np.fill_diagonal(by_others, 0.0)
    left: Array = deviations - usual @ by_others
    return left
