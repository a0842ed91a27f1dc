"""What the methods of a study have learned from one participant, cached by their answers.

A learner depends on its answers alone (and on what other people had answered before, where several teach in
one session), so the cache is keyed by them. An answer finds the learner that was
prepared for it, an undo finds the one from before, and a server that starts with an empty cache rebuilds it.
"""

from collections import OrderedDict
from collections.abc import Generator
from math import comb
from typing import Any, NamedTuple, TypeVar

import numpy as np

from prefero._support.arrays import one_thread
from prefero._support.steps import completed
from prefero.acquisition.batches import likely_answer
from prefero.acquisition.group_questions import About
from prefero.learner import Learner
from prefero.learner.reasons import with_reasons
from prefero.methods import method_named
from prefero.models.explain.learning_progress import likely_accuracy
from prefero.models.person_model import PersonModel
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import PAIR
from prefero.questions.answer_times import AnswerTimes
from prefero.studies.log.event_log import EventLog, reasons_in
from prefero.studies.protocol.protocol import Protocol

CAPACITY = 4  # learners a method: the last one, this one, and one for each of two possible answers
Value = TypeVar("Value")


class LearnerKey(NamedTuple):
    """The answers (number and choice), skips and reasons of a method, by the numbers of their questions."""

    label: str
    answers: frozenset[tuple[int, str]]
    skipped: frozenset[int]
    reasons: frozenset[tuple[int, str]]


class NextQuestion(NamedTuple):
    """The question that a method asks next, and the accuracy that it expects of itself before the answer.

    likely       the most probable answer to it
    """

    question: Question
    accuracy: float
    likely: str


class OtherTeachers(NamedTuple):
    """Other people who have taught in the same session, whose answers tell something about a person's reward.

    answers   theirs, with their names, about pairs
    person    the name of the person who teaches now
    about     what the person is asked about: their own reward, or the one that all share
    """

    answers: tuple[Answer, ...]
    person: str
    about: About = "person"

    def model(self, pool: Pool) -> PersonModel:
        """The model of the person's reward among the others'."""
        return PersonModel(with_reasons((), self.answers, pool), self.person)


class LearnerCache:
    """Learners of one participant, a few for each method."""

    def __init__(
        self, pool: Pool, protocol: Protocol, seed: int, others: OtherTeachers | None = None
    ) -> None:
        self.pool, self.protocol, self.seed = pool, protocol, seed
        self.others = others
        self._learners: OrderedDict[LearnerKey, Learner] = OrderedDict()
        self._next: OrderedDict[LearnerKey, NextQuestion] = OrderedDict()

    def key(self, label: str, log: EventLog) -> LearnerKey:
        """What the log holds for a method."""
        own = [active for active in log.answers if active.asked.method == label]
        answers = frozenset((active.asked.number, active.choice) for active in own)
        skipped = [asked for asked in log.skipped if asked.method == label]
        for size in (1, 2):
            sets = {frozenset(asked.items) for asked in skipped if len(asked.items) == size}
            if len(sets) == comb(len(self.pool), size):  # all were skipped: ask about them again
                skipped = [asked for asked in skipped if len(asked.items) != size]
        return LearnerKey(label, answers, frozenset(asked.number for asked in skipped), reasons_in(own))

    def learner(self, label: str, log: EventLog) -> Learner:
        """A method's learner with all its answers of the log; not to be changed, `fork` it."""
        return self._learner(self.key(label, log), log)

    def next_question(self, label: str, log: EventLog) -> NextQuestion:
        """What a method asks next."""
        return completed(self.choosing(label, log))

    def choosing(self, label: str, log: EventLog) -> Generator[None, None, NextQuestion]:
        """What a method asks next, in steps between which something more urgent can be computed."""
        key = self.key(label, log)
        if key not in self._next:
            learner = self._learner(key, log)
            yield
            # the last answer's time is not known where the next question is computed before that answer
            times = AnswerTimes.of(active.answer for active in log.answers[:-1])
            question = self._ask(label, learner, times)
            yield
            _keep(self._next, key, self._described(learner, question))
        return self._next[key]

    @property
    def _whom(self) -> dict[str, Any]:
        """Who is asked about the reward that all share, if that is wanted; else it is the person's own."""
        wanted = self.others is not None and self.others.about == "group" and self.protocol.kinds == (PAIR,)
        return {"person": self.others.person, "about": "group"} if self.others and wanted else {}

    def has_next(self, label: str, log: EventLog) -> bool:
        """Whether the next question is known without computing."""
        return self.key(label, log) in self._next

    @one_thread
    def _ask(self, label: str, learner: Learner, times: AnswerTimes) -> Question:
        strategy = method_named(self.protocol.method(label).method).strategy
        question = learner.fork().ask(strategy=strategy, kind=self.protocol.kinds, times=times, **self._whom)
        assert isinstance(question, Question)
        return question

    @one_thread
    def _described(self, learner: Learner, question: Question) -> NextQuestion:
        belief, x = learner.belief(), self.pool.scaled
        accuracy, likely = likely_accuracy(belief, x), likely_answer(belief, x, question)
        return NextQuestion(question, accuracy, likely.choice)

    def _learner(self, key: LearnerKey, log: EventLog) -> Learner:
        if key in self._learners:
            self._learners.move_to_end(key)
            return self._learners[key]
        if not self._subsets(key) and len(key.answers) > 1:
            # learning from all answers anew takes a while, and other answers to the last question need it too
            last = max(key.answers)
            reasons = frozenset(reason for reason in key.reasons if reason[0] != last[0])
            before = key._replace(answers=key.answers - {last}, reasons=reasons)
            _keep(self._learners, before, self._build(before, log))
        _keep(self._learners, key, self._build(key, log))
        return self._learners[key]

    def _subsets(self, key: LearnerKey) -> list[tuple[int, Learner]]:
        """The cached learners with some of what the key has and nothing else, each with how much it is."""
        return [
            (sum(map(len, other[1:])), learner)
            for other, learner in self._learners.items()
            if other.label == key.label and all(a <= b for a, b in zip(other[1:], key[1:], strict=True))
        ]

    def _build(self, key: LearnerKey, log: EventLog) -> Learner:
        """From the cached learner that lacks the fewest answers and has no others, or from none."""
        subsets = self._subsets(key)
        if subsets:
            learner = max(subsets, key=lambda pair: pair[0])[1].fork()
        else:
            place = [method.label for method in self.protocol.methods].index(key.label)
            seed = int(np.random.SeedSequence([self.seed, place]).generate_state(1)[0])
            model = None if self.others is None else self.others.model(self.pool)
            learner = self.protocol.learner(key.label, self.pool, seed, model)
        known = {(answer.question.number, answer.because) for answer in learner.answers}
        asked, reasons = {one.number: one.question for one in log.questions}, dict(key.reasons)
        for number, choice in sorted(key.answers):
            because = reasons.get(number, "")
            if (number, because) not in known:
                learner.tell(asked[number], choice, because=because)
        for skipped in sorted(log.skipped, key=lambda asked: asked.number):
            if skipped.number in key.skipped:
                learner.skip(skipped.question)
        learner.belief()
        return learner


def _keep(cache: OrderedDict[LearnerKey, Value], key: LearnerKey, value: Value) -> None:
    """Add a value, and drop the oldest of the same method beyond the capacity."""
    cache[key] = value
    same = [other for other in cache if other.label == key.label]
    for other in same[:-CAPACITY]:
        del cache[other]
