"""The HTTP API in types, which the page's own types are generated from (`prefero.server.openapi`).

What a route takes and what only a route returns is here. What a study itself knows (the session's state, the
learning summary, the participants' progress) is returned as the dataclasses of `prefero.studies`.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

import prefero
from prefero.models.explanation import Statement
from prefero.questions.answer_kinds import ANSWER_KINDS, Kind
from prefero.studies.log.event_log import MOST_SECONDS
from prefero.studies.reports.participant_progress import ParticipantProgress
from prefero.views.stages import SubmittedStage

LARGEST = 2**31 - 1
Role = Literal["teacher", "participant", "experimenter"]
Key = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,64}$")]
Secret = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{8,128}$")]
QuestionId = Annotated[int, Field(ge=1, le=LARGEST)]
PATTERNS = dict.fromkeys(pattern for kind in ANSWER_KINDS for pattern in kind.patterns)
WORDS = f"^(skip|{'|'.join(PATTERNS)})$"
Word = Annotated[str, Field(pattern=WORDS)]


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


class HistoryChange(RequestBody):
    """Delete an answer of the history, restore a deleted one, or undo it, so that it is asked again."""

    key: Key
    question: QuestionId
    kind: Literal["delete", "restore", "undo"]


class StageSubmission(RequestBody):
    """What the participant did at a stage other than comparing: consent, scores, practice, a rating."""

    key: Key
    stage: SubmittedStage
    data: dict[str, Any] = Field(default_factory=dict)


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
    Requests that change a session name it in the header X-Prefero-Session.
    """

    role: Role | None
    study: str | None
    session: str | None
    version: str = prefero.__version__


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
    """

    question: int
    number: int
    items: list[int]
    ids: list[str] | None
    kind: Kind
    choice: str
    seconds: float | None
    at: str
    deleted: bool


class History(ResponseBody):
    """Every answer in the order of the questions, deleted ones too."""

    answers: list[PastAnswer]


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


# --- trajectories -----------------------------------------------------------------------------------------

Point = tuple[float, float]
Place = tuple[float, float, float]


class Polygon(ResponseBody):
    """A filled outline in the plane."""

    shape: Literal["polygon"]
    points: list[Point]
    color: str


class Capsule(ResponseBody):
    """A thick line with round ends in the plane; a disc where both ends are the same."""

    shape: Literal["capsule"]
    start: Point
    end: Point
    radius: float
    color: str


class Mesh(ResponseBody):
    """A surface of triangles: x, y, z of each vertex, and three vertices a face, both flattened."""

    shape: Literal["mesh"]
    vertices: list[float]
    faces: list[int]
    color: str


class Window(ResponseBody):
    """The visible part of a flat scene.

    It moves up and down with the part it follows, and sideways as far as is needed to show that part. Most of
    what it shows at first stays in view: if the part goes farther, the window becomes wider.
    """

    kind: Literal["window"]
    left: float
    right: float
    bottom: float
    top: float
    follow: str | None


class Camera(ResponseBody):
    """Where a solid scene is seen from; `fov` is the vertical field of view in degrees."""

    kind: Literal["camera"]
    eye: Place
    target: Place
    fov: float


class FlatPart(ResponseBody):
    """A rigid part of a flat scene; `label` is written beside it, `trail`: draw the path behind it."""

    name: str
    moves: bool
    label: str
    trail: bool
    shapes: list[Annotated[Polygon | Capsule, Field(discriminator="shape")]]


class SolidPart(ResponseBody):
    """A rigid part of a solid scene; `label` is written beside it, `trail`: draw the path behind it."""

    name: str
    moves: bool
    label: str
    trail: bool
    shapes: list[Mesh]


class FlatScene(ResponseBody):
    """A scene in two dimensions.

    `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
    """

    format: int
    dimensions: Literal[2]
    frame_time: float
    background: str
    view: Window
    main_part: str | None
    parts: list[FlatPart]


class SolidScene(ResponseBody):
    """A scene in three dimensions.

    `frame_time` is the time from one pose to the next in seconds; `main_part` is the part that people judge.
    """

    format: int
    dimensions: Literal[3]
    frame_time: float
    background: str
    view: Camera
    main_part: str | None
    parts: list[SolidPart]


class Feature(ResponseBody):
    """A feature's name and unit.

    A category has levels, and its value is the place of one of them. A number is ordered and has no levels.
    """

    name: str
    unit: str
    levels: list[str]
    ordered: bool


class FeatureRange(Feature):
    """A feature with its lowest and its highest value in the pool."""

    low: float
    high: float


class DisplayTexts(ResponseBody):
    """What the person is to do, in a sentence, and whose motion is judged: "the blue car", or ""."""

    task_description: str
    subject: str


class SceneDisplay(DisplayTexts):
    """Trajectories are replayed in this scene; each lasts so many seconds."""

    kind: Literal["scene"]
    scene: Annotated[FlatScene | SolidScene, Field(discriminator="dimensions")]
    seconds: float
    features: list[Feature]


class ClipsDisplay(DisplayTexts):
    """Trajectories are shown as videos."""

    kind: Literal["clips"]
    features: list[Feature]


class FeaturesDisplay(DisplayTexts):
    """Trajectories are shown by their features alone; `no_video` says why, where there could be videos."""

    kind: Literal["features"]
    features: list[FeatureRange]
    no_video: str


Display = Annotated[SceneDisplay | ClipsDisplay | FeaturesDisplay, Field(discriminator="kind")]


class Replay(ResponseBody):
    """Poses of the scene's moving parts, one list a time.

    A pose is x, y, angle in a flat scene; x, y, z and the quaternion w, x, y, z in a solid one.
    """

    format: int
    frame_time: float
    poses: list[list[list[float]]]


class TrajectoryDetails(ResponseBody):
    """One trajectory: its features by name, and its replay where the pool has a scene."""

    features: dict[str, float]
    replay: Replay | None
