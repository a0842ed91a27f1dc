"""The latent Gaussian of EP: the rows of all answers are basis @ u, with u ~ N(0, I) a priori.

    K, N, r      models, rows of all answers, and the largest rank of a basis
    basis        (N, r) of one model, a matrix or a `TallMatrix`; or (K, N, r) of several, whose columns
                 beyond a model's rank are 0, and change nothing
    Lambda       (r, r)   I + basis.T S basis, the posterior precision of u; `factor` is its Cholesky factor

It is written for u instead of the differences: no term is a difference of large numbers, however small the
noise.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.models.algebra.linalg import (
    cholesky_factor,
    posterior_mean,
    precision_factor,
    regular_solutions,
    stacked,
    symmetric,
    triangular_inverse,
)
from prefero.models.algebra.tall_matrix import TallMatrix
from prefero.models.inference.sites import Packing

Moments = list[tuple[Array, Array]]  # mean and (co)variance of the rows of each batch of answers


@dataclass(frozen=True, eq=False)
class Center:
    """The posterior of u in one model: mean (r,), factor of its precision (r, r), and means of the rows."""

    u_mean: Array
    factor: Array
    mean: Array

    def log_z(self, shift: Array) -> float:
        """The terms of EP's log evidence that are not of one answer."""
        return 0.5 * float(shift @ self.mean) - float(np.sum(np.log(self.factor.diagonal())))


class Latent(Protocol):
    """What EP needs of the latent Gaussian of several models."""

    packing: Packing

    def moments(self, flat: Array) -> Moments:
        """Posterior moments of the rows of every batch of answers, given flat sites, (K, D)."""

    def center(self, model: int, flat: Array) -> Center:
        """The posterior of one model, given its flat sites, (D,)."""

    def of_models(self, which: Flags) -> Self:
        """Some of the models."""


class Single:
    """One model, of any number of answers."""

    def __init__(self, basis: Array | TallMatrix, packing: Packing) -> None:
        self.basis, self.packing = basis, packing
        self._last = np.empty(0), np.empty((0, 0))  # flat sites, and the factor of Lambda with them

    def moments(self, flat: Array) -> Moments:
        self._last = flat[0], self._new_factor(flat[0])
        shift, inverse = self.packing.shift(flat)[0], triangular_inverse(self._last[1])
        mean = self.basis @ (inverse.T @ (inverse @ (self.basis.T @ shift)))
        if isinstance(self.basis, TallMatrix):
            return [(mean[None], self.basis.squared_norms(inverse)[None])]
        root = self.basis @ inverse.T
        if self.packing.is_plain:
            return [(mean[None], np.sum(root**2, axis=1)[None])]
        return list(self._of_batches(mean, root))

    def _of_batches(self, mean: Array, root: Array) -> Iterator[tuple[Array, Array]]:
        for place in self.packing.places:
            rows, own = place.rows, root[place.rows]
            if place.is_number:
                yield mean[None, rows[:, 0]], np.sum(own[:, 0] ** 2, axis=1)[None]
            else:
                yield mean[None, rows], (own @ np.swapaxes(own, 1, 2))[None]

    def _factor(self, flat: Array) -> Array:
        if not np.array_equal(self._last[0], flat):
            self._last = flat, self._new_factor(flat)
        return self._last[1]

    def _new_factor(self, flat: Array) -> Array:
        if self.packing.is_plain:
            return precision_factor(self.basis, flat[: self.packing.rows])
        assert isinstance(self.basis, np.ndarray)
        return cholesky_factor(posterior_precision(self.basis[None], self.packing, flat[None])[0])

    def center(self, model: int, flat: Array) -> Center:  # noqa: ARG002
        factor, shift = self._factor(flat), self.packing.shift(flat[None])[0]
        u_mean = posterior_mean(self.basis, factor, shift)
        return Center(u_mean, factor, self.basis @ u_mean)

    def of_models(self, which: Flags) -> Self:  # noqa: ARG002
        return self


class Stack:
    """Several models of the same answers, of which there are not many: a sweep of one is mostly overhead."""

    def __init__(self, bases: Sequence[Array], packing: Packing) -> None:
        self.bases, self.packing = stacked(bases), packing
        self.each = list(bases)

    def moments(self, flat: Array) -> Moments:
        shift, transposed = self.packing.shift(flat), np.swapaxes(self.bases, 1, 2)
        # where Lambda is singular nothing is a number, which makes this model improper, and no other
        Lambda = posterior_precision(self.bases, self.packing, flat)
        along = regular_solutions(Lambda, transposed, otherwise=np.nan)
        mean = (self.bases @ (along @ shift[:, :, None]))[:, :, 0]
        if self.packing.is_plain:
            return [(mean, np.einsum("knr,krn->kn", self.bases, along))]
        return list(self._of_batches(mean, np.swapaxes(along, 1, 2)))

    def _of_batches(self, mean: Array, along: Array) -> Iterator[tuple[Array, Array]]:
        for place in self.packing.places:
            rows, own, other = place.rows, self.bases[:, place.rows], along[:, place.rows]
            if place.is_number:
                yield mean[:, rows[:, 0]], np.einsum("kbqr,kbqr->kb", own, other)
            else:
                yield mean[:, rows], symmetric(own @ np.swapaxes(other, 2, 3))

    def center(self, model: int, flat: Array) -> Center:
        return Single(self.each[model], self.packing).center(0, flat)

    def of_models(self, which: Flags) -> Self:
        other = copy(self)
        other.bases = self.bases[which]
        other.each = [basis for basis, kept in zip(self.each, which, strict=True) if kept]
        return other


def posterior_precision(bases: Array, packing: Packing, flat: Array) -> Array:
    """Lambda of every model, (K, r, r)."""
    models, rank = len(bases), bases.shape[2]
    if packing.is_plain:
        weighted = np.swapaxes(bases, 1, 2) * flat[:, None, : packing.rows]
        return np.asarray(np.eye(rank) + weighted @ bases)
    total = np.tile(np.eye(rank), (models, 1, 1))
    for place in packing.places:
        own, S = bases[:, place.rows], place.of(flat)[0]  # (K, B, q, r)
        weighted = S[..., None, None] * own if place.is_number else S @ own
        shape = models, place.rows.size, rank
        total += np.swapaxes(own.reshape(shape), 1, 2) @ weighted.reshape(shape)
    return symmetric(total)
