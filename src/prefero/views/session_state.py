"""What a person's page shows at one moment: the session's state and its parts.

A study's server and a notebook's widget make the same state, each of what it knows.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self, TypedDict

from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, has_ties, kind_named, listed_choices
from prefero.questions.kinds.label import words_of
from prefero.questions.prior_knowledge import Better
from prefero.views.stages import Stage


@dataclass(frozen=True)
class ShownQuestion:
    """The question that waits for an answer.

    id       names it in requests; 0 for the practice question
    number   counts the participant's questions from 1; 0 for the practice question
    items    the trajectories to compare, by index, in the order in which they are shown
    kind     of the answer that is wanted
    value    of the acquisition function, in `unit`; None in a study: participants see nothing of the model
    by_hand  whether a teacher chose the trajectories
    """

    id: int
    number: int
    items: list[int]
    value: float | None
    unit: str | None
    kind: Kind
    by_hand: bool = False
    __pydantic_config__: ClassVar[dict[str, Any]] = {"json_schema_serialization_defaults_required": True}

    @classmethod
    def of(cls, question: Question, id: int, with_value: bool = False) -> Self:
        """A question that requests name by this id."""
        value, unit = question.known_value if with_value else (None, None)
        return cls(id, question.number, list(question.items), value, unit, question.kind)


@dataclass(frozen=True)
class TargetScores:
    """The targets that the participant gives different whole numbers, from lowest to highest."""

    labels: list[str]
    colors: list[str]
    lowest: int
    highest: int


@dataclass(frozen=True)
class OwnScore:
    """The score that the participant gave a target."""

    label: str
    color: str
    score: int


@dataclass(frozen=True)
class Rating:
    """The trajectory that the participant rates now: `number` of `total`, on a scale."""

    trajectory: int
    number: int
    total: int
    lowest: int
    highest: int


@dataclass(frozen=True)
class PolicyStanding:
    """What is known about one policy of an arena.

    strength           expected, with a 90 % interval from low to high; the average of the policies is 0
    passes, fails      how often a rollout was said to be acceptable, and not to be
    success            the probability that a rollout passes, with a 90 % interval; None if nobody said so
    better_than_next   the probability that it is better than the policy after it; None for the last one
    """

    policy: str
    strength: float
    low: float
    high: float
    wins: int
    losses: int
    ties: int
    passes: int
    fails: int
    success: float | None
    success_low: float | None
    success_high: float | None
    better_than_next: float | None


@dataclass(frozen=True)
class ArenaResult:
    """What an arena has found.

    sentences   what is known, in words
    standings   the policies, the strongest first
    report      the command that writes the report
    """

    sentences: list[str]
    standings: list[PolicyStanding]
    report: str


@dataclass(frozen=True)
class ArenaState:
    """How far an arena is, and nothing that depends on what was answered: a probability tells who leads.

    answers     of all judges
    questions   after so many answers the arena ends at the latest
    result      at the end, for the judge who runs the arena; None before, and for judges who were invited
    """

    answers: int
    questions: int
    result: ArenaResult | None


@dataclass(frozen=True)
class OfferedReason:
    """A feature that may be why the last answer was given, and whether more or less of it would be better."""

    feature: str
    better: Better


@dataclass(frozen=True)
class OfferedReasons:
    """The likely reasons of the answer to a question, and the feature that was named, if one was."""

    question: int
    reasons: list[OfferedReason]
    named: str | None


class StageParts(TypedDict, total=False):
    """The parts of the state that only some stages have."""

    text: str
    question: ShownQuestion
    accuracy: float | None
    undoable: int | None
    reasons: OfferedReasons | None
    target_scores: TargetScores
    rating: Rating


@dataclass(frozen=True)
class SessionState:
    """Everything that the page needs to show now; None where the stage has no such part.

    task_description   what to do, in a sentence; it is shown above every question
    own_scores         the participant's scores of the targets, highest first; None before they are given
    answered           active answers
    total              questions that the protocol asks
    accuracy           the fraction of answers that is expected to be predicted; None in a study: participants
                       see nothing of the model; and while it is too early to say
    goal               the fraction at which a teacher wants to stop, and the page asks whether to go on
    kinds              of answers that the protocol asks for; of several, the usual one first
    items              how many trajectories the question shows
    choices            the answers to the question; of a ranking, which is any order of the items, only "none"
                       if that is an answer too
    ties               whether "about equal" is an answer, and items may have the same place in a ranking
    words              for the levels of a label, the lowest first; none where trajectories are compared
    undoable           the question whose answer or skip can be taken back now
    reasons            of the answer that was just given, of which the person may name one; None where there
                       are none to choose from, or nothing would be learned from them
    watch_to_end       whether a question waits for an answer until its items were shown to their end
    arena              how far the arena is, if this is one
    """

    stage: Stage
    task_description: str
    answered: int
    total: int
    kinds: list[Kind]
    ties: bool
    words: list[str] = field(default_factory=list)
    title: str = ""
    own_scores: list[OwnScore] | None = None
    text: str | None = None
    accuracy: float | None = None
    goal: float | None = None
    question: ShownQuestion | None = None
    items: int = 2
    choices: list[str] = field(default_factory=list)
    undoable: int | None = None
    reasons: OfferedReasons | None = None
    can_skip: bool = False
    watch_to_end: bool = False
    target_scores: TargetScores | None = None
    rating: Rating | None = None
    arena: ArenaState | None = None
    # for the page's types: the fields with defaults are always there too
    __pydantic_config__: ClassVar[dict[str, Any]] = {"json_schema_serialization_defaults_required": True}

    def __post_init__(self) -> None:
        """What can be answered follows from the stage and the kind of the question.

        `ties` and `words` are what the protocol has, and become those of the question.
        """
        kind = self.kinds[0] if self.question is None else self.question.kind
        derived = {
            "items": kind_named(kind).items,
            "choices": list(listed_choices(kind, self.ties)),
            "ties": self.ties and has_ties(kind),
            "words": list(words_of(kind_named(kind), self.words)),
            "can_skip": self.stage in ("practice", "compare"),
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)
