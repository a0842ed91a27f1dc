"""The distribution function of two correlated standard normal variables, by Owen's T function.

    h, k         where it is evaluated
    correlation  r, between -1 and 1
    Phi2         P(X <= h and Y <= k)

    Phi2(h, k; r) = (Phi(h) + Phi(k)) / 2 - T(h, (k - r h) / (h s)) - T(k, (h - r k) / (k s)) - b,

with s = sqrt(1 - r^2), and b = 1/2 where h and k have different signs and 0 elsewhere (Owen, 1956).
"""

import numpy as np
from scipy.special import ndtr, owens_t

from prefero._support.arrays import Array

NEAREST_TO_0 = 1e-150  # in the place of 0, by which the formula would divide
LEAST_S = 1e-100  # in the place of 0, where the two variables are one


def bivariate_normal_cdf(h: Array, k: Array, correlation: Array) -> Array:
    """P(X <= h and Y <= k), elementwise; the arrays broadcast."""
    h, k, r = np.broadcast_arrays(_without_zeros(h), _without_zeros(k), correlation)
    s = np.maximum(np.sqrt(np.maximum((1.0 - r) * (1.0 + r), 0.0)), LEAST_S)
    half = np.where((h < 0) != (k < 0), 0.5, 0.0)
    both: Array = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, (k / h - r) / s) - owens_t(k, (h / k - r) / s) - half
    return np.clip(both, 0.0, 1.0)


def _without_zeros(x: Array) -> Array:
    x = np.clip(np.asarray(x, dtype=float), -40.0, 40.0)  # beyond, Phi is 0 or 1 in double precision
    return np.where(np.abs(x) < NEAREST_TO_0, NEAREST_TO_0, x)
