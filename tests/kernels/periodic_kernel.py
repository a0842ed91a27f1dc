"""A kernel of another package: rewards that repeat, exp(-2 sum_k sin^2(pi (x_k - y_k) / period))."""

from dataclasses import dataclass, replace
from math import pi
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from prefero.kernels import Kernel, namespace_of

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Periodic(Kernel):
    """The periodic kernel, a product over features."""

    period: float = 1.0

    @property
    def parameter_names(self) -> tuple[str, ...]:
        return ("period",)

    @property
    def log_parameters(self) -> Array:
        return np.array([np.log(self.period)])

    def with_log_parameters(self, values: npt.ArrayLike) -> Self:
        return replace(self, period=float(np.exp(np.asarray(values)[0])))

    def rowwise(self, x: Any, y: Any) -> Any:
        xp = namespace_of(x)
        return xp.exp(-2.0 * xp.sum(xp.sin((pi / self.period) * (x - y)) ** 2, axis=-1))

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        angle = (2.0 * pi / self.period) * (x[:, None, :] - y[None, :, :])
        return np.array([np.sum(weights * self(x, y) * np.sum(angle * np.sin(angle), axis=-1))])

    def input_gradient(self, x: Array, y: Array) -> Array:
        angle = (2.0 * pi / self.period) * (x[:, None, :] - y[None, :, :])
        slope: Array = -(2.0 * pi / self.period) * self(x, y)[:, :, None] * np.sin(angle)
        return slope
