"""The questions that a learner has asked, and what became of them.

number       every question has its own, so that an answer may come late, out of order, or twice
open         questions that wait for their answer
answered     answers, in the order in which they came
skipped      questions that the person would rather not answer; their pairs are not asked again
persons      who was asked, where several people answer
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Self

from prefero.questions import Answer, Question


class AnswerConflict(ValueError):
    """A question was answered twice, and differently."""


@dataclass
class AskedQuestions:
    """Questions by their numbers: open, answered and skipped ones."""

    open: dict[int, Question] = field(default_factory=dict)
    answered: dict[int, Answer] = field(default_factory=dict)
    skipped: dict[int, Question] = field(default_factory=dict)
    persons: dict[int, str] = field(default_factory=dict)
    last_number: int = 0

    @property
    def next_number(self) -> int:
        """Of the question that is asked next."""
        return self.last_number + 1

    @property
    def answers(self) -> tuple[Answer, ...]:
        """All answers, in the order of their questions."""
        return tuple(self.answered[number] for number in sorted(self.answered))

    @property
    def people(self) -> tuple[str, ...]:
        """The names of those who have answered, sorted; empty where nobody gave a name."""
        return tuple(sorted({answer.person for answer in self.answered.values() if answer.person}))

    def unavailable(self, items: int) -> list[tuple[int, ...]]:
        """Sets of so many trajectories that are not asked about: those of open and of skipped questions."""
        asked = (question.items for question in (*self.open.values(), *self.skipped.values()))
        return [some for some in asked if len(some) == items]

    def answered_by(self, person: str = "") -> list[tuple[int, ...]]:
        """Trajectories that this person has answered about together; anybody, without a name."""
        given = (answer for answer in self.answered.values() if not person or answer.person == person)
        return [answer.question.items for answer in given]

    def numbered(self, question: Question) -> Question:
        """The question with a number, after checking that a question with its number is the same."""
        if question.number == 0:
            return question.numbered(self.next_number)
        asked = self.open.get(question.number) or self.skipped.get(question.number)
        if asked is not None and asked != question:
            raise ValueError(
                f"question {question.number} was about {_listed(asked)}, not about {_listed(question)}"
            )
        return question

    def ask(self, question: Question) -> None:
        """A question with the next number waits for its answer from now on."""
        self.last_number, self.open[question.number] = question.number, question

    def answer_to(
        self,
        question: Question,
        choice: str,
        person: str,
        seconds: float | None,
        source: str,
        because: str | None,
    ) -> Answer:
        """The answer to a numbered question, by this person or by the one who was asked.

        Without a reason (None) the one stays that was given before.
        """
        person = person or self.persons.get(question.number, "")
        answer = Answer(question, choice, person, seconds, source, because or "")
        before = self.answered.get(question.number)
        if because is None and before is not None and before.choice == answer.choice:
            return replace(answer, because=before.because)
        return answer

    def tell(self, answer: Answer) -> None:
        """Record an answer; the same one twice counts once, with the first time and the last reason."""
        number = answer.question.number
        before = self.answered.get(number)
        if before is None:
            self.answered[number] = answer
            self.last_number = max(self.last_number, number)
        elif before != replace(answer, seconds=before.seconds, because=before.because):
            raise AnswerConflict(_conflict(before, answer))
        else:
            self.answered[number] = replace(before, because=answer.because)
        self.open.pop(number, None)
        self.skipped.pop(number, None)

    def skip(self, question: Question) -> None:
        """Record that a numbered question stays unanswered."""
        number = question.number
        if number in self.answered:
            raise AnswerConflict(f"question {number} was answered already: undo that answer to skip it")
        self.open.pop(number, None)
        self.skipped[number] = question
        self.last_number = max(self.last_number, number)

    def reopen(self, number: int) -> None:
        """Take back a skip: the question waits for its answer again."""
        if number not in self.skipped:
            raise ValueError(f"question {number} was not skipped, so there is no skip to take back")
        self.open[number] = self.skipped.pop(number)

    def undo(self) -> Answer:
        """Take back the answer that came last and return it; its question is open again."""
        if not self.answered:
            raise ValueError("there is no answer to take back")
        number, answer = self.answered.popitem()
        self.open[number] = answer.question
        return answer

    def wait_for(self, questions: Iterable[Question], last_number: int) -> None:
        """Exactly these questions are open; the last number that was given is this one or a larger one."""
        self.open = {question.number: question for question in questions}
        self.last_number = max([self.last_number, last_number, *self.open])

    def without_open(self) -> Self:
        """An independent copy without open questions."""
        return type(self)({}, dict(self.answered), dict(self.skipped), dict(self.persons), self.last_number)


def _conflict(before: Answer, now: Answer) -> str:
    """What two answers with one number disagree about."""
    number = before.question.number
    if before.question != now.question:
        return f"question {number} was about {_listed(before.question)}, not about {_listed(now.question)}"
    return (
        f"question {number} ({_listed(before.question, 'or')}) was answered {before.choice!r} before, "
        f"and now {now.choice!r}: undo the first answer to change it"
    )


def _listed(question: Question, word: str = "and") -> str:
    """The trajectories of a question in words."""
    *others, last = map(str, question.items)
    return f"{', '.join(others)} {word} {last}"
