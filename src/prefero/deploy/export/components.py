"""What every export target writes: the Gaussian components of a posterior, made of few arrays.

A reward of which answers said what is acceptable knows the bar, a row of infinite features that does not vary
with any reward. No file has such a row: the difference from it is the reward itself.
"""

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import Kernel, WithBar
from prefero.kernels.bar import is_bar
from prefero.models.posterior.gaussian import Posterior
from prefero.rewards.reward import Reward


@dataclass(frozen=True, eq=False)
class ExportedGaussian:
    """One Gaussian of the mixture, as the arguments of `prefero.deploy.export.prediction.gaussian`.

    Args:
        kernel: The prior covariance of rewards.
        points: Features, (r, d).
        others: Features that they were compared with, (r, d); those of the points themselves where that was
            the bar.
        compared: 1, and 0 where they were compared with the bar, (r,).
        alpha: What gives the mean, (r,).
        whitener: What gives the covariance, (r, s).
    """

    kernel: Kernel
    points: Array
    others: Array
    compared: Array
    alpha: Array
    whitener: Array

    @classmethod
    def of(cls, posterior: Posterior) -> Self:
        """Of a posterior, whose rows begin with the trajectory where one side is the bar."""
        first, second = is_bar(posterior.points), is_bar(posterior.others)
        points = np.where(first[:, None], posterior.others, posterior.points)
        others = np.where((first | second)[:, None], points, posterior.others)
        sign = np.where(first, -1.0, 1.0)
        return cls(
            without_bar(posterior.kernel),
            points,
            others,
            np.where(first | second, 0.0, 1.0),
            sign * posterior.alpha,
            sign[:, None] * posterior.whitener,
        )

    @property
    def arrays(self) -> dict[str, Array]:
        """All but the kernel, by name."""
        return {name: value for name, value in vars(self).items() if name != "kernel"}


def without_bar(kernel: Kernel) -> Kernel:
    """The kernel of rewards alone."""
    if isinstance(kernel, WithBar):
        return without_bar(kernel.kernel)
    values = {one.name: getattr(kernel, one.name) for one in fields(kernel)}  # type: ignore[arg-type]
    inner: dict[str, Any] = {name: without_bar(v) for name, v in values.items() if isinstance(v, Kernel)}
    changed = any(inner[name] is not values[name] for name in inner)
    return replace(kernel, **inner) if changed else kernel  # type: ignore[type-var]


def gaussian_components(reward: Reward) -> list[tuple[float, ExportedGaussian]]:
    """Weights and Gaussians of the mixture, or an error if it is none."""
    found = [
        (weight, ExportedGaussian.of(one))
        for weight, one in reward.belief.components
        if isinstance(one, Posterior)
    ]
    if not found:
        name = type(reward.belief).__name__
        raise ValueError(f"a reward of {name} cannot be exported: it is no mixture of Gaussians")
    return found
