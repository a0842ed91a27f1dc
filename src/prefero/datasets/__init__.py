"""Datasets: opening them, extracting features of their episodes, and writing scores back.

`open_dataset` recognizes a path or an id. `extract_features` computes features of all episodes on all cores.
`bring` does both and cuts clips for `Pool.from_dataset`. `extract_for_reward` computes the features of a
learned reward, and `write_scores` writes its scores into a copy of the dataset.
"""

from prefero.datasets.base import BadEpisode, Clip, Dataset, Episode, EpisodeDataset, FeatureDataset
from prefero.datasets.build_pool import Brought, bring
from prefero.datasets.features.extract import extract_features
from prefero.datasets.features.library import LIBRARY
from prefero.datasets.features.match_reward import extract_for_reward
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.registry import open_dataset
from prefero.datasets.scores.write import write_scores

__all__ = [
    "LIBRARY",
    "BadEpisode",
    "Brought",
    "Clip",
    "Dataset",
    "Episode",
    "EpisodeDataset",
    "FeatureDataset",
    "FeatureTable",
    "Windows",
    "bring",
    "extract_features",
    "extract_for_reward",
    "open_dataset",
    "write_scores",
]
