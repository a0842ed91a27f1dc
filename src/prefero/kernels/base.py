"""The interface of a kernel, and what kernels that wrap another one have in common."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy.typing as npt

from prefero._support.arrays import AnyArray, Array

if TYPE_CHECKING:
    from prefero.kernels.composed import Scaled, Sum, Transformed


class Term(NamedTuple):
    """A summand of a covariance: scale * profile(left_i . right_j)."""

    left: AnyArray  # (M, q)
    right: AnyArray  # (M, q)
    profile: Callable[[AnyArray], AnyArray] | None = None  # elementwise; None: the inner product itself
    scale: float = 1.0


class MeanTerm(NamedTuple):
    """A summand of a function of x that is a sum of kernels: coefficients @ leaf(points, x).

    Args:
        path: Transformations of x that come first, as kernels with an inner kernel that does not matter.
        leaf: A kernel.
        points: Transformed like x, (P, d).
        coefficients: (P,).
    """

    path: tuple["Transformed", ...]
    leaf: "Kernel"
    points: Array
    coefficients: Array


class Kernel(ABC):
    """A prior covariance of rewards. Add kernels with `+` or `sum`, scale one by a number with `*` or `/`.

    A kernel of your own is a frozen dataclass that defines the abstract methods below; `rowwise` says what it
    is, and models, compiled rewards and exports follow from it. Its hyper-parameters are positive; models
    learn their logarithms. `prefero.kernels.register` lets rewards with it be saved and loaded.
    """

    @abstractmethod
    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """Cov[f(x), f(y)] of each row of x with the same row of y.

        It computes with functions of the array API standard (`namespace_of(x).exp`), with the kernel's
        fields and with other methods of it. Exported Python files hold its code, and ONNX graphs the
        operations that it calls.

        Args:
            x: Features, (..., d).
            y: Features, (..., d); both broadcast over all axes but the last.

        Returns:
            The covariances, (...).
        """

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        """Cov[f(x), f(y)]; the caller may change the array in place. Override it where products are faster.

        Args:
            x: Features, (M, d).
            y: Features, (N, d).

        Returns:
            A new array, (M, N).
        """
        return self.rowwise(x[:, None, :], y[None, :, :])

    def diagonal(self, x: AnyArray) -> AnyArray:
        """Var[f(x)], shape (M,)."""
        return self.rowwise(x, x)

    def terms(self, x: AnyArray) -> list[Term] | None:  # noqa: ARG002
        """Cov[f(x_i), f(x_j)] as a sum of terms, for a search that looks at many tiles of the pairs of x.

        Args:
            x: Features, (M, d).

        Returns:
            The terms; None where the kernel has no such form, and is called for every tile.
        """
        return None

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        """The function coefficients @ k(points, x) of x: a sum of simple terms, and a constant.

        Args:
            points: Features, (P, d).
            coefficients: (P,).

        Returns:
            The terms, and the constant.
        """
        return [MeanTerm((), self, points, coefficients)], 0.0

    @property
    @abstractmethod
    def parameter_names(self) -> tuple[str, ...]:
        """The name of each hyper-parameter, for example "theta", "lengthscale" or "variance"."""

    @property
    @abstractmethod
    def log_parameters(self) -> Array:
        """Logarithms of the hyper-parameters, shape (P,)."""

    @abstractmethod
    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        """The same kernel with other hyper-parameters."""

    @abstractmethod
    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        """Derivative of sum(weights * k(x, y)) by the log-parameters.

        Args:
            x: Features, (M, d).
            y: Features, (N, d).
            weights: (M, N).

        Returns:
            The derivatives, (P,).
        """

    @abstractmethod
    def input_gradient(self, x: Array, y: Array) -> Array:
        """Derivative of k(x_i, y_j) by x_i.

        Args:
            x: Features, (M, d).
            y: Features, (N, d).

        Returns:
            The derivatives, (M, N, d).
        """

    @property
    def for_differences(self) -> "Kernel":
        """A kernel, perhaps cheaper, under which every difference f(x) - f(y) has the same variance."""
        return self

    __array_ufunc__ = None  # so that NumPy's numbers leave * and + to the kernel

    def __add__(self, other: "Kernel") -> "Sum":
        from prefero.kernels.composed import Sum

        return Sum(self, other) if _is_kernel(other) else NotImplemented

    def __radd__(self, other: object) -> Self:
        """With 0, from which `sum` starts."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, variance: float) -> "Scaled":
        from prefero.kernels.composed import Scaled

        return Scaled(self, float(variance)) if _is_number(variance) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> "Scaled":
        return self * (1.0 / divisor) if _is_number(divisor) else NotImplemented


def _is_kernel(value: object) -> bool:
    return isinstance(value, Kernel)


def _is_number(value: object) -> bool:
    """Python's and NumPy's numbers; texts, which float() would take, are none."""
    return isinstance(value, Real)


@dataclass(frozen=True)
class Wrapped(Kernel):
    """A kernel made of another one, without hyper-parameters of its own."""

    kernel: Kernel

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return self.kernel.parameter_names

    @property
    def log_parameters(self) -> Array:
        return self.kernel.log_parameters

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        return replace(self, kernel=self.kernel.with_log_parameters(values))


def kernel_types(kernel: Kernel) -> set[type[Kernel]]:
    """The types of a kernel and of the kernels that it is composed of."""
    inner = [value for value in vars(kernel).values() if isinstance(value, Kernel)]
    return {type(kernel)}.union(*map(kernel_types, inner))
