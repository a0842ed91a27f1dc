"""Which question comes next: by which method of the protocol, or as a test or a retest.

    schedule   for each question of the protocol, the label of its method, "test" or "retest"

Random choices depend on the participant's seed and on the log alone, so every server makes the same ones.
"""

from contextlib import suppress
from dataclasses import replace

import numpy as np

from prefero.models.inference.solution import ConvergenceError
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import items_of
from prefero.studies.asking.chosen_question import ChoosingSteps, ChosenQuestion
from prefero.studies.asking.learner_cache import LearnerCache, OtherTeachers
from prefero.studies.asking.quick_question import quick_question
from prefero.studies.log.event_log import AskedQuestion, EventLog, Proposal
from prefero.studies.protocol.protocol import RETEST, TEST, Protocol

RANDOM_PAIRS, RETESTS, RATINGS, SUBSTITUTES = 2, 3, 4, 6  # streams of random numbers; the schedule has 1


class QuestionSchedule:
    """The questions of one participant."""

    def __init__(
        self, pool: Pool, protocol: Protocol, seed: int, others: OtherTeachers | None = None
    ) -> None:
        self.pool, self.protocol, self.seed = pool, protocol, seed
        self.labels = protocol.schedule(seed)
        self.learners = LearnerCache(pool, protocol, seed, others)

    def label(self, log: EventLog) -> str:
        """Who asks the next question; after the schedule's end, the first method."""
        answered = len(log.answers)
        return self.labels[answered] if answered < len(self.labels) else self.protocol.methods[0].label

    def choosing(self, log: EventLog) -> ChoosingSteps:
        """The next question, computed in steps."""
        drawn = self.drawn(log)
        if drawn is not None:
            return ChosenQuestion(drawn)
        label = self.label(log)
        found = yield from self.learners.choosing(label, log)
        proposal = Proposal.of(found.question, len(log.answers), label, found.accuracy)
        return ChosenQuestion(proposal, found.likely)

    def drawn(self, log: EventLog) -> Proposal | None:
        """The next question, if it is a test or a retest, which need no computing."""
        answered, label = len(log.answers), self.label(log)
        if label == RETEST:
            again = self._retest(log)
            return Proposal(answered, RETEST, again.items[::-1], kind=again.kind)
        if label == TEST:
            items = self._random_items(RANDOM_PAIRS, answered + 1, len(log.skipped))
            return Proposal(answered, TEST, items, kind=self.protocol.kinds[0])
        return None

    def substitute(self, log: EventLog) -> ChosenQuestion:
        """A question at once, when the best one is not ready: a quick one of the answers to this method."""
        answered, label, kind = len(log.answers), self.label(log), self.protocol.kinds[0]
        rng = np.random.default_rng([self.seed, SUBSTITUTES, len(log.questions)])
        answers = [active.answer for active in log.answers if active.asked.method == label]
        with suppress(ConvergenceError, np.linalg.LinAlgError, ValueError):  # or nothing is left to ask
            question, likely = quick_question(
                self.pool, answers, kind, [one.items for one in log.questions], rng
            )
            proposal = Proposal.of(question, answered, label, None)
            return ChosenQuestion(replace(proposal, selection="quick"), likely)
        items = self._random_items(SUBSTITUTES, len(log.questions))
        return ChosenQuestion(Proposal(answered, label, items, kind=kind, selection="random"))

    def practice_items(self) -> tuple[int, ...]:
        """The trajectories of the practice question."""
        return self._random_items(RANDOM_PAIRS, 0)

    def best_trajectories(self, log: EventLog) -> list[tuple[str, int]]:
        """Each method's label and its best trajectory, in a random order of the participant's own."""
        order = np.random.default_rng([self.seed, RATINGS]).permutation(len(self.protocol.methods))
        labels = [self.protocol.methods[int(i)].label for i in order]
        rewards = [(label, self.learners.learner(label, log).fork().reward()) for label in labels]
        return [(label, reward.best(self.pool).index) for label, reward in rewards]

    def _random_items(self, *place: int) -> tuple[int, ...]:
        rng = np.random.default_rng([self.seed, *place])
        count = min(items_of(self.protocol.kinds[0]), len(self.pool))
        return tuple(int(i) for i in rng.choice(len(self.pool), count, replace=False))

    def _retest(self, log: EventLog) -> AskedQuestion:
        """A question from the first half of those answered that was not retested yet."""
        first = [active.asked for active in log.answers if active.asked.method != RETEST]
        retested = {active.asked.asks_same for active in log.answers if active.asked.method == RETEST}
        fresh = [asked for asked in first if asked.asks_same not in retested] or first
        early = fresh[: max(len(fresh) // 2, 1)]
        rng = np.random.default_rng([self.seed, RETESTS, len(log.answers), len(log.skipped)])
        return early[int(rng.integers(len(early)))]
