"""The tables of the first version. A new database is not migrated: it is made from the newest schema."""

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Nothing comes before the first version."""
