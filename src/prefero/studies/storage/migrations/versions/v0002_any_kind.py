"""The kinds of questions and events are checked before they are stored: a new kind needs no migration."""

from prefero.studies.storage.migrations.allowed_words import replace_check

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Any word in place of the lists."""
    for table in ("questions", "events"):
        replace_check(table, "kind", "kind <> ''")
