"""Recordings of questions for the Rerun viewer."""
