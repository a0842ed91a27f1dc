"""Kernels made of kernels: scaled, added, and for features that are selected or transformed first."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array, asinh, like, like_indices, namespace_of
from prefero.kernels.base import Kernel, MeanTerm, Term, Wrapped
from prefero.kernels.polynomial import Linear


@dataclass(frozen=True)
class Scaled(Kernel):
    """variance * kernel.

    Args:
        kernel: The kernel.
        variance: What it is multiplied by.
    """

    kernel: Kernel
    variance: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.variance) and self.variance > 0):
            raise ValueError(f"a kernel is scaled by a positive variance, but this is {self.variance!r}")

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("variance", *self.kernel.parameter_names)

    @property
    def log_parameters(self) -> Array:
        return np.concatenate([[np.log(self.variance)], self.kernel.log_parameters])

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        first, *rest = np.asarray(values, dtype=float)
        return replace(self, kernel=self.kernel.with_log_parameters(rest), variance=float(np.exp(first)))

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance = self.kernel(x, y)
        covariance *= self.variance
        return covariance

    def terms(self, x: AnyArray) -> list[Term] | None:
        return _scaled(self.kernel.terms(x), self.variance)

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.variance * self.kernel.diagonal(x)

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.variance * self.kernel.rowwise(x, y)

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        return self.kernel.expand(points, self.variance * coefficients)

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        own = np.sum(weights * self(x, y))
        return np.concatenate([[own], self.kernel.gradient(x, y, self.variance * weights)])

    def input_gradient(self, x: Array, y: Array) -> Array:
        return self.variance * self.kernel.input_gradient(x, y)


@dataclass(frozen=True)
class Sum(Kernel):
    """first + second: the reward is a sum of two independent ones.

    Args:
        first: The kernel of one of them.
        second: The kernel of the other.
    """

    first: Kernel
    second: Kernel

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return self.first.parameter_names + self.second.parameter_names

    @property
    def log_parameters(self) -> Array:
        return np.concatenate([self.first.log_parameters, self.second.log_parameters])

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        numbers, split = np.asarray(values, dtype=float), len(self.first.parameter_names)
        return replace(
            self,
            first=self.first.with_log_parameters(numbers[:split]),
            second=self.second.with_log_parameters(numbers[split:]),
        )

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance = self.first(x, y)
        covariance += self.second(x, y)
        return covariance

    def terms(self, x: AnyArray) -> list[Term] | None:
        return _added([self.first.terms(x), self.second.terms(x)])

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.first.diagonal(x) + self.second.diagonal(x)

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.first.rowwise(x, y) + self.second.rowwise(x, y)

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        (first, a), (second, b) = (k.expand(points, coefficients) for k in (self.first, self.second))
        return first + second, a + b

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        return np.concatenate([self.first.gradient(x, y, weights), self.second.gradient(x, y, weights)])

    def input_gradient(self, x: Array, y: Array) -> Array:
        return self.first.input_gradient(x, y) + self.second.input_gradient(x, y)


@dataclass(frozen=True)
class Transformed(Wrapped):
    """A kernel of features that are transformed first: what the kernels below have in common."""

    is_affine: ClassVar[bool] = False  # is the transformation x @ A + b?

    @abstractmethod
    def transform(self, x: AnyArray) -> AnyArray:
        """The features that the inner kernel takes, (..., k), of features (..., d)."""

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.kernel(self.transform(x), self.transform(y))

    def terms(self, x: AnyArray) -> list[Term] | None:
        return self.kernel.terms(self.transform(x))

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.kernel.diagonal(self.transform(x))

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.kernel.rowwise(self.transform(x), self.transform(y))

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        terms, constant = self.kernel.expand(self.transform(points), coefficients)
        step = replace(self, kernel=Linear())  # the transformation alone
        return [term._replace(path=(step, *term.path)) for term in terms], constant

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        return self.kernel.gradient(self.transform(x), self.transform(y), weights)

    @property
    def for_differences(self) -> Kernel:
        return replace(self, kernel=self.kernel.for_differences)


@dataclass(frozen=True)
class Selected(Transformed):
    """A kernel of some of the features; the others do not matter.

    Args:
        kernel: Of the selected features.
        columns: Their columns.
    """

    columns: tuple[int, ...]
    is_affine: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(int(c) for c in self.columns))
        if not self.columns or len(set(self.columns)) != len(self.columns) or min(self.columns) < 0:
            raise ValueError(f"a kernel is of one feature or more, each once, but of {self.columns}")

    def transform(self, x: AnyArray) -> AnyArray:
        return namespace_of(x).take(x, like_indices(np.array(self.columns), x), axis=-1)

    def input_gradient(self, x: Array, y: Array) -> Array:
        gradient = np.zeros((len(x), len(y), x.shape[1]))
        gradient[:, :, self.columns] = self.kernel.input_gradient(self.transform(x), self.transform(y))
        return gradient


@dataclass(frozen=True)
class Standardized(Transformed):
    """A kernel of features of unit size, for features in their own units: (x - center) / scale.

    Args:
        kernel: Of the standardized features.
        center: What is subtracted, (d,).
        scale: What is divided by, (d,).
    """

    center: tuple[float, ...]
    scale: tuple[float, ...]
    is_affine: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _check_center_and_scale(self)

    def transform(self, x: AnyArray) -> AnyArray:
        return (x - like(self.center, x)) / like(self.scale, x)

    def input_gradient(self, x: Array, y: Array) -> Array:
        gradient: Array = self.kernel.input_gradient(self.transform(x), self.transform(y))
        gradient /= np.array(self.scale)
        return gradient


@dataclass(frozen=True)
class Warped(Transformed):
    """A kernel of compressed features, asinh((x - center) / scale): logarithmic far from the center.

    Under it rare extreme values are no farther away than a few ordinary ones.

    Args:
        kernel: Of the compressed features.
        center: What is subtracted, (d,).
        scale: What is divided by, (d,): up to about this distance from the center nothing is compressed.
    """

    center: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_center_and_scale(self)

    def transform(self, x: AnyArray) -> AnyArray:
        return asinh((x - like(self.center, x)) / like(self.scale, x))

    def input_gradient(self, x: Array, y: Array) -> Array:
        gradient: Array = self.kernel.input_gradient(self.transform(x), self.transform(y))
        gradient /= np.hypot(x - np.array(self.center), self.scale)[:, None, :]
        return gradient


@dataclass(frozen=True)
class Thresholded(Transformed):
    """A kernel of soft thresholds of features, tanh((x[column] - threshold) / width): steps that level off.

    Under it a reward may step at some value of a feature, or saturate from there on.

    Args:
        kernel: Of the thresholds.
        columns: The feature of each threshold, (T,); a feature may have several.
        thresholds: The value in the middle of each step, (T,).
        widths: Of each step, (T,): two widths from the middle it is nearly complete.
    """

    columns: tuple[int, ...]
    thresholds: tuple[float, ...]
    widths: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(int(c) for c in self.columns))
        for name in ("thresholds", "widths"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        count = len(self.columns)
        if not count or min(self.columns) < 0 or {len(self.thresholds), len(self.widths)} != {count}:
            raise ValueError(
                "every threshold needs a column, a value and a width, "
                f"but there are {count}, {len(self.thresholds)} and {len(self.widths)} of them"
            )
        if not all(np.isfinite(self.thresholds)) or not all(0 < width < np.inf for width in self.widths):
            raise ValueError(
                "thresholds are finite and their widths positive, "
                f"but they are {self.thresholds} and {self.widths}"
            )

    def transform(self, x: AnyArray) -> AnyArray:
        xp = namespace_of(x)
        chosen = xp.take(x, like_indices(np.array(self.columns), x), axis=-1)
        return xp.tanh((chosen - like(self.thresholds, x)) / like(self.widths, x))

    def input_gradient(self, x: Array, y: Array) -> Array:
        steps = self.transform(x)
        inner = self.kernel.input_gradient(steps, self.transform(y))
        inner *= ((1.0 - steps**2) / np.array(self.widths))[:, None, :]
        gradient: Array = inner @ np.eye(x.shape[1])[list(self.columns)]  # adds up those of one feature
        return gradient


@dataclass(frozen=True)
class Projected(Transformed):
    """A kernel of a few linear combinations of the features, x @ axes: the reward has low rank.

    Args:
        kernel: Of the combinations.
        axes: The weights of each feature in each combination, (d, k).
    """

    axes: tuple[tuple[float, ...], ...]
    is_affine: ClassVar[bool] = True

    def __post_init__(self) -> None:
        axes = np.array(self.axes, dtype=float)
        if axes.ndim != 2 or 0 in axes.shape or not np.isfinite(axes).all():
            raise ValueError(
                f"the axes are finite weights (features, combinations), but their shape is {axes.shape}"
            )
        object.__setattr__(self, "axes", tuple(map(tuple, axes.tolist())))

    def transform(self, x: AnyArray) -> AnyArray:
        return x @ like(self.axes, x)

    def input_gradient(self, x: Array, y: Array) -> Array:
        inner = self.kernel.input_gradient(self.transform(x), self.transform(y))
        gradient: Array = inner @ np.array(self.axes).T
        return gradient


@dataclass(frozen=True)
class Additive(Wrapped):
    """The average over the features of a kernel of one feature: the reward is a sum of functions of one each.

    Args:
        kernel: Of one feature.
    """

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance = self.kernel(x[:, :1], y[:, :1])
        for j in range(1, x.shape[1]):
            covariance += self.kernel(x[:, j : j + 1], y[:, j : j + 1])
        covariance /= x.shape[1]
        return covariance

    def terms(self, x: AnyArray) -> list[Term] | None:
        features = x.shape[1]
        return _scaled(_added([self.kernel.terms(x[:, j : j + 1]) for j in range(features)]), 1.0 / features)

    def diagonal(self, x: AnyArray) -> AnyArray:
        features = x.shape[1]
        return sum(self.kernel.diagonal(x[:, j : j + 1]) for j in range(features)) / features

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        each = self.kernel.rowwise(x[..., None], y[..., None])  # a feature is a trajectory of one feature
        return namespace_of(each).mean(each, axis=-1)

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        each = [self.kernel.gradient(x[:, [j]], y[:, [j]], weights) for j in range(x.shape[1])]
        return np.asarray(np.mean(each, axis=0))

    def input_gradient(self, x: Array, y: Array) -> Array:
        each = [self.kernel.input_gradient(x[:, [j]], y[:, [j]]) for j in range(x.shape[1])]
        gradient: Array = np.concatenate(each, axis=2) / x.shape[1]
        return gradient

    @property
    def for_differences(self) -> Kernel:
        return replace(self, kernel=self.kernel.for_differences)


def _scaled(terms: list[Term] | None, scale: float) -> list[Term] | None:
    return terms and [term._replace(scale=scale * term.scale) for term in terms]


def _added(several: list[list[Term] | None]) -> list[Term] | None:
    known = [terms for terms in several if terms is not None]
    return [term for terms in known for term in terms] if len(known) == len(several) else None


def _check_center_and_scale(kernel: "Standardized | Warped") -> None:
    """Store both as tuples of floats, and check them."""
    for name in ("center", "scale"):
        numbers = np.atleast_1d(getattr(kernel, name)).astype(float)
        object.__setattr__(kernel, name, tuple(numbers.tolist()))
    if len(kernel.center) != len(kernel.scale) or not all(0 < s < np.inf for s in kernel.scale):
        raise ValueError(
            "every feature needs a center and a positive scale, "
            f"but the centers are {kernel.center} and the scales {kernel.scale}"
        )
