"""The mean of a learned reward as a few array operations, for calls that must take microseconds.

    u            (..., U)    features relative to their center, and what each warp makes of them
    f                        a sum of functions of u

The mean is a sum of kernels at the points of its answers, and `Kernel.expand` writes each of these as simple
kernels of transformed features. Those with the same transformations, their path, are collected, and all
transformations but warps, which are not affine, are multiplied out. So all linear and quadratic kernels
together are one vector and one matrix, and one product has what all RBF kernels need. The number of array
operations is what takes a call's time.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import Array, Indices
from prefero.deploy.planning.plan import lower_confidence_bound
from prefero.kernels import RBF, Additive, Linear, MeanTerm, Quadratic, Standardized, Transformed, Warped
from prefero.models.posterior.gaussian import Distribution, Posterior
from prefero.rewards.reward import Reward
from prefero.trajectories.features import Scaling

Path = tuple[Transformed, ...]


def terms_of_mean(belief: Distribution) -> tuple[list[MeanTerm], float]:
    """The terms and the constant of a posterior mean; an error if a component is no Gaussian process."""
    terms: list[MeanTerm] = []
    constant = 0.0
    for weight, one in belief.components:
        if not isinstance(one, Posterior):
            raise ValueError(f"the mean of {type(one).__name__} cannot be compiled: call the reward itself")
        points = np.concatenate([one.points, one.others])
        more, shift = one.kernel.expand(points, weight * np.concatenate([one.alpha, -one.alpha]))
        terms, constant = terms + more, constant + shift
    return terms, constant


@dataclass(frozen=True, eq=False)
class _PathTerms:
    """All terms with one path."""

    path: Path
    linear: Array  # (m,)
    quadratic: Array  # (m, m)
    points: Array  # (P, m)
    thetas: tuple[tuple[float, Array], ...]  # of RBF kernels, each with its coefficients (P,)
    curves: tuple[tuple[float, Array], ...]  # the same for each feature alone
    others: tuple[MeanTerm, ...]

    @classmethod
    def of(cls, path: Path, terms: Sequence[MeanTerm]) -> Self:
        """Terms of the same path; this one begins with the features relative to their center."""
        m = terms[0].points.shape[1]
        linear, quadratic, others = np.zeros(m), np.zeros((m, m)), []
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
                _collect(curves, float(np.max(leaf.kernel.theta)), points, p, c / m)
            else:
                others.append(term)
        return cls(path, linear, quadratic, points, (*thetas.items(),), (*curves.items(),), (*others,))


def _collect(found: dict[float, Array], theta: float, points: Array, p: Array, c: Array) -> None:
    """Add the coefficients of p, which are some of the points, to those of a theta."""
    places = {row.tobytes(): place for place, row in enumerate(points)}
    coefficients = found.setdefault(theta, np.zeros(len(points)))
    np.add.at(coefficients, [places[row.tobytes()] for row in p], c)


def _affine(path: Path, width: int) -> tuple[Array, Array]:
    """A (width, m) and b (m,), with which z A + b is what affine transformations make of z."""
    points = np.concatenate([np.zeros((1, width)), np.eye(width)])
    for step in path:
        points = step.transform(points)
    return points[1:] - points[0], points[0]


@dataclass(frozen=True, eq=False)
class _Warp:
    """function(z A + b), where A may be a vector: the diagonal of a matrix."""

    A: Array
    b: Array
    function: Callable[[Array], Array]

    @classmethod
    def of(cls, path: Path, width: int) -> Self:
        """Of a path that ends with its only warp."""
        *before, last = path
        function: Callable[[Array], Array] = last.transform
        if isinstance(last, Warped):
            before, function = [*before, Standardized(last.kernel, last.center, last.scale)], np.arcsinh
        A, b = _affine(tuple(before), width)
        diagonal = len(A) == len(b) and not np.any(A - np.diag(A.diagonal()))
        return cls(A.diagonal().copy() if diagonal else A, b, function)

    def __call__(self, z: Array) -> Array:
        z = z * self.A if self.A.ndim == 1 else z.dot(self.A)
        z += self.b
        return self.function(z)


def _warps(path: Path, width: int) -> list[_Warp]:
    """The functions, one after the other, of a path that ends with a warp."""
    ends = [place + 1 for place, step in enumerate(path) if not step.is_affine]
    warps: list[_Warp] = []
    for begin, end in zip([0, *ends], ends, strict=False):
        warps.append(_Warp.of(path[begin:end], width))
        width = len(warps[-1].b)
    return warps


def _through(warps: Iterable[_Warp], x: Array) -> Array:
    for warp in warps:
        x = warp(x)
    return x


@dataclass(frozen=True, eq=False)
class _Inputs:
    """Features relative to their center, and what each warp makes of them, side by side: u (..., U).

    All that follows a warp is affine in u.
    """

    warps: tuple[list[_Warp], ...]
    begins: dict[Path, slice]  # of u: what comes from each path that ends with a warp

    @classmethod
    def of(cls, paths: Iterable[Path], features: int) -> Self:
        """For these paths."""
        warped = dict.fromkeys(_split(path)[0] for path in paths)
        warps = {path: _warps(path, features) for path in warped if path}
        sizes = [features, *(len(_through(one, np.zeros(features))) for one in warps.values())]
        ends = np.cumsum(sizes).tolist()
        places = [slice(end - size, end) for size, end in zip(sizes, ends, strict=True)]
        return cls((*warps.values(),), dict(zip([(), *warps], places, strict=True)))

    def __call__(self, x: Array) -> Array:
        if not self.warps:
            return x
        return np.concatenate([x, *(_through(one, x) for one in self.warps)], axis=-1)

    @property
    def size(self) -> int:
        """U."""
        return max(int(place.stop) for place in self.begins.values())

    def affine(self, path: Path) -> tuple[Array, Array]:
        """A (U, m) and b (m,), with which u A + b is what a path makes of the features."""
        warp, rest = _split(path)
        place = self.begins[warp]
        own, b = _affine(rest, place.stop - place.start)
        A = np.zeros((self.size, len(b)))
        A[place] = own
        return A, b


def _split(path: Path) -> tuple[Path, Path]:
    """A path up to its last warp, and the rest of it."""
    last = max((place for place, step in enumerate(path) if not step.is_affine), default=-1)
    return path[: last + 1], path[last + 1 :]


@dataclass(frozen=True, eq=False)
class _Main:
    """The polynomial constant + linear . u + u . quadratic . u and all RBF kernels, from one product with u.

    z is what a path makes of u, relative to the middle of its points, so that little is lost to rounding. An
    RBF kernel's squared distance is |z|^2 - 2 z . p + |p|^2.

    matrix         (U, U + L + E)   quadratic; to the z of all G paths; to each kernel's 2 theta z . p
    shift          (U + L + E,)     linear; what is added to these z, and to these products
    begins         (G,)             where the z of each path begin
    lengths        (G, E)           minus theta, for the path of each kernel; 0 elsewhere
    coefficients   (E,)             of the kernels
    """

    constant: float
    matrix: Array
    shift: Array
    begins: Indices
    lengths: Array
    coefficients: Array

    @classmethod
    def of(cls, by_path: Sequence[_PathTerms], constant: float, inputs: _Inputs) -> Self:
        """Of all terms and a constant."""
        constant, linear, quadratic = _polynomial(by_path, constant, inputs)
        by_path = [one for one in by_path if one.thetas]
        maps = [inputs.affine(one.path) for one in by_path]
        middles = [one.points.mean(axis=0) for one in by_path]
        columns = [A for A, _ in maps]
        shifts = [b - middle for (_, b), middle in zip(maps, middles, strict=True)]
        lengths, coefficients = [np.zeros((len(by_path), 0))], [np.zeros(0)]
        for number, one in enumerate(by_path):
            points = one.points - middles[number]
            for theta, own in one.thetas:
                columns.append(2.0 * theta * columns[number] @ points.T)
                shifts.append(theta * (2.0 * points @ shifts[number] - np.sum(points**2, axis=1)))
                lengths.append(np.outer(np.arange(len(by_path)) == number, np.full(len(own), -theta)))
                coefficients.append(own)
        begins = np.cumsum([0, *(A.shape[1] for A, _ in maps)])[:-1]
        matrix, shift = np.hstack([quadratic, *columns]), np.concatenate([linear, *shifts])
        return cls(constant, matrix, shift, begins, np.hstack(lengths), np.concatenate(coefficients))

    def __call__(self, u: Array) -> Array:
        """The sum at u (..., U)."""
        size, kernels = u.shape[-1], len(self.coefficients)
        y = u.dot(self.matrix)  # of one row, `dot` is faster than `@`
        y += self.shift
        first = y[..., :size]
        values: Array = (u.dot(first) if u.ndim == 1 else np.vecdot(u, first)) + self.constant
        if kernels:
            z = y[..., size:-kernels]
            exponents = np.add.reduceat(z * z, self.begins, axis=-1).dot(self.lengths)
            exponents += y[..., -kernels:]
            values = values + np.exp(exponents, out=exponents).dot(self.coefficients)
        return values


def _polynomial(
    by_path: Sequence[_PathTerms], constant: float, inputs: _Inputs
) -> tuple[float, Array, Array]:
    """The constant, the linear (U,) and the quadratic (U, U) of all terms, of u A + b each."""
    linear, quadratic = np.zeros(inputs.size), np.zeros((inputs.size, inputs.size))
    for one in by_path:
        if one.linear.any() or one.quadratic.any():
            A, b = inputs.affine(one.path)
            constant += float(one.linear @ b + b @ one.quadratic @ b)
            linear += A @ (one.linear + (one.quadratic + one.quadratic.T) @ b)
            quadratic += A @ one.quadratic @ A.T
    return constant, linear, quadratic


@dataclass(frozen=True, eq=False)
class _Rest:
    """The terms of a path that are neither polynomials nor RBF kernels of all its features."""

    A: Array  # (U, m)
    b: Array  # (m,)
    points: Array  # (P, m)
    curves: tuple[tuple[float, Array], ...]  # with each coefficient as often as there are features, (P m,)
    others: tuple[MeanTerm, ...]

    @classmethod
    def of(cls, one: _PathTerms, inputs: _Inputs) -> Self:
        A, b = inputs.affine(one.path)
        curves = [(theta, np.repeat(own, A.shape[1])) for theta, own in one.curves]
        return cls(A, b, one.points, (*curves,), one.others)

    def __call__(self, u: Array) -> Array:
        """The sum at u (..., U)."""
        z = u.dot(self.A)
        z += self.b
        values: Any = 0.0
        if self.curves:
            apart = z[..., None, :] - self.points
            apart *= apart
            apart = apart.reshape(*u.shape[:-1], -1)
        for theta, coefficients in self.curves:
            values += np.exp(-theta * apart).dot(coefficients)
        for term in self.others:
            found = term.leaf(np.atleast_2d(z), term.points) @ term.coefficients
            values += found.reshape(u.shape[:-1])
        return values  # type: ignore[no-any-return]


@dataclass(frozen=True, eq=False)
class CompiledReward:
    """The mean of a reward as a fast function of raw features; it agrees with the reward to rounding.

    Args:
        center: Of the features, (d,).
        inputs: The features relative to it, and what is nonlinear in them.
        summands: Functions of the inputs, whose sum is the reward.
    """

    center: Array
    inputs: _Inputs
    summands: tuple[Callable[[Array], Array], ...]

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
        terms, constant = terms_of_mean(reward.belief)
        center, scale = reward.scaling.center, reward.scaling.scale
        scaled = Standardized(Linear(), (0.0,) * len(scale), scale)
        paths = dict.fromkeys(term.path for term in terms)
        by_path = [
            _PathTerms.of((scaled, *path), [term for term in terms if term.path == path]) for path in paths
        ]
        inputs = _Inputs.of((one.path for one in by_path), len(center))
        rest = (_Rest.of(one, inputs) for one in by_path if one.curves or one.others)
        return cls(np.array(center), inputs, (_Main.of(by_path, constant, inputs), *rest))

    def __call__(self, features: npt.ArrayLike) -> Array:
        """The expected reward of each row of features, which are not checked.

        Args:
            features: (M, d), in your own units; of one trajectory, (d,).

        Returns:
            The rewards, (M,); of one trajectory, a number.
        """
        u = self.inputs(np.asarray(features, dtype=float) - self.center)
        values = self.summands[0](u)
        for summand in self.summands[1:]:
            values = values + summand(u)
        return values


def lower_bound_of(reward: Reward, caution: float = 0.0) -> Callable[[Array], Array]:
    """The mean minus `caution` standard deviations, of raw features (..., d); compiled without caution.

    It can be pickled, since environments with such rewards run in processes of their own.
    """
    if not caution and all(isinstance(one, Posterior) for _, one in reward.belief.components):
        return partial(_checked, CompiledReward.of(reward), reward.scaling)
    return partial(_bounds, reward, caution)


def _bounds(reward: Reward, caution: float, features: Array) -> Array:
    rows = reward.scaling(np.atleast_2d(features))
    return lower_confidence_bound(reward.belief, rows, caution).reshape(features.shape[:-1])


def _checked(compiled: CompiledReward, scaling: Scaling, features: Array) -> Array:
    """A compiled reward of features that must be finite: the scaling says what is wrong with others."""
    if not isfinite(np.vdot(features, features)):  # faster than looking at each of them
        scaling(np.atleast_2d(features))
    return compiled(features)
