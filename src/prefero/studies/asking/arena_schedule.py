"""Which rollouts a judge of an arena compares or labels next, given the answers of all judges.

An arena is a study whose protocol has the plan of an arena. Each judge has a log of their own; what is known
about the policies, and so the next question and the end, follows from all of them.
"""

from collections import OrderedDict
from dataclasses import fields
from typing import NamedTuple

from prefero.arena.arena import Arena
from prefero.arena.effects import Judgment
from prefero.arena.plan import ArenaPlan
from prefero.arena.standings import Standing, Standings
from prefero.questions.answer_kinds import PAIR, Kind
from prefero.studies.asking.chosen_question import ChoosingSteps, ChosenQuestion
from prefero.studies.log.event_log import EventLog, Proposal
from prefero.studies.protocol.protocol import ARENA, Protocol
from prefero.studies.storage.store import Participant, Store, Study
from prefero.views.session_state import ArenaResult, ArenaState, PolicyStanding

CAPACITY = 8  # states whose next question is kept: this one, the last one, and one for each possible answer


class ArenaKey(NamedTuple):
    """What the next question depends on."""

    judgments: tuple[Judgment, ...]
    skipped: tuple[tuple[int, ...], ...]


class ArenaSchedule:
    """The questions of one judge."""

    def __init__(
        self, store: Store, study: Study, participant: Participant, plan: ArenaPlan, kind: Kind = PAIR
    ) -> None:
        self.store, self.study, self.participant, self.kind = store, study, participant, kind
        self.arena = Arena(plan, seed=participant.seed)
        self._next: OrderedDict[ArenaKey, tuple[Proposal, Standings]] = OrderedDict()

    def choosing(self, log: EventLog) -> ChoosingSteps:
        """The next question, in one step; its accuracy is the probability of the goal before the answer."""
        yield
        return ChosenQuestion(self._computed(self._key(log), len(log.answers))[0])

    def standings(self, log: EventLog) -> Standings:
        """What is known about the policies."""
        return self._computed(self._key(log), len(log.answers))[1]

    def practice_items(self) -> tuple[int, ...]:
        """The trajectories of the practice question."""
        return self.arena.ask(kind=self.kind).items

    def _key(self, log: EventLog) -> ArenaKey:
        logs = [(judge, self.store.event_log(judge)) for judge in self._others()]
        return key_of([*logs, (self.participant, log)])

    def _others(self) -> list[Participant]:
        return [one for one in self.store.participants(self.study) if one.id != self.participant.id]

    def _computed(self, key: ArenaKey, answered: int) -> tuple[Proposal, Standings]:
        if key not in self._next:
            self.arena.judgments, self.arena.skipped = key
            question = self.arena.ask(judge=self.participant.label, kind=self.kind)
            found = self.arena.standings()
            self._next[key] = Proposal.of(question, answered, ARENA, found.confidence), found
            while len(self._next) > CAPACITY:
                self._next.popitem(last=False)
        return self._next[key]


def key_of(logs: list[tuple[Participant, EventLog]]) -> ArenaKey:
    """The active answers of all judges, in the order in which they were given; and what they skipped."""
    given = [(active.event.id, judge.label, active.answer) for judge, log in logs for active in log.answers]
    given.sort(key=lambda row: row[:2])
    skipped = [asked.items for _, log in logs for asked in log.skipped]
    return ArenaKey(tuple(Judgment(answer, judge) for _, judge, answer in given), tuple(skipped))


def arena_state(standings: Standings, report: str = "") -> ArenaState:
    """How far an arena is, for the page; with the command of its report, also what it has found."""
    result = _result(standings, report) if report and standings.is_finished else None
    return ArenaState(standings.answers, standings.plan.questions, result)


def _result(standings: Standings, report: str) -> ArenaResult:
    after = [*standings.better.diagonal(1).tolist(), None]
    rows = [_policy_standing(*both) for both in zip(standings.rows, after, strict=True)]
    return ArenaResult(standings.sentences, rows, report)


def _policy_standing(row: Standing, better_than_next: float | None) -> PolicyStanding:
    own = {field.name: getattr(row, field.name) for field in fields(row) if field.name != "best"}
    return PolicyStanding(**own, better_than_next=better_than_next)


def arena_of(store: Store, study: Study) -> Arena:
    """The arena with the answers of all judges."""
    plan = Protocol.from_json(study.protocol).arena
    if plan is None:
        raise ValueError(f"{study.name!r} is a study and not an arena")
    logs = [(judge, store.event_log(judge)) for judge in store.participants(study)]
    judgments, skipped = key_of(logs)
    return Arena(plan, judgments=judgments, skipped=skipped)
