"""A kernel for items that come again: each has an effect of its own, which its features do not explain."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import AnyArray, Array, like, namespace_of
from prefero.kernels.base import Term
from prefero.kernels.polynomial import Parameterless


@dataclass(frozen=True)
class ItemEffects(Parameterless):
    """1 for an item and itself, 0 for different items, and for whatever is not one of the items.

    Add it to a kernel of features where few items are compared again and again: dishes, or the policies'
    names. It says nothing about items that nobody has judged.

    Args:
        items: The features of each item, (I, d).
    """

    items: tuple[tuple[float, ...], ...]

    def __post_init__(self) -> None:  # a file has lists in place of tuples
        object.__setattr__(self, "items", tuple(tuple(float(v) for v in item) for item in self.items))

    def __call__(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return self._which(x) @ self._which(y).T

    def terms(self, x: AnyArray) -> list[Term]:
        return [Term(self._which(x), self._which(x))]

    def rowwise(self, x: AnyArray, y: AnyArray) -> AnyArray:
        return namespace_of(x).sum(self._which(x) * self._which(y), axis=-1)

    def input_gradient(self, x: Array, y: Array) -> Array:
        """Zero: an effect ends where the item ends."""
        return np.zeros((len(x), *y.shape))

    def _which(self, x: AnyArray) -> AnyArray:
        """1 where a row is an item, (..., I)."""
        xp = namespace_of(x)
        same = xp.all(x[..., None, :] == like(self.items, x), axis=-1)
        return xp.where(same, like(1.0, x), like(0.0, x))
