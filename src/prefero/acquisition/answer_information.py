"""The information in an answer about several trajectories, from draws of the posterior.

    S, Q, k, c   draws of rewards, questions, trajectories of each, and possible answers
    p            (S, Q, c)   the probability of every answer given a draw, exact (`answer_probabilities`)
    weights      (S,)        of the draws
    y, t                     the answer, and what the person truly prefers in a target question

    mutual information       I(y; reward) = H(E[p]) - E[H(p)]
    predictive information   I(y; t) = H(y) + H(t) - H(y, t), averaged over target questions
    utility                  E[max of the rewards shown], the expected utility of the best option

All expectations are means over the same draws, so their error is that of Monte Carlo alone, and the draws say
how large it is. A value is a function of means over draws; to first order it changes with draw s by phi_s, so
that its standard error is the root of sum_s weights_s^2 (phi_s - value)^2, where

    mutual information       phi = sum_y p log2(p / E[p])
    predictive information   phi = sum_y p log2(P(y, t) / (P(y) P(t))), with the t of the draw

To second order the entropy of probabilities that are means is too small by sum Var[P] / (2 P ln 2), which
`estimate` adds. The draws are divided among the components of a mixture in proportion, which makes the error
a little smaller than is stated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.best_information import BestInformation
from prefero.acquisition.exchange_search import features_of, generator
from prefero.acquisition.expected_utility import ExpectedUtility
from prefero.acquisition.knowledge_gradient import KnowledgeGradient
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.predictive_information import PredictiveInformation
from prefero.acquisition.targets import draw_targets
from prefero.acquisition.thompson import ThompsonDuel
from prefero.models.answer_probabilities import People, answer_probabilities
from prefero.models.draws import Draws, draw_rewards
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, choices_of, form_of, items_of

PRECISE = {"pair": 2000, "strength": 2000, "best": 2000, "worst": 2000, "rank": 300}  # draws, by form
CHUNK = 100_000  # questions times draws times possible answers that are worked on at once
LN_2 = float(np.log(2.0))
INFORMATION = (MutualInformation, PredictiveInformation)
UTILITY = (ExpectedUtility, BestInformation, KnowledgeGradient, ThompsonDuel)


def scores_answers(acquisition: AnyAcquisitionFunction) -> bool:
    """Whether the value of a whole answer of any kind is known for it; other functions score pairs."""
    exact = getattr(acquisition, "formula", "exact") == "exact"
    return exact and type(acquisition) in (*INFORMATION, *UTILITY)


def check_scored(acquisition: AnyAcquisitionFunction, kind: Kind) -> None:
    """An error if an acquisition function cannot score questions of a kind."""
    if items_of(kind) > 2 and not scores_answers(acquisition):
        raise ValueError(
            f"{acquisition!r} scores pairs, not {kind!r}: ask for 'pair' or 'strength', or take the "
            "acquisition function 'mutual-information', 'predictive-information' or 'expected-utility'"
        )


@dataclass(frozen=True, eq=False)
class AnswerInformation:
    """Values of questions about some trajectories of a pool.

    Args:
        rewards: Of the trajectories, (S, M).
        people: How each draw answers.
        weights: Of the draws, (S,).
        preferred: Whether the first of each target question is truly better, (S, T); None without targets.
        share: Of the mutual information that is added to the predictive one.
        ties: Whether "about equal" is an answer.
        utility: Whether the value is the expected utility instead of information.
    """

    rewards: Array
    people: People
    weights: Array
    preferred: Array | None
    share: float
    ties: bool
    utility: bool = False

    @classmethod
    def of(
        cls,
        belief: Distribution,
        pool: Pool | Array,
        considered: Indices,
        acquisition: AnyAcquisitionFunction,
        draws: int,
    ) -> "AnswerInformation":
        """For these trajectories of a pool."""
        x = features_of(belief, pool)
        predictive = isinstance(acquisition, PredictiveInformation)
        points, pairs = np.empty((0, x.shape[1])), np.empty((0, 2), dtype=np.intp)
        if isinstance(acquisition, PredictiveInformation):
            targets = draw_targets(acquisition.targets, belief, pool, generator(belief, len(x)))
            points, pairs = targets.points, targets.pairs
        drawn = draw_rewards(belief, np.concatenate([x[considered], points]), draws)
        count = len(considered)
        first, second = (drawn.rewards[:, count:][:, pairs[:, side]] for side in (0, 1))
        return cls(
            drawn.rewards[:, :count],
            people_of(drawn),
            drawn.weights,
            (first > second).astype(float) if predictive else None,
            acquisition.mutual_information_share if isinstance(acquisition, PredictiveInformation) else 1.0,
            bool(np.any(drawn.margin > 0)),
            isinstance(acquisition, UTILITY),
        )

    @property
    def unit(self) -> str:
        """Of the values."""
        return "utility" if self.utility else "bits"

    def values(self, places: Indices, kind: Kind) -> Array:
        """The value of each question, (Q,); the questions are places among the trajectories, (Q, k)."""
        if self.utility:
            best: Array = self.weights @ self.rewards[:, places].max(axis=2)
            return best
        size = max(1, CHUNK // (len(self.weights) * len(choices_of(kind, self.ties))))
        chunks = [places[start : start + size] for start in range(0, len(places), size)]
        return np.concatenate([self._information(some, kind) for some in chunks])

    def estimate(self, place: Indices, kind: Kind) -> tuple[float, float]:
        """The value of one question, corrected to second order, and its Monte Carlo standard error."""
        if self.utility:
            return self._with_error(self.rewards[:, place].max(axis=1))
        p = self._probabilities(place[None], kind)[:, 0]
        marginal = self.weights @ p
        changes = self.share * np.sum(p * _log2(p / marginal), axis=1)
        bias = self.share * self._lost(p, marginal)
        if self.preferred is not None:
            about, lost = self._predictive_changes(p, marginal, self.preferred)
            changes, bias = changes + about, bias + lost
        value, error = self._with_error(changes)
        return value + bias, error

    def _with_error(self, changes: Array) -> tuple[float, float]:
        mean = float(self.weights @ changes)
        return mean, float(np.sqrt(self.weights**2 @ (changes - mean) ** 2))

    def _predictive_changes(self, p: Array, marginal: Array, preferred: Array) -> tuple[Array, float]:
        """phi of every draw, averaged over targets, (S,), and what the entropies lack together."""
        targets, changes, lost = preferred.shape[1], np.zeros(len(p)), 0.0
        for chosen in (preferred, 1.0 - preferred):
            share, joint = self.weights @ chosen, p.T @ (self.weights[:, None] * chosen)
            ratio = _log2(joint / np.maximum(marginal[:, None] * share, 1e-300))
            changes += np.sum(chosen * (p @ ratio), axis=1) / targets
            square = self.weights[:, None] ** 2 * chosen
            variance = (p**2).T @ square - 2.0 * joint * (p.T @ square) + joint**2 * np.sum(self.weights**2)
            lost += np.sum(self._lost(chosen, share)) - np.sum(_lost_bits(variance, joint))
        return changes, lost / targets + self._lost(p, marginal)

    def _lost(self, p: Array, mean: Array) -> float:
        """By how much the entropy of these means over draws is too small, in bits."""
        return float(np.sum(_lost_bits(self.weights**2 @ (p - mean) ** 2, mean)))

    def _probabilities(self, places: Indices, kind: Kind) -> Array:
        """Of every answer to every question given every draw, (S, Q, c)."""
        count, draws = len(places), len(self.weights)
        rewards = self.rewards[:, places].reshape(draws * count, -1)
        repeated = People(*(np.repeat(values, count) for values in vars(self.people).values()))
        return answer_probabilities(rewards, kind, repeated, self.ties).reshape(draws, count, -1)

    def _information(self, places: Indices, kind: Kind) -> Array:
        p = self._probabilities(places, kind)
        weighted = self.weights[:, None, None] * p
        marginal = weighted.sum(axis=0)
        about_reward = entropy(marginal) - np.sum(self.weights[:, None] * entropy(p), axis=0)
        if self.preferred is None:
            return np.asarray(self.share * about_reward)
        return np.asarray(self._predictive(weighted, marginal) + self.share * about_reward)

    def _predictive(self, weighted: Array, marginal: Array) -> Array:
        """The mean of I(y; t) over the targets."""
        assert self.preferred is not None
        draws, count, choices = weighted.shape
        true = (weighted.reshape(draws, -1).T @ self.preferred).reshape(count, choices, -1)
        joint = np.stack([true, marginal[:, :, None] - true], axis=2).reshape(count, 2 * choices, -1)
        share = self.weights @ self.preferred
        about = entropy(np.column_stack([share, 1.0 - share]))
        information = entropy(marginal)[:, None] + about - entropy(np.swapaxes(joint, 1, 2))
        return np.asarray(information.mean(axis=1))


def _log2(p: Array) -> Array:
    return np.log2(np.maximum(p, 1e-300))


def _lost_bits(variance: Array, mean: Array) -> Array:
    return variance / (2.0 * LN_2 * np.maximum(mean, 1e-300))


def entropy(p: Array) -> Array:
    """In bits, over the last axis."""
    inside = np.clip(p, 1e-300, None)
    bits: Array = -np.sum(inside * np.log2(inside), axis=-1)
    return bits


def people_of(draws: Draws) -> People:
    """How drawn people answer."""
    return People(draws.noise, draws.margin, draws.strong_margin, draws.lapse)


@one_thread
def information_of(
    belief: Distribution,
    pool: Pool | Array,
    items: Indices,
    kind: Kind,
    acquisition: AnyAcquisitionFunction,
    draws: int | None = None,
) -> Array:
    """The value of questions about a pool, (Q,); the questions are trajectory indices, (Q, k)."""
    considered, places = np.unique(items, return_inverse=True)
    count = PRECISE[form_of(kind)] if draws is None else draws
    scorer = AnswerInformation.of(belief, pool, considered, acquisition, count)
    return scorer.values(places.reshape(np.shape(items)), kind)


@one_thread
def estimated_information(
    belief: Distribution,
    pool: Pool | Array,
    items: Sequence[int],
    kind: Kind,
    acquisition: AnyAcquisitionFunction,
    draws: int | None = None,
) -> tuple[float, float]:
    """The value of one question about a pool, and its Monte Carlo standard error."""
    count = PRECISE[form_of(kind)] if draws is None else draws
    scorer = AnswerInformation.of(belief, pool, np.array(items), acquisition, count)
    return scorer.estimate(np.arange(len(items)), kind)
