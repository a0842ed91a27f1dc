"""One file a migration: what has changed since the first version. A released one is never edited."""
