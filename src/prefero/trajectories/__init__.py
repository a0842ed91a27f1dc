"""Trajectories, their features, how these are computed and scaled, and diverse subsets of trajectories."""

from prefero.trajectories.categories import Categories
from prefero.trajectories.diversity import sample_diverse
from prefero.trajectories.feature_spec import FeatureSpec
from prefero.trajectories.features import Scaling
from prefero.trajectories.step_features import StepFeatures
from prefero.trajectories.trajectory import Trajectory

__all__ = ["Categories", "FeatureSpec", "Scaling", "StepFeatures", "Trajectory", "sample_diverse"]
