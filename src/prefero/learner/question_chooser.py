"""How a learner chooses its questions, given what it believes."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero.acquisition.base import AnyAcquisitionFunction, Strategy
from prefero.acquisition.exchange_search import SearchedAcquisition
from prefero.acquisition.group_questions import About, best_group_question
from prefero.acquisition.imagined_answers import ImaginedAnswers
from prefero.acquisition.mutual_information import MutualInformation
from prefero.acquisition.pool_search import best_question, score_question
from prefero.acquisition.random_question import random_question
from prefero.acquisition.set_search import best_set
from prefero.learner.asked_questions import AskedQuestions
from prefero.learner.beliefs import Beliefs
from prefero.models.people import PeoplePosterior
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, items_of


@dataclass(frozen=True)
class QuestionChooser:
    """Chooses questions about a pool; each is open from then on.

    Args:
        pool: The trajectories.
        asked: The questions so far, to which the chosen ones are added.
        beliefs: What is believed about the reward.
        acquisition: What makes a question good.
        strategy: "active" or "random".
        kind: Of the answers.
        seed: Decides the order in which trajectories are shown, and random questions.
    """

    pool: Pool
    asked: AskedQuestions
    beliefs: Beliefs
    acquisition: AnyAcquisitionFunction
    strategy: Strategy
    kind: Kind
    seed: int

    def ask(self, person: str = "", about: About = "person") -> Question:
        """The next question; to this person, about their own reward or about the one that all share."""
        belief, people = self.beliefs.for_asking(self.asked, self.pool, person), self.beliefs.people
        if about == "group" and self.strategy == "active" and people is not None:
            question = self._ask_about_group(people, person)
        else:
            question = self._ask(belief)
        if person:
            self.asked.persons[question.number] = person
        return question

    def ask_several(self, count: int) -> tuple[Question, ...]:
        """Questions that do not repeat each other: imagined answers to each are averaged over."""
        if count < 1:
            raise ValueError(f"count must be 1 or more, but is {count}")
        if self.strategy == "random" or count == 1:
            return tuple(self.ask() for _ in range(count))
        imagined = ImaginedAnswers(
            lambda answers: self.beliefs.given_imagined(answers, self.pool),
            self.asked.answers,
            self.pool,
            tuple(self.asked.open.values()),
            self.seed,
        )
        return tuple(self._ask_jointly(imagined) for _ in range(count))

    def _ask(self, belief: Distribution) -> Question:
        rng = self._generator()
        question = self._chosen(belief, rng)
        searched = self.strategy == "active" and isinstance(self.acquisition, SearchedAcquisition)
        return self._opened(question, belief, rng, question.value if searched else None)

    def _ask_jointly(self, imagined: ImaginedAnswers) -> Question:
        """The next question after imagined answers to those before it."""
        rng = self._generator()
        found = imagined.best_question(self.kind, self.acquisition, self._excluded())
        question = self._opened(found, imagined.beliefs[0], rng)
        imagined.answer(question)
        return question

    def _ask_about_group(self, people: PeoplePosterior, person: str) -> Question:
        """The pair whose answer by this person tells most about the reward that all people share."""
        rng = self._generator()
        found = best_group_question(people, person, self.pool.scaled, self.asked.unavailable(2))
        question = Question(*_shuffled(found.items, rng), value=found.value, number=self.asked.next_number)
        self.asked.ask(question)
        return question

    def _chosen(self, belief: Distribution, rng: np.random.Generator) -> Question:
        excluded = self._excluded()
        if self.strategy == "random":
            return random_question(len(self.pool), rng, excluded, self.kind)
        if self.kind == "pair":
            pairs = [(items[0], items[1]) for items in excluded]
            return best_question(belief, self.pool, acquisition=self.acquisition, exclude=pairs)
        return best_set(belief, self.pool, self.kind, self.acquisition, excluded)

    def _opened(
        self,
        question: Question,
        belief: Distribution,
        rng: np.random.Generator,
        value: float | None = None,
    ) -> Question:
        """The question with its trajectories in random order, its value and its number."""
        items = _shuffled(question.items, rng)
        is_pair = question.kind == "pair"
        if value is None:
            value = self._value(belief, items[0], items[1]) if is_pair else question.value
        opened = Question(
            *items,
            value=value,
            unit=self.acquisition.unit if is_pair else question.unit,
            number=self.asked.next_number,
            kind=question.kind,
            optimality_gap=question.optimality_gap if is_pair else float("nan"),
        )
        self.asked.ask(opened)
        return opened

    def _value(self, belief: Distribution, left: int, right: int) -> float:
        """The value of a pair; bits are exact, also if another formula chose it."""
        exact = MutualInformation() if type(self.acquisition) is MutualInformation else self.acquisition
        return score_question(belief, self.pool, left, right, exact)

    def _excluded(self) -> list[tuple[int, ...]]:
        return self.asked.unavailable(items_of(self.kind))

    def _generator(self) -> np.random.Generator:
        """Of random numbers for the next question, which depend on its number and not on earlier draws."""
        return np.random.default_rng([self.seed, self.asked.next_number])


def most_informative_person(
    people: PeoplePosterior, present: Iterable[str], x: Array, asked: AskedQuestions
) -> str:
    """Who of those present can tell most, by one answer, about the reward that all people share."""
    excluded = asked.unavailable(2)
    bits = {name: best_group_question(people, name, x, excluded).value for name in present}
    return max(bits, key=lambda name: bits[name])


def _shuffled(items: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    """The same trajectories in random order."""
    if len(items) == 2:
        return items if rng.random() < 0.5 else items[::-1]
    return tuple(items[place] for place in rng.permutation(len(items)))
