"""Kernels: the prior covariance of the reward, k(x, y) = Cov[f(x), f(y)].

    x            (M, d)     features, one trajectory a row
    y            (N, d)     features, one trajectory a row
    k(x, y)      (M, N)     covariance of every pair
    theta                   the paper's RBF parameter, 1 / (2 lengthscale^2); one number, or one per feature
    anchor       (d,)       the paper's Psi-bar, where the reward is pinned to 0

A kernel is an immutable value, and its method `rowwise` says what it is: k of each row of x with the same
row of y. It follows the array API standard, so that a pool may be on a GPU and exports can translate it.
Calling a kernel gives the covariance of every pair, and `expand` the mean of a posterior as a sum of simple
kernels. Hyper-parameters are positive and are learned as `log_parameters`; `gradient` and `input_gradient`
differentiate the kernel by these and by x. Other packages can add kernels: see
`prefero.kernels.serialization`.
"""

from prefero._support.arrays import like, namespace_of
from prefero.kernels.anchored import Anchored
from prefero.kernels.bar import WithBar
from prefero.kernels.base import Kernel, MeanTerm, Wrapped
from prefero.kernels.composed import (
    Additive,
    Projected,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Thresholded,
    Transformed,
    Warped,
)
from prefero.kernels.items import ItemEffects
from prefero.kernels.polynomial import Linear, Parameterless, Quadratic
from prefero.kernels.serialization import KERNELS, from_json, register, to_json
from prefero.kernels.stationary import RBF, Matern

__all__ = [
    "KERNELS",
    "RBF",
    "Additive",
    "Anchored",
    "ItemEffects",
    "Kernel",
    "Linear",
    "Matern",
    "MeanTerm",
    "Parameterless",
    "Projected",
    "Quadratic",
    "Scaled",
    "Selected",
    "Standardized",
    "Sum",
    "Thresholded",
    "Transformed",
    "Warped",
    "WithBar",
    "Wrapped",
    "from_json",
    "like",
    "namespace_of",
    "register",
    "to_json",
]
