"""The mean of a learned reward as a few array operations, for calls that must take microseconds.

    x            (M, d)      scaled features
    points       (P, d)      winners, losers and anchors, transformed as their kernel transforms features
    f(x)                     a constant plus, for each term, coefficients @ k(points, transformed x)

The mean of a Gaussian process is a sum of kernels at the points of its answers, and a kernel is a tree of
sums, scalings, anchors and transformations with simple kernels as leaves. `expand` writes a mean as leaves
with coefficients. Leaves with the same transformation are collected: linear ones become one vector, quadratic
ones one matrix, and all RBF kernels share one matrix of squared distances. Where a transformation is affine,
its vector and matrix are multiplied out, so that all of them together are one vector and one matrix.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Indices
from prefero.deploy.planning import lower_confidence_bound
from prefero.kernels import (
    RBF,
    Additive,
    Anchored,
    Kernel,
    Linear,
    Projected,
    Quadratic,
    Scaled,
    Selected,
    Standardized,
    Sum,
    Warped,
)
from prefero.models.posterior import Posterior
from prefero.reward import Reward
from prefero.trajectories.features import Scaling

Transformation = tuple[str, tuple[float, ...], tuple[float, ...]]  # its kind, and its numbers


@dataclass(frozen=True, eq=False)
class Term:
    """coefficients (P,) @ leaf(points (P, d), x), for x after some transformations."""

    path: tuple[Transformation, ...]
    leaf: Kernel
    points: Array
    coefficients: Array


# --- from kernels to terms --------------------------------------------------------------------------------


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
    return _Step.of(by)(x)


@dataclass(frozen=True, eq=False)
class _Step:
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
            return x[:, self.columns]
        if self.axes is not None:
            projected: Array = x @ self.axes
            return projected
        scaled: Array = (x - self.center) * self.factor
        return np.arcsinh(scaled, out=scaled) if self.warped else scaled


# --- from terms to arrays ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Group:
    """All terms with one transformation, evaluated together."""

    path: tuple[_Step, ...]
    linear: Array  # (d,)
    quadratic: Array  # (d, d)
    points: Array  # (P, d)
    thetas: tuple[tuple[float, Array], ...]  # of RBF kernels, each with its coefficients (P,)
    curves: tuple[tuple[float, Array], ...]  # the same for each feature alone
    others: tuple[Term, ...]

    @cached_property
    def is_linear(self) -> bool:
        """Has it any linear terms?"""
        return bool(self.linear.any())

    @cached_property
    def is_quadratic(self) -> bool:
        """Has it any quadratic terms?"""
        return bool(self.quadratic.any())

    @property
    def is_empty(self) -> bool:
        """Has it no terms?"""
        return not (self.is_linear or self.is_quadratic or self.thetas or self.curves or self.others)

    def without_polynomial(self) -> Self:
        """The same without linear and quadratic terms."""
        return replace(self, linear=0.0 * self.linear, quadratic=0.0 * self.quadratic)

    @classmethod
    def of(cls, terms: Sequence[Term]) -> Self:
        """Terms of the same path."""
        d = terms[0].points.shape[1]
        linear, quadratic, others = np.zeros(d), np.zeros((d, d)), []
        points = np.unique(np.concatenate([term.points for term in terms]), axis=0)
        thetas: dict[float, Array] = {}
        curves: dict[float, Array] = {}
        for term in terms:
            leaf, p, c = term.leaf, term.points, term.coefficients
            if isinstance(leaf, Linear):
                linear += c @ p
            elif isinstance(leaf, Quadratic):
                quadratic += 0.5 * (p.T @ (c[:, None] * p) + np.diag(c @ p**2))
            elif isinstance(leaf, RBF):
                _collect(thetas, float(np.max(leaf.theta)), points, p, c)  # one number, by `expand`
            elif isinstance(leaf, Additive) and isinstance(leaf.kernel, RBF):
                _collect(curves, float(np.max(leaf.kernel.theta)), points, p, c / d)
            else:
                others.append(term)
        path = tuple(map(_Step.of, terms[0].path))
        return cls(path, linear, quadratic, points, (*thetas.items(),), (*curves.items(),), (*others,))

    def __call__(self, x: Array) -> Array:
        """The sum of all terms at x (M, d), (M,)."""
        for step in self.path:
            x = step(x)
        values: Array = x @ self.linear if self.is_linear else np.zeros(len(x))
        if self.is_quadratic:
            values += np.einsum("md,md->m", x @ self.quadratic, x)
        if self.thetas:
            squared = np.square(x[:, None] - self.points).sum(axis=2)
            for theta, coefficients in self.thetas:
                values += np.exp(-theta * squared) @ coefficients
        if self.curves:
            apart = np.square(x[:, None] - self.points)
            for theta, coefficients in self.curves:
                values += np.exp(-theta * apart).sum(axis=2) @ coefficients
        for term in self.others:
            values += term.leaf(x, term.points) @ term.coefficients
        return values


def _collect(found: dict[float, Array], theta: float, points: Array, p: Array, c: Array) -> None:
    """Add the coefficients of p, which are some of the points, to those of a theta."""
    places = {row.tobytes(): place for place, row in enumerate(points)}
    coefficients = found.setdefault(theta, np.zeros(len(points)))
    np.add.at(coefficients, [places[row.tobytes()] for row in p], c)


@dataclass(frozen=True, eq=False)
class _Polynomial:
    """constant + linear . x + x . quadratic . x, of scaled features."""

    constant: float
    linear: Array  # (d,)
    quadratic: Array  # (d, d)

    def plus(self, group: _Group) -> "_Polynomial":
        """With the linear and quadratic terms of a group, whose transformation is affine: A x + b."""
        d = len(self.linear)
        points = np.concatenate([np.zeros((1, d)), np.eye(d)])
        for step in group.path:
            points = step(points)
        b, A = points[0], (points[1:] - points[0]).T
        both = group.quadratic + group.quadratic.T
        return _Polynomial(
            self.constant + float(group.linear @ b + b @ group.quadratic @ b),
            self.linear + A.T @ (group.linear + both @ b),
            self.quadratic + A.T @ group.quadratic @ A,
        )

    def __call__(self, x: Array) -> Array:
        """The values at x (M, d), (M,)."""
        values: Array = np.einsum("md,md->m", x @ self.quadratic + self.linear, x)
        values += self.constant
        return values


@dataclass(frozen=True, eq=False)
class CompiledReward:
    """The mean of a reward as a fast function of raw features; it agrees with the reward to rounding.

    Args:
        center: Of the features, (d,).
        scale: Of the features, (d,).
        polynomial: The linear and quadratic terms, and the constant.
        groups: What is added to them.
    """

    center: Array
    scale: Array
    polynomial: _Polynomial
    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, reward: Reward) -> Self:
        """Of a learned reward.

        Args:
            reward: The reward, of Gaussian components.

        Returns:
            The compiled mean.

        Raises:
            ValueError: If the reward is not made of Gaussians, as with `LinearPreference`.
        """
        terms: list[Term] = []
        constant = 0.0
        for weight, part in reward.belief.components:
            if not isinstance(part, Posterior):
                raise ValueError(
                    f"the mean of {type(part).__name__} cannot be compiled: call the reward itself"
                )
            points = np.concatenate([part.pivots.winners, part.pivots.losers])
            more, shift = expand(part.kernel, points, weight * np.concatenate([part.alpha, -part.alpha]))
            terms, constant = terms + more, constant + shift
        paths = dict.fromkeys(term.path for term in terms)
        groups = [_Group.of([term for term in terms if term.path == path]) for path in paths]
        d, scaling = len(reward.scaling.names), reward.scaling
        polynomial = _Polynomial(constant, np.zeros(d), np.zeros((d, d)))
        for place, group in enumerate(groups):
            if not any(step.warped for step in group.path):
                polynomial, groups[place] = polynomial.plus(group), group.without_polynomial()
        rest = tuple(group for group in groups if not group.is_empty)
        return cls(np.array(scaling.center), np.array(scaling.scale), polynomial, rest)

    def __call__(self, features: npt.ArrayLike) -> Array:
        """The expected reward of each row of features, which are not checked.

        Args:
            features: (M, d), in your own units.

        Returns:
            The rewards, (M,).
        """
        x = (np.asarray(features, dtype=float) - self.center) / self.scale
        values = self.polynomial(x)
        for group in self.groups:
            values += group(x)
        return values


def lower_bound_of(reward: Reward, caution: float = 0.0) -> Callable[[Array], Array]:
    """The mean minus `caution` standard deviations, of raw features (M, d); compiled without caution."""
    if not caution and all(isinstance(part, Posterior) for _, part in reward.belief.components):
        return _checked(CompiledReward.of(reward), reward.scaling)
    return lambda features: lower_confidence_bound(reward.belief, reward.scaling(features), caution)


def _checked(compiled: CompiledReward, scaling: Scaling) -> Callable[[Array], Array]:
    """A compiled reward of features that must be finite: the scaling says what is wrong with others."""

    def rewards(features: Array) -> Array:
        if not np.isfinite(features).all():
            scaling(features)
        return compiled(features)

    return rewards
