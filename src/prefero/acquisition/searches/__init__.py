"""Searches for the best question: they maximize any acquisition function, and know none of them by name."""
