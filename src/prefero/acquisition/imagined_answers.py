"""Questions that are asked together: chosen after imagined answers to each other, which are averaged over.

    scenario     a person drawn from the belief, with their answers to all open questions
    beliefs      one for each scenario, given the answers so far and the imagined ones

Given open questions, the value of another one is its expectation over their answers. One likely answer would
not do: after it, the belief is surer than it will be, and always in the same direction. So a few people are
drawn, and the next question is the one with the largest value on average over what each of them would have
answered. The questions that compete are the best of each scenario.
"""

from collections.abc import Callable, Sequence

import numpy as np

from prefero._support.arrays import Array
from prefero._support.ordering import largest_first
from prefero.acquisition.answer_information import information_of, people_of, scores_answers
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.pool_search import best_question, score_question
from prefero.acquisition.set_search import best_set
from prefero.models.answer_probabilities import answer_probabilities
from prefero.models.draws import draw_rewards
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import Kind, choices_of

SCENARIOS = 4
Fit = Callable[[tuple[Answer, ...]], Distribution]


def answer_shares(belief: Distribution, x: Array, question: Question) -> Array:
    """The predicted probability of every choice of a question about rows of features."""
    drawn = draw_rewards(belief, x[list(question.items)], 200)
    ties = bool(np.any(drawn.margin > 0))
    p = answer_probabilities(drawn.rewards, question.kind, people_of(drawn), ties)
    shares = drawn.weights @ p
    return np.asarray(shares / shares.sum())


def likely_answer(belief: Distribution, x: Array, question: Question) -> Answer:
    """The most probable answer, in which nothing is about equal."""
    rewards = belief.marginals(x[list(question.items)])[0]
    if len(question.items) == 2:
        side = "left" if rewards[0] >= rewards[1] else "right"
        return Answer(question, side if question.kind == "pair" else f"{side}-slightly")
    order = largest_first(rewards) + 1
    if question.kind.startswith("rank"):
        return Answer(question, ">".join(map(str, order)))
    return Answer(question, str(order[0] if question.kind.startswith("best") else order[-1]))


class ImaginedAnswers:
    """The scenarios, which grow with every question that is asked."""

    def __init__(
        self, fit: Fit, answers: tuple[Answer, ...], pool: Pool, open_questions: Sequence[Question], seed: int
    ) -> None:
        self.fit, self.pool = fit, pool
        self.rng = np.random.default_rng([seed, len(answers), len(open_questions)])
        self.told: list[tuple[Answer, ...]] = [answers] * SCENARIOS
        self.beliefs = [fit(answers)] * SCENARIOS
        for question in open_questions:
            self.answer(question)

    def answer(self, question: Question) -> None:
        """Everybody answers; their uniform numbers are spread evenly, so that rare answers come too."""
        start = self.rng.random()
        for k, belief in enumerate(self.beliefs):
            shares = answer_shares(belief, self.pool.scaled, question)
            choices = choices_of(question.kind, ties=len(shares) == len(choices_of(question.kind)))
            at = np.searchsorted(np.cumsum(shares), (start + k / SCENARIOS) % 1.0)
            self.told[k] = (*self.told[k], Answer(question, choices[min(int(at), len(choices) - 1)]))
        self.beliefs = [self.fit(told) for told in self.told]

    def best_question(
        self, kind: Kind, acquisition: AnyAcquisitionFunction, exclude: list[tuple[int, ...]]
    ) -> Question:
        """The question of largest average value."""
        first = self.beliefs[0]
        beliefs = [first] if all(belief is first for belief in self.beliefs) else self.beliefs
        found = {
            frozenset(question.items): question
            for question in (self._best(belief, kind, acquisition, exclude) for belief in beliefs)
        }
        return max(found.values(), key=lambda question: self._value(question, beliefs, acquisition))

    def _best(
        self,
        belief: Distribution,
        kind: Kind,
        acquisition: AnyAcquisitionFunction,
        exclude: list[tuple[int, ...]],
    ) -> Question:
        if kind != "pair":
            return best_set(belief, self.pool, kind, acquisition, exclude)
        pairs = [(items[0], items[1]) for items in exclude]
        return best_question(belief, self.pool, acquisition=acquisition, exclude=pairs)

    def _value(
        self, question: Question, beliefs: Sequence[Distribution], acquisition: AnyAcquisitionFunction
    ) -> float:
        values = [_value_of(question, belief, self.pool, acquisition) for belief in beliefs]
        return float(np.mean(values))


def _value_of(
    question: Question, belief: Distribution, pool: Pool, acquisition: AnyAcquisitionFunction
) -> float:
    if question.kind == "pair" or not scores_answers(acquisition):
        return score_question(belief, pool, question.items[0], question.items[1], acquisition)
    items = np.array([question.items])
    return float(information_of(belief, pool, items, question.kind, acquisition, draws=400)[0])
