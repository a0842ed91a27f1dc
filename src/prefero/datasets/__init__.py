"""Trajectories of one's own: datasets of others are opened, features are noted, and a pool is made of them.

`open_dataset` recognises what a path or an id is. `gather` notes features of all episodes on all cores.
`bring` does both and cuts clips: it makes all that `Pool.from_dataset` needs.
"""

from prefero.datasets.base import BadEpisode, Clip, Dataset, Episode, Noted, Recordings
from prefero.datasets.bringing import Brought, bring
from prefero.datasets.gathering import Gathered, gather
from prefero.datasets.library import LIBRARY, Windows
from prefero.datasets.opening import open_dataset

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
    "open_dataset",
]
