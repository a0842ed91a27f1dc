"""Expectation propagation for many people, in time and memory that are linear in their number.

The reward of a person is f_p = g + h_p: what all people share, and what is the person's own. Both are sums of
the same r basis functions, with weights w_g ~ N(0, S_g) and w_p ~ N(0, S_h).

Given w_g the people are independent, so that the precision of all weights together has the shape of an arrow:
a dense matrix for w_g, and a small one for each person. So a person is one factor of EP on w_g
(`prefero.models.people.person_factors`), whose site is the person's message to the group:

    P, s        (n, n)    exp(s . A w_g - (A w_g) . P A w_g / 2)

With one response model this has the fixed points of EP on all answers at once. People with about as many
answers are computed together (a `PeopleBatch`); missing answers are rows of zeros.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.models.algebra.linalg import symmetric, triangular_inverse
from prefero.models.inference.ep import Problem
from prefero.models.inference.latent import Single
from prefero.models.inference.sites import Packing
from prefero.models.people.batches import PeopleBatch
from prefero.models.people.person_factors import Hyperparameters, PeopleGiven, factors_of_people, times
from prefero.models.people.weights import PersonWeights


class PeopleEP:
    """EP over people; `run` sweeps until nothing changes, and goes on after the hyper-parameters changed."""

    def __init__(self, batches: Sequence[PeopleBatch], hyper: Hyperparameters) -> None:
        self.batches, self.hyper = batches, hyper
        self.factors = factors_of_people(batches, hyper)
        r = hyper.shared.shape[0]
        A = np.concatenate([np.empty((0, r)), *(batch.A.reshape(-1, r) for batch in batches)])
        packing = Packing(_rows(batches), len(A), numbers=False)
        self.latent = Single(A @ hyper.shared, packing)
        self.problem = Problem(self.latent, self.factors, np.ones(1, dtype=bool), np.ones(1))
        self.flat, self.residual = np.zeros((1, packing.size)), np.inf
        self._group()

    def use(self, hyper: Hyperparameters) -> None:
        """Go on with other hyper-parameters of the same response models, of how people differ."""
        self.hyper = hyper
        for factors in self.factors:
            factors.use(hyper)

    def changed(self, **values: Array) -> None:
        """Go on with other values of some hyper-parameters."""
        self.use(replace(self.hyper, **values))  # type: ignore[arg-type]

    def _group(self) -> None:
        """The posterior of w_g: mean `mu` and covariance `V`."""
        self.center, root = self.latent.center(0, self.flat[0]), self.hyper.shared
        half = triangular_inverse(self.center.factor) @ root.T
        self.V, self.mu = half.T @ half, root @ self.center.u_mean

    def run(self, tolerance: float = 1e-4, limit: int = 100) -> int:
        """Sweep until sites and messages change by less than `tolerance`; returns the number of sweeps."""
        for sweep in range(1, limit + 1):
            self.sweep()
            if self.residual <= tolerance:
                return sweep
        return limit

    def sweep(self) -> None:
        """Update the sites and the message of every person, and then the group."""
        self.last = self.problem.sweep(self.flat)
        self.flat = self.flat + self.last.steps
        self.residual = self._moved()
        self._group()

    def _moved(self) -> float:
        """By how many standard deviations the messages have moved A w_g, and answers within people."""
        off = [float(factors.moved[0]) for factors in self.factors]
        for place, (_, C) in zip(self.latent.packing.places, self.last.cavities, strict=True):
            to_s = place.of(self.last.steps)[1][0]
            moved = np.abs(times(C[0], to_s)) / np.sqrt(1e-12 + np.einsum("pii->pi", C[0]))
            off.append(float(moved.max(initial=0.0)))
        return max(off, default=0.0)

    @property
    def log_evidence(self) -> float:
        """EP's log marginal likelihood of the answers, at a fixed point."""
        total = self.center.log_z(self.latent.packing.shift(self.flat)[0])
        for place, cavity, at in zip(
            self.latent.packing.places, self.last.cavities, self.last.tilted, strict=True
        ):
            total += float(place.algebra.log_z(at, *cavity, *place.of(self.flat)).sum())
        return total

    @property
    def given(self) -> list[PeopleGiven]:
        """Of the people of every batch, given the answers of all."""
        return [factors.given for factors in self.factors if factors.given is not None]

    @property
    def own_statistics(self) -> tuple[Array, Array]:
        """The sums over people of A.T E[q q.T] A and of A.T E[Q] A, (r, r) each.

        With E and I the means of these over people, S_h + S_h (E - I) S_h is the mean of E[w_p w_p.T], and
        S_h I S_h is by how much answers lower the covariance of w_p.
        """
        r = len(self.hyper.own)
        second, known = np.zeros((r, r)), np.zeros((r, r))
        for batch, found in zip(self.batches, self.given, strict=True):
            weights, flat = found.weights.T, batch.A.reshape(-1, r)
            squares = np.einsum("kp,kpi,kpj->pij", weights, found.q, found.q, optimize=True)
            second += flat.T @ (squares @ batch.A).reshape(-1, r)
            known += flat.T @ (np.einsum("kp,kpij->pij", weights, found.Q) @ batch.A).reshape(-1, r)
        return symmetric(second), symmetric(known)

    @property
    def response_model_weights(self) -> Array:
        """The sum over people of the probabilities of their response models, (K,)."""
        return np.asarray(np.sum([found.weights.sum(axis=0) for found in self.given], axis=0))

    def people(self) -> Iterator[tuple[int, PersonWeights]]:
        """The posterior of every person who answered: number, and w_g + w_p under each response model."""
        places = self.latent.packing.places
        for batch, own, found in zip(self.batches, places, self.given, strict=True):
            P, s = (sites[0] for sites in own.of(self.flat))
            for place, person in enumerate(batch.people.tolist()):
                yield person, self._person(batch.A[place], P[place], s[place], found, place)

    @property
    def newcomer(self) -> PersonWeights:
        """Somebody without answers."""
        K, r = len(self.hyper.response_models), len(self.mu)
        nothing = np.zeros((0, r)), self.hyper.chances, np.zeros((K, 0, 0)), np.zeros((K, 0))
        return PersonWeights(self.mu, self.V + self.hyper.own, *nothing)

    def _person(self, A: Array, P: Array, s: Array, found: PeopleGiven, place: int) -> PersonWeights:
        VA = self.V @ A.T
        C, m = A @ VA, A @ self.mu
        open_ = np.linalg.inv(np.eye(len(C)) - P @ C)
        mu = self.mu + VA @ (open_ @ (P @ m - s))
        prior = self.V + VA @ symmetric(open_ @ P) @ VA.T + self.hyper.own
        return PersonWeights(mu, prior, A, found.weights[place], found.Q[:, place], found.q[:, place])


def _rows(batches: Sequence[PeopleBatch]) -> list[Indices]:
    """The rows of A w_g that each person of each batch is about, (P, n)."""
    found, end = [], 0
    for batch in batches:
        people, n = batch.A.shape[:2]
        found.append(end + np.arange(people * n).reshape(people, n))
        end += people * n
    return found
