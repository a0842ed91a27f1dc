"""A teacher may choose a question by hand, and write notes and tags, in a table of their own."""

import sqlalchemy as sa
from alembic import op

from prefero.studies.storage.migrations.allowed_words import allow_words

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One word more for the selection of a question, and one table more, which is empty."""
    allow_words("questions", "selection", ("best", "quick", "random", "by-hand"))
    op.create_table(
        "annotations",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant", sa.Integer, nullable=False),
        sa.Column("trajectory", sa.Integer),
        sa.Column("question", sa.Integer),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_annotations"),
        sa.UniqueConstraint("participant", "key", name="uq_annotations_participant_key"),
        sa.ForeignKeyConstraint(["participant"], ["participants.id"], name="fk_annotations_participant"),
        sa.ForeignKeyConstraint(["question"], ["questions.id"], name="fk_annotations_question"),
        sa.CheckConstraint("kind IN ('note', 'tag', 'untag')", name=op.f("ck_annotations_kind_known")),
        sa.CheckConstraint(
            "(trajectory IS NULL) <> (question IS NULL)", name=op.f("ck_annotations_one_subject")
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_annotations_participant", "annotations", ["participant"])
