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
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.functions.answer_information import people_of
from prefero.acquisition.scorers import score_questions
from prefero.acquisition.searches.best_question import best_question
from prefero.models.likelihood.probabilities import answer_probabilities
from prefero.models.posterior.bar import features_of_places, with_bar
from prefero.models.posterior.draws import draw_rewards
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import Kind, choices_of, kind_named

SCENARIOS = 4
Fit = Callable[[tuple[Answer, ...]], Distribution]


def choice_probabilities(belief: Distribution, x: Array, question: Question) -> Array:
    """The predicted probability of every choice of a question about rows of features."""
    kind = kind_named(question.kind)
    known = with_bar(belief) if kind.uses_bar else belief
    drawn = draw_rewards(known, features_of_places(x[list(question.items)], kind), 200)
    ties = bool(np.any(drawn.margin > 0))
    p = answer_probabilities(drawn.rewards, question.kind, people_of(drawn), ties)
    average = drawn.weights @ p
    return np.asarray(average / average.sum())


def likely_answer(belief: Distribution, x: Array, question: Question) -> Answer:
    """The most probable answer, in which nothing is about equal."""
    kind = kind_named(question.kind)
    known = with_bar(belief) if kind.uses_bar else belief
    seen = known.marginals(features_of_places(x[list(question.items)], kind))[0]
    if kind.items > 1:  # equal rewards differ on another machine, their order does not
        seen = -np.argsort(largest_first(seen), kind="stable").astype(float)
    return Answer(question, kind.choice_of(seen, 0.0, np.inf, np.array(belief.probit.cut_points)))


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
            p = choice_probabilities(belief, self.pool.scaled, question)
            choices = choices_of(question.kind, ties=len(p) == len(choices_of(question.kind)))
            at = np.searchsorted(np.cumsum(p), (start + k / SCENARIOS) % 1.0)
            self.told[k] = (*self.told[k], Answer(question, choices[min(int(at), len(choices) - 1)]))
        self.beliefs = [self.fit(told) for told in self.told]

    def best_question(
        self, kind: Kind, acquisition: AnyAcquisitionFunction, exclude: list[tuple[int, ...]]
    ) -> Question:
        """The question of largest average value."""
        first = self.beliefs[0]
        beliefs = [first] if all(belief is first for belief in self.beliefs) else self.beliefs
        told = [answer.question.items for answer in self.told[0]]
        each = (
            best_question(
                belief, self.pool, acquisition=acquisition, kind=kind, exclude=exclude, answered=told
            )
            for belief in beliefs
        )
        found = {frozenset(question.items): question for question in each}
        items = np.array([question.items for question in found.values()])
        values = [
            score_questions(belief, self.pool, items, acquisition=acquisition, kind=kind)
            for belief in beliefs
        ]
        return list(found.values())[int(np.argmax(np.mean(values, axis=0)))]
