"""Scores of a reward for the trajectories of a dataset, and the ways to write them."""
