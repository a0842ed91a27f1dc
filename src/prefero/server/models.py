"""The HTTP API in types, which the page's own types are generated from (`prefero.server.openapi`).

What a route takes and what only a route returns is here. What a study itself knows (the session's state, the
learning summary, the participants' progress) is returned as the dataclasses of `prefero.studies`.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

import prefero
from prefero.models.explain.explanation import Statement
from prefero.questions.answer_kinds import ANSWER_KINDS, MOST_ITEMS, Kind, kind_named
from prefero.server.session_manager import WorldChoice
from prefero.studies.log.annotations import LONGEST_TAG, AnnotationKind, Remarks
from prefero.studies.log.event_log import MOST_SECONDS, Selection
from prefero.studies.protocol.protocol import LONGEST_TEXT
from prefero.studies.reports.participant_progress import ParticipantProgress
from prefero.studies.reports.pool_page import Between, PoolQuery, Shown, Sort, TagCount
from prefero.studies.storage.store import LONGEST
from prefero.studies.teaching_sessions import TeachingSession
from prefero.views.stages import SubmittedStage

LARGEST = 2**31 - 1
MOST_CARDS = 100  # trajectories of the pool in one response
Role = Literal["teacher", "participant", "experimenter"]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,128}$")]
TrajectoryIndex = Annotated[int, Field(ge=0, le=LARGEST)]
QuestionId = Annotated[int, Field(ge=1, le=LARGEST)]
PATTERNS = dict.fromkeys(pattern for kind in ANSWER_KINDS for pattern in kind_named(kind).patterns)
WORDS = f"^(skip|{'|'.join(PATTERNS)})$"
Word = Annotated[str, Field(pattern=WORDS)]


Name = Annotated[str, Field(min_length=1, max_length=LONGEST)]
UploadId = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class RequestBody(BaseModel):
    """What the page sends: these fields, of these types, and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class ResponseBody(BaseModel):
    """What the server returns: every field is always there."""

    model_config = ConfigDict(frozen=True, json_schema_serialization_defaults_required=True)


# --- requests ---------------------------------------------------------------------------------------------


class Entry(RequestBody):
    """A secret from a link."""

    secret: Secret


class AnswerOrSkip(RequestBody):
    """An answer to a question, or that the participant skips it; `key` makes a repeated request harmless.

    kind   "skip", or a choice of the question's kind
    """

    key: Key
    question: QuestionId
    kind: Word
    seconds: Annotated[float, Field(ge=0, le=MOST_SECONDS, allow_inf_nan=False)] | None = None


class Undo(RequestBody):
    """Take the last answer or skip back, which is that of this question."""

    key: Key
    question: QuestionId


class GivenReason(RequestBody):
    """The feature that is the reason of an answer, one of those that were offered; null takes it back."""

    key: Key
    question: QuestionId
    feature: Annotated[str, Field(min_length=1, max_length=1000)] | None


class HistoryChange(RequestBody):
    """Delete an answer of the history, restore a deleted one, or undo it, so that it is asked again."""

    key: Key
    question: QuestionId
    kind: Literal["delete", "restore", "undo"]


class ChosenItems(RequestBody):
    """Trajectories that a teacher chose by hand, by index, to be asked about next."""

    key: Key
    items: Annotated[
        list[Annotated[int, Field(ge=0, le=LARGEST)]], Field(min_length=1, max_length=MOST_ITEMS)
    ]


class GivenAnnotation(RequestBody):
    """A note, a tag, or that a tag is removed, about a trajectory or about a question and its answer."""

    key: Key
    trajectory: TrajectoryIndex | None = None
    question: QuestionId | None = None
    kind: AnnotationKind
    text: Annotated[str, Field(max_length=10_000)]  # how long it may be is said in words

    @model_validator(mode="after")
    def _has_one_subject(self) -> "GivenAnnotation":
        if (self.trajectory is None) == (self.question is None):
            raise ValueError("an annotation is about a trajectory or about a question, and not about both")
        return self


class StageSubmission(RequestBody):
    """What the participant did at a stage other than comparing: consent, scores, practice, a rating."""

    key: Key
    stage: SubmittedStage
    data: dict[str, Any] = Field(default_factory=dict)


NUMBER = r"(?:-?\d{1,20}(?:\.\d{1,20})?(?:[eE][+-]?\d{1,3})?)?"


class PoolSearch(BaseModel):
    """Which trajectories of the pool are wanted, in which order, and which page of them.

    `between` are ranges of features, each as place:low:high, of which low or high may be missing.
    """

    model_config = ConfigDict(extra="forbid")

    sort: Sort = "index"
    descending: bool = False
    feature: Annotated[int, Field(ge=0, le=LARGEST)] = 0
    text: Annotated[str, Field(max_length=200)] = ""
    tag: Annotated[str, Field(max_length=LONGEST_TAG)] = ""
    shown: Shown = "any"
    between: Annotated[
        list[Annotated[str, Field(pattern=rf"^\d{{1,9}}:{NUMBER}:{NUMBER}$")]], Field(max_length=50)
    ] = Field(default_factory=list)
    offset: Annotated[int, Field(ge=0, le=LARGEST)] = 0
    limit: Annotated[int, Field(ge=1, le=MOST_CARDS)] = 48

    @property
    def query(self) -> PoolQuery:
        """The same with numbers."""
        return PoolQuery(**self.model_dump(exclude={"between"}), between=tuple(map(_range, self.between)))


def _range(text: str) -> Between:
    place, low, high = text.split(":")
    return Between(int(place), float(low) if low else None, float(high) if high else None)


class SessionName(RequestBody):
    """A teaching session."""

    name: Name


class Renaming(SessionName):
    """Another name for a session."""

    new: Name


class Archiving(SessionName):
    """Put a session away from the list, or bring it back."""

    archived: bool


class Copying(Renaming):
    """A session with the same trajectories and settings under a new name, perhaps with the same answers."""

    answers: bool


class ChangedSettings(SessionName):
    """Other settings of a session: all of them, those too that stay as they are."""

    task_description: Annotated[str, Field(max_length=LONGEST_TEXT)]
    answers: Annotated[str, Field(max_length=LONGEST)]
    questions: int
    words: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(max_length=20)]
    goal: Annotated[float, Field(allow_inf_nan=False)] | None


class NewSession(RequestBody):
    """A session to begin: about a world, or about an upload; without a name it gets one."""

    world: Name | None = None
    upload: UploadId | None = None
    name: Annotated[str, Field(max_length=LONGEST)] = ""
    trajectories: Annotated[int, Field(ge=2, le=100_000)] | None = None
    task_description: Annotated[str, Field(max_length=LONGEST_TEXT)] = ""
    answers: Annotated[str, Field(max_length=LONGEST)] | None = None


class FileToUpload(RequestBody):
    """The name and the number of bytes of a file."""

    name: Annotated[str, Field(min_length=1, max_length=1000)]
    size: Annotated[int, Field(ge=0)]


class BeginningName(RequestBody):
    """A session that is being begun."""

    beginning: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class UploadName(RequestBody):
    """An upload."""

    upload: UploadId


class NewUpload(RequestBody):
    """The files of an upload."""

    files: list[FileToUpload]


# --- errors -----------------------------------------------------------------------------------------------


class Problem(ResponseBody):
    """What went wrong: a code for programs, a message for people."""

    code: str
    message: str


class ErrorBody(ResponseBody):
    """The body of every error."""

    error: Problem


# --- sessions ---------------------------------------------------------------------------------------------


class Me(ResponseBody):
    """Who sent the request; the role is null without a valid link.

    `study` is null for participants too: the name of a study may tell what they must not know.
    Requests that change a session name it in the header X-Prefero-Session. `manages` is true for the person
    who runs the server: they open and change all teaching sessions, and may have opened none yet.
    """

    role: Role | None
    study: str | None
    session: str | None
    manages: bool = False
    version: str = prefero.__version__


class SessionList(ResponseBody):
    """The teaching sessions, and what a new one can be about: worlds, or files with these suffixes."""

    sessions: list[TeachingSession]
    worlds: list[WorldChoice]
    accepted: list[str]


class Upload(ResponseBody):
    """A new upload: its files are sent in chunks of so many bytes, and kept under these names."""

    id: str
    names: list[str]
    chunk: int


class Done(ResponseBody):
    """There is nothing more to say."""

    done: bool = True


class Uploaded(ResponseBody):
    """How many bytes of a file are there."""

    size: int


class OpenedSession(ResponseBody):
    """The name of a teaching session, and that by which requests are about it."""

    name: str
    session: str


class Phone(ResponseBody):
    """How a phone opens the page: a link, as text and as the rows of a QR code; or the command for that.

    `rows` have 1 for a dark square and 0 for a light one. Without a link, only this machine reaches the
    server.
    """

    link: str | None
    rows: list[str]
    command: str


class Prefetch(ResponseBody):
    """Trajectories that may be shown after the next answer; `complete` is false while more are computed."""

    trajectories: list[int]
    complete: bool


class TeachingPlace(ResponseBody):
    """How a teacher comes back: the command, and where the answers are stored.

    by_link   whether the teacher signed in with a link, and so can sign out
    """

    command: str
    stored_in: str
    by_link: bool


class PastAnswer(ResponseBody):
    """An answer of the history; `number` is its place among the answered questions, from 1.

    `items` are the trajectories by index, and `ids` by their ids or file names, null where they have none.
    `words` are those for the levels of a label, the lowest first. `because` is the feature that was named as
    the reason, `selection` how the question was chosen, and `note` and `tags` are what was written about it.
    """

    question: int
    number: int
    items: list[int]
    ids: list[str] | None
    kind: Kind
    choice: str
    words: list[str]
    because: str | None
    selection: Selection
    note: str
    tags: list[str]
    seconds: float | None
    at: str
    deleted: bool


class History(ResponseBody):
    """Every answer in the order of the questions, deleted ones too."""

    answers: list[PastAnswer]


class WrittenRemarks(ResponseBody):
    """What holds of a trajectory, by its index, or of a question, by its id."""

    of: int
    note: str
    tags: list[str]


class Annotations(ResponseBody):
    """All notes and tags of a teacher, and the tags in use, the most frequent first."""

    trajectories: list[WrittenRemarks]
    questions: list[WrittenRemarks]
    tags: list[TagCount]

    @staticmethod
    def listed(remarks: Mapping[int, Remarks]) -> list[WrittenRemarks]:
        """Notes and tags by what they are about."""
        return [WrittenRemarks(of=of, note=one.note, tags=list(one.tags)) for of, one in remarks.items()]


class BestTrajectory(ResponseBody):
    """The trajectory of the pool with the highest expected reward; `id` is null where it has none.

    `certainty` says in words how sure it is that no other one is better.
    """

    index: int
    id: str | None
    mean: float
    std: float
    certainty: str


class RewardSummary(ResponseBody):
    """The learned reward: its best trajectory, what it looks like, and Python code that uses it.

    `best` is null while there are too few answers to say.
    """

    best: BestTrajectory | None
    answers: int
    python: str
    statements: list[Statement]


class StudyProgress(ResponseBody):
    """How far the participants of a study are."""

    study: str
    title: str
    participants: list[ParticipantProgress]
    finished: int
    invited: int
