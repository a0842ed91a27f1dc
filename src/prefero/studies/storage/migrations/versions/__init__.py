"""One file a migration, numbered: v0001_... is the first. A released one is never edited."""
