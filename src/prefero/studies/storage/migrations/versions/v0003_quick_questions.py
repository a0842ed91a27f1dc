"""Questions that are asked because the best one is not ready are quick ones, not runners-up."""

from alembic import op

from prefero.studies.storage.migrations.allowed_words import allow_words

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Runners-up were chosen by a model too, so they count as quick questions."""
    allow_words("questions", "selection", ("best", "runner-up", "quick", "random"))
    op.execute("UPDATE questions SET selection = 'quick' WHERE selection = 'runner-up'")
    allow_words("questions", "selection", ("best", "quick", "random"))
