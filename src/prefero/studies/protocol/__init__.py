"""The protocol of a study: its stages, methods and texts, and its TOML file."""
