"""Which question comes next: by which method of the protocol, or as a test or a retest.

    schedule   for each question of the protocol, the label of its method, "test" or "retest"

Random choices depend on the participant's seed and on the log alone, so every server makes the same ones.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import items_of
from prefero.studies.asking.chosen_question import ChoosingSteps, ChosenQuestion
from prefero.studies.asking.learner_cache import LearnerCache, OtherTeachers
from prefero.studies.log.event_log import AskedQuestion, EventLog, Proposal
from prefero.studies.protocol.protocol import RETEST, TEST, Protocol

RANDOM_PAIRS, RETESTS, RATINGS, SIDES, SUBSTITUTES = (
    2,
    3,
    4,
    5,
    6,
)  # streams of random numbers; the schedule itself has stream 1


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
        proposal, *others = (
            Proposal.of(question, len(log.answers), label, found.accuracy)
            for question in (found.question, *found.runners_up)
        )
        return ChosenQuestion(proposal, found.likely, self._shuffled(log, others))

    def drawn(self, log: EventLog) -> Proposal | None:
        """The next question, if it is a test or a retest, which need no computing."""
        answered, label = len(log.answers), self.label(log)
        if label == RETEST:
            again = self._retest(log)
            return Proposal(answered, RETEST, again.items[::-1], kind=again.kind)
        if label == TEST:
            items = self._random_items(RANDOM_PAIRS, answered + 1, len(log.skipped))
            return Proposal(answered, TEST, items, kind=self.protocol.answers)
        return None

    def substitute(self, log: EventLog, good: Iterable[Proposal]) -> Proposal:
        """A question at once, while the best one is computed: a good one that was not asked, or any."""
        asked = {frozenset(one.items) for one in log.questions}
        answered, label = len(log.answers), self.label(log)
        for one in good:
            if one.method == label and frozenset(one.items) not in asked:
                return replace(one, answered=answered)
        items = self._random_items(SUBSTITUTES, len(log.questions))
        return Proposal(answered, label, items, kind=self.protocol.answers, selection="random")

    def _shuffled(self, log: EventLog, proposals: Iterable[Proposal]) -> tuple[Proposal, ...]:
        """The same questions, each with its trajectories in random order."""
        rng = np.random.default_rng([self.seed, SIDES, len(log.questions)])
        return tuple(replace(one, items=tuple(rng.permutation(one.items).tolist())) for one in proposals)

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
        count = min(items_of(self.protocol.answers), len(self.pool))
        return tuple(int(i) for i in rng.choice(len(self.pool), count, replace=False))

    def _retest(self, log: EventLog) -> AskedQuestion:
        """A question from the first half of those answered that was not retested yet."""
        first = [active.asked for active in log.answers if active.asked.method != RETEST]
        retested = {frozenset(active.asked.items) for active in log.answers if active.asked.method == RETEST}
        fresh = [asked for asked in first if frozenset(asked.items) not in retested] or first
        early = fresh[: max(len(fresh) // 2, 1)]
        rng = np.random.default_rng([self.seed, RETESTS, len(log.answers), len(log.skipped)])
        return early[int(rng.integers(len(early)))]
