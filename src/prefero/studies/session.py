"""A session: one participant in front of the page. What the page shows, and what becomes of their answers.

Everything follows from the event log, so a session can be dropped and taken up by another server. For an
answer the log is read once, in the transaction that records it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from prefero.acquisition.group_questions import About
from prefero.arena.standings import Standings
from prefero.datasets.media.clips import clip_problem, is_planned
from prefero.learner.reasons import offered_reasons
from prefero.models.posterior.mixture import ENOUGH_ANSWERS
from prefero.pools.displays import targets_of
from prefero.questions.answer_kinds import Kind, kind_named, listed_choices
from prefero.studies.asking.arena_schedule import arena_state
from prefero.studies.asking.by_hand import question_by_hand
from prefero.studies.asking.stage_rules import RULES, stage_of
from prefero.studies.computing.base import Computing
from prefero.studies.computing.question_preparation import QuestionPreparation
from prefero.studies.computing.workspace import (
    Workspace,
    arena_standings,
    best_trajectories,
    of_learner,
)
from prefero.studies.log.annotations import AnnotationKind
from prefero.studies.log.event_log import (
    SET_ASIDE,
    ActiveAnswer,
    AskedQuestion,
    EventKind,
    EventLog,
    LogState,
    is_answer,
)
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.reports.learning_summary import goal_reached
from prefero.studies.reports.pool_page import PoolRewards, pool_rewards
from prefero.studies.storage.store import Participant, Refused, Store, Study
from prefero.views.session_state import (
    OfferedReason,
    OfferedReasons,
    OwnScore,
    SessionState,
    ShownQuestion,
    StageParts,
)
from prefero.views.stages import SUBMITTED_STAGES, Stage

NOT_PLAYABLE = "this clip cannot be played"  # for participants, who may not see the names of files
BY_OWN_SCORES = "Judge by the scores that you gave the targets."
Result = TypeVar("Result")


def task_description(
    protocol: Protocol, display: Mapping[str, Any], own_scores: list[OwnScore] | None = None
) -> str:
    """What to do, in a sentence: the protocol's; by the scores that the participant gave; or the world's."""
    world: str = display["task_description"]
    return protocol.task_description or (BY_OWN_SCORES if own_scores else world)


class Session:
    """One participant of one study.

    computing   where learners compute
    goal     the fraction of predicted answers at which a teacher wants to stop; None: as the session has it
    about    where several people teach in one session: their own reward, or the one that all share
    arena_report   the command that writes an arena's report, for the judge who runs it: they see the result
                   at its end, and may go on; judges without it are thanked
    report   is called with what the person at the terminal should know
    """

    def __init__(
        self,
        store: Store,
        study: Study,
        participant: Participant,
        computing: Computing,
        *,
        goal: float | None = None,
        about: About = "person",
        arena_report: str = "",
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.store, self.study, self.participant, self.computing = store, study, participant, computing
        self._arena_report, self._report, self._reported = arena_report, report, False
        self.workspace = Workspace(store, study, participant, about)
        self.pool, self.protocol = self.workspace.pool, self.workspace.protocol
        self.goal = self.protocol.goal if goal is None else goal
        if arena_report:
            self.protocol = replace(self.protocol, open_ended=True)
        self.questions = self.workspace.questions
        self._preparation = QuestionPreparation(self.workspace, computing)
        self._rewards: tuple[LogState, PoolRewards | None] | None = None  # of the last answers they were for

    # --- what the participant does ------------------------------------------------------------------------

    def state(self) -> SessionState:
        """What the page shows now."""
        return self._state(self.event_log())

    def answer(self, question: int, kind: EventKind, key: str, seconds: float | None = None) -> SessionState:
        """Record an answer or a skip; it is on disk before the next question is computed."""
        if is_answer(kind):
            self._check_playable(question)
        return self._state(
            self.store.add_event(self.participant, question, kind, key, seconds, self._accepted)
        )

    def _accepted(self, asked: AskedQuestion, choice: str) -> str:
        return self.checked_choice(asked.kind, choice)

    def checked_choice(self, kind: Kind, choice: object) -> str:
        """The choice, if a question of this kind has it and the protocol allows it."""
        try:
            word = kind_named(kind).canonical(str(choice))
        except ValueError as error:
            raise Refused("bad-choice", str(error)) from error
        if kind_named(kind).is_tied(word) and not self.protocol.ties:
            raise Refused("no-ties", "'about equal' is no answer in this study: choose one of them")
        return word

    def _check_playable(self, question: int) -> None:
        """Nobody has seen a clip that is not there yet or cannot be played; the question can be skipped."""
        asked = self.event_log().by_id.get(question) if self.pool.clips is not None else None
        for item in asked.items if asked is not None else ():
            clip = (self.pool.clips or ())[item]
            if is_planned(clip):
                raise Refused("not-ready", "a clip of this question is still being prepared: wait for it")
            problem = clip_problem(clip)
            if problem is not None:
                told = problem if self.study.kind == "teach" else NOT_PLAYABLE
                raise Refused("not-playable", f"{told}: skip this question")

    def give_reason(self, question: int, feature: str, key: str) -> SessionState:
        """Record the feature for which an answer was given; "" takes it back. The next question stays."""
        return self._state(
            self.store.add_reason(self.participant, question, feature, key, self._check_reason)
        )

    def _check_reason(self, active: ActiveAnswer, feature: str) -> None:
        if not self._offers_reasons:
            raise Refused("no-reasons", "nobody is asked for reasons in this study")
        known = [one.feature for one in offered_reasons(active.answer, self.pool)]
        if feature and feature not in known:
            raise Refused("bad-reason", f"{feature!r} is no reason for that answer: choose one of {known}")

    def choose(self, items: Sequence[int], key: str) -> SessionState:
        """Ask about trajectories that the teacher chose by hand; the open question is set aside."""
        log = self.event_log()
        if self._stage(log, self._standings(log)) != "compare":
            raise Refused("wrong-stage", "this session asks no question now")
        chosen = question_by_hand(items, log, self.pool, self.protocol)
        return self._state(self.store.choose_question(self.participant, chosen, key))

    def withdraw(self, question: int, key: str) -> SessionState:
        """Set a question aside that was chosen by hand, so that the method asks again."""
        asked = self.event_log().by_id.get(question)
        if asked is not None and not asked.is_by_hand:
            raise Refused("not-by-hand", "this question was not chosen by hand: skip it instead")
        return self._state(self.store.add_event(self.participant, question, SET_ASIDE, key))

    def annotate(
        self,
        kind: AnnotationKind,
        text: str,
        key: str,
        *,
        trajectory: int | None = None,
        question: int | None = None,
    ) -> SessionState:
        """Write a note or a tag about a trajectory or a question, or remove a tag."""
        if trajectory is not None:
            self.check_trajectory(trajectory)
        about = {"trajectory": trajectory, "question": question}
        return self._state(self.store.annotate(self.participant, kind, text, key, **about))

    def check_trajectory(self, index: int) -> None:
        """Refuse an index that the pool does not have."""
        if index >= len(self.pool):
            raise Refused("no-trajectory", f"there are trajectories 0 to {len(self.pool) - 1}")

    def undo(self, key: str, question: int | None = None) -> SessionState:
        """Take the last answer or skip back; not after the last question, since ratings rest on answers.

        With `question`, only if it is the one that was answered last.
        """

        # not in the check, during which nobody else can write
        standings = None if self.protocol.arena is None else self._standings(self.event_log())

        def check(log: EventLog) -> None:
            if question is not None and log.undoable not in (None, question):
                raise Refused("nothing-to-undo", "another answer came after it, perhaps in another window")
            if self._stage(log, standings) != "compare":
                raise Refused("nothing-to-undo", "all questions are answered, and answers are final now")

        return self._state(self.store.undo(self.participant, key, check))

    def change(self, question: int, kind: Literal["delete", "restore", "undo"], key: str) -> SessionState:
        """Delete an answer of the history, restore it, or undo it: its question is then the next one."""
        return self._state(self.store.add_event(self.participant, question, kind, key))

    def submit(self, stage: str, data: Mapping[str, Any], key: str) -> SessionState:
        """Record what the participant did at a stage other than comparing."""
        log = self.event_log()
        if any(event.key == key for event in log.stage_events):
            return self._state(log)
        if stage != stage_of(log, self.protocol) or stage not in SUBMITTED_STAGES:
            raise Refused("wrong-stage", "this was done already, perhaps in another window")
        item, kept = RULES[stage].accept(self, log, data)
        return self._state(self.store.add_stage_event(self.participant, stage, item, kept, key))

    def prefetch(self) -> tuple[list[int], bool]:
        """Trajectories that may be shown next, and whether these are all.

        A teacher gets those after the likely answer first. Participants do not see what is expected of them.
        """
        log = self.event_log()
        if self._asks(log) and log.open_question is None:
            return [], False
        after = self._likely_logs(log)
        known, complete = self._preparation.coming(log, after)
        items = list(dict.fromkeys(item for chosen in known for item in chosen.proposal.items))
        return items if self.study.kind == "teach" else sorted(items), complete or not after

    def rest(self) -> None:
        """Prepare no more questions, until somebody looks at it again."""
        self._preparation.drop()

    # --- what is known of it ------------------------------------------------------------------------------

    def event_log(self) -> EventLog:
        """Everything that the participant was asked and did."""
        log = self.workspace.newest = self.store.event_log(self.participant)
        return log

    def of_learner(
        self, function: Callable[..., Result], *arguments: Any, log: EventLog | None = None
    ) -> Result:
        """`function(learner, log, *arguments)` of what was learned so far, computed where learners are."""
        found: Result = self._computed(of_learner, log, function, *arguments)
        return found

    def pool_rewards(self, log: EventLog) -> PoolRewards | None:
        """The rewards of all trajectories, computed once for the answers; None while it is too early."""
        if len(log.answers) < ENOUGH_ANSWERS:
            return None
        if self._rewards is None or self._rewards[0] != log.state:
            self._rewards = log.state, self.of_learner(pool_rewards, log=log)
        return self._rewards[1]

    def best_trajectories(self, log: EventLog) -> list[tuple[str, int]]:
        """Each method's label and its best trajectory, in the order in which they are rated."""
        return self._computed(best_trajectories, log)

    def _computed(self, function: Callable[..., Result], log: EventLog | None, *arguments: Any) -> Result:
        """`function(workspace, length of the log, *arguments)`."""
        log = self.event_log() if log is None else self._seen(log)
        found: Result = self.computing.submit(self.workspace, function, log.length, *arguments).result()
        return found

    def _seen(self, log: EventLog) -> EventLog:
        """The log, which need not be read again where it is computed with."""
        self.workspace.newest = log
        return log

    def targets(self) -> list[dict[str, Any]]:
        """The labelled parts of the scene."""
        return targets_of(self.store.display(self.study))

    # --- the state ----------------------------------------------------------------------------------------

    def _stage(self, log: EventLog, standings: Standings | None) -> Stage:
        """The stage that the participant is at; an arena ends as soon as enough is known."""
        due, over = stage_of(log, self.protocol), standings is not None and standings.is_finished
        return "done" if due == "compare" and over and not self.protocol.open_ended else due

    def _standings(self, log: EventLog) -> Standings | None:
        """What is known about the policies, if this is an arena."""
        return None if self.protocol.arena is None else self._computed(arena_standings, log)

    def _state(self, log: EventLog) -> SessionState:
        standings, own_scores = self._standings(log), self._own_scores(log)
        stage = self._stage(log, standings)
        parts: StageParts = RULES[stage].show(self, log)
        if stage == "compare":
            log, asked = self._open_question(log)
            accuracy = self._accuracy(log, asked)
            parts = {"question": self._shown(asked), "accuracy": accuracy, "undoable": log.undoable}
            parts["reasons"] = self._reasons(log)
            self._report_goal(log, accuracy)
            self._preparation.prepare(log, self._likely_logs(log))
        return SessionState(
            stage=stage,
            title=self.protocol.title,
            task_description=task_description(self.protocol, self.store.display(self.study), own_scores),
            own_scores=own_scores,
            answered=len(log.answers),
            total=self.protocol.total_questions,
            goal=self.goal,
            kinds=list(self.protocol.kinds),
            ties=self.protocol.ties,
            words=list(self.protocol.level_words),
            watch_to_end=self.study.kind == "study" and self.protocol.watch_to_end,
            arena=None if standings is None else arena_state(standings, self._arena_report),
            **parts,
        )

    def _accuracy(self, log: EventLog, asked: AskedQuestion) -> float | None:
        """The expected fraction of predicted answers, as it was stored with the question."""
        answered = len(log.answers)
        if self.study.kind != "teach" or answered < ENOUGH_ANSWERS or asked.answered != answered:
            return None
        return asked.accuracy

    def _report_goal(self, log: EventLog, accuracy: float | None) -> None:
        """Say once, at the terminal, that as many answers are predicted as the teacher wanted."""
        if self.goal is None or accuracy is None or accuracy < self.goal or self._reported:
            return
        self._reported = True
        self._report(self.of_learner(goal_reached, self.goal, log=log))

    def _own_scores(self, log: EventLog) -> list[OwnScore] | None:
        """What the participant said the targets are worth, to have it in view at every question."""
        given = log.stage_event("target_scores")
        if given is None:
            return None
        scores = [
            OwnScore(t["label"], t["shapes"][0]["color"], given.data[t["label"]]) for t in self.targets()
        ]
        return sorted(scores, key=lambda own: -own.score)

    @property
    def _offers_reasons(self) -> bool:
        """A teacher may always say why; participants of a study where the protocol says so."""
        wanted = self.study.kind == "teach" or self.protocol.reasons
        return wanted and self.protocol.arena is None and self.protocol.learns_from_reasons

    def _reasons(self, log: EventLog) -> OfferedReasons | None:
        """The likely reasons of the answer that was just given."""
        last = log.latest_answer
        if last is None or not self._offers_reasons:
            return None
        found = [OfferedReason(one.feature, one.better) for one in offered_reasons(last.answer, self.pool)]
        return OfferedReasons(last.asked.id, found, last.because or None) if found else None

    def _shown(self, asked: AskedQuestion) -> ShownQuestion:
        """The question for the page; participants of a study do not see what the model expects of it."""
        shown = ShownQuestion.of(asked.question, asked.id, with_value=self.study.kind == "teach")
        return replace(shown, by_hand=asked.is_by_hand)

    def _open_question(self, log: EventLog) -> tuple[EventLog, AskedQuestion]:
        """The question that waits for an answer; if there is none yet, it is computed and recorded."""
        log = self._without_former_kind(log)
        while log.open_question is None:
            chosen = self._preparation.next_question(self._seen(log))
            log = self.store.add_question(self.participant, log, chosen.proposal)
        return self._seen(log), log.open_question

    def _without_former_kind(self, log: EventLog) -> EventLog:
        """Skip a question that was asked before the kind of answers was changed.

        Only now, so that an answer that waits in a browser comes first. One that an undo reopened stays.
        """
        asked = log.open_question
        if asked is None or asked.kind in self.protocol.kinds or asked.based_on != log.last_event:
            return log
        self._report(f"A question of the kind {asked.kind} was open. It is skipped; Undo brings it back.")
        return self.store.add_event(self.participant, asked.id, "skip", f"former kind {asked.id}")

    # --- what is computed before it is needed -------------------------------------------------------------

    def _asks(self, log: EventLog) -> bool:
        return RULES["compare"].is_due(log, self.protocol)

    def _likely_logs(self, log: EventLog) -> dict[str, EventLog]:
        """By likely answer, the log after it, where another question follows.

        A participant who has not answered "about equal" before is not likely to do so now.
        """
        if log.open_question is None:
            return {}
        kind = kind_named(log.open_question.kind)
        choices = listed_choices(kind.name, self.protocol.ties) if kind.is_listed else ()
        given = {active.choice for active in log.answers}
        likely = {word for word in choices if not kind.is_tied(word)} | given
        after = {choice: log.supposing(choice) for choice in choices if choice in likely}
        return {choice: supposed for choice, supposed in after.items() if self._asks(supposed)}
