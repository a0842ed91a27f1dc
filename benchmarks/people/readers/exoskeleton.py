"""An exoskeleton: three people walked in it with gait after gait, and compared each with the one before.

The files are of MATLAB: `pref_idx` has the numbers of the two gaits, `pref_labels` has a 1 in the column of
the preferred one, and `sampled_flt_idx` is each gait's row in the table of settings, `points_to_sample`.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.io import loadmat

from benchmarks.people.judgements import Judgements, compared, joined
from prefero._support.arrays import Array

NAMES = ("step length", "step duration", "pelvis roll", "pelvis pitch")
FIELDS = ("points_to_sample", "sampled_flt_idx", "pref_idx", "pref_labels")


def read(folder: Path) -> Judgements:
    """The comparisons of all people."""
    people, gaits, choices = zip(*_rows(folder / "Experiment" / "Results"), strict=True)
    return joined(np.concatenate(gaits), NAMES, compared(people, choices))


def _rows(results: Path) -> Iterator[tuple[str, Array, int]]:
    """Who compared which two gaits, (2, 4), and the choice."""
    for path in sorted(results.glob("sub*/active_GP_opt_output.mat")):
        stored = loadmat(path, variable_names=FIELDS)
        gaits = stored["points_to_sample"][stored["sampled_flt_idx"].ravel()]
        for pair, labels in zip(stored["pref_idx"], stored["pref_labels"], strict=True):
            yield path.parent.name, gaits[pair], int(np.argmax(labels))
