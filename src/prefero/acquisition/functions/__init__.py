"""Acquisition functions, one file each: what makes a question good."""
