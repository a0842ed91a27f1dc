"""Robot arms: people compared two motions of a Fetch robot's arm, in three tasks.

Each person has a folder with files `task_method.pkl`, whose rows are 1, 2 or 3 (the first motion, the second,
"I do not know") and the features of both motions. A task has its own features, which are 0 for the others.
"""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.people.judgements import Judgements, compared, joined
from prefero._support.arrays import Array

TASKS = {
    "marker": ("target", "marker", "distance"),
    "plate": ("height", "distance"),
    "shelf": ("object", "shelf", "distance"),
}
NAMES = tuple(f"{task}: {name}" for task, names in TASKS.items() for name in names)
STUDY = Path("experiment/Data/Study1")


class ArrayUnpickler(pickle.Unpickler):
    """Loads NumPy arrays, and nothing that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if module.split(".")[0] != "numpy" or name not in ("_reconstruct", "ndarray", "dtype"):
            raise pickle.UnpicklingError(f"only arrays are loaded, not {module}.{name}")
        return super().find_class(module.replace("numpy.core", "numpy._core"), name)


def read(folder: Path) -> Judgements:
    """The comparisons of all people in all tasks."""
    people, motions, choices = zip(*_rows(folder / STUDY), strict=True)
    return joined(np.concatenate(motions), NAMES, compared(people, choices))


def _rows(study: Path) -> Iterator[tuple[str, Array, int]]:
    """Who compared which two motions, (2, 8), and the choice."""
    for path in sorted(study.glob("user*/*.pkl")):
        with path.open("rb") as file:
            for row in ArrayUnpickler(file, encoding="latin1").load():
                yield path.parent.name, _motions(path.name.split("_")[0], row[1:]), int(row[0]) - 1


def _motions(task: str, values: Array) -> Array:
    motions = np.zeros((2, len(NAMES)))
    motions[:, [name.startswith(f"{task}:") for name in NAMES]] = values.reshape(2, -1)
    return motions
