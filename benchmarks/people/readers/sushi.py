"""Sushi preferences: 5,000 people ranked ten kinds of sushi, the same ten (A) or ten of a hundred (B).

`sushi3.idata` has the features of the hundred kinds, and an order file a line for each person: 0, the number
of kinds, and the kinds from the most preferred on. The ten of A have numbers of their own.
"""

from pathlib import Path

import numpy as np

from benchmarks.people.judgements import Judgements, Trial, joined, ranked
from prefero._support.arrays import Array, Indices

ITEMS, A, B = (
    f"data/sushi3-2016/{name}" for name in ("sushi3.idata", "sushi3a.5000.10.order", "sushi3b.5000.10.order")
)
GROUPS = 12  # of kinds, such as tuna or shellfish
NAMES = (
    *("no roll", "no seafood", "heaviness", "eaten", "price", "sold"),
    *(f"group {number}" for number in range(GROUPS)),
)
IN_A = (0, 1, 2, 3, 4, 6, 7, 8, 26, 29)  # the ten kinds of A among the hundred


def read_a(folder: Path) -> Judgements:
    """Everybody's order of the same ten kinds."""
    return _read(folder, A, np.array(IN_A))


def read_b(folder: Path) -> Judgements:
    """Everybody's order of ten of the hundred kinds."""
    return _read(folder, B, np.arange(100))


def _read(folder: Path, orders: str, kinds: Indices) -> Judgements:
    rows = np.loadtxt(folder / orders, dtype=np.intp, skiprows=1)
    scores = -np.arange(rows.shape[1] - 2.0)  # the first is the most preferred
    trials = (Trial(person, ranked(kinds[row[2:]], scores)) for person, row in enumerate(rows))
    return joined(_features(folder / ITEMS), NAMES, trials)


def _features(path: Path) -> Array:
    """Columns 3 to 9 of the published table, with a column of 0 and 1 for each group of kinds."""
    table = np.loadtxt(path, delimiter="\t", usecols=range(2, 9), encoding="utf-8")
    groups = np.eye(GROUPS)[table[:, 2].astype(np.intp)]
    return np.column_stack([table[:, [0, 1, 3, 4, 5, 6]], groups])
