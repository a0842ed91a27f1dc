"""Studies: what participants do beside answering."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Consent, scores and ratings."""
    op.create_table(
        "steps",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("person", sa.Integer, nullable=False),
        sa.Column("stage", sa.String(16), nullable=False),
        sa.Column("item", sa.String(100), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("at", sa.String(32), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_steps"),
        sa.UniqueConstraint("person", "key", name="uq_steps_person_key"),
        sa.UniqueConstraint("person", "stage", "item", name="uq_steps_person_stage_item"),
        sa.ForeignKeyConstraint(["person"], ["people.id"], name="fk_steps_person"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_steps_person", "steps", ["person"])
