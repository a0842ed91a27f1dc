"""Trajectories of one's own: datasets of others are opened, features are noted, and a pool is made of them.

`open_dataset` recognises what a path or an id is. `gather` notes features of all episodes on all cores.
`bring` does both and cuts clips: it makes all that `Pool.from_dataset` needs. `gather_named` notes what a
learned reward is about, and `write_scores` writes what it says back into a copy of the dataset.
"""

from prefero.datasets.base import BadEpisode, Clip, Dataset, Episode, Noted, Recordings
from prefero.datasets.build_pool import Brought, bring
from prefero.datasets.features.extract import gather
from prefero.datasets.features.library import LIBRARY
from prefero.datasets.features.match_reward import gather_named
from prefero.datasets.features.table import Gathered
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
    "Gathered",
    "Noted",
    "Recordings",
    "Windows",
    "bring",
    "gather",
    "gather_named",
    "open_dataset",
    "write_scores",
]
