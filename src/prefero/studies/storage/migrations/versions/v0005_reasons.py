"""An answer may have a reason: a feature, in a table of its own."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """One table more, which is empty."""
    op.create_table(
        "reasons",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant", sa.Integer, nullable=False),
        sa.Column("event", sa.Integer, nullable=False),
        sa.Column("feature", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_reasons"),
        sa.UniqueConstraint("participant", "key", name="uq_reasons_participant_key"),
        sa.ForeignKeyConstraint(["participant"], ["participants.id"], name="fk_reasons_participant"),
        sa.ForeignKeyConstraint(["event"], ["events.id"], name="fk_reasons_event"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_reasons_participant", "reasons", ["participant"])
