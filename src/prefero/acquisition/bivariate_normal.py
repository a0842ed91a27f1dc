"""The distribution function of two correlated standard normal variables.

    h, k         where it is evaluated
    correlation  r, between -1 and 1
    Phi2         P(X <= h and Y <= k)

Its derivative in r is the joint density, so that

    Phi2(h, k; r) = Phi(h) Phi(k) + integral of g(p) from p = 0 to r
    g(p) = exp(-(h^2 - 2 p h k + k^2) / (2 (1 - p^2))) / (2 pi sqrt(1 - p^2)).

Unless r is close to 1 or -1, the integrand is smooth, and Gauss-Legendre quadrature with a few nodes has an
error below 1e-10 (Drezner and Wesolowsky, 1990). For stronger correlations there is Owen's T function (Owen,
1956), which takes longer:

    Phi2(h, k; r) = (Phi(h) + Phi(k)) / 2 - T(h, (k - r h) / (h s)) - T(k, (h - r k) / (k s)) - b,

with s = sqrt(1 - r^2), and b = 1/2 where h and k have different signs and 0 elsewhere.
"""

import numpy as np
from numpy.polynomial.legendre import leggauss
from scipy.special import ndtr, owens_t

from prefero._support.arrays import Array

QUADRATURES = {0.3: leggauss(4), 0.75: leggauss(10)}  # for correlations up to these
NEAREST_TO_0 = 1e-150  # in the place of 0, by which Owen's formula would divide
LEAST_S = 1e-100  # in the place of 0, where the two variables are one


def bivariate_normal_cdf(h: Array, k: Array, correlation: Array) -> Array:
    """P(X <= h and Y <= k), elementwise; the arrays broadcast."""
    h, k = (np.clip(np.asarray(x, dtype=float), -40.0, 40.0) for x in (h, k))  # beyond, Phi is 0 or 1
    independent = ndtr(h) * ndtr(k)
    h, k, r, both = np.broadcast_arrays(h, k, correlation, independent)
    both, strength, weaker = both.copy(), np.abs(r), -1.0
    for limit, quadrature in QUADRATURES.items():
        within = (strength > weaker) & (strength <= limit)
        both[within] += _integral(h[within], k[within], r[within], quadrature)
        weaker = limit
    strong = strength > weaker
    both[strong] = _by_owens_t(h[strong], k[strong], r[strong])
    return np.asarray(np.clip(both, 0.0, 1.0))


def _integral(h: Array, k: Array, r: Array, quadrature: tuple[Array, Array]) -> Array:
    """The integral of the density over correlations from 0 to r; the quadrature is from -1 to 1."""
    places, weights = quadrature
    squares, product, total = -0.5 * (h * h + k * k), h * k, np.zeros_like(r)
    for place, weight in zip(0.5 + 0.5 * places, weights / (4.0 * np.pi), strict=True):
        p = place * r
        narrow = 1.0 / (1.0 - p * p)
        total += weight * np.sqrt(narrow) * np.exp((squares + product * p) * narrow)
    return r * total


def _by_owens_t(h: Array, k: Array, r: Array) -> Array:
    h, k = (np.where(np.abs(x) < NEAREST_TO_0, NEAREST_TO_0, x) for x in (h, k))
    s = np.maximum(np.sqrt(np.maximum((1.0 - r) * (1.0 + r), 0.0)), LEAST_S)
    half = np.where((h < 0) != (k < 0), 0.5, 0.0)
    both: Array = 0.5 * (ndtr(h) + ndtr(k)) - owens_t(h, (k / h - r) / s) - owens_t(k, (h / k - r) / s) - half
    return both
