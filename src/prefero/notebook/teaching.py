"""What a widget shows of a learner, and what becomes of a person's answers.

    state       of the session, as the page's own server returns it
    question    the learner's newest open question, which may come from a cell or from an earlier session
    unsaved     whether the learner has changed since its file was written

The learner belongs to the notebook, so its cells may ask and tell it too between two requests.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from prefero._support.coded_errors import CodedError
from prefero.acquisition.base import Purpose
from prefero.models.explain.learning_progress import check_goal
from prefero.pools.displays import details_of, display_of
from prefero.questions import Question
from prefero.questions.answer_kinds import PAIR, Kind, allowed_kinds, kind_named
from prefero.questions.kinds.label import own_words
from prefero.views.session_state import SessionState, ShownQuestion

if TYPE_CHECKING:
    from prefero.learner import Learner


class Conflict(CodedError):
    """What a person did does not fit the learner any more; `code` tells the page what to say."""


@dataclass(frozen=True)
class _Skip:
    """A skipped question, and how many answers there were: while there are as many, the skip came last."""

    question: Question
    answers: int


class Teaching:
    """What one widget does with a learner.

    questions   how many answers the person plans to give
    until       the fraction of predicted answers at which to stop
    purpose     of the questions; None is the learner's own acquisition function
    kind        of the answers that are asked for, or several of them
    words       for the levels of a label; none are the usual ones
    """

    def __init__(
        self,
        learner: "Learner",
        questions: int,
        until: float | None,
        purpose: Purpose | None,
        kind: Kind | Sequence[Kind] = PAIR,
        words: Sequence[str] = (),
    ) -> None:
        if questions < 1:
            raise ValueError(f"a person plans to answer one question or more, but this is {questions!r}")
        self.learner, self.questions, self.purpose = learner, questions, purpose
        self.until = None if until is None else check_goal(until)
        self.kinds = allowed_kinds(kind)
        self.words = own_words(words, [kind_named(one) for one in self.kinds])
        self._display = display_of(learner.pool)
        self._skips: list[_Skip] = []
        self._keys: set[str] = set()  # of requests that were done: a repeated one changes nothing
        self._unsaved = False

    def display(self) -> dict[str, Any]:
        """How the trajectories are shown; the folder of clips is nobody else's business."""
        return {name: value for name, value in self._display.items() if name != "folder"}

    def trajectory(self, index: int) -> dict[str, Any]:
        """One trajectory: its features, and its replay where there is a scene."""
        return details_of(self.learner.pool, self._display, index)

    # --- what the person does -----------------------------------------------------------------------------

    def answer(self, number: int, kind: str, key: str, seconds: float | None = None) -> dict[str, Any]:
        """Tell the learner an answer and how long it took, or that a question is skipped."""
        if key not in self._keys:
            question = self._open(number)
            if kind == "skip":
                self.learner.skip(question)
                self._skips.append(_Skip(question, len(self.learner.answers)))
            else:
                self.learner.tell(question, kind, seconds=seconds or None)
            self._done(key)
        return self.state()

    def undo(self, number: int, key: str) -> dict[str, Any]:
        """Take back the last answer or skip; its question is the next one."""
        if key not in self._keys:
            if number != self._undoable():
                raise Conflict("nothing-to-undo", "another answer came after it")
            skip = self._last_skip()
            if skip is None:
                self.learner.undo()
            else:
                self.learner.reopen(skip.question)
                self._skips.pop()
            self._done(key)
        return self.state()

    def _done(self, key: str) -> None:
        self._keys.add(key)
        self._unsaved = True

    def _open(self, number: int) -> Question:
        for question in self.learner.open_questions:
            if question.number == number:
                return question
        raise Conflict("already-answered", f"question {number} is not open any more")

    def _last_skip(self) -> _Skip | None:
        """The last skip, if no answer came after it."""
        last = self._skips[-1] if self._skips else None
        return last if last is not None and last.answers == len(self.learner.answers) else None

    def _undoable(self) -> int | None:
        """The question whose answer or skip is taken back next."""
        skip, answers = self._last_skip(), self.learner.answers
        if skip is not None:
            return skip.question.number
        return answers[-1].question.number if answers else None

    # --- the state ----------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """What the widget shows now; the learner is saved before a next question is computed."""
        self._save()
        learner = self.learner
        question = learner.open_questions[-1] if learner.open_questions else self._ask()
        return asdict(
            SessionState(
                stage="compare",
                task_description=self._display["task_description"],
                answered=len(learner.answers),
                total=self.questions,
                accuracy=self._accuracy(),
                goal=self.until,
                question=ShownQuestion.of(question, question.number, with_value=True),
                kinds=list(self.kinds),
                ties=learner.learns_from_ties,
                words=list(self.words),
                undoable=self._undoable(),
            )
        )

    def _ask(self) -> Question:
        return self.learner.ask(self.purpose, kind=self.kinds)

    def _accuracy(self) -> float | None:
        progress = self.learner.progress()
        return None if progress.is_early else progress.accuracy

    def _save(self) -> None:
        if not self._unsaved or self.learner.file is None:
            return
        try:
            self.learner.save(self.learner.file)
        except OSError as error:
            raise OSError(
                f"your answer was learned, but could not be saved to {self.learner.file} ({error}): "
                "make room there and try again, or save it elsewhere"
            ) from error
        self._unsaved = False
