"""Group information: what one person's answer tells about the reward that all people share.

    d_p        the difference of the person's rewards, which decides the answer: d_p = d_g + own difference
    d_g        the difference of the group's reward
    explained  Cov[d_p, d_g]^2 / Var[d_g]: the variance of d_p that is known once d_g is
    scale^2    2 noise^2 + Var[d_p] - explained: all that disturbs the answer as a sign of d_g

The information is I(answer; d_g) = h(P) - E[h(P given d_g)] in bits, averaged over candidates and over the
person's response models. A person who is probably careless, or whose taste is far from the others', tells
little of it.
"""

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices, one_thread
from prefero.acquisition.base import Scorer
from prefero.acquisition.entropy import entropy_terms, two_answers
from prefero.models.likelihood.probit import lapsing
from prefero.models.likelihood.response_models import ResponseModel
from prefero.models.people.posterior import PeoplePosterior


class GroupScorer(Scorer):
    """Scores pairs by what a person's answers tell about the reward that all share.

    Args:
        people: The posterior over everybody's rewards.
        person: Who is asked; perhaps somebody new.
        x: The trajectories, as features, (M, d).
    """

    unit = "bits"

    def __init__(self, people: PeoplePosterior, person: str, x: Array) -> None:
        self.people, self.person, self.x = people, person, x

    def scores(self, items: Indices) -> Array:
        """Bits about the group's reward."""
        return group_information(self.people, self.person, self.x, items)


@one_thread
def group_information(people: PeoplePosterior, person: str, x: Array, pairs: Indices) -> Array:
    """The bits that the person's answer to each pair, (T, 2), tells about the group's reward, (T,)."""
    probability, within = np.zeros(len(pairs)), np.zeros(len(pairs))
    for fit in people.fits:
        phi = fit.basis(x)
        A, weights = phi[pairs[:, 0]] - phi[pairs[:, 1]], people.weights_of(fit, person)
        moments = weights.with_group(A, fit.ep.hyper.own)
        for k, (response, chance) in enumerate(
            zip(fit.ep.hyper.response_models, weights.weights, strict=True)
        ):
            p, h = _answer(response, *(moment[k] for moment in moments))
            probability += fit.weight * chance * p
            within += fit.weight * chance * h
    entropy = entropy_terms(probability) + entropy_terms(1.0 - probability)
    return np.asarray(np.maximum(entropy - within, 0.0))


def _answer(response: ResponseModel, mean: Array, variance: Array, explained: Array) -> tuple[Array, Array]:
    """P(first preferred), and the entropy of the answer once d_g is known, in expectation."""
    if response.is_careless:
        return np.full(len(mean), 0.5), np.ones(len(mean))
    scale = np.sqrt(2.0 * response.noise**2 + np.maximum(variance - explained, 0.0))
    M, V = mean / scale, explained / scale**2
    chosen: Array = lapsing(ndtr(M / np.sqrt(1.0 + V)), response.lapse)
    return chosen, two_answers(response.lapse).expectation(M, V)
