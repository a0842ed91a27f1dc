"""A reward is known only up to a constant: kernels that pin it to 0 at an anchor."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefero._support.arrays import AnyArray, Array, like, namespace_of
from prefero.kernels.base import Kernel, MeanTerm, Term, Wrapped


@dataclass(frozen=True)
class Anchored(Wrapped):
    """A kernel whose reward is 0 at the anchor.

    Args:
        kernel: The kernel to anchor.
        anchor: The point where the reward is 0, (d,).
        mode: "subtract" is the prior of f(x) - f(anchor): every difference of rewards, and so everything that
            answers can teach, is untouched by the choice of anchor. "condition" is the paper's kernel, the
            prior of f given f(anchor) = 0, which trusts the reward near the anchor to be small.
    """

    anchor: tuple[float, ...]
    mode: Literal["subtract", "condition"] = "subtract"

    def __post_init__(self) -> None:
        anchor = np.asarray(self.anchor, dtype=float)
        if anchor.ndim != 1 or anchor.size == 0 or not np.all(np.isfinite(anchor)):
            raise ValueError(f"the anchor must be the features of one point, but is {self.anchor!r}")
        object.__setattr__(self, "anchor", tuple(anchor.tolist()))
        if self.mode not in ("subtract", "condition"):
            raise ValueError(f"mode must be 'subtract' or 'condition', but is {self.mode!r}")
        if self.mode == "condition" and self._variance_at_anchor <= 0:
            raise ValueError(
                "this kernel's reward is already 0 at the anchor, so it cannot be conditioned there: "
                "use mode='subtract'"
            )

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance, with_x, with_y = self.kernel(x, y), self._with_anchor(x), self._with_anchor(y)
        if self.mode == "condition":
            covariance -= with_x[:, None] * with_y[None, :] / self._variance_at_anchor
        else:
            covariance -= with_x[:, None]
            covariance += (self._variance_at_anchor - with_y)[None, :]
        return covariance

    def terms(self, x: AnyArray) -> list[Term] | None:
        inner, with_anchor = self.kernel.terms(x), self._with_anchor(x)[:, None]
        if inner is None:
            return None
        variance, ones = self._variance_at_anchor, namespace_of(x).ones_like(with_anchor)
        if self.mode == "condition":
            return [*inner, Term(with_anchor, with_anchor, scale=-1.0 / variance)]
        return [*inner, Term(ones, 0.5 * variance - with_anchor), Term(0.5 * variance - with_anchor, ones)]

    def diagonal(self, x: AnyArray) -> AnyArray:
        variance, with_x = self.kernel.diagonal(x), self._with_anchor(x)
        if self.mode == "condition":
            return variance - with_x * with_x / self._variance_at_anchor
        return variance - 2.0 * with_x + self._variance_at_anchor

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        covariance, anchor = self.kernel.rowwise, like(self.anchor, x)[None, :]
        with_x, with_y, alone = covariance(x, anchor), covariance(anchor, y), covariance(anchor, anchor)
        if self.mode == "condition":
            return covariance(x, y) - with_x * with_y / alone
        return covariance(x, y) - with_x - with_y + alone

    def expand(self, points: Array, coefficients: Array) -> tuple[list[MeanTerm], float]:
        anchor, with_points = np.asarray(self.anchor)[None], self._with_anchor(points)
        if self.mode == "condition":
            weight, shift = float(coefficients @ with_points) / self._variance_at_anchor, 0.0
        else:
            weight = float(coefficients.sum())
            shift = float(coefficients @ (self._variance_at_anchor - with_points))
        (terms, a), (at_anchor, b) = (
            self.kernel.expand(*some) for some in ((points, coefficients), (anchor, np.array([-weight])))
        )
        return terms + at_anchor, a + b + shift

    def gradient(self, x: Array, y: Array, weights: Array) -> Array:
        a, inner = np.asarray(self.anchor)[None, :], self.kernel.gradient
        if self.mode == "subtract":
            to_x, to_y, to_a = -weights.sum(1), -weights.sum(0), weights.sum()
        else:
            with_x, with_y, alone = self._with_anchor(x), self._with_anchor(y), self._variance_at_anchor
            to_x, to_y = -(weights @ with_y) / alone, -(with_x @ weights) / alone
            to_a = with_x @ weights @ with_y / alone**2
        ends = inner(x, a, to_x[:, None]) + inner(a, y, to_y[None, :]) + inner(a, a, np.full((1, 1), to_a))
        return inner(x, y, weights) + ends

    def input_gradient(self, x: Array, y: Array) -> Array:
        a = np.asarray(self.anchor)[None, :]
        weight = (
            1.0 if self.mode == "subtract" else (self._with_anchor(y) / self._variance_at_anchor)[:, None]
        )
        return self.kernel.input_gradient(x, y) - self.kernel.input_gradient(x, a) * weight

    @property
    def for_differences(self) -> Kernel:
        return self.kernel.for_differences if self.mode == "subtract" else self

    def _with_anchor(self, x: AnyArray) -> AnyArray:
        if x.shape[1] != len(self.anchor):
            raise ValueError(
                f"the anchor has {len(self.anchor)} features, but the trajectories have {x.shape[1]}"
            )
        return self.kernel(x, like(self.anchor, x)[None, :])[:, 0]

    @property
    def _variance_at_anchor(self) -> float:
        return float(self.kernel.diagonal(np.asarray(self.anchor)[None, :])[0])
