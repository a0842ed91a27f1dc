"""Teaching: pools, studies, people, questions and answers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

MOMENT, DIGEST = sa.String(32), sa.String(64)


def upgrade() -> None:
    """From nothing. The way back is the copy that is kept before every upgrade."""
    _what_is_asked_about()
    _who_answers()
    _what_was_said()


def _what_is_asked_about() -> None:
    op.create_table(
        "pools",
        sa.Column("digest", DIGEST, nullable=False),
        sa.Column("data", sa.LargeBinary, nullable=False),
        sa.Column("display", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_pools"),
    )
    op.create_table(
        "studies",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("protocol", sa.Text, nullable=False),
        sa.Column("pool", DIGEST, nullable=False),
        sa.Column("secret", DIGEST, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("name", name="uq_studies_name"),
        sa.UniqueConstraint("secret", name="uq_studies_secret"),
        sa.ForeignKeyConstraint(["pool"], ["pools.digest"], name="fk_studies_pool"),
        sa.CheckConstraint("kind IN ('teach', 'study')", name=op.f("ck_studies_kind_known")),
        sqlite_autoincrement=True,
    )


def _who_answers() -> None:
    op.create_table(
        "people",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("study", sa.Integer, nullable=False),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("code", DIGEST, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_people"),
        sa.UniqueConstraint("code", name="uq_people_code"),
        sa.UniqueConstraint("study", "label", name="uq_people_study_label"),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name="fk_people_study"),
        sa.CheckConstraint("seed >= 0", name=op.f("ck_people_seed_natural")),
        sqlite_autoincrement=True,
    )


def _what_was_said() -> None:
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("person", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("basis", sa.Integer, nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("method", sa.String(100), nullable=False),
        sa.Column("left", sa.Integer, nullable=False),
        sa.Column("right", sa.Integer, nullable=False),
        sa.Column("bits", sa.Float),
        sa.Column("accuracy", sa.Float),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
        sa.UniqueConstraint("person", "number", name="uq_questions_person_number"),
        sa.UniqueConstraint("person", "basis", name="uq_questions_person_basis"),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_questions_person"),
        sa.CheckConstraint(
            '"left" <> "right" AND "left" >= 0 AND "right" >= 0', name=op.f("ck_questions_two_trajectories")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_questions_person", "questions", ["person"])
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("person", sa.Integer, nullable=False),
        sa.Column("question", sa.Integer, nullable=False),
        sa.Column("turn", sa.Integer, nullable=False),
        sa.Column("said", sa.String(8), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("seconds", sa.Float),
        sa.Column("at", MOMENT, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_answers"),
        sa.UniqueConstraint("person", "key", name="uq_answers_person_key"),
        sa.UniqueConstraint("question", "turn", name="uq_answers_question_turn"),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_answers_person"),
        sa.ForeignKeyConstraint(["question"], ["questions.id"], name="fk_answers_question"),
        sa.CheckConstraint(
            "said IN ('left', 'right', 'equal', 'skip', 'undo', 'delete', 'restore')",
            name=op.f("ck_answers_said_known"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_answers_person", "answers", ["person"])
