"""The information in an answer of any kind, from draws of the posterior.

    S, Q, k, c   draws of rewards, questions, trajectories of each, and possible answers
    p            (S, Q, c)   the probability of every answer given a draw (`answer_probabilities`)
    weights      (S,)        of the draws
    y, t                     the answer, and what the person truly prefers in a target question

    mutual information       I(y; reward) = H(E[p]) - E[H(p)]
    predictive information   I(y; t) = H(y) + H(t) - H(y, t), averaged over target questions

All expectations are means over the same draws, so their error is that of Monte Carlo alone, and the draws say
how large it is. A value is a function of means over draws; to first order it changes with draw s by phi_s, so
that its standard error is the root of sum_s weights_s^2 (phi_s - value)^2, where

    mutual information       phi = sum_y p log2(p / E[p])
    predictive information   phi = sum_y p log2(P(y, t) / (P(y) P(t))), with the t of the draw

To second order the entropy of probabilities that are means is too small by sum Var[P] / (2 P ln 2), which
`estimate` adds. The draws are divided among the components of a mixture in proportion, which makes the error
a little smaller than is stated.

While a search looks at very many questions there are few draws, and the best of k stands for the other kinds:
the worst of k tells as much. Kinds that take longer to score, such as rankings, are scored in a shortlist.
Labels are scored in closed form (`prefero.acquisition.label_scorers`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import Scorer
from prefero.acquisition.entropy import entropy
from prefero.acquisition.scorers import places_among
from prefero.acquisition.targets import TargetQuestions
from prefero.models.likelihood.probabilities import People, answer_probabilities, takes_long
from prefero.models.posterior.bar import features_of_places, with_bar
from prefero.models.posterior.draws import Draws, draw_rewards
from prefero.models.posterior.gaussian import Distribution
from prefero.questions.answer_kinds import Kind, choices_of, default_kind, kind_named

DRAWS = 2000
DRAWS_OF_SLOW = 300  # for kinds of answers that take long to score
SEARCHING = 120  # draws
SEARCHING_SLOW = 60  # draws, for a search's shortlist of such kinds
CHUNK = 100_000  # questions times draws times possible answers that are worked on at once
LN_2 = float(np.log(2.0))


class DrawnValues(Protocol):
    """Values of questions about some trajectories, from draws; a place is an index of these trajectories."""

    def values(self, places: Indices, kind: Kind) -> Array:
        """The value of each question, (Q, k) places, as (Q,)."""

    def estimate(self, place: Indices, kind: Kind) -> tuple[float, float]:
        """The value of one question, and its Monte Carlo standard error."""


class AnswerScorer(Scorer):
    """Scores questions of any kind by draws.

    Args:
        unit: Of the values.
        kind: Of the answers.
        draw: The values of questions about some trajectories, from so many draws.
        draws: How many.
    """

    def __init__(
        self, unit: str, kind: Kind, draw: Callable[[Indices, int], DrawnValues], draws: int | None = None
    ) -> None:
        self.unit, self.kind, self.draw = unit, kind, draw
        self.draws = precise_draws(kind) if draws is None else draws

    def scores(self, items: Indices) -> Array:
        """By many draws."""
        used, places = np.unique(items, return_inverse=True)
        return self.draw(used, self.draws).values(places.reshape(items.shape), self.kind)

    def estimate(self, items: Sequence[int]) -> tuple[float, float]:
        """The value of one question, and its Monte Carlo standard error."""
        return self.draw(np.array(items), self.draws).estimate(np.arange(len(items)), self.kind)

    def value(self, items: Sequence[int]) -> float:
        """By many draws, corrected for their number."""
        return max(self.estimate(items)[0], 0.0)

    def about(self, considered: Indices) -> Scorer:
        """With few draws of these trajectories."""
        return _SearchedAnswers(self, considered)


class _SearchedAnswers(Scorer):
    """Scores sets of the considered trajectories as if the best was asked for, a shortlist as itself."""

    def __init__(self, scorer: AnswerScorer, considered: Indices) -> None:
        self.scorer, self.items, self.unit = scorer, considered, scorer.unit

    @cached_property
    def few(self) -> DrawnValues:
        return self.scorer.draw(self.items, SEARCHING)

    @cached_property
    def fewest(self) -> DrawnValues:
        return self.scorer.draw(self.items, SEARCHING_SLOW)

    def estimates(self, items: Indices) -> Array:
        """Of the best of k."""
        return self.few.values(places_among(self.items, items), default_kind(items.shape[1]))

    def scores(self, items: Indices) -> Array:
        """Of the kind itself, if it is slow."""
        if not takes_long(self.scorer.kind):
            return self.estimates(items)
        return self.fewest.values(places_among(self.items, items), self.scorer.kind)


def information_scorer(
    belief: Distribution,
    x: Array,
    kind: Kind,
    targets: TargetQuestions | None = None,
    mutual_information_weight: float = 1.0,
) -> AnswerScorer:
    """Scores questions by the information in their answers.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        kind: Of the answers.
        targets: What the answers should tell about, beside the reward.
        mutual_information_weight: Of the information about the reward, beside that about the targets.

    Returns:
        The scorer.
    """
    points = np.empty((0, x.shape[1])) if targets is None else targets.points
    about_bar = kind_named(kind).uses_bar
    known = with_bar(belief) if about_bar else belief
    points = features_of_places(points, kind_named(kind))  # the bar comes last

    def draw(considered: Indices, draws: int) -> AnswerInformation:
        drawn = draw_rewards(known, np.concatenate([x[considered], points]), draws)
        count, preferred = len(considered), None
        if targets is not None:
            first, second = (drawn.rewards[:, count:][:, targets.pairs[:, side]] for side in (0, 1))
            preferred = (first > second).astype(float)
        ties = bool(np.any(drawn.margin > 0))
        return AnswerInformation(
            drawn.rewards[:, :count],
            people_of(drawn),
            drawn.weights,
            preferred,
            mutual_information_weight,
            ties,
            drawn.rewards[:, -1] if about_bar else np.zeros(len(drawn.weights)),
        )

    return AnswerScorer("bits", kind, draw)


@dataclass(frozen=True, eq=False)
class AnswerInformation:
    """The information in answers about some trajectories of a pool.

    Args:
        rewards: Of the trajectories, (S, M).
        people: How each draw answers.
        weights: Of the draws, (S,).
        preferred: Whether the first of each target question is truly better, (S, T); None without targets.
        mutual_information_weight: Of the information about the reward, beside that about the targets.
        ties: Whether "about equal" is an answer.
        bar: What each draw finds just acceptable, (S,).
    """

    rewards: Array
    people: People
    weights: Array
    preferred: Array | None
    mutual_information_weight: float
    ties: bool
    bar: Array

    def values(self, places: Indices, kind: Kind) -> Array:
        """The value of each question, (Q,); the questions are places among the trajectories, (Q, k)."""
        size = max(1, CHUNK // (len(self.weights) * len(choices_of(kind, self.ties))))
        chunks = [places[start : start + size] for start in range(0, len(places), size)]
        return np.concatenate([self._information(some, kind) for some in chunks])

    def estimate(self, place: Indices, kind: Kind) -> tuple[float, float]:
        """The value of one question, corrected to second order, and its Monte Carlo standard error."""
        p = self._probabilities(place[None], kind)[:, 0]
        marginal = self.weights @ p
        changes = self.mutual_information_weight * np.sum(p * _log2(p / np.maximum(marginal, 1e-300)), axis=1)
        bias = self.mutual_information_weight * self._lost(p, marginal)
        if self.preferred is not None:
            about, lost = self._predictive_changes(p, marginal, self.preferred)
            changes, bias = changes + about, bias + lost
        value, error = mean_and_error(changes, self.weights)
        return value + bias, error

    def _predictive_changes(self, p: Array, marginal: Array, preferred: Array) -> tuple[Array, float]:
        """phi of every draw, averaged over targets, (S,), and what the entropies lack together."""
        targets, changes, lost = preferred.shape[1], np.zeros(len(p)), 0.0
        for chosen in (preferred, 1.0 - preferred):
            chance, joint = self.weights @ chosen, p.T @ (self.weights[:, None] * chosen)
            ratio = _log2(joint / np.maximum(marginal[:, None] * chance, 1e-300))
            changes += np.sum(chosen * (p @ ratio), axis=1) / targets
            square = self.weights[:, None] ** 2 * chosen
            variance = (p**2).T @ square - 2.0 * joint * (p.T @ square) + joint**2 * np.sum(self.weights**2)
            lost += np.sum(self._lost(chosen, chance)) - np.sum(_lost_bits(variance, joint))
        return changes, lost / targets + self._lost(p, marginal)

    def _lost(self, p: Array, mean: Array) -> float:
        """By how much the entropy of these means over draws is too small, in bits."""
        return float(np.sum(_lost_bits(self.weights**2 @ (p - mean) ** 2, mean)))

    def _probabilities(self, places: Indices, kind: Kind) -> Array:
        """Of every answer to every question given every draw, (S, Q, c)."""
        count, draws = len(places), len(self.weights)
        rewards = self.rewards[:, places].reshape(draws * count, -1)
        if kind_named(kind).uses_bar:
            rewards = np.column_stack([rewards, np.repeat(self.bar, count)])
        people = self.people.repeated(count)
        return answer_probabilities(rewards, kind, people, self.ties).reshape(draws, count, -1)

    def _information(self, places: Indices, kind: Kind) -> Array:
        p = self._probabilities(places, kind)
        weighted = self.weights[:, None, None] * p
        marginal = weighted.sum(axis=0)
        about_reward = entropy(marginal) - np.sum(self.weights[:, None] * entropy(p), axis=0)
        if self.preferred is None:
            return np.asarray(self.mutual_information_weight * about_reward)
        predictive = self._predictive(weighted, marginal, self.preferred)
        return np.asarray(predictive + self.mutual_information_weight * about_reward)

    def _predictive(self, weighted: Array, marginal: Array, preferred: Array) -> Array:
        """The mean of I(y; t) over the targets."""
        draws, count, choices = weighted.shape
        true = (weighted.reshape(draws, -1).T @ preferred).reshape(count, choices, -1)
        joint = np.stack([true, marginal[:, :, None] - true], axis=2).reshape(count, 2 * choices, -1)
        chance = self.weights @ preferred
        about = entropy(np.column_stack([chance, 1.0 - chance]))
        information = entropy(marginal)[:, None] + about - entropy(np.swapaxes(joint, 1, 2))
        return np.asarray(information.mean(axis=1))


def precise_draws(kind: Kind) -> int:
    """How many draws the value of a question of this kind takes."""
    return DRAWS_OF_SLOW if takes_long(kind) else DRAWS


def mean_and_error(values: Array, weights: Array) -> tuple[float, float]:
    """The mean of weighted draws, and its Monte Carlo standard error."""
    mean = float(weights @ values)
    return mean, float(np.sqrt(weights**2 @ (values - mean) ** 2))


def _log2(p: Array) -> Array:
    return np.log2(np.maximum(p, 1e-300))


def _lost_bits(variance: Array, mean: Array) -> Array:
    return variance / (2.0 * LN_2 * np.maximum(mean, 1e-300))


def people_of(draws: Draws) -> People:
    """How drawn people answer."""
    return People(draws.noise, draws.margin, draws.strong_margin, draws.lapse, draws.cut_points)
