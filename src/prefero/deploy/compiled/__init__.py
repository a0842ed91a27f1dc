"""Rewards as few array operations: of whole trajectories, and of single steps."""
