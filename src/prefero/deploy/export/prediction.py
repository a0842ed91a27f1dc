"""What an exported reward computes: Python files hold this code, and graphs the operations that it calls.

    x                 (M, d)      scaled features
    points, others    (r, d)      whose differences determine what was learned
    compared          (r,)        0 where the point was compared with what is just acceptable, and 1 elsewhere
    cross             (M, r)      k(x, points) - compared k(x, others)
    mean              (M,)        cross @ alpha, for each of the K Gaussians of the mixture
    variance          (M,)        k(x, x) - |cross @ whitener|^2

The constants in capitals are empty here, and filled in a file.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array, namespace_of

NAMES: tuple[str, ...] = ()
CENTER = SCALE = WEIGHTS = DIRECTIONS = np.empty(0)
GAUSSIANS: list[dict[str, Any]] = []


def gaussian(
    x: AnyArray,
    kernel: Any,
    points: AnyArray,
    others: AnyArray,
    compared: AnyArray,
    alpha: AnyArray,
    whitener: AnyArray,
) -> tuple[AnyArray, AnyArray]:
    """Mean and variance of the rewards of x, from what is known of the differences f(points) - f(others)."""
    each = x[:, None, :]
    cross = kernel.rowwise(each, points) - compared * kernel.rowwise(each, others)
    learned = namespace_of(x).sum((cross @ whitener) ** 2, axis=-1)
    return cross @ alpha, kernel.rowwise(x, x) - learned


def mean_and_std(weights: AnyArray, means: AnyArray, variances: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Of a mixture of Gaussians with weights (K,), means (K, M) and variances (K, M): (M,) each."""
    xp, weights = namespace_of(means), weights[:, None]
    mean = xp.sum(weights * means, axis=0)
    return mean, xp.sqrt(xp.sum(weights * (variances + (means - mean) ** 2), axis=0))


def gaussians(x: Array) -> tuple[Array, Array, Array]:
    """One for each component."""
    means, variances = zip(*(gaussian(x, **one) for one in GAUSSIANS), strict=True)
    return WEIGHTS, np.array(means), np.sqrt(np.maximum(variances, 0.0))


def directions(x: Array) -> tuple[Array, Array, Array]:
    """One for each direction of a linear reward, which are all as likely and without variance."""
    means = DIRECTIONS @ x.T
    return np.full(len(means), 1.0 / len(means)), means, np.zeros_like(means)


COMPONENTS = gaussians
CONSTANTS = ("NAMES", "CENTER", "SCALE", "WEIGHTS", "DIRECTIONS", "GAUSSIANS", "COMPONENTS")


def predict(features: npt.ArrayLike) -> tuple[Array, Array]:
    """The expected reward (M,) of rows of features (M, d), and its standard deviation (M,)."""
    weights, means, stds = mixture(features)
    return mean_and_std(weights, means, stds**2)


def mixture(features: npt.ArrayLike) -> tuple[Array, Array, Array]:
    """The Gaussians that the reward is a mixture of: weights (K,), means and standard deviations (K, M)."""
    x = np.atleast_2d(np.asarray(features, dtype=float))
    if x.ndim != 2 or x.shape[1] != len(NAMES):
        raise ValueError(f"wanted {len(NAMES)} features ({', '.join(NAMES)}), but got shape {x.shape}")
    if not np.isfinite(x).all():
        raise ValueError("features must be finite, but some are not")
    return COMPONENTS((x - CENTER) / SCALE)
