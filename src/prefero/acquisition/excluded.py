"""Questions that are not asked: sets of trajectories, in whatever order."""

from collections.abc import Iterable

import numpy as np

from prefero._support.arrays import Flags, Indices


class Excluded:
    """Sets of trajectories that are not asked about together."""

    def __init__(self, sets: Iterable[Iterable[int]] = ()) -> None:
        self.sets = {tuple(sorted({int(item) for item in items})) for items in sets}

    def __contains__(self, items: Iterable[int]) -> bool:
        return tuple(sorted(items)) in self.sets

    def __or__(self, others: Iterable[Iterable[int]]) -> "Excluded":
        return Excluded([*self.sets, *others])

    def of_size(self, count: int) -> list[tuple[int, ...]]:
        """Those with so many trajectories, sorted."""
        return sorted(items for items in self.sets if len(items) == count)

    def free(self, items: Indices) -> Flags:
        """Which questions, (n, k), are not excluded, (n,)."""
        taken = np.array(self.of_size(items.shape[1]), dtype=np.intp).reshape(-1, items.shape[1])
        known = np.unique(taken)
        if not len(known):
            return np.ones(len(items), dtype=bool)
        inside = np.asarray(np.isin(items, known).all(axis=1))  # only these can be excluded
        free: Flags = ~inside
        free[inside] = ~np.isin(_numbered(items[inside], known), _numbered(taken, known))
        return free


def _numbered(items: Indices, known: Indices) -> Indices:
    """A number for every set of known trajectories, (n, k) to (n,)."""
    places = np.searchsorted(known, np.sort(items, axis=1))
    numbers: Indices = places @ len(known) ** np.arange(items.shape[1])
    return numbers
