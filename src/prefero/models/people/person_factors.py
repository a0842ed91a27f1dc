"""A person as a factor of EP: what all answers of one person say about the rewards that people share.

    A           (n, r)    of a person: the rows of the answers are d = A (w_g + w_p)
    B           (n, n)    A S_h A.T, the prior covariance of what is the person's own, A w_p
    response model        a noise and a lapse rate; every person has one, with the common prior `chances`
    m, C                  mean and covariance of A w_g without the person's own message (the cavity)
    G           (n, n)    C + B, the covariance of d without the person's own answers
    S, h                  sites of the answers under each response model
    Q, q                  (G + S^-1)^-1, and Q (S^-1 h - m): what is learned of any x is Cov[x, d] q for its
                          mean and - Cov[x, d] Q Cov[d, x] for its covariance, given a response model

Inside the factor the sites of the answers are found under each response model, by sweeps of EP over any kinds
of answers; the mixture of the response models is replaced by the Gaussian with its moments. Each time that
the factor is asked it makes one sweep, so that inner and outer sites converge together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import logsumexp

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.algebra.linalg import symmetric
from prefero.models.inference.sites import Packing
from prefero.models.likelihood.factors import Factors, Tilted, factors_of_batch
from prefero.models.likelihood.response_models import NO_TIES, Margin, ResponseModel
from prefero.models.people.batches import PeopleBatch


@dataclass(frozen=True, eq=False)
class Hyperparameters:
    """What all people have in common besides w_g.

    Args:
        shared: A root of S_g: S_g = shared @ shared.T, (r, r').
        own: S_h, (r, r).
        response_models: The careless ones come last.
        chances: The prior probability of each response model, (K,).
        margin: Of "about equal" and "much better".
    """

    shared: Array
    own: Array
    response_models: tuple[ResponseModel, ...]
    chances: Array
    margin: Margin = NO_TIES


@dataclass(frozen=True, eq=False)
class PeopleGiven:
    """Of the people of a batch, given the answers of all: `weights` (P, K), `Q` (K, P, n, n), `q` (K, P, n).

    `cavities` are those of the answers, batch by batch, under the response models of people who attend.
    """

    weights: Array
    Q: Array
    q: Array
    cavities: list[tuple[Array, Array]]


class PersonFactors:
    """The people of a batch as factors on the rows A w_g."""

    def __init__(self, batch: PeopleBatch, hyper: Hyperparameters) -> None:
        self.batch, self.moved = batch, np.zeros(1)
        self.attentive = [hyper.margin.probit(one) for one in hyper.response_models if not one.is_careless]
        self.factors: list[Factors] = [factors_of_batch(one.batch, self.attentive) for one in batch.answers]
        self.packing = Packing([one.places for one in batch.answers], batch.A.shape[1])
        ties = int(hyper.margin.size > 0)
        chance = [np.where(one.given, np.log(one.batch.answers[:, ties]), 0.0) for one in batch.answers]
        people = len(batch.people)
        self.at_random = -np.sum([one.reshape(people, -1).sum(axis=1) for one in chance], axis=0)
        self.flat = np.zeros((len(self.attentive) * people, self.packing.size))
        self.given: PeopleGiven | None = None
        self.use(hyper)

    def of_models(self, which: Flags) -> Self:  # noqa: ARG002
        """Itself: there is one model of the group."""
        return self

    def use(self, hyper: Hyperparameters) -> None:
        """Go on with other hyper-parameters of the same response models."""
        self.hyper = hyper
        self.B = sandwich(self.batch.A, hyper.own)
        places = np.arange(self.B.shape[-1])
        self.B[:, places, places] += self.batch.extra

    def tilted(self, m: Array, V: Array) -> Tilted:
        """A sweep over the answers of everybody under each response model, and what these say together."""
        log_z, at = self._sweep(m[0], V[0] + self.B)
        careless = len(self.hyper.response_models) - len(self.attentive)
        log_z = np.concatenate([log_z, np.tile(self.at_random, (careless, 1))])
        joint = log_z.T + np.log(self.hyper.chances)
        total = logsumexp(joint, axis=1)
        weights = np.exp(joint - total[:, None])
        nothing = [(0, careless)] + [(0, 0)] * 3
        Q, q = np.pad(at.Q, nothing), np.pad(at.q, nothing[:3])
        self.given = PeopleGiven(weights, Q, q, at.cavities)
        mean = np.einsum("pk,kpi->pi", weights, q)
        around = q - mean
        curvature = np.einsum("pk,kpij->pij", weights, Q)
        curvature -= np.einsum("pk,kpi,kpj->pij", weights, around, around, optimize=True)
        return Tilted(total[None], mean[None], curvature[None])

    def _sweep(self, m: Array, G: Array) -> tuple[Array, "_Moments"]:
        """The log-probability of each person's answers under each response model, (K, P), and the moments."""
        people, K = len(m), len(self.attentive)
        at = _Moments.of(self.packing, self.flat, m, G, K)
        log_z = at.log_z.copy()
        bounded, steps, self.moved = np.ones(K, dtype=bool), [], np.zeros(1)
        for place, answers, factors in zip(
            self.packing.places, self.batch.answers, self.factors, strict=True
        ):
            mean, cov = at.of_answers(answers.places)
            S, h = (_flattened(one, K, people) for one in place.of(self.flat))
            center, V, _ = place.algebra.cavity(mean, cov, S, h, bounded)
            tilted = _masked(factors.tilted(center, V), answers.given)
            terms = place.algebra.log_z(tilted, center, V, S, h)
            log_z += np.where(answers.given, terms, 0.0).reshape(K, people, -1).sum(axis=2)
            new_S, new_h = place.algebra.matched(tilted, center, V, bounded)
            self._note(factors, new_S - S, new_h - h, mean, cov)
            steps.append(tuple(one.reshape(K * people, -1) for one in (new_S, new_h)))
            at.cavities.append((center, V))
        self.flat = np.concatenate([step for pair in steps for step in pair], axis=1)
        return log_z, at

    def _note(self, factors: Factors, to_S: Array, to_h: Array, mean: Array, cov: Array) -> None:
        """How far the means of the rows are off, in standard deviations."""
        if mean.ndim == 2:
            off = np.abs(to_h - mean * to_S) * np.sqrt(np.maximum(cov, 0.0))
        else:
            std = np.sqrt(np.maximum(np.diagonal(cov, axis1=2, axis2=3), 0.0))
            off = np.abs(to_h - times(to_S, mean)) * std
        largest = max(float(off.max(initial=0.0)), float(np.max(factors.moved, initial=0.0)))
        self.moved = np.maximum(self.moved, largest)

    def left_out(self) -> list[tuple[Indices, Array]]:
        """Of each batch: numbers of the answers, and 1 / the probability of each given all others.

        It is an expectation over the response models.
        """
        assert self.given is not None
        ties, found = int(self.hyper.margin.size > 0), []
        careless = self.given.weights[:, len(self.attentive) :].sum(axis=1)
        for answers, factors, cavity in zip(
            self.batch.answers, self.factors, self.given.cavities, strict=True
        ):
            shape = answers.numbers.shape
            inverse = np.exp(-factors.tilted(*cavity).log).reshape(len(self.attentive), *shape)
            total = np.einsum("pk,kpb->pb", self.given.weights[:, : len(self.attentive)], inverse)
            total += careless[:, None] * answers.batch.answers[:, ties].reshape(shape)
            known = answers.numbers >= 0
            found.append((answers.numbers[known], total[known]))
        return found


@dataclass(frozen=True, eq=False)
class _Moments:
    """Of the rows of each person under each response model, given the sites: (K, P, n), and with another n.

    `log_z` (K, P) has the terms of the evidence that do not belong to one answer.
    """

    G: Array
    Q: Array
    q: Array
    mean: Array
    log_z: Array
    cavities: list[tuple[Array, Array]]

    @classmethod
    def of(cls, packing: Packing, flat: Array, m: Array, G: Array, K: int) -> "_Moments":
        people, n = m.shape
        h = packing.shift(flat).reshape(K, people, n)
        if packing.is_plain:
            tau = flat[:, :n].reshape(K, people, n)
            root, Sm = np.sqrt(tau), tau * m
            inner = root[..., :, None] * G * root[..., None, :]
            inner[..., np.arange(n), np.arange(n)] += 1.0
            Q = root[..., :, None] * np.linalg.inv(inner) * root[..., None, :]
        else:
            roots, S = _roots(packing, flat, n)
            roots, S = roots.reshape(K, people, n, n), S.reshape(K, people, n, n)
            inner, Sm = np.eye(n) + roots @ G @ roots, times(S, m)
            Q = roots @ np.linalg.inv(inner) @ roots
        s = h - Sm
        q = s - times(Q, times(G, s))
        mean = m + times(G, q)
        log_z = np.sum(h * m - 0.5 * Sm * m + 0.5 * s * (mean - m), axis=2)
        log_z -= 0.5 * np.linalg.slogdet(inner)[1]
        return cls(G, Q, q, mean, log_z, [])

    def of_answers(self, places: Indices) -> tuple[Array, Array]:
        """Mean and (co)variance of the rows of answers, (K, P b) or with q: (K, P b, q) and another q."""
        K, _, n = self.mean.shape
        if places.shape[1] == 1:
            own = places[:, 0]
            G = self.G if len(own) == n else self.G[:, own]
            variance = self.G[:, own, own] - np.einsum("kpij,pij->kpi", G @ self.Q, G)
            return self.mean[..., own].reshape(K, -1), variance.reshape(K, -1)
        covariance = self.G - self.G @ self.Q @ self.G
        own_rows = covariance[..., places[:, :, None], places[:, None, :]]
        q = places.shape[1]
        return self.mean[..., places].reshape(K, -1, q), symmetric(own_rows.reshape(K, -1, q, q))


def _roots(packing: Packing, flat: Array, n: int) -> tuple[Array, Array]:
    """Symmetric roots of the precisions of all rows of a person, (K P, n, n), and the precisions."""
    roots, S = np.zeros((len(flat), n, n)), np.zeros((len(flat), n, n))
    for place in packing.places:
        own, rows = place.of(flat)[0], place.rows
        if place.is_number:
            at = rows[:, 0]
            S[:, at, at], roots[:, at, at] = own, np.sqrt(own)
            continue
        values, vectors = np.linalg.eigh(own)
        scaled = vectors * np.sqrt(np.maximum(values, 0.0))[..., None, :]
        S[:, rows[:, :, None], rows[:, None, :]] = own
        roots[:, rows[:, :, None], rows[:, None, :]] = scaled @ np.swapaxes(vectors, -1, -2)
    return roots, S


def _flattened(sites: Array, K: int, people: int) -> Array:
    """Sites of models and people, (K P, b, ...), as those of models and answers, (K, P b, ...)."""
    return sites.reshape(K, people * sites.shape[1], *sites.shape[2:])


def _masked(at: Tilted, given: Flags) -> Tilted:
    """Missing answers say nothing."""
    if given.all():
        return at
    return Tilted(*(np.where(given.reshape(1, -1, *[1] * (one.ndim - 2)), one, 0.0) for one in at))


def sandwich(A: Array, S: Array) -> Array:
    """A S A.T of every person, (P, n, n)."""
    flat = A.reshape(-1, A.shape[-1]) @ S
    return flat.reshape(A.shape) @ np.swapaxes(A, 1, 2)


def times(matrix: Array, vector: Array) -> Array:
    """Products of many matrices with vectors."""
    return np.asarray((matrix @ vector[..., None])[..., 0])


def factors_of_people(batches: Sequence[PeopleBatch], hyper: Hyperparameters) -> list[PersonFactors]:
    """The factors of all people."""
    return [PersonFactors(batch, hyper) for batch in batches]
