"""Trajectories and their features."""
