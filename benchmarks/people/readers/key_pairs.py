"""Typing: people typed two pairs of letters with the left hand, and said which was easier.

A row of the table is a comparison; each person was asked each question twice.
"""

from pathlib import Path

import numpy as np

from benchmarks.people.judgements import Judgements, compared, joined
from benchmarks.people.readers.table_file import table_rows

ROWS = ("qwert", "asdfg", "zxcvb")  # of the left hand, from the top; the index finger has two columns
PLACES = {letter: (row, column) for row, keys in enumerate(ROWS) for column, letter in enumerate(keys)}
LITTLE, RING, INDEX = 0, 1, 3  # fingers; the middle finger's keys are the rest
TOP, BOTTOM = 0, 2
NAMES = (
    *("same key", "same finger", "rows apart", "columns apart", "inwards", "outwards"),
    *("upper row", "lower row", "little finger", "ring finger", "index finger"),
)


def read(folder: Path) -> Judgements:
    """The comparisons of all people."""
    table = table_rows(folder / "data" / "processed_bigram_data.csv")
    rows = [row for row in table if set(row["bigram1"] + row["bigram2"]) <= set(PLACES)]
    features = [pair_features(row[name]) for row in rows for name in ("bigram1", "bigram2")]
    choices = [int(row["chosen_bigram"] == row["bigram2"]) for row in rows]
    trials = compared([row["user_id"] for row in rows], choices)
    return joined(np.array(features, dtype=float), NAMES, trials)


def pair_features(letters: str) -> list[int]:
    """How the hand moves from the first key to the second, and how many keys a row or a finger has."""
    (row, column), (next_row, next_column) = (PLACES[letter] for letter in letters)
    fingers = [min(column, INDEX), min(next_column, INDEX)]
    return [
        int(letters[0] == letters[1]),
        int(fingers[0] == fingers[1]),
        abs(row - next_row),
        abs(column - next_column),
        int(fingers[1] > fingers[0]),
        int(fingers[1] < fingers[0]),
        *([row, next_row].count(one) for one in (TOP, BOTTOM)),
        *(fingers.count(one) for one in (LITTLE, RING, INDEX)),
    ]
