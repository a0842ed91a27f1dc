"""Everything that one participant was asked and did, and the state that follows from it.

    questions        as they were asked
    events           answers and skips; that one was undone, deleted or restored; that a question was set
                     aside for another one
    stage events     what the participant did at the other stages: consent, scores, ratings
    reason events    why an answer was given: a feature; the last one of an answer counts
    annotations      what a teacher wrote about a trajectory or a question: a note, or a tag
    active answers   those that were neither undone nor deleted, in the order in which they were given
    last event       the id of the latest event, which the next question is based on; 0 before the first

A log is a value made of rows that are never edited. The same rows always give the same state.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self, get_args

from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import PAIR, Kind
from prefero.studies.log.annotations import Annotation, Remarks, remarks_of
from prefero.views.stages import SubmittedStage

OtherKind = Literal["skip", "undo", "delete", "restore", "set-aside"]
OTHER_KINDS: tuple[OtherKind, ...] = get_args(OtherKind)
Selection = Literal["best", "quick", "random", "by-hand"]
SELECTIONS: tuple[Selection, ...] = get_args(Selection)
SET_ASIDE: OtherKind = "set-aside"
BY_HAND: Selection = "by-hand"
MOST_SECONDS = 24 * 3600  # that an answer may take
EventKind = str  # a choice of the question's kind, or one of OTHER_KINDS


def is_answer(kind: EventKind) -> bool:
    """Whether an event is an answer."""
    return kind not in OTHER_KINDS


@dataclass(frozen=True)
class Proposal:
    """A question that is about to be asked.

    answered   the number of active answers when it was chosen
    method     the label of the method that chose it, or "test" or "retest"
    value      of the acquisition function, in `unit`; None where no model chose it
    accuracy   that the method expected of itself; None where no model chose it
    kind       of the answer that is wanted
    selection  "best": what the method asks given all answers. "quick": that was not computed in time, so a
               simpler model chose another one, with all answers too. "random": that failed as well.
               "by-hand": a teacher chose the trajectories
    """

    answered: int
    method: str
    items: tuple[int, ...]
    value: float | None = None
    unit: str | None = None
    accuracy: float | None = None
    kind: Kind = PAIR
    selection: Selection = "best"

    @classmethod
    def of(cls, question: Question, answered: int, method: str, accuracy: float | None) -> Self:
        """A question that a method has chosen."""
        value, unit = question.known_value
        known = None if value is None else float(value)
        return cls(answered, method, question.items, known, unit, accuracy, question.kind)

    @property
    def is_by_hand(self) -> bool:
        """Whether a teacher chose the trajectories."""
        return self.selection == BY_HAND

    @property
    def asks_same(self) -> tuple[Kind, frozenset[int]]:
        """Equal for questions that ask the same, in whatever order they show the trajectories."""
        return self.kind, frozenset(self.items)


@dataclass(frozen=True, kw_only=True)
class AskedQuestion(Proposal):
    """A question, as it was shown.

    number     counts the participant's questions from 1
    based_on   the last event when it was chosen
    """

    id: int
    number: int
    based_on: int
    at: str

    @property
    def question(self) -> Question:
        """The question for a learner."""
        if self.value is None or self.unit is None:
            return Question(*self.items, number=self.number, kind=self.kind)
        return Question(*self.items, value=self.value, unit=self.unit, number=self.number, kind=self.kind)


@dataclass(frozen=True)
class Event:
    """What the participant did to a question; `position` counts the events of one question from 0."""

    id: int
    question: int
    position: int
    kind: EventKind
    key: str
    seconds: float | None
    at: str


@dataclass(frozen=True)
class StageEvent:
    """What the participant did at a stage other than comparing; `item` is the method that was rated."""

    id: int
    stage: SubmittedStage
    item: str
    data: Mapping[str, Any]
    key: str
    at: str


@dataclass(frozen=True)
class ReasonEvent:
    """The reason of an answer, which is an event: a feature, or "" where it was taken back."""

    id: int
    event: int
    feature: str
    key: str
    at: str


class ActiveAnswer(NamedTuple):
    """An answer that was neither undone nor deleted, and its reason, if it has one."""

    asked: AskedQuestion
    event: Event
    because: str = ""

    @property
    def choice(self) -> str:
        """What the participant answered."""
        return self.event.kind

    @property
    def answer(self) -> Answer:
        """The answer for a learner."""
        return Answer(self.asked.question, self.choice, seconds=self.seconds, because=self.because)

    @property
    def seconds(self) -> float | None:
        """How long it took; None if that is not known."""
        return self.event.seconds or None


class LogLength(NamedTuple):
    """How many rows a log has; rows are only added, so this says which state of the log is meant."""

    questions: int
    events: int
    stage_events: int
    reasons: int
    annotations: int


class LogState(NamedTuple):
    """The active answers, as numbers of questions and choices, with reasons, and the skipped questions."""

    answers: frozenset[tuple[int, str]]
    skipped: frozenset[int]
    reasons: frozenset[tuple[int, str]]


@dataclass(frozen=True)
class EventLog:
    """All rows of one participant."""

    questions: tuple[AskedQuestion, ...] = ()
    events: tuple[Event, ...] = ()
    stage_events: tuple[StageEvent, ...] = ()
    reasons: tuple[ReasonEvent, ...] = ()
    annotations: tuple[Annotation, ...] = ()

    @cached_property
    def by_id(self) -> dict[int, AskedQuestion]:
        """Questions by their ids."""
        return {asked.id: asked for asked in self.questions}

    @cached_property
    def events_by_question(self) -> dict[int, list[Event]]:
        """The events of each question, in order."""
        found: dict[int, list[Event]] = {}
        for event in self.events:
            found.setdefault(event.question, []).append(event)
        return found

    @cached_property
    def answers(self) -> tuple[ActiveAnswer, ...]:
        """The active answers, in the order in which they were given."""
        found = [
            ActiveAnswer(self.by_id[question], answer, self.reason_by_event.get(answer.id, ""))
            for question, events in self.events_by_question.items()
            for answer in [_active_answer(events)]
            if answer is not None
        ]
        return tuple(sorted(found, key=lambda answer: answer.event.id))

    @cached_property
    def reason_by_event(self) -> dict[int, str]:
        """The reasons by the answers that they are of; "" where one was taken back."""
        return {reason.event: reason.feature for reason in self.reasons}

    @property
    def latest_answer(self) -> ActiveAnswer | None:
        """The answer that was just given, if nothing was done since."""
        last = self.answers[-1] if self.answers else None
        return last if last is not None and last.event.id == self.last_event else None

    def active_answer(self, question: int) -> ActiveAnswer | None:
        """The active answer to a question, if there is one."""
        return next((active for active in self.answers if active.asked.id == question), None)

    @cached_property
    def skipped(self) -> tuple[AskedQuestion, ...]:
        """Questions that the participant skipped."""
        return tuple(
            self.by_id[q] for q, events in self.events_by_question.items() if events[-1].kind == "skip"
        )

    @cached_property
    def deleted(self) -> dict[int, Event]:
        """Deleted answers by question, which can be restored."""
        gone = {q: events for q, events in self.events_by_question.items() if events[-1].kind == "delete"}
        return {q: _last_answer(events) for q, events in gone.items()}

    @cached_property
    def answer_numbers(self) -> dict[int, int]:
        """By question: its place among the answered questions, deleted answers too, from 1."""
        answered = [answer.asked for answer in self.answers] + [self.by_id[q] for q in self.deleted]
        ordered = sorted(answered, key=lambda asked: asked.number)
        return {asked.id: number for number, asked in enumerate(ordered, 1)}

    @property
    def length(self) -> "LogLength":
        """How many rows it has."""
        rows = self.questions, self.events, self.stage_events, self.reasons, self.annotations
        return LogLength(*map(len, rows))

    def first(self, length: "LogLength") -> "EventLog":
        """The log as it was when it had so many rows."""
        if length == self.length:
            return self
        questions, events, stage_events, reasons, annotations = length
        return EventLog(
            self.questions[:questions],
            self.events[:events],
            self.stage_events[:stage_events],
            self.reasons[:reasons],
            self.annotations[:annotations],
        )

    @cached_property
    def state(self) -> "LogState":
        """What the next question depends on: the active answers with their reasons, and the skips."""
        answers = frozenset((active.asked.number, active.choice) for active in self.answers)
        return LogState(answers, frozenset(asked.number for asked in self.skipped), reasons_in(self.answers))

    @property
    def last_event(self) -> int:
        """What the next question is based on."""
        return self.events[-1].id if self.events else 0

    @cached_property
    def open_question(self) -> AskedQuestion | None:
        """The question that waits for an answer, if it was asked already.

        One that was chosen by hand waits until something happens to it, whatever happens to others.
        """
        if self.events and self.events[-1].kind == "undo":
            return self.by_id[self.events[-1].question]
        latest = self.questions[-1] if self.questions else None
        if latest is not None and latest.is_by_hand and latest.id not in self.events_by_question:
            return latest
        return next((asked for asked in reversed(self.questions) if asked.based_on == self.last_event), None)

    @cached_property
    def undoable(self) -> int | None:
        """The question whose answer or skip an undo takes back: the latest of those that are active."""
        active = [(answer.event.id, answer.asked.id) for answer in self.answers]
        active += [(self.events_by_question[asked.id][-1].id, asked.id) for asked in self.skipped]
        return max(active)[1] if active else None

    def position(self, question: int) -> int:
        """The position of a question's next event."""
        return len(self.events_by_question.get(question, ()))

    def stage_event(self, stage: str, item: str = "") -> StageEvent | None:
        """What the participant did at a stage, if they did it."""
        return next((e for e in self.stage_events if (e.stage, e.item) == (stage, item)), None)

    def extended(self, newer: "EventLog") -> "EventLog":
        """The log with the rows of another one after its own."""
        return EventLog(
            self.questions + newer.questions,
            self.events + newer.events,
            self.stage_events + newer.stage_events,
            self.reasons + newer.reasons,
            self.annotations + newer.annotations,
        )

    def with_question(self, asked: AskedQuestion) -> "EventLog":
        """The log with one question more."""
        return replace(self, questions=(*self.questions, asked))

    def with_event(self, event: Event) -> "EventLog":
        """The log with one event more."""
        return replace(self, events=(*self.events, event))

    def with_stage_event(self, event: StageEvent) -> "EventLog":
        """The log with one stage event more."""
        return replace(self, stage_events=(*self.stage_events, event))

    def with_reason(self, reason: ReasonEvent) -> "EventLog":
        """The log with the reason of an answer."""
        return replace(self, reasons=(*self.reasons, reason))

    def with_annotation(self, annotation: Annotation) -> "EventLog":
        """The log with one annotation more."""
        return replace(self, annotations=(*self.annotations, annotation))

    @cached_property
    def trajectory_remarks(self) -> dict[int, Remarks]:
        """Notes and tags by the index of the trajectory that they are about."""
        return remarks_of((one.trajectory, one) for one in self.annotations)

    @cached_property
    def question_remarks(self) -> dict[int, Remarks]:
        """Notes and tags by the id of the question whose answer they are about."""
        return remarks_of((one.question, one) for one in self.annotations)

    def supposing(self, kind: EventKind) -> "EventLog":
        """The log as it would be if this happened to the open question."""
        assert self.open_question is not None
        question = self.open_question.id
        return self.with_event(
            Event(self.last_event + 1, question, self.position(question), kind, "", None, "")
        )


def reasons_in(answers: Iterable[ActiveAnswer]) -> frozenset[tuple[int, str]]:
    """The reasons of those that have one, by the numbers of their questions."""
    return frozenset((active.asked.number, active.because) for active in answers if active.because)


def _last_answer(events: list[Event]) -> Event:
    answers = [event for event in events if is_answer(event.kind)]
    if not answers:
        raise ValueError(f"a question has a {events[-1].kind!r}, but no answer that it could be about")
    return answers[-1]


def _active_answer(events: list[Event]) -> Event | None:
    """The answer that counts, if the last event is an answer or restores one."""
    if is_answer(events[-1].kind):
        return events[-1]
    return _last_answer(events) if events[-1].kind == "restore" else None
