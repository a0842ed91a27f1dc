"""The questions of one participant: computed before they are needed, and what is asked when one is not ready.

While the participant looks at a question, the question after the most probable answer to it is computed, and
those after the other answers when there is nothing more urgent. If an answer comes before that is done, the
participant waits a moment (`patience`), unless others wait already. If the best question is not found by
then, a quick one is asked at once (`prefero.studies.asking.quick_question`). The log says so
(`AskedQuestion.selection`).
"""

import threading
from collections.abc import Mapping
from concurrent.futures import CancelledError, Future

from prefero.studies.asking.chosen_question import ChosenQuestion
from prefero.studies.asking.question_schedule import QuestionSchedule
from prefero.studies.computing.base import LIKELY, POSSIBLE, Computing
from prefero.studies.computing.workspace import Workspace, next_question
from prefero.studies.log.event_log import EventLog, LogState
from prefero.studies.storage.database import DatabaseUnavailable

FIRST_PATIENCE = 1.0  # seconds for the first question, while the page opens


class QuestionPreparation:
    """The next questions of one participant."""

    def __init__(self, workspace: Workspace, computing: Computing) -> None:
        self.workspace, self.computing = workspace, computing
        self._prepared: dict[LogState, Future[ChosenQuestion]] = {}
        self._likely: dict[tuple[int, ...], str] = {}  # the most probable answer to the last question
        self._lock = threading.Lock()

    @property
    def _drawn(self) -> QuestionSchedule | None:
        """The schedule, unless this is an arena, where others answer meanwhile."""
        found = self.workspace.questions
        return found if isinstance(found, QuestionSchedule) else None

    def ready(self, log: EventLog) -> ChosenQuestion | None:
        """The next question, if it is known without computing."""
        drawn = None if self._drawn is None else self._drawn.drawn(log)
        if drawn is not None:
            return ChosenQuestion(drawn)
        return _result(self._prepared.get(log.state))

    def next_question(self, log: EventLog) -> ChosenQuestion:
        """The next question: prepared, computed, or if that takes too long a quick one."""
        ready = None if self._drawn is None else self.ready(log)
        chosen = ready or self._computed(log)
        self._likely = {chosen.proposal.items: chosen.likely}
        return chosen

    def prepare(self, log: EventLog, after: Mapping[str, EventLog]) -> None:
        """Compute the questions that come after these answers to the open one, the likely one first."""
        assert log.open_question is not None
        likely = self._likely.get(log.open_question.items)
        with self._lock:
            self._drop({supposed.state for supposed in after.values()})
            for choice, supposed in self._likely_first(log, after):
                if supposed.state not in self._prepared and self.ready(supposed) is None:
                    priority = LIKELY if choice == likely else POSSIBLE
                    self._prepared[supposed.state] = self.computing.submit(
                        self.workspace, next_question, log.length, choice, priority=priority
                    )

    def coming(self, log: EventLog, after: Mapping[str, EventLog]) -> tuple[list[ChosenQuestion], bool]:
        """The questions that are known to come after these answers to the open one, the likely one first.

        And whether these are all that it prepares.
        """
        with self._lock:
            supposed = [one for _, one in self._likely_first(log, after)]
            expected = [one for one in supposed if self._is_expected(one)]
        known = [chosen for chosen in map(self.ready, expected) if chosen is not None]
        return known, bool(known) and len(known) == len(expected)

    def _likely_first(self, log: EventLog, after: Mapping[str, EventLog]) -> list[tuple[str, EventLog]]:
        likely = None if log.open_question is None else self._likely.get(log.open_question.items)
        return sorted(after.items(), key=lambda item: item[0] != likely)

    def drop(self) -> None:
        """Forget all that was prepared, and compute none of it that has not begun."""
        with self._lock:
            self._drop(set())

    def _is_expected(self, supposed: EventLog) -> bool:
        return supposed.state in self._prepared or self.ready(supposed) is not None

    def _drop(self, wanted: set[LogState]) -> None:
        """Forget what was prepared for answers that were not given."""
        for state in self._prepared.keys() - wanted:
            self.computing.cancel(self.workspace, self._prepared.pop(state))

    def _computed(self, log: EventLog) -> ChosenQuestion:
        patience = self._patience(log)
        if patience == 0.0:
            return self._quick(log)
        future = self.computing.submit(self.workspace, next_question, log.length)
        try:
            found: ChosenQuestion = future.result(patience)
            return found
        except TimeoutError:
            self.computing.cancel(self.workspace, future)
            return self._quick(log)
        except CancelledError:
            raise DatabaseUnavailable("stopping", "the server is stopping: try again in a moment") from None

    def _patience(self, log: EventLog) -> float | None:
        """The seconds to wait for the best question, which must be computed; None: for ever."""
        patience = self.computing.patience
        if patience is None or self._drawn is None:
            return None
        if not log.answers:
            return max(patience, FIRST_PATIENCE)
        # who waits behind others would hardly get it in time, and take that from preparations
        return 0.0 if self.computing.people_waiting(self.workspace) else patience

    def _quick(self, log: EventLog) -> ChosenQuestion:
        assert self._drawn is not None
        return self._drawn.substitute(log)


def _result(future: "Future[ChosenQuestion] | None") -> ChosenQuestion | None:
    """What was computed, if it was."""
    if future is None or not future.done() or future.cancelled() or future.exception() is not None:
        return None
    return future.result()
