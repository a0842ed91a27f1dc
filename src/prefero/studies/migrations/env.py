"""Alembic runs this: the connection comes from `prefero.studies.database`."""

from alembic import context

from prefero.studies.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
