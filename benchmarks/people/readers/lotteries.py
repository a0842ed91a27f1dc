"""Lotteries: people chose between two, of money or of food.

A lottery of money has up to four amounts with their probabilities. One of food has two equally likely foods,
each with the person's own rating of it, from 1 to 10; that table has a row for each glance of the eyes, and
all rows of a choice repeat it.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.people.judgements import Judgements, compared, joined
from benchmarks.people.readers.table_file import Row, table_rows

MONEY = ("mean", "standard deviation", "lowest", "highest", "probability of the highest")
FOOD = ("worse food", "better food")


def money(folder: Path) -> Judgements:
    """Choices between two lotteries of money."""
    rows = table_rows(folder / "data" / "dataset.csv")
    features = [money_features(*_amounts(row, side)) for row in rows for side in "ab"]
    people, choices = [row["IdSubject"] for row in rows], [int(row["Preference"]) - 1 for row in rows]
    return joined(np.array(features), MONEY, compared(people, choices))


def food(folder: Path) -> Judgements:
    """Choices between two lotteries of food."""
    rows = {(row["subj"], row["trial"]): row for row in table_rows(folder / "data" / "foodrisk.csv")}.values()
    features = [
        sorted(float(row[f"{place}{side}val"]) for place in ("up", "down"))
        for row in rows
        for side in ("left", "right")
    ]
    people, choices = [row["subj"] for row in rows], [1 - int(row["choice"]) for row in rows]
    return joined(np.array(features), FOOD, compared(people, choices))


def _amounts(row: Row, side: str) -> tuple[list[float], list[float]]:
    """Amounts and probabilities; what a lottery does not have is empty."""
    used = [number for number in range(1, 5) if row[f"x{number}{side}"]]
    return [float(row[f"x{n}{side}"]) for n in used], [float(row[f"p{n}{side}"]) for n in used]


def money_features(amounts: Sequence[float], probabilities: Sequence[float]) -> list[float]:
    """Moments and ends of a lottery."""
    x, p = np.array(amounts), np.array(probabilities)
    mean = float(p @ x)
    return [mean, float(np.sqrt(p @ (x - mean) ** 2)), min(amounts), max(amounts), float(p[np.argmax(x)])]
