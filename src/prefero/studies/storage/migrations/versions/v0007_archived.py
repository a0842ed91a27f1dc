"""A teaching session can be archived: it is not in the list of sessions until it is restored."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """No session was archived so far."""
    op.add_column("studies", sa.Column("archived", sa.String(32)))
