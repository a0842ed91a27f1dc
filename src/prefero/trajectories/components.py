"""Components of embeddings: features without a meaning of their own, which trajectories show.

A feature such as "pca 3" or "mean x of object 2" says little or nothing to a person. The trajectories of the
pool in which it is lowest and highest do, so they stand beside its name wherever a person sees it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array
from prefero._support.ordering import first_largest

KINDS = ("pca", "random network", "time contrastive", "image", "encoder")
OF_OBJECTS = r"(((mean|final|mean square|min|max) (x|y|speed|(direction|tilt) (cos|sin)))|turning) of object"
COMPONENT = re.compile(rf"({'|'.join((*KINDS, OF_OBJECTS))}) [1-9]\d*")


@dataclass(frozen=True)
class Ends:
    """The trajectories of a pool in which a component is lowest and highest.

    Args:
        low: The index of the lowest.
        high: The index of the highest.
        low_id: Its id, or its index in words where it has none.
        high_id: The same of the highest.
    """

    low: int
    high: int
    low_id: str
    high_id: str


def is_component(name: str) -> bool:
    """Is a feature of this name a component of an embedding, which means nothing to a person?"""
    return COMPONENT.fullmatch(name) is not None


def component_ends(names: Sequence[str], features: Array, ids: Sequence[str] | None) -> dict[str, Ends]:
    """Both ends of every component among the features (M, d), by its name; none for other features."""
    found = {}
    for name, values in zip(names, features.T, strict=True):
        if is_component(name) and np.ptp(values) > 0:
            places = first_largest(-values), first_largest(values)
            labels = [f"number {place}" if ids is None else ids[place] for place in places]
            found[name] = Ends(*places, *labels)
    return found
