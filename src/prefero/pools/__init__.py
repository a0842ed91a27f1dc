"""Pools: the trajectories that questions are made of."""
