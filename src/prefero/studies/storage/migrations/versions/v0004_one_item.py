"""A question may be about one trajectory."""

from prefero.studies.storage.migrations.allowed_words import drop_check

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The first and the last item may be the same."""
    drop_check("questions", "two_items")
