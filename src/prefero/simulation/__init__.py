"""Simulated users, test sets and teaching tasks."""
