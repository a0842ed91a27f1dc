"""Trajectories, their features and the scaling of these, and diverse subsets of trajectories."""

from prefero.trajectories.diversity import sample_diverse
from prefero.trajectories.features import Scaling
from prefero.trajectories.trajectory import Trajectory

__all__ = ["Scaling", "Trajectory", "sample_diverse"]
