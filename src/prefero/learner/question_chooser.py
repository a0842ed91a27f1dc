"""How a learner chooses its questions, given what it believes."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero.acquisition.base import AnyAcquisitionFunction, Strategy
from prefero.acquisition.batches import ImaginedAnswers
from prefero.acquisition.group_questions import About, best_group_question
from prefero.acquisition.scorers import score_questions
from prefero.acquisition.searches.best_question import best_question
from prefero.acquisition.searches.incumbent import NothingLeftError
from prefero.acquisition.searches.random_question import random_question
from prefero.learner.asked_questions import AskedQuestions
from prefero.learner.beliefs import Beliefs
from prefero.models.people.posterior import PeoplePosterior
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, items_of
from prefero.questions.answer_times import AnswerTimes

CALM = 1.1  # times as much another kind of question must tell in its time, to be asked in place of the last


@dataclass(frozen=True)
class QuestionChooser:
    """Chooses questions about a pool; each is open from then on.

    Args:
        pool: The trajectories.
        asked: The questions so far, to which the chosen ones are added.
        beliefs: What is believed about the reward.
        acquisition: What makes a question good.
        strategy: "active" or "random".
        kinds: Of the answers; of several, the one that tells most for its time.
        seed: Decides the order in which trajectories are shown, and random questions.
        times: How long the person takes; None: as their answers say.
    """

    pool: Pool
    asked: AskedQuestions
    beliefs: Beliefs
    acquisition: AnyAcquisitionFunction
    strategy: Strategy
    kinds: tuple[Kind, ...]
    seed: int
    times: AnswerTimes | None = None

    def ask(self, person: str = "", about: About = "person") -> Question:
        """The next question; to this person, about their own reward or about the one that all share."""
        belief, people = self.beliefs.for_asking(self.asked, self.pool, person), self.beliefs.people
        if about == "group" and self.strategy == "active" and people is not None:
            question = self._ask_about_group(people, person)
        else:
            question = self._ask(belief, person)
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

    def _ask(self, belief: Distribution, person: str) -> Question:
        rng = self._generator()
        if self.strategy == "random":
            kind = self.kinds[int(rng.integers(len(self.kinds)))] if len(self.kinds) > 1 else self.kinds[0]
            question = random_question(len(self.pool), rng, self._excluded(kind), kind)
            return self._opened(question, rng, self._value(question, belief))
        question = self._most_for_its_time(self._best_of_kinds(belief, person), person)
        is_exact = getattr(self.acquisition, "exact", self.acquisition) is self.acquisition
        return self._opened(question, rng, question.value if is_exact else self._value(question, belief))

    def _best_of_kinds(self, belief: Distribution, person: str) -> list[Question]:
        """The best question of each kind that has any left."""
        found: list[Question] = []
        for kind in self.kinds:
            with suppress(NothingLeftError):
                found.append(self._best(kind, belief, person))
        if not found:
            raise NothingLeftError
        return found

    def _best(self, kind: Kind, belief: Distribution, person: str) -> Question:
        return best_question(
            belief,
            self.pool,
            acquisition=self.acquisition,
            kind=kind,
            exclude=self._excluded(kind),
            answered=self.asked.answered_by(person),
        )

    def _most_for_its_time(self, questions: Sequence[Question], person: str) -> Question:
        """The one with the largest value per second; its kind is seldom another than the last one."""
        if len(questions) == 1:
            return questions[0]
        answers = [answer for answer in self.asked.answers if not person or answer.person == person]
        times = self.times or AnswerTimes.of(answers)
        last = answers[-1].question.kind if answers else None

        def rate(question: Question) -> float:
            return question.value / times.expected(question.kind) * (CALM if question.kind == last else 1.0)

        return max(questions, key=rate)

    def _ask_jointly(self, imagined: ImaginedAnswers) -> Question:
        """The next question after imagined answers to those before it."""
        (kind,) = self.kinds
        found = imagined.best_question(kind, self.acquisition, self._excluded(kind))
        question = self._opened(found, self._generator(), self._value(found, imagined.beliefs[0]))
        imagined.answer(question)
        return question

    def _ask_about_group(self, people: PeoplePosterior, person: str) -> Question:
        """The pair whose answer by this person tells most about the reward that all people share."""
        unavailable = self.asked.unavailable(2)
        found = best_group_question(people, person, self.pool.scaled, unavailable, self.acquisition)
        return self._opened(found, self._generator(), found.value)

    def _opened(self, question: Question, rng: np.random.Generator, value: float) -> Question:
        """The question with its trajectories in random order, its value and its number."""
        opened = Question(
            *_shuffled(question.items, rng),
            value=value,
            unit=question.unit,
            number=self.asked.next_number,
            kind=question.kind,
            optimality_gap=question.optimality_gap,
        )
        self.asked.ask(opened)
        return opened

    def _value(self, question: Question, belief: Distribution) -> float:
        """Of a pair that chance, an inexact formula or another belief chose; of others, as it was found."""
        if question.kind != "pair":
            return question.value
        exact = getattr(self.acquisition, "exact", self.acquisition)
        return float(score_questions(belief, self.pool, [question.items], acquisition=exact)[0])

    def _excluded(self, kind: Kind) -> list[tuple[int, ...]]:
        return self.asked.unavailable(items_of(kind))

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
