"""Kernels: the prior covariance of the reward, k(x, y) = Cov[f(x), f(y)].

    x            (M, d)     features, one trajectory a row
    y            (N, d)     features, one trajectory a row
    k(x, y)      (M, N)     covariance of every pair
    theta                   the paper's RBF parameter, 1 / (2 lengthscale^2); one number, or one per feature
    anchor       (d,)       the paper's Psi-bar, where the reward is pinned to 0

A kernel is an immutable value. Its free parameters are positive and are seen by an optimiser as
`log_parameters`; `gradient` and `slope` differentiate it by them and by x. Calling a kernel, and its
diagonal, follow the array API standard, so that a pool may live on a GPU.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from prefero.arrays import AnyArray, Array, like, namespace_of

SQRT_3, SQRT_5 = float(np.sqrt(3.0)), float(np.sqrt(5.0))


class Kernel(ABC):
    """A covariance of rewards. Add two with `+`, scale one with `2.0 *`."""

    @abstractmethod
    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """Cov[f(x), f(y)], shape (M, N)."""

    @abstractmethod
    def diagonal(self, x: AnyArray) -> AnyArray:
        """Var[f(x)], shape (M,)."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each of the log-parameters is: "theta", "lengthscale" or "variance"."""

    @property
    @abstractmethod
    def log_parameters(self) -> Array:
        """Logarithms of the free parameters, shape (P,)."""

    @abstractmethod
    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        """The same kernel with other parameters."""

    @abstractmethod
    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        """Derivative of sum(weights * k(x, y)) by the log-parameters, shape (P,)."""

    @abstractmethod
    def slope(self, x: Array, y: Array) -> Array:
        """Derivative of k(x_i, y_j) by x_i, shape (M, N, d)."""

    def __add__(self, other: "Kernel") -> "Sum":
        return Sum(self, other)

    def __rmul__(self, variance: float) -> "Scaled":
        return Scaled(self, float(variance))


def _positive(value: float | npt.ArrayLike, name: str) -> float | tuple[float, ...]:
    """One positive number, or a tuple of them, as a kernel keeps its parameters."""
    numbers = np.asarray(value, dtype=float)
    if numbers.ndim > 1 or numbers.size == 0 or not np.all((numbers > 0) & np.isfinite(numbers)):
        raise ValueError(f"{name} must be a positive number, or one for each feature, but is {value!r}")
    return float(numbers) if numbers.ndim == 0 else tuple(float(n) for n in numbers)


@dataclass(frozen=True)
class Stationary(Kernel):
    """k = profile(s) with s = sum_k metric_k (x_k - y_k)^2: what RBF and Matern share."""

    parameter: ClassVar[str]
    power: ClassVar[float]  # metric = parameter ** power

    @property
    def names(self) -> tuple[str, ...]:
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

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        flow = self.power * weights * self.profile_slope(self._squared_distances(x, y))
        # sum_ij flow_ij (x_ik - y_jk)^2 for every feature k, without an array of three dimensions
        squares = flow.sum(1) @ x**2 + flow.sum(0) @ y**2 - 2 * np.einsum("ik,ik->k", x, flow @ y)
        by_feature: Array = self._metric(x) * squares
        return by_feature if len(self.log_parameters) > 1 else by_feature.sum(keepdims=True)

    def slope(self, x: Array, y: Array) -> Array:
        apart = x[:, None, :] - y[None, :, :]
        slope: Array = (
            2 * self.profile_slope(self._squared_distances(x, y))[:, :, None] * self._metric(x) * apart
        )
        return slope

    @abstractmethod
    def profile(self, s: AnyArray) -> AnyArray:
        """The covariance at squared distance s."""

    @abstractmethod
    def profile_slope(self, s: Array) -> Array:
        """Its derivative by s."""

    def _metric(self, x: AnyArray) -> AnyArray:
        parameter = getattr(self, self.parameter)
        if not isinstance(parameter, float) and len(parameter) != x.shape[1]:
            raise ValueError(
                f"the kernel has {len(parameter)} values of {self.parameter}, but the trajectories have "
                f"{x.shape[1]} features: give one number, or one for each feature"
            )
        return like(np.broadcast_to(np.asarray(parameter) ** self.power, x.shape[1]), x)

    def _squared_distances(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """One matrix product: |x|^2 - 2 x.y + |y|^2. It may fall below 0 by rounding."""
        xp = namespace_of(x)
        root = xp.sqrt(self._metric(x))
        centre = xp.mean(y, axis=0)  # distances do not change, their rounding does
        x, y = (x - centre) * root, (y - centre) * root
        left = xp.concat([x, xp.sum(x * x, axis=1, keepdims=True), xp.ones_like(x[:, :1])], axis=1)
        right = xp.concat([-2.0 * y, xp.ones_like(y[:, :1]), xp.sum(y * y, axis=1, keepdims=True)], axis=1)
        return left @ right.T


@dataclass(frozen=True)
class RBF(Stationary):
    """exp(-theta |x - y|^2), the paper's kernel before anchoring; a theta per feature makes it ARD."""

    theta: float | tuple[float, ...] = 1.0
    parameter: ClassVar[str] = "theta"
    power: ClassVar[float] = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "theta", _positive(self.theta, "theta"))

    def profile(self, s: AnyArray) -> AnyArray:
        """exp(-s)."""
        return namespace_of(s).exp(-s)

    def profile_slope(self, s: Array) -> Array:
        """-exp(-s)."""
        return -np.exp(-s)


@dataclass(frozen=True)
class Matern(Stationary):
    """The Matern kernel of smoothness nu = 3/2 or 5/2; a lengthscale per feature makes it ARD."""

    lengthscale: float | tuple[float, ...] = 1.0
    nu: float = 2.5
    parameter: ClassVar[str] = "lengthscale"
    power: ClassVar[float] = -2.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengthscale", _positive(self.lengthscale, "lengthscale"))
        if self.nu not in (1.5, 2.5):
            raise ValueError(f"nu must be 1.5 or 2.5, but is {self.nu!r}")

    def profile(self, s: AnyArray) -> AnyArray:
        """(1 + r sqrt3) exp(-r sqrt3), or its smoother sister, with r = sqrt(s)."""
        xp = namespace_of(s)
        r = xp.sqrt(xp.clip(s, min=0.0))
        if self.nu == 1.5:
            return (1.0 + SQRT_3 * r) * xp.exp(-SQRT_3 * r)
        return (1.0 + SQRT_5 * r + (5.0 / 3.0) * r * r) * xp.exp(-SQRT_5 * r)

    def profile_slope(self, s: Array) -> Array:
        """Finite at s = 0 for both."""
        r = np.sqrt(np.maximum(s, 0.0))
        if self.nu == 1.5:
            return -1.5 * np.exp(-SQRT_3 * r)
        return -(5.0 / 6.0) * (1.0 + SQRT_5 * r) * np.exp(-SQRT_5 * r)


class Parameterless(Kernel):
    """A kernel with nothing to learn but the scale that `2.0 * kernel` gives it."""

    names = ()

    @property
    def log_parameters(self) -> Array:
        return np.empty(0)

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:  # noqa: ARG002
        return self

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:  # noqa: ARG002
        return np.empty(0)


@dataclass(frozen=True)
class Linear(Parameterless):
    """x . y: rewards w . x whose weights are independent standard normals."""

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return x @ y.T

    def diagonal(self, x: AnyArray) -> AnyArray:
        return namespace_of(x).sum(x * x, axis=1)

    def slope(self, x: Array, y: Array) -> Array:
        return np.broadcast_to(y, (len(x), *y.shape)).copy()


@dataclass(frozen=True)
class Quadratic(Parameterless):
    """Rewards sum_{i<=j} w_ij x_i x_j whose coefficients are independent standard normals."""

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        product = x @ y.T
        return 0.5 * (product * product + (x * x) @ (y * y).T)

    def diagonal(self, x: AnyArray) -> AnyArray:
        xp = namespace_of(x)
        squares = x * x
        return 0.5 * (xp.sum(squares, axis=1) ** 2 + xp.sum(squares * squares, axis=1))

    def slope(self, x: Array, y: Array) -> Array:
        return (x @ y.T)[:, :, None] * y + x[:, None, :] * y**2


@dataclass(frozen=True)
class Scaled(Kernel):
    """variance * kernel."""

    kernel: Kernel
    variance: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.variance) and self.variance > 0):
            raise ValueError(f"a kernel is scaled by a positive variance, but this is {self.variance!r}")

    @property
    def names(self) -> tuple[str, ...]:
        return ("variance", *self.kernel.names)

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

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.variance * self.kernel.diagonal(x)

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        own = np.sum(weights * self(x, y))
        return np.concatenate([[own], self.kernel.gradient(x, y, self.variance * weights)])

    def slope(self, x: Array, y: Array) -> Array:
        return self.variance * self.kernel.slope(x, y)


@dataclass(frozen=True)
class Sum(Kernel):
    """first + second: the reward is a sum of two independent parts."""

    first: Kernel
    second: Kernel

    @property
    def names(self) -> tuple[str, ...]:
        return self.first.names + self.second.names

    @property
    def log_parameters(self) -> Array:
        return np.concatenate([self.first.log_parameters, self.second.log_parameters])

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        numbers, split = np.asarray(values, dtype=float), len(self.first.names)
        return replace(
            self,
            first=self.first.with_log_parameters(numbers[:split]),
            second=self.second.with_log_parameters(numbers[split:]),
        )

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance = self.first(x, y)
        covariance += self.second(x, y)
        return covariance

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.first.diagonal(x) + self.second.diagonal(x)

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        return np.concatenate([self.first.gradient(x, y, weights), self.second.gradient(x, y, weights)])

    def slope(self, x: Array, y: Array) -> Array:
        return self.first.slope(x, y) + self.second.slope(x, y)


@dataclass(frozen=True)
class Anchored(Kernel):
    """A kernel whose reward is 0 at the anchor.

    `how="subtract"` is the prior of f(x) - f(anchor): every difference of rewards, and so everything that
    answers can teach, is untouched by the choice of anchor. `how="condition"` is the paper's kernel, the
    prior of f given f(anchor) = 0, which trusts the reward near the anchor to be small.
    """

    kernel: Kernel
    anchor: tuple[float, ...]
    how: Literal["subtract", "condition"] = "subtract"

    def __post_init__(self) -> None:
        anchor = np.asarray(self.anchor, dtype=float)
        if anchor.ndim != 1 or anchor.size == 0 or not np.all(np.isfinite(anchor)):
            raise ValueError(f"the anchor must be the features of one point, but is {self.anchor!r}")
        object.__setattr__(self, "anchor", tuple(anchor.tolist()))
        if self.how not in ("subtract", "condition"):
            raise ValueError(f"how must be 'subtract' or 'condition', but is {self.how!r}")
        if self.how == "condition" and self._variance_at_anchor <= 0:
            raise ValueError(
                "this kernel's reward is already 0 at the anchor, so it cannot be conditioned there: "
                "use how='subtract'"
            )

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.names

    @property
    def log_parameters(self) -> Array:
        return self.kernel.log_parameters

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        return replace(self, kernel=self.kernel.with_log_parameters(values))

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance, with_x, with_y = self.kernel(x, y), self._with_anchor(x), self._with_anchor(y)
        if self.how == "condition":
            covariance -= with_x[:, None] * with_y[None, :] / self._variance_at_anchor
        else:
            covariance -= with_x[:, None]
            covariance += (self._variance_at_anchor - with_y)[None, :]
        return covariance

    def diagonal(self, x: AnyArray) -> AnyArray:
        variance, with_x = self.kernel.diagonal(x), self._with_anchor(x)
        if self.how == "condition":
            return variance - with_x * with_x / self._variance_at_anchor
        return variance - 2.0 * with_x + self._variance_at_anchor

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        a, inner = np.asarray(self.anchor)[None, :], self.kernel.gradient
        if self.how == "subtract":
            to_x, to_y, to_a = -weights.sum(1), -weights.sum(0), weights.sum()
        else:
            with_x, with_y, alone = self._with_anchor(x), self._with_anchor(y), self._variance_at_anchor
            to_x, to_y = -(weights @ with_y) / alone, -(with_x @ weights) / alone
            to_a = with_x @ weights @ with_y / alone**2
        ends = inner(x, a, to_x[:, None]) + inner(a, y, to_y[None, :]) + inner(a, a, np.full((1, 1), to_a))
        return inner(x, y, weights) + ends

    def slope(self, x: Array, y: Array) -> Array:
        a = np.asarray(self.anchor)[None, :]
        share = 1.0 if self.how == "subtract" else (self._with_anchor(y) / self._variance_at_anchor)[:, None]
        return self.kernel.slope(x, y) - self.kernel.slope(x, a) * share

    def _with_anchor(self, x: AnyArray) -> AnyArray:
        if x.shape[1] != len(self.anchor):
            raise ValueError(
                f"the anchor has {len(self.anchor)} features, but the trajectories have {x.shape[1]}"
            )
        return self.kernel(x, like(self.anchor, x)[None, :])[:, 0]

    @property
    def _variance_at_anchor(self) -> float:
        return float(self.kernel.diagonal(np.asarray(self.anchor)[None, :])[0])


@dataclass(frozen=True)
class Standardised(Kernel):
    """A kernel of features of unit size, for features in their own units: (x - centre) / scale."""

    kernel: Kernel
    centre: tuple[float, ...]
    scale: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("centre", "scale"):
            object.__setattr__(self, name, tuple(np.asarray(getattr(self, name), dtype=float).tolist()))

    @property
    def names(self) -> tuple[str, ...]:
        return self.kernel.names

    @property
    def log_parameters(self) -> Array:
        return self.kernel.log_parameters

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        return replace(self, kernel=self.kernel.with_log_parameters(values))

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self.kernel(self._unit(x), self._unit(y))

    def diagonal(self, x: AnyArray) -> AnyArray:
        return self.kernel.diagonal(self._unit(x))

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        return self.kernel.gradient(self._unit(x), self._unit(y), weights)

    def slope(self, x: Array, y: Array) -> Array:
        slope: Array = self.kernel.slope(self._unit(x), self._unit(y)) / np.array(self.scale)
        return slope

    def _unit(self, x: AnyArray) -> AnyArray:
        return (x - like(self.centre, x)) / like(self.scale, x)


_KINDS: dict[str, type[Any]] = {
    kind.__name__: kind for kind in (RBF, Matern, Linear, Quadratic, Scaled, Sum, Anchored, Standardised)
}


def to_json(kernel: Kernel) -> dict[str, Any]:
    """The kernel as plain values, for a file."""
    values = {field.name: getattr(kernel, field.name) for field in fields(kernel)}  # type: ignore[arg-type]
    plain = {name: to_json(v) if isinstance(v, Kernel) else v for name, v in values.items()}
    return {"kind": type(kernel).__name__, **plain}


def from_json(values: dict[str, Any]) -> Kernel:
    """The kernel that `to_json` wrote."""
    kind, rest = values.get("kind"), {name: v for name, v in values.items() if name != "kind"}
    if kind not in _KINDS:
        raise ValueError(f"there is no kernel {kind!r}: the kernels are {', '.join(_KINDS)}")
    made: Kernel = _KINDS[kind](**{n: from_json(v) if isinstance(v, dict) else v for n, v in rest.items()})
    return made
