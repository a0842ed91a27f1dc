"""The database of studies: schema, migrations and queries."""
