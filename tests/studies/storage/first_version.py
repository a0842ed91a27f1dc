"""The tables of the first version, as it made them. They are never edited: old databases have them."""

import sqlalchemy as sa
from alembic import op
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext

from prefero.studies.storage.database import _engine

TIME, DIGEST, WORD = sa.String(32), sa.String(64), sa.String(16)
# The questions and their items point at each other. PostgreSQL takes such a constraint once both tables are
# there, SQLite only with its table.
ITEMS = ["question", "trajectory"]
POINTERS = {"fk_questions_first_item": ["id", "first_item"], "fk_questions_last_item": ["id", "last_item"]}


def make_first_version(where: str) -> None:
    """A new database as the first version made it."""
    engine = _engine(where)
    with engine.connect().execution_options(writes=True) as connection, connection.begin():
        context = MigrationContext.configure(connection)
        with Operations.context(context):
            _create_studies()
            _create_participants()
            _create_questions()
            _create_events()
            _create_stage_events()
        connection.exec_driver_sql(
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"
        )
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('0001')")
    engine.dispose()


def _create_studies() -> None:
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
        sa.Column("kind", WORD, nullable=False),
        sa.Column("protocol", sa.Text, nullable=False),
        sa.Column("pool", DIGEST, nullable=False),
        sa.Column("secret", DIGEST, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_studies"),
        sa.UniqueConstraint("name", name="uq_studies_name"),
        sa.UniqueConstraint("secret", name="uq_studies_secret"),
        sa.ForeignKeyConstraint(["pool"], ["pools.digest"], name="fk_studies_pool"),
        sa.CheckConstraint("kind IN ('teach', 'study')", name=op.f("ck_studies_kind_known")),
        sqlite_autoincrement=True,
    )


def _create_participants() -> None:
    op.create_table(
        "participants",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("study", sa.Integer, nullable=False),
        sa.Column("label", sa.String(100), nullable=False),
        sa.Column("code", DIGEST, nullable=False),
        sa.Column("seed", sa.Integer, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_participants"),
        sa.UniqueConstraint("code", name="uq_participants_code"),
        sa.UniqueConstraint("study", "label", name="uq_participants_study_label"),
        sa.ForeignKeyConstraint(["study"], ["studies.id"], name="fk_participants_study"),
        sa.CheckConstraint("seed >= 0", name=op.f("ck_participants_seed_natural")),
        sqlite_autoincrement=True,
    )


def _create_questions() -> None:
    sqlite = op.get_bind().dialect.name == "sqlite"
    places = [f"question_items.{column}" for column in ITEMS]
    pointers = [
        sa.ForeignKeyConstraint(own, places, name=name, deferrable=True, initially="DEFERRED")
        for name, own in POINTERS.items()
    ]
    op.create_table(
        "questions",
        sa.Column("id", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("participant", sa.Integer, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("based_on", sa.Integer, nullable=False),
        sa.Column("answered", sa.Integer, nullable=False),
        sa.Column("method", sa.String(100), nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("first_item", sa.Integer, nullable=False),
        sa.Column("last_item", sa.Integer, nullable=False),
        sa.Column("value", sa.Float),
        sa.Column("unit", sa.String(32)),
        sa.Column("accuracy", sa.Float),
        sa.Column("selection", WORD, nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_questions"),
        sa.UniqueConstraint("participant", "number", name="uq_questions_participant_number"),
        sa.UniqueConstraint("participant", "based_on", name="uq_questions_participant_based_on"),
        sa.ForeignKeyConstraint(["participant"], ["participants.id"], name="fk_questions_participant"),
        sa.CheckConstraint(
            "kind IN ('pair', 'strength', 'best-of-3', 'best-of-4', 'best-of-5', 'worst-of-3', 'worst-of-4', "
            "'worst-of-5', 'rank-3', 'rank-4', 'rank-5')",
            name=op.f("ck_questions_kind_known"),
        ),
        sa.CheckConstraint(
            "selection IN ('best', 'runner-up', 'random')", name=op.f("ck_questions_selection_known")
        ),
        sa.CheckConstraint("first_item <> last_item", name=op.f("ck_questions_two_items")),
        sa.CheckConstraint("(value IS NULL) = (unit IS NULL)", name=op.f("ck_questions_value_has_unit")),
        *(pointers if sqlite else []),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_questions_participant", "questions", ["participant"])
    op.create_table(
        "question_items",
        sa.Column("question", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("trajectory", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("question", "position", name="pk_question_items"),
        sa.UniqueConstraint("question", "trajectory", name="uq_question_items_question_trajectory"),
        sa.ForeignKeyConstraint(["question"], ["questions.id"], name="fk_question_items_question"),
        sa.CheckConstraint(
            "position >= 0 AND trajectory >= 0", name=op.f("ck_question_items_indices_natural")
        ),
    )
    for name, own in POINTERS.items() if not sqlite else ():
        op.create_foreign_key(
            name, "questions", "question_items", own, ITEMS, deferrable=True, initially="DEFERRED"
        )


def _create_events() -> None:
    op.create_table(
        "events",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant", sa.Integer, nullable=False),
        sa.Column("question", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("kind", WORD, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("seconds", sa.Float),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_events"),
        sa.UniqueConstraint("participant", "key", name="uq_events_participant_key"),
        sa.UniqueConstraint("question", "position", name="uq_events_question_position"),
        sa.ForeignKeyConstraint(["participant"], ["participants.id"], name="fk_events_participant"),
        sa.ForeignKeyConstraint(["question"], ["questions.id"], name="fk_events_question"),
        sa.CheckConstraint(
            "kind IN ('left', 'right', 'equal', 'left-much', 'left-slightly', 'right-slightly', "
            "'right-much', '1', '2', '3', '4', '5', 'skip', 'undo', 'delete', 'restore') "
            "OR LENGTH(REPLACE(REPLACE(kind, '>', ''), '=', '')) < LENGTH(kind)",
            name=op.f("ck_events_kind_known"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_events_participant", "events", ["participant"])


def _create_stage_events() -> None:
    op.create_table(
        "stage_events",
        sa.Column("id", sa.Integer, nullable=False),
        sa.Column("participant", sa.Integer, nullable=False),
        sa.Column("stage", WORD, nullable=False),
        sa.Column("item", sa.String(100), nullable=False),
        sa.Column("data", sa.Text, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("at", TIME, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_stage_events"),
        sa.UniqueConstraint("participant", "key", name="uq_stage_events_participant_key"),
        sa.UniqueConstraint("participant", "stage", "item", name="uq_stage_events_participant_stage_item"),
        sa.ForeignKeyConstraint(["participant"], ["participants.id"], name="fk_stage_events_participant"),
        sa.CheckConstraint(
            "stage IN ('consent', 'instructions', 'target_scores', 'practice', 'rate')",
            name=op.f("ck_stage_events_stage_known"),
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_stage_events_participant", "stage_events", ["participant"])
