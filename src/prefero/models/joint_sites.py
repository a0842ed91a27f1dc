"""The sites of answers of every kind, which are matrices, and a sweep over them for several models.

K, N, r        models, rows of all answers, and the largest rank of a basis
basis          (K, N, r)      the differences of the rows are basis @ u, with u ~ N(0, I) a priori
S              (K, B, q, q)   precision of the sites of a group of answers, and
precision      (N, WIDTH)     the same as it is stored: row i has its answer's row of S, padded with 0
shift          (K, N)         of the sites: an answer is replaced by exp(shift d - d S d / 2)
m, V           (K, B, q)      cavity mean, and (K, B, q, q) covariance of an answer's differences
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import LinAlgError

from prefero._support.arrays import Array, Flags
from prefero.models.answer_regions import Group, Layout
from prefero.models.joint_likelihood import PASSES_PER_SWEEP, AnswerLikelihood, likelihoods
from prefero.models.likelihood import Probit
from prefero.models.linalg import regular_solutions, symmetric
from prefero.models.solution import WarmStart
from prefero.questions.answer_kinds import MOST_ITEMS

WIDTH = MOST_ITEMS - 1


def widened(start: WarmStart) -> WarmStart:
    """Sites as matrices, of rows that were answers of their own."""
    if start.precision.ndim == 2:
        return start
    wide = np.zeros((len(start.precision), WIDTH))
    wide[:, 0] = start.precision
    return WarmStart(wide, start.shift)


def stored(layout: Layout, blocks: Sequence[Array]) -> Array:
    """Sites of one model, (B, q, q) for each group, as they are stored, (N, WIDTH)."""
    precision = np.zeros((layout.rows, WIDTH))
    for group, S in zip(layout.groups, blocks, strict=True):
        precision[group.rows, : S.shape[2]] = S
    return precision


def blocks_of(layout: Layout, precision: Array) -> list[Array]:
    """The sites of every group, (B, q, q), from how they are stored."""
    return [precision[group.rows][:, :, : group.rows.shape[1]] for group in layout.groups]


def site_product(layout: Layout, precision: Array, x: Array) -> Array:
    """S @ x for x of shape (N, ...)."""
    product = np.zeros_like(x)
    for group, S in zip(layout.groups, blocks_of(layout, precision), strict=True):
        product[group.rows] = np.einsum("bij,bj...->bi...", S, x[group.rows])
    return product


@dataclass(frozen=True, eq=False)
class Block:
    """One group of answers in a sweep, under every model."""

    group: Group
    S: Array
    h: Array
    mean: Array  # posterior mean of the differences (K, B, q)
    cov: Array  # and their covariance
    m: Array
    V: Array
    at: AnswerLikelihood
    to_site: Array
    to_linear: Array

    @property
    def residual(self) -> Array:
        """The largest distance of the moments from the tilted ones, in standard deviations, (K, B)."""
        std = np.sqrt(np.maximum(np.diagonal(self.cov, axis1=2, axis2=3), 0.0))
        off = np.abs(self.to_site) * std[..., :, None] * std[..., None, :]
        drift = self.to_linear - np.einsum("kbij,kbj->kbi", self.to_site, self.mean)
        total: Array = off.sum(axis=(2, 3)) + np.sum(np.abs(drift) * std, axis=2)
        return total

    def log_sites(self) -> Array:
        """log Z of the tilted distributions relative to their sites, (K, B); see `prefero.models.ep`."""
        SV = np.eye(self.S.shape[2]) + self.S @ self.V
        right = np.stack([self.h, np.einsum("kbij,kbj->kbi", self.S, self.m)], axis=-1)
        solved = np.linalg.solve(SV, right)  # (I + S V)^-1 h and (I + S V)^-1 S m
        quadratic = 2.0 * np.sum(solved[..., 0] * self.m, axis=2) - np.sum(solved[..., 1] * self.m, axis=2)
        Vh = np.einsum("kbij,kbj->kbi", self.V, self.h)
        quadratic += np.sum(solved[..., 0] * Vh, axis=2)
        log: Array = self.at.log + 0.5 * np.linalg.slogdet(SV)[1] - 0.5 * quadratic
        return log


class Sweeps:
    """Sweeps over all answers of several models."""

    def __init__(self, bases: Array, layout: Layout, probits: Sequence[Probit], bounded: bool) -> None:
        self.bases, self.layout, self.bounded = bases, layout, bounded
        self.likelihoods = likelihoods(layout, probits, PASSES_PER_SWEEP)
        self.parts = [bases[:, group.rows] for group in layout.groups]  # (K, B, q, r)

    def of_models(self, which: Flags) -> Self:
        """The same of some models, (K,)."""
        other = copy(self)
        other.bases, other.parts = self.bases[which], [part[which] for part in self.parts]
        other.likelihoods = [likelihood.of_models(which) for likelihood in self.likelihoods]
        return other

    def precision(self, sites: Sequence[Array]) -> Array:
        """Lambda, the posterior precision of u, (K, r, r)."""
        K, rank = self.bases.shape[0], self.bases.shape[2]
        total = np.tile(np.eye(rank), (K, 1, 1))
        for part, S in zip(self.parts, sites, strict=True):
            rows = part.shape[1] * part.shape[2]  # a rank of 0 leaves nothing to tell it from
            flat = (S @ part).reshape(K, rows, rank)
            total += np.swapaxes(part.reshape(K, rows, rank), 1, 2) @ flat
        return symmetric(total)

    def blocks(self, sites: Sequence[Array], shift: Array, covariance: Array) -> list[Block]:
        """The moments of all answers, given the posterior covariance of u, and the steps of their sites."""
        u_mean = covariance @ (np.swapaxes(self.bases, 1, 2) @ shift[:, :, None])
        found = []
        for part, S, likelihood in zip(self.parts, sites, self.likelihoods, strict=True):
            mean = (part @ u_mean[:, None])[..., 0]
            cov = part @ covariance[:, None] @ np.swapaxes(part, 2, 3)
            h = shift[:, likelihood.group.rows]
            m, V = cavities(mean, cov, S, h)
            if not self.bounded and not _proper(V):
                raise LinAlgError("a cavity distribution is improper")
            at = likelihood(m, V)
            to_site, to_linear = _matched(at, m, V, self.bounded)
            found.append(Block(likelihood.group, S, h, mean, cov, m, V, at, to_site - S, to_linear - h))
        return found


def cavities(mean: Array, cov: Array, S: Array, h: Array) -> tuple[Array, Array]:
    """Mean and covariance of the differences without the answer's own site."""
    left = np.eye(S.shape[2]) - cov @ S
    right = np.concatenate([(mean - np.einsum("kbij,kbj->kbi", cov, h))[..., None], cov], axis=-1)
    solved = regular_solutions(left, right)
    return solved[..., 0], symmetric(solved[..., 1:])


def _proper(V: Array) -> bool:
    """Whether all covariances have no negative eigenvalues, up to rounding."""
    smallest = np.linalg.eigvalsh(V)[..., 0]
    return bool(np.all(smallest >= -1e-9 * (1e-300 + np.trace(V, axis1=2, axis2=3))))


def _matched(at: AnswerLikelihood, m: Array, V: Array, bounded: bool) -> tuple[Array, Array]:
    """Sites with which the moments are those of the tilted distributions."""
    H = at.curvature
    if bounded:
        values, vectors = np.linalg.eigh(H)
        H = (vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    left = np.eye(H.shape[2]) - H @ V
    shifted = at.gradient + np.einsum("kbij,kbj->kbi", H, m)
    solved = regular_solutions(left, np.concatenate([shifted[..., None], H], axis=-1))
    S = symmetric(solved[..., 1:])
    return not_negative(S) if bounded else S, solved[..., 0]


def not_negative(S: Array) -> Array:
    """Sites without negative eigenvalues, so that no cavity is improper: one would spoil all models."""
    finite = np.where(np.isfinite(S).all(axis=(-2, -1), keepdims=True), S, 0.0)
    values, vectors = np.linalg.eigh(symmetric(finite))
    if values.min(initial=0.0) >= 0.0:
        return finite
    return np.asarray((vectors * np.maximum(values, 0.0)[..., None, :]) @ np.swapaxes(vectors, -1, -2))


def joint_factor(basis: Array, layout: Layout, precision: Array) -> Array:
    """The Cholesky factor of the posterior precision of u, given stored sites."""
    Lambda = np.eye(basis.shape[1]) + basis.T @ site_product(layout, precision, basis)
    return np.asarray(np.linalg.cholesky(symmetric(Lambda)), dtype=float)


def joint_marginal_precision(basis: Array, layout: Layout, precision: Array, factor: Array) -> Array:
    """(C + S^-1)^-1 = S - S basis Lambda^-1 basis.T S, shape (N, N)."""
    root = np.linalg.solve(factor, site_product(layout, precision, basis).T)
    marginal: Array = site_product(layout, precision, np.eye(layout.rows)) - root.T @ root
    return marginal


def cavity_log_likelihood(
    layout: Layout, probit: Probit, mean: Array, covariance: Array, sites: tuple[Array, Array] | None
) -> Array:
    """The log-probability of each answer given all others, (answers,), from the moments of all rows."""
    found = np.empty(layout.n_answers)
    precision, shift = sites or (np.zeros((layout.rows, WIDTH)), np.zeros(layout.rows))
    blocks = blocks_of(layout, precision)
    for S, numbers, likelihood in zip(blocks, layout.numbers, likelihoods(layout, [probit]), strict=True):
        rows = likelihood.group.rows
        cov = covariance[rows[:, :, None], rows[:, None, :]]
        m, V = cavities(mean[rows][None], cov[None], S[None], shift[rows][None])
        found[numbers] = likelihood(m, V).log[0]
    return found
