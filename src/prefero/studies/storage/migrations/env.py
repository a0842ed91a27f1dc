"""Alembic runs this: the connection comes from `prefero.studies.storage.database`."""

from alembic import context

from prefero.studies.storage.schema import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
