"""Kernels of the distance between two trajectories: RBF and Matern, with one scale or one a feature."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array, like, namespace_of
from prefero.kernels.base import Kernel, MeanTerm, Term
from prefero.kernels.composed import Standardized

SQRT_3, SQRT_5 = float(np.sqrt(3.0)), float(np.sqrt(5.0))


def _positive(value: float | npt.ArrayLike, name: str) -> float | tuple[float, ...]:
    """One positive number, or a tuple of them, as a kernel keeps its parameters."""
    numbers = np.asarray(value, dtype=float)
    if numbers.ndim > 1 or numbers.size == 0 or not np.all((numbers > 0) & np.isfinite(numbers)):
        raise ValueError(f"{name} must be a positive number, or one for each feature, but is {value!r}")
    return float(numbers) if numbers.ndim == 0 else tuple(float(n) for n in numbers)


@dataclass(frozen=True)
class Stationary(Kernel):
    """k = profile(s) with s = sum_k metric_k (x_k - y_k)^2: what RBF and Matern have in common."""

    parameter: ClassVar[str]
    power: ClassVar[float]  # metric = parameter ** power

    @abstractmethod
    def metric(self) -> Array:
        """One number, or one for each feature, (d,)."""

    @abstractmethod
    def profile(self, s: AnyArray) -> AnyArray:
        """The covariance at squared distance s."""

    @abstractmethod
    def profile_derivative(self, s: Array) -> Array:
        """Its derivative by s."""

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        squares = (x - y) ** 2 * like(self.metric(), x)
        return self.profile(namespace_of(x).sum(squares, axis=-1))

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return (self.parameter,) * len(self.log_parameters)

    @property
    def log_parameters(self) -> Array:
        logs: Array = np.log(np.atleast_1d(getattr(self, self.parameter)))
        return logs

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        numbers = np.exp(np.asarray(values, dtype=float))
        alone = isinstance(getattr(self, self.parameter), float)
        return replace(self, **{self.parameter: float(numbers[0]) if alone else tuple(numbers.tolist())})

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.profile(self._squared_distances(x, y))

    def diagonal(self, x: AnyArray) -> AnyArray:
        return namespace_of(x).ones_like(x[:, 0])

    def terms(self, x: AnyArray) -> list[Term]:
        return [Term(*self._factors(x, x), self.profile)]

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        by_square = self.power * weights * self.profile_derivative(self._squared_distances(x, y))
        # sum_ij by_square_ij (x_ik - y_jk)^2 for every feature k, without an array of three dimensions
        squares = (
            by_square.sum(1) @ x**2 + by_square.sum(0) @ y**2 - 2 * np.einsum("ik,ik->k", x, by_square @ y)
        )
        by_feature: Array = self._metric(x) * squares
        return by_feature if len(self.log_parameters) > 1 else by_feature.sum(keepdims=True)

    def input_gradient(self, x: Array, y: Array) -> Array:
        apart = x[:, None, :] - y[None, :, :]
        gradient: Array = (
            2 * self.profile_derivative(self._squared_distances(x, y))[:, :, None] * self._metric(x) * apart
        )
        return gradient

    def _metric(self, x: AnyArray) -> AnyArray:
        parameter = getattr(self, self.parameter)
        if not isinstance(parameter, float) and len(parameter) != x.shape[1]:
            raise ValueError(
                f"the kernel has {len(parameter)} values of {self.parameter}, but the trajectories have "
                f"{x.shape[1]} features: give one number, or one for each feature"
            )
        return like(np.broadcast_to(self.metric(), x.shape[1]), x)

    def _squared_distances(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """One matrix product. It may fall below 0 by rounding."""
        left, right = self._factors(x, y)
        return left @ right.T

    def _factors(self, x: AnyArray, y: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Two arrays whose inner products are |x|^2 - 2 x.y + |y|^2, (M, d + 2) and (N, d + 2)."""
        xp = namespace_of(x)
        root = xp.sqrt(self._metric(x))
        center = xp.mean(y, axis=0) if y.shape[0] else 0.0  # distances do not change, their rounding does
        x, y = (x - center) * root, (y - center) * root
        left = xp.concat([x, xp.sum(x * x, axis=1, keepdims=True), xp.ones_like(x[:, :1])], axis=1)
        right = xp.concat([-2.0 * y, xp.ones_like(y[:, :1]), xp.sum(y * y, axis=1, keepdims=True)], axis=1)
        return left, right


@dataclass(frozen=True)
class RBF(Stationary):
    """exp(-theta |x - y|^2), the paper's kernel before anchoring.

    Args:
        theta: 1 / (2 lengthscale^2); one for each feature makes it ARD.
    """

    theta: float | tuple[float, ...] = 1.0
    parameter: ClassVar[str] = "theta"
    power: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", _positive(self.theta, "theta"))

    def terms(self, x: AnyArray) -> list[Term]:
        left, right = self._factors(x, x)
        return [Term(-left, right, namespace_of(x).exp)]

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        """With one theta for all features, which are scaled first."""
        if isinstance(self.theta, float):
            return super().expand(points, coefficients)
        scale = 1.0 / np.sqrt(self.theta)
        return Standardized(RBF(1.0), (0.0,) * len(scale), tuple(scale)).expand(points, coefficients)

    def metric(self) -> Array:
        """theta."""
        return np.asarray(self.theta)

    def profile(self, s: AnyArray) -> AnyArray:
        """exp(-s)."""
        return namespace_of(s).exp(-s)

    def profile_derivative(self, s: Array) -> Array:
        """-exp(-s)."""
        return -np.exp(-s)


@dataclass(frozen=True)
class Matern(Stationary):
    """The Matern kernel.

    Args:
        lengthscale: One number, or one for each feature, which makes it ARD.
        nu: The smoothness, 1.5 or 2.5.
    """

    lengthscale: float | tuple[float, ...] = 1.0
    nu: float = 2.5
    parameter: ClassVar[str] = "lengthscale"
    power: ClassVar[float] = -2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengthscale", _positive(self.lengthscale, "lengthscale"))
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"nu must be 1.5 or 2.5, but is {self.nu!r}")

    def metric(self) -> Array:
        """lengthscale^-2."""
        return np.asarray(self.lengthscale) ** -2.0

    def profile(self, s: AnyArray) -> AnyArray:
        """(1 + r sqrt3) exp(-r sqrt3), or its smoother sister, with r = sqrt(s)."""
        xp = namespace_of(s)
        r = xp.sqrt(xp.clip(s, 0.0, None))
        if self.nu == 1.5:
            return (1.0 + SQRT_3 * r) * xp.exp(-SQRT_3 * r)
        return (1.0 + SQRT_5 * r + (5.0 / 3.0) * r * r) * xp.exp(-SQRT_5 * r)

    def profile_derivative(self, s: Array) -> Array:
        """Finite at s = 0 for both."""
        r = np.sqrt(np.maximum(s, 0.0))
        if self.nu == 1.5:
            return -1.5 * np.exp(-SQRT_3 * r)
        return -(5.0 / 6.0) * (1.0 + SQRT_5 * r) * np.exp(-SQRT_5 * r)
