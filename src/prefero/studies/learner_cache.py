"""What the methods of a study have learned from one person, by what they were told.

A learner depends on its answers alone, so it is kept under them. Answering finds the learner that was
prepared for that answer, taking back finds the one from before, and a server that knows nothing builds it.
"""

from collections import OrderedDict
from typing import NamedTuple, TypeVar

import numpy as np

from prefero._support.arrays import one_thread
from prefero.learner import Learner
from prefero.methods import method_named
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Answer, Question
from prefero.studies.event_log import Log
from prefero.studies.protocol import Protocol

KEPT = 6  # learners of one person: the last one, this one, and one for each answer to come
Value = TypeVar("Value")
PAIRS = 200  # that the expected accuracy is averaged over


class Known(NamedTuple):
    """What a method was told."""

    label: str
    answers: frozenset[Answer]
    skipped: frozenset[Question]


class Next(NamedTuple):
    """A question to come, and how often the method expects to be right before it is answered."""

    question: Question
    accuracy: float


class Minds:
    """Learners of one person, one or more for each method."""

    def __init__(self, pool: Pool, protocol: Protocol, seed: int) -> None:
        self.pool, self.protocol, self.seed = pool, protocol, seed
        self._learners: OrderedDict[Known, Learner] = OrderedDict()
        self._next: OrderedDict[Known, Next] = OrderedDict()

    def known(self, label: str, log: Log) -> Known:
        """What the log holds for a method."""
        answers = frozenset(live.answer for live in log.live if live.asked.method == label)
        skipped = frozenset(a.question for a in log.skipped if a.method == label)
        pairs = {frozenset((question.left, question.right)) for question in skipped}
        if len(pairs) == len(self.pool) * (len(self.pool) - 1) // 2:
            skipped = frozenset()  # nothing else is left to ask
        return Known(label, answers, skipped)

    def learner(self, label: str, log: Log) -> Learner:
        """A method that was told all that is in the log; not to be changed, `fork` it."""
        return self._learner(self.known(label, log))

    @one_thread
    def next(self, label: str, log: Log) -> Next:
        """What a method would ask."""
        known = self.known(label, log)
        if known not in self._next:
            method = method_named(self.protocol.asker(label).method)
            learner = self._learner(known)
            question = learner.fork().ask(strategy=method.strategy)
            _remember(self._next, known, Next(question, expected_accuracy(learner.belief(), self.pool)))
        return self._next[known]

    def is_ready(self, label: str, log: Log) -> bool:
        """Is the next question there without computing?"""
        return self.known(label, log) in self._next

    def _learner(self, known: Known) -> Learner:
        if known in self._learners:
            self._learners.move_to_end(known)
        else:
            _remember(self._learners, known, self._taught(known))
        return self._learners[known]

    def _taught(self, known: Known) -> Learner:
        """From the learner that lacks the fewest answers and knows nothing else."""
        near = [
            (len(other.answers) + len(other.skipped), learner)
            for other, learner in self._learners.items()
            if other.label == known.label
            and other.answers <= known.answers
            and other.skipped <= known.skipped
        ]
        if near:
            learner = max(near, key=lambda pair: pair[0])[1].fork()
        else:
            place = [asker.label for asker in self.protocol.methods].index(known.label)
            seed = int(np.random.SeedSequence([self.seed, place]).generate_state(1)[0])
            learner = self.protocol.asker(known.label).learner(self.pool, seed)
        told = {answer.question.number for answer in learner.answers}
        for answer in sorted(known.answers, key=lambda answer: answer.question.number):
            if answer.question.number not in told:
                learner.tell(answer.question, answer.choice)
        for question in sorted(known.skipped, key=lambda question: question.number):
            learner.skip(question)
        learner.belief()
        return learner


def _remember(shelf: OrderedDict[Known, Value], known: Known, value: Value) -> None:
    """Keep the newest few of each method."""
    shelf[known] = value
    same = [other for other in shelf if other.label == known.label]
    for other in same[:-KEPT]:
        del shelf[other]


@one_thread
def expected_accuracy(belief: Distribution, pool: Pool) -> float:
    """How often the belief would foretell the answer to a random question, if it is right about itself."""
    rng = np.random.default_rng(0)
    left = rng.integers(len(pool), size=PAIRS)
    right = (left + rng.integers(1, len(pool), size=PAIRS)) % len(pool)
    chances = belief.probability(pool.scaled[left], pool.scaled[right])
    return float(np.mean(np.maximum(chances, 1.0 - chances)))
