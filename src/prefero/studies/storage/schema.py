"""The tables. Rows are added and never edited: taking an answer back is one more row.

    pools       trajectories and how they are drawn, by their digest
    studies     a teacher's session, or a study with many participants; secrets are kept as digests
    people      those who answer
    questions   what was asked: by which method, which sides, and after which answer (`basis`)
    answers     what was said to a question, in turns: said, taken back, said again
    steps       everything else that a participant does: consent, scores, ratings

The constraints hold the rules. `basis` is the last answer's id when a question was asked, or 0, so two
windows cannot be asked two different next questions; `turn` counts what was said to a question, so two
windows cannot both answer it; `key` is the sender's own name for what it sends, so that it can be sent twice.
"""

from sqlalchemy import (
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

KINDS = ("teach", "study")
SAID = ("left", "right", "equal", "skip", "undo", "delete", "restore")
DIGEST = String(64)
MOMENT = String(32)  # ISO 8601, UTC


def one_of(column: str, values: tuple[str, ...]) -> CheckConstraint:
    """The column holds one of these words."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(v) for v in values)})", name=f"{column}_known")


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
    Column("kind", String(8), nullable=False),
    Column("protocol", Text, nullable=False),
    Column("pool", DIGEST, ForeignKey("pools.digest"), nullable=False),
    Column("secret", DIGEST, nullable=False, unique=True),
    Column("at", MOMENT, nullable=False),
    one_of("kind", KINDS),
    sqlite_autoincrement=True,
)

people = Table(
    "people",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("study", Integer, ForeignKey("studies.id"), nullable=False),
    Column("label", String(100), nullable=False),
    Column("code", DIGEST, nullable=False, unique=True),
    Column("seed", Integer, nullable=False),
    Column("at", MOMENT, nullable=False),
    UniqueConstraint("study", "label"),
    CheckConstraint("seed >= 0", name="seed_natural"),
    sqlite_autoincrement=True,
)

questions = Table(
    "questions",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person", Integer, ForeignKey("people.id"), nullable=False, index=True),
    Column("number", Integer, nullable=False),
    Column("basis", Integer, nullable=False),
    Column("slot", Integer, nullable=False),
    Column("method", String(100), nullable=False),
    Column("left", Integer, nullable=False),
    Column("right", Integer, nullable=False),
    Column("bits", Float),
    Column("accuracy", Float),
    Column("at", MOMENT, nullable=False),
    UniqueConstraint("person", "number"),
    UniqueConstraint("person", "basis"),
    CheckConstraint('"left" <> "right" AND "left" >= 0 AND "right" >= 0', name="two_trajectories"),
    sqlite_autoincrement=True,
)

answers = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person", Integer, ForeignKey("people.id"), nullable=False, index=True),
    Column("question", Integer, ForeignKey("questions.id"), nullable=False),
    Column("turn", Integer, nullable=False),
    Column("said", String(8), nullable=False),
    Column("key", String(64), nullable=False),
    Column("seconds", Float),
    Column("at", MOMENT, nullable=False),
    UniqueConstraint("person", "key"),
    UniqueConstraint("question", "turn"),
    one_of("said", SAID),
    sqlite_autoincrement=True,
)

steps = Table(
    "steps",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("person", Integer, ForeignKey("people.id"), nullable=False, index=True),
    Column("stage", String(16), nullable=False),
    Column("item", String(100), nullable=False),
    Column("data", Text, nullable=False),
    Column("key", String(64), nullable=False),
    Column("at", MOMENT, nullable=False),
    UniqueConstraint("person", "key"),
    UniqueConstraint("person", "stage", "item"),
    sqlite_autoincrement=True,
)
