"""Judges of the model of many people: a dense Gaussian process on (features, person), and sampling."""

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Flags, Indices
from prefero.models.likelihood.response_models import ResponseModel


def dense_covariance(A: Array, people: Indices, share: float) -> Array:
    """Of the answered differences: share k + (1 - share) [same person] k, (N, N)."""
    K = A @ A.T
    covariance: Array = share * K + (1.0 - share) * K * (people[:, None] == people)
    return covariance


class Sampled:
    """Everything by weighting draws from the prior with the likelihood of the answers."""

    def __init__(
        self,
        A: Array,
        people: Indices,
        share: float,
        response_models: dict[ResponseModel, float],
        draws: int,
        seed: int = 0,
    ) -> None:
        rng = np.random.default_rng(seed)
        r, count = A.shape[1], int(people.max()) + 1
        self.group = np.sqrt(share) * rng.standard_normal((draws, r))
        own = np.sqrt(1.0 - share) * rng.standard_normal((draws, count, r))
        self.persons = self.group[:, None, :] + own
        self.each = self._likelihoods(A, people, response_models, count)  # (draws, count, K)
        chances = np.array(list(response_models.values()))
        by_person = self.each @ chances
        weights = by_person.prod(axis=1)
        self.log_evidence = float(np.log(weights.mean()))
        self.weights = weights / weights.sum()
        given = self.each * chances / by_person[..., None]
        self.response_models = np.einsum("s,spk->pk", self.weights, given)

    def _likelihoods(
        self, A: Array, people: Indices, response_models: dict[ResponseModel, float], count: int
    ) -> Array:
        found = np.ones((len(self.persons), count, len(response_models)))
        for row, person in zip(A, people, strict=True):
            d = self.persons[:, person] @ row
            for k, response in enumerate(response_models):
                chance = ndtr(d / (np.sqrt(2.0) * response.noise))
                found[:, person, k] *= (1.0 - response.lapse) * chance + 0.5 * response.lapse
        return found

    @property
    def group_mean(self) -> Array:
        """E[w_g], (r,)."""
        mean: Array = self.weights @ self.group
        return mean

    def person_mean(self, person: int) -> Array:
        """E[w_g + w_p], (r,)."""
        mean: Array = self.weights @ self.persons[:, person]
        return mean

    def person_variance(self, person: int) -> Array:
        """Var[w_g + w_p], (r,)."""
        variance: Array = self.weights @ (self.persons[:, person] - self.person_mean(person)) ** 2
        return variance


def answers_of_people(
    people: int, each: int, items: int, features: int, seed: int, share: float = 0.5, noise: float = 0.1
) -> tuple[Array, Indices, Indices]:
    """Items, pairs with the winner first, and who answered, of people with linear rewards."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((items, features))
    weights = np.sqrt(share) * rng.standard_normal(features)
    weights = weights + np.sqrt(1.0 - share) * rng.standard_normal((people, features))
    who = np.repeat(np.arange(people), each)
    pairs = np.array([rng.choice(items, 2, replace=False) for _ in who])
    gap = np.sum((x[pairs[:, 0]] - x[pairs[:, 1]]) * weights[who], axis=1) / np.sqrt(features)
    won = gap + np.sqrt(2.0) * noise * rng.standard_normal(len(who)) > 0
    return x, np.where(won[:, None], pairs, pairs[:, ::-1]), who


def no_ties(answers: Array) -> Flags:
    """That none of these answers was "about equal"."""
    return np.zeros(len(answers), dtype=bool)
