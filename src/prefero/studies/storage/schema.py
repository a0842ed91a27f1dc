"""The tables. Rows are added and never edited: an undo is one more row. Only a secret can be renewed, and a
session's name, settings and `archived` be changed.

    pools            trajectories and how they are displayed, by their digest
    studies          a teacher's session, or a study with many participants; secrets are kept as digests;
                     `archived` is when it was put away from the list of sessions, if it was
    participants     those who answer
    questions        what was asked: by which method, after which event (`based_on`), and whether it was the
                     best one (`selection`)
    question_items   the trajectories of a question, in the order in which they were shown
    events           what the participant did to a question: answered, skipped, undid, deleted, restored
    stage_events     what a participant did at the other stages: consent, scores, ratings
    reasons          the feature for which an answer, an event, was given; "" takes it back
    annotations      notes and tags of a teacher, each about a trajectory or about a question and its answer

The constraints hold the rules. `based_on` is the id of the last event when a question was asked, or 0, so two
windows cannot be asked two different next questions. `position` counts the events of a question, so two
windows cannot both answer it. `key` is the sender's own name for a request, so that it can be sent twice.

A question has one item or more, which differ: it names its first and its last one, and both must be among its
items when the transaction ends.
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from prefero.studies.log.annotations import ANNOTATION_KINDS
from prefero.studies.log.event_log import SELECTIONS
from prefero.views.stages import SUBMITTED_STAGES

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

STUDY_KINDS = ("teach", "study")
DIGEST = String(64)
TIME = String(32)  # ISO 8601, UTC
WORD = String(16)


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """The column holds one of these words."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(v) for v in values)})", name=f"{column}_known")


def is_word(column: str) -> CheckConstraint:
    """The column holds a word. Which ones there are is checked before: a new one needs no migration."""
    return CheckConstraint(f"{column} <> ''", name=f"{column}_known")


pools = Table(
    "pools",
    metadata,
    Column("digest", DIGEST, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    Column("display", Text, nullable=False),
)

studies = Table(
    "studies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(100), nullable=False, unique=True),
    Column("kind", WORD, nullable=False),
    Column("protocol", Text, nullable=False),
    Column("pool", DIGEST, ForeignKey("pools.digest"), nullable=False),
    Column("secret", DIGEST, nullable=False, unique=True),
    Column("at", TIME, nullable=False),
    Column("archived", TIME),
    one_of("kind", STUDY_KINDS),
    sqlite_autoincrement=True,
)

participants = Table(
    "participants",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", Integer, ForeignKey("studies.id"), nullable=False),
    Column("label", String(100), nullable=False),
    Column("code", DIGEST, nullable=False, unique=True),
    Column("seed", Integer, nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("study", "label"),
    CheckConstraint("seed >= 0", name="seed_natural"),
    sqlite_autoincrement=True,
)


def _item_of_question(column: str) -> ForeignKeyConstraint:
    """The column is one of the question's items, once the transaction ends: the items are added later."""
    return ForeignKeyConstraint(
        ["id", column],
        ["question_items.question", "question_items.trajectory"],
        name=f"fk_questions_{column}",
        deferrable=True,
        initially="DEFERRED",
        use_alter=True,  # the two tables point at each other
    )


questions = Table(
    "questions",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),  # although it is part of a foreign key
    Column("participant", Integer, ForeignKey("participants.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("based_on", Integer, nullable=False),
    Column("answered", Integer, nullable=False),
    Column("method", String(100), nullable=False),
    Column("kind", WORD, nullable=False),
    Column("first_item", Integer, nullable=False),
    Column("last_item", Integer, nullable=False),
    Column("value", Float),
    Column("unit", String(32)),
    Column("accuracy", Float),
    Column("selection", WORD, nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("participant", "number"),
    UniqueConstraint("participant", "based_on"),
    _item_of_question("first_item"),
    _item_of_question("last_item"),
    is_word("kind"),
    one_of("selection", SELECTIONS),
    CheckConstraint("(value IS NULL) = (unit IS NULL)", name="value_has_unit"),
    sqlite_autoincrement=True,
)

question_items = Table(
    "question_items",
    metadata,
    Column("question", Integer, ForeignKey("questions.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("trajectory", Integer, nullable=False),
    PrimaryKeyConstraint("question", "position"),
    UniqueConstraint("question", "trajectory"),
    CheckConstraint("position >= 0 AND trajectory >= 0", name="indices_natural"),
)

events = Table(
    "events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant", Integer, ForeignKey("participants.id"), nullable=False, index=True),
    Column("question", Integer, ForeignKey("questions.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("kind", WORD, nullable=False),
    Column("key", String(64), nullable=False),
    Column("seconds", Float),
    Column("at", TIME, nullable=False),
    UniqueConstraint("participant", "key"),
    UniqueConstraint("question", "position"),
    is_word("kind"),
    sqlite_autoincrement=True,
)

stage_events = Table(
    "stage_events",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant", Integer, ForeignKey("participants.id"), nullable=False, index=True),
    Column("stage", WORD, nullable=False),
    Column("item", String(100), nullable=False),
    Column("data", Text, nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("participant", "key"),
    UniqueConstraint("participant", "stage", "item"),
    one_of("stage", SUBMITTED_STAGES),
    sqlite_autoincrement=True,
)

reasons = Table(
    "reasons",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant", Integer, ForeignKey("participants.id"), nullable=False, index=True),
    Column("event", Integer, ForeignKey("events.id"), nullable=False),
    Column("feature", Text, nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("participant", "key"),
    sqlite_autoincrement=True,
)

annotations = Table(
    "annotations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("participant", Integer, ForeignKey("participants.id"), nullable=False, index=True),
    Column("trajectory", Integer),
    Column("question", Integer, ForeignKey("questions.id")),
    Column("kind", WORD, nullable=False),
    Column("text", Text, nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", TIME, nullable=False),
    UniqueConstraint("participant", "key"),
    one_of("kind", ANNOTATION_KINDS),
    CheckConstraint("(trajectory IS NULL) <> (question IS NULL)", name="one_subject"),
    sqlite_autoincrement=True,
)
