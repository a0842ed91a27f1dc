"""Migrations of the database, which Alembic runs."""
