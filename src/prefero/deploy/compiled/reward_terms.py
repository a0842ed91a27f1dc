"""The mean of a Gaussian process as a sum of simple kernels of transformed features.

    points       (P, d)      winners, losers and anchors, transformed as their kernel transforms features
    path                     the transformations of a term, from the features on
    f(x)                     a constant plus, for each term, coefficients @ leaf(points, transformed x)

The mean is a sum of kernels at the points of its answers, and a kernel is a tree of sums, scalings, anchors
and transformations with simple kernels as leaves. `expand` writes a mean as leaves with coefficients.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.kernels import (
    RBF,
    Anchored,
    Kernel,
    Projected,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Warped,
)
from prefero.models.posterior import Distribution, Posterior

Transformation = tuple[str, tuple[float, ...], tuple[float, ...]]  # its kind, and its numbers
Path = tuple[Transformation, ...]


@dataclass(frozen=True, eq=False)
class Term:
    """coefficients (P,) @ leaf(points (P, d), x), for x after some transformations."""

    path: Path
    leaf: Kernel
    points: Array
    coefficients: Array


def terms_of_mean(belief: Distribution) -> tuple[list[Term], float]:
    """The terms and the constant of a posterior mean; an error if a component is no Gaussian process."""
    terms: list[Term] = []
    constant = 0.0
    for weight, part in belief.components:
        if not isinstance(part, Posterior):
            raise ValueError(f"the mean of {type(part).__name__} cannot be compiled: call the reward itself")
        points = np.concatenate([part.pivots.winners, part.pivots.losers])
        more, shift = expand(part.kernel, points, weight * np.concatenate([part.alpha, -part.alpha]))
        terms, constant = terms + more, constant + shift
    return terms, constant


def expand(kernel: Kernel, points: Array, coefficients: Array) -> tuple[list[Term], float]:
    """The terms and the constant of coefficients @ kernel(points, x), as a function of x."""
    if isinstance(kernel, Scaled):
        return expand(kernel.kernel, points, kernel.variance * coefficients)
    if isinstance(kernel, Sum):
        (first, a), (second, b) = (expand(k, points, coefficients) for k in (kernel.first, kernel.second))
        return first + second, a + b
    if isinstance(kernel, Anchored):
        return _anchored(kernel, points, coefficients)
    if isinstance(kernel, Standardized | Warped | Selected | Projected):
        step = _transformation(kernel)
        terms, constant = expand(kernel.kernel, _transformed(points, step), coefficients)
        return [replace(term, path=(step, *term.path)) for term in terms], constant
    if isinstance(kernel, RBF) and isinstance(kernel.theta, tuple):
        unit: Transformation = ("standardized", (0.0,), tuple(1 / np.sqrt(kernel.theta)))
        return [Term((unit,), RBF(1.0), _transformed(points, unit), coefficients)], 0.0
    return [Term((), kernel, points, coefficients)], 0.0


def _anchored(kernel: Anchored, points: Array, coefficients: Array) -> tuple[list[Term], float]:
    """k(y, x) - k(y, a) - k(a, x) + k(a, a), or k(y, x) - k(y, a) k(a, x) / k(a, a)."""
    anchor = np.asarray(kernel.anchor)[None]
    with_anchor, alone = kernel.kernel(points, anchor)[:, 0], float(kernel.kernel.diagonal(anchor)[0])
    if kernel.mode == "condition":
        share, shift = float(coefficients @ with_anchor) / alone, 0.0
    else:
        share, shift = float(coefficients.sum()), float(coefficients @ (alone - with_anchor))
    terms, constant = expand(kernel.kernel, points, coefficients)
    at_anchor, also = expand(kernel.kernel, anchor, np.array([-share]))
    return terms + at_anchor, constant + also + shift


def _transformation(kernel: Standardized | Warped | Selected | Projected) -> Transformation:
    if isinstance(kernel, Selected):
        return "selected", kernel.columns, ()
    if isinstance(kernel, Projected):
        axes = np.array(kernel.axes)
        return "projected", tuple(axes.ravel().tolist()), (axes.shape[1],)
    return type(kernel).__name__.lower(), kernel.center, kernel.scale


def _transformed(x: Array, by: Transformation) -> Array:
    return Step.of(by)(x)


@dataclass(frozen=True, eq=False)
class Step:
    """A transformation with its numbers as arrays."""

    columns: Indices | None  # of a selection
    center: Array
    factor: Array
    warped: bool
    axes: Array | None = None  # of a projection

    @classmethod
    def of(cls, described: Transformation) -> Self:
        kind, first, second = described
        if kind == "selected":
            return cls(np.array(first, dtype=np.intp), np.empty(0), np.empty(0), warped=False)
        if kind == "projected":
            axes = np.array(first).reshape(-1, int(second[0]))
            return cls(None, np.empty(0), np.empty(0), warped=False, axes=axes)
        return cls(None, np.array(first), 1.0 / np.array(second), warped=kind == "warped")

    def __call__(self, x: Array) -> Array:
        if self.columns is not None:
            return x[..., self.columns]
        if self.axes is not None:
            projected: Array = x @ self.axes
            return projected
        scaled: Array = (x - self.center) * self.factor
        return np.arcsinh(scaled, out=scaled) if self.warped else scaled
