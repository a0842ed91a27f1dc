"""Datasets: opening them, extracting features of their episodes, and writing scores back.

`open_dataset` recognizes a path or an id and opens it with the options of its format. `extract_features`
computes features of all episodes on all cores, as `FeatureOptions` say. `extract_for_reward` computes the
features of a learned reward, and `write_scores` writes its scores into a copy of the dataset. A format is one
class, a `DatasetFormat`; other packages add theirs to the registry by an entry point.
"""

from prefero.datasets.base import Dataset, DatasetFormat, EpisodeDataset
from prefero.datasets.episode import BadEpisode, Episode, VideoSpan
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.features.extraction.from_spec import EpisodeFeatures
from prefero.datasets.features.extraction.match_reward import extract_for_reward
from prefero.datasets.features.extraction.options import FeatureOptions
from prefero.datasets.features.library.library import LIBRARY
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.format_options import DatasetSpec, FormatOptions, option
from prefero.datasets.formats.gymnasium import GymnasiumOptions
from prefero.datasets.formats.lerobot.dataset import LeRobotOptions
from prefero.datasets.formats.minari.dataset import MinariOptions
from prefero.datasets.formats.tables import TableOptions
from prefero.datasets.formats.video_folder import VideoFolderOptions
from prefero.datasets.labels import LabelColumn
from prefero.datasets.registry import FORMATS, open_dataset
from prefero.datasets.scores.scores import EpisodeScores
from prefero.datasets.scores.write import write_scores

__all__ = [
    "FORMATS",
    "LIBRARY",
    "BadEpisode",
    "Dataset",
    "DatasetFormat",
    "DatasetSpec",
    "Episode",
    "EpisodeDataset",
    "EpisodeFeatures",
    "EpisodeScores",
    "FeatureDataset",
    "FeatureOptions",
    "FeatureTable",
    "FormatOptions",
    "GymnasiumOptions",
    "LabelColumn",
    "LeRobotOptions",
    "MinariOptions",
    "TableOptions",
    "VideoFolderOptions",
    "VideoSpan",
    "extract_features",
    "extract_for_reward",
    "open_dataset",
    "option",
    "write_scores",
]
