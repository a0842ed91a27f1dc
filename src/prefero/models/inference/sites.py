"""EP's sites: an answer is replaced by exp(h d - d S d / 2), with d the differences that it is about.

    K, N, B, q     models, rows of all answers, answers of a batch, and rows of each of these
    S, h           precision and shift of a batch's sites: (K, B) numbers where q = 1, otherwise (K, B, q, q)
                   and (K, B, q)
    flat           (K, D)   the sites of all batches in one array, which is what iterations work with
    mean, cov      posterior moments of the rows, of the shapes of h and S
    m, V           the same without the answer's own site: the cavity distribution

Both algebras are the same formulas, GPML section 3.6. Numbers divide where matrices solve, which takes about
a thirtieth of the time.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol, Self

import numpy as np

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.algebra.linalg import regular_solutions, symmetric
from prefero.models.likelihood.factors import Tilted
from prefero.models.likelihood.regions import Layout

TINY = np.finfo(float).tiny
PROPER = 1e-10  # the least that may remain of a difference's precision without its own site


class Algebra(Protocol):
    """What EP does with the sites of a batch of answers."""

    def cavity(
        self, mean: Array, cov: Array, S: Array, h: Array, bounded: Flags
    ) -> tuple[Array, Array, Flags]:
        """The cavity distributions, and of which models one is improper, (K,); these get another one."""

    def matched(self, at: Tilted, m: Array, V: Array, bounded: Flags) -> tuple[Array, Array]:
        """Sites whose moments are those of the tilted distributions.

        Where a model is `bounded`, (K,), precisions have no negative eigenvalue; a site at the bound matches
        the mean alone.
        """

    def residual(self, to_S: Array, to_h: Array, mean: Array, cov: Array) -> Array:
        """How far the moments are from the tilted ones, in standard deviations, (K, B)."""

    def log_z(self, at: Tilted, m: Array, V: Array, S: Array, h: Array) -> Array:
        """log Z of the tilted distributions relative to their sites (GPML 3.65), (K, B).

        The terms of the cavities are combined so that none of them overflows.
        """

    def projected(self, S: Array, bounded: Flags) -> Array:
        """Precisions without negative eigenvalues, where a model is bounded."""


class Numbers:
    """Sites of answers with one row."""

    def cavity(
        self, mean: Array, cov: Array, S: Array, h: Array, bounded: Flags
    ) -> tuple[Array, Array, Flags]:
        rest = 1.0 - S * cov
        least = TINY if bounded.all() else np.where(bounded, TINY, PROPER)
        # what is not a number is improper too
        improper = ~((rest.min(axis=1, initial=1.0) >= least) & (cov.min(axis=1, initial=1.0) >= 0.0))
        if improper.any():
            rest, cov = np.fmax(rest, PROPER), np.fmax(cov, 0.0)
            mean, h = np.nan_to_num(mean), np.nan_to_num(h)
        return (mean - h * cov) / rest, cov / rest, improper

    def matched(self, at: Tilted, m: Array, V: Array, bounded: Flags) -> tuple[Array, Array]:
        curvature = self.projected(at.curvature, bounded)
        left_over = 1.0 - V * curvature
        return curvature / left_over, (at.gradient + m * curvature) / left_over

    def residual(self, to_S: Array, to_h: Array, mean: Array, cov: Array) -> Array:
        return np.asarray(np.abs(to_S) * cov + np.abs(to_h - mean * to_S) * np.sqrt(np.maximum(cov, 0.0)))

    def log_z(self, at: Tilted, m: Array, V: Array, S: Array, h: Array) -> Array:
        together = 1.0 + S * V
        sites = 0.5 * np.log(together) - 0.5 * (2.0 * m * h + h**2 * V - S * m**2) / together
        return np.asarray(at.log + sites)

    def projected(self, S: Array, bounded: Flags) -> Array:
        return np.maximum(S, 0.0 if bounded.all() else np.where(bounded, 0.0, -np.inf)[:, None])


class Matrices:
    """Sites of answers with several rows."""

    def cavity(
        self, mean: Array, cov: Array, S: Array, h: Array, bounded: Flags
    ) -> tuple[Array, Array, Flags]:
        left, one = np.eye(S.shape[2]) - cov @ S, np.eye(S.shape[2])
        right = np.concatenate([(mean - _times(cov, h))[..., None], cov], axis=-1)
        solved = regular_solutions(left, right, otherwise=np.nan)
        m, V = solved[..., 0], symmetric(solved[..., 1:])
        improper: Flags = ~np.all(np.isfinite(solved), axis=(1, 2, 3))
        if not bounded.all():
            V = np.where(improper[:, None, None, None], one, V)
            smallest, size = np.linalg.eigvalsh(V)[..., 0], np.trace(V, axis1=2, axis2=3)
            improper |= ~bounded & np.any(smallest < -1e-9 * (1e-300 + size), axis=1)
        if improper.any():  # a distribution that harms no other model
            m, V = np.where(improper[:, None, None], 0.0, m), np.where(improper[:, None, None, None], one, V)
        return m, self.projected(V, bounded), improper

    def matched(self, at: Tilted, m: Array, V: Array, bounded: Flags) -> tuple[Array, Array]:
        H = self.projected(at.curvature, bounded)
        left = np.eye(H.shape[2]) - H @ V
        shifted = at.gradient + _times(H, m)
        solved = regular_solutions(left, np.concatenate([shifted[..., None], H], axis=-1))
        return self.projected(symmetric(solved[..., 1:]), bounded), solved[..., 0]

    def residual(self, to_S: Array, to_h: Array, mean: Array, cov: Array) -> Array:
        std = np.sqrt(np.maximum(np.diagonal(cov, axis1=2, axis2=3), 0.0))
        off = np.abs(to_S) * std[..., :, None] * std[..., None, :]
        drift = np.abs(to_h - _times(to_S, mean)) * std
        return np.asarray(off.sum(axis=(2, 3)) + drift.sum(axis=2))

    def log_z(self, at: Tilted, m: Array, V: Array, S: Array, h: Array) -> Array:
        SV = np.eye(S.shape[2]) + S @ V
        solved = np.linalg.solve(SV, np.stack([h, _times(S, m)], axis=-1))  # of h and S m
        quadratic = np.sum(solved[..., 0] * (2.0 * m + _times(V, h)), axis=2)
        quadratic -= np.sum(solved[..., 1] * m, axis=2)
        return np.asarray(at.log + 0.5 * np.linalg.slogdet(SV)[1] - 0.5 * quadratic)

    def projected(self, S: Array, bounded: Flags) -> Array:
        if not bounded.any():
            return S
        finite = np.where(np.isfinite(S).all(axis=(-2, -1), keepdims=True), S, 0.0)
        if _is_semidefinite(finite[bounded]):
            return finite
        values, vectors = np.linalg.eigh(symmetric(finite))
        values = np.where(bounded[:, None, None], np.maximum(values, 0.0), values)
        return np.asarray((vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def _is_semidefinite(S: Array) -> bool:
    """Whether no matrix has a negative eigenvalue, up to rounding; a Cholesky factor tells it the soonest."""
    rounding = 1e-12 * np.trace(S, axis1=-2, axis2=-1) + 1e-300
    try:
        np.linalg.cholesky(S + rounding[..., None, None] * np.eye(S.shape[-1]))
    except np.linalg.LinAlgError:
        return False
    return True


NUMBERS, MATRICES = Numbers(), Matrices()


def _times(matrices: Array, vectors: Array) -> Array:
    """Products of many small matrices with vectors."""
    return np.asarray((matrices @ vectors[..., None])[..., 0])


class Place(NamedTuple):
    """The sites of a batch of answers in a flat array.

    Args:
        precision: Where their precisions are.
        shift: Where their shifts are.
        rows: The rows of the latent that each answer is about, (B, q).
        is_number: Whether a site is a number instead of a matrix.
    """

    precision: slice
    shift: slice
    rows: Indices
    is_number: bool

    @property
    def algebra(self) -> Algebra:
        """Of these sites."""
        return NUMBERS if self.is_number else MATRICES

    def of(self, flat: Array) -> tuple[Array, Array]:
        """S and h of the batch."""
        answers, q = self.rows.shape
        if self.is_number:
            return flat[:, self.precision], flat[:, self.shift]
        models = len(flat)
        return (
            flat[:, self.precision].reshape(models, answers, q, q),
            flat[:, self.shift].reshape(models, answers, q),
        )


class Packing:
    """The sites of all batches of answers in one flat array.

    Sites of answers with one row are numbers, unless all are to be matrices. Stored precisions are (N,) where
    all sites are numbers. Otherwise they are (N, width): row i has its answer's row of S, padded with 0.
    """

    def __init__(self, batches: Sequence[Indices], rows: int, numbers: bool = True) -> None:
        self.rows, self.places, end = rows, [], 0
        for own in batches:
            middle, last = end + own.size * own.shape[1], end + own.size * (own.shape[1] + 1)
            is_number = numbers and own.shape[1] == 1
            self.places.append(Place(slice(end, middle), slice(middle, last), own, is_number))
            end = middle + own.size
        self.size = end
        self.width = max((own.shape[1] for own in batches), default=1)
        self.is_plain = numbers and self.width == 1  # so that sites are stored as they are

    @classmethod
    def of(cls, layout: Layout) -> Self:
        """For the answers of a layout."""
        return cls([batch.rows for batch in layout.batches], layout.rows)

    def flat(self, precision: Array, shift: Array) -> Array:
        """The stored sites of one model, (D,)."""
        if self.is_plain:
            return np.concatenate([precision if precision.ndim == 1 else precision[:, 0], shift])
        found, wide = np.empty(self.size), precision if precision.ndim == 2 else precision[:, None]
        for place in self.places:
            q = place.rows.shape[1]
            S = wide[place.rows][:, :, :q]
            S = np.pad(S, ((0, 0), (0, 0), (0, q - S.shape[2])))
            found[place.precision], found[place.shift] = S.ravel(), shift[place.rows].ravel()
        return found

    def stored(self, flat: Array) -> tuple[Array, Array]:
        """The sites of one model, (D,), as they are stored."""
        shift = self.shift(flat[None])[0]
        if self.is_plain:
            return flat[: self.rows], shift
        precision = np.zeros((self.rows, self.width))
        for place in self.places:
            S, q = place.of(flat[None])[0], place.rows.shape[1]
            precision[place.rows, :q] = S.reshape(*place.rows.shape, q)
        return precision, shift

    def shift(self, flat: Array) -> Array:
        """The shifts of all rows, (K, N)."""
        if self.is_plain:
            return flat[:, self.rows :]
        shift = np.zeros((len(flat), self.rows))
        for place in self.places:
            shift[:, place.rows] = flat[:, place.shift].reshape(len(flat), *place.rows.shape)
        return shift

    def join(self, sites: Sequence[tuple[Array, Array]]) -> Array:
        """A flat array of S and h of every batch."""
        models = len(sites[0][1])
        return np.concatenate([one.reshape(models, -1) for pair in sites for one in pair], axis=1)

    def units(self, scale: Array) -> Array:
        """What makes precisions as large as shifts: the noise, (K, D)."""
        units = np.ones((len(scale), self.size))
        for place in self.places:
            units[:, place.precision] = scale[:, None]
        return units


def site_product(layout: Layout, precision: Array, x: Array) -> Array:
    """S @ x for stored sites and x of shape (N, ...)."""
    if precision.ndim == 1:
        return np.asarray(precision.reshape(-1, *[1] * (x.ndim - 1)) * x)
    product = np.zeros_like(x)
    for batch in layout.batches:
        S = precision[batch.rows][:, :, : batch.rows.shape[1]]
        product[batch.rows] = np.einsum("bij,bj...->bi...", S, x[batch.rows])
    return product
