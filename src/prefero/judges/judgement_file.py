"""Files of judgements: what a judge said of pairs, one a line, which can be read again as a judge.

left, right                      the ids of both trajectories; their numbers where a pool has no ids
choice                           "left", "right" or "equal"
judge, reason                    who said it, and why
straight, swapped                the choice when the left one was shown first, and when the right one was
left_features, right_features    in .jsonl only: by name, so that the pair is known in another pool too
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import csv_text, missing_file, read_csv, write_atomically
from prefero._support.names import listed
from prefero._support.sentences import pluralize
from prefero.judges.asking import OPPOSITE, JudgedPair, JudgedPairs
from prefero.pools.pool import Pool
from prefero.questions.prior_knowledge import Judgements

SUFFIXES = (".jsonl", ".csv")
WANTED = ("left", "right", "choice")
COLUMNS = (*WANTED, "judge", "straight", "swapped", "reason")

Row = Mapping[str, Any]


def is_judgement_file(text: str) -> bool:
    """Does this name a file of judgements?"""
    return Path(text).suffix.lower() in SUFFIXES


def check_judgement_file(path: Path) -> None:
    """An error, before any work is done, if judgements cannot be written to this path."""
    if not is_judgement_file(str(path)):
        raise ValueError(f"judgements are written as {' or '.join(SUFFIXES)}, but the path is {path}")


def write_judgements(path: str | Path, pool: Pool, found: Iterable[JudgedPairs]) -> None:
    """Write what judges said, whole or not at all.

    Args:
        path: A file, .jsonl or .csv.
        pool: The trajectories.
        found: Of each judge.
    """
    place = Path(path)
    check_judgement_file(place)
    rows = [_row(pool, one.judgements.judge, pair) for one in found for pair in one.pairs]
    place.parent.mkdir(parents=True, exist_ok=True)
    if place.suffix.lower() == ".csv":
        write_atomically(place, csv_text(COLUMNS, rows))
    else:
        write_atomically(place, "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows))


def read_judgements(path: str | Path, pool: Pool) -> tuple[JudgedPairs, ...]:
    """What judges said of a pool's trajectories, from a file.

    Args:
        path: A file that `write_judgements` or somebody else wrote.
        pool: The trajectories.

    Returns:
        Of each judge in the file, what it said; pairs that are not in the pool are left out.
    """
    place = Path(path)
    rows = _rows(place)
    names = list(dict.fromkeys(str(row.get("judge") or place.stem) for row in rows))
    return tuple(
        _judged(place, name, [row for row in rows if str(row.get("judge") or place.stem) == name], pool)
        for name in names
    )


def _row(pool: Pool, judge: str, pair: JudgedPair) -> dict[str, Any]:
    ids = [str(index) if pool.ids is None else pool.ids[index] for index in (pair.left, pair.right)]
    features = [
        dict(zip(pool.names, pool.features[index].tolist(), strict=True)) for index in (pair.left, pair.right)
    ]
    return {
        "left": ids[0],
        "right": ids[1],
        "choice": pair.choice,
        "judge": judge,
        "straight": pair.straight or "",
        "swapped": pair.swapped or "",
        "reason": pair.reason,
        "left_features": features[0],
        "right_features": features[1],
    }


def _rows(place: Path) -> list[Row]:
    """The lines of a file, each with a choice."""
    if not place.is_file():
        raise missing_file(place)
    if place.suffix.lower() == ".csv":
        rows: list[Row] = list(_csv_rows(place))
    else:
        rows = _json_rows(place)
    if not rows:
        raise ValueError(f"{place} has no judgements")
    for line, row in enumerate(rows, 1 if place.suffix.lower() != ".csv" else 2):
        if row["choice"] not in OPPOSITE:
            raise ValueError(
                f"line {line} of {place}: a choice is left, right or equal, and not {row['choice']!r}"
            )
    return rows


def _csv_rows(place: Path) -> Sequence[Row]:
    with place.open(newline="", encoding="utf-8") as file:
        head = file.readline().strip().split(",")
    return [
        {**row, "judge": row.get("judge", "")} for row in read_csv(place, [*WANTED, *({"judge"} & set(head))])
    ]


def _json_rows(place: Path) -> list[Row]:
    rows: list[Row] = []
    for line, text in enumerate(place.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(text)
            rows.append({**row, **{name: str(row[name]) for name in WANTED}})
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(
                f"line {line} of {place} is no object with {', '.join(WANTED)}: {error!r}"
            ) from None
    return rows


def _judged(place: Path, judge: str, rows: Sequence[Row], pool: Pool) -> JudgedPairs:
    places = {name: number for number, name in enumerate(pool.ids or map(str, range(len(pool))))}
    found, pairs = list[tuple[Array, Array, str]](), list[JudgedPair]()
    for row in rows:
        left, right = (_features(row, side, pool, places) for side in ("left", "right"))
        if left is None or right is None:
            continue
        found.append((left, right, row["choice"]))
        if row["left"] in places and row["right"] in places:
            numbers = places[row["left"]], places[row["right"]]
            pairs.append(JudgedPair(*numbers, row["choice"], str(row.get("reason", ""))))
    if not found:
        few = [str(row["left"]) for row in rows[:3]]
        raise ValueError(
            f"{place} judges other trajectories, such as {listed(few)}: none of its "
            f"{pluralize(len(rows), 'pair')} is in this pool, and none has its features"
        )
    swap = np.array([choice == "right" for _, _, choice in found])[:, None]
    left, right = (np.array([one[side] for one in found]) for side in (0, 1))
    tied = np.array([choice == "equal" for _, _, choice in found])
    judgements = Judgements(judge, np.where(swap, right, left), np.where(swap, left, right), tied)
    missing = len(rows) - len(found)
    stopped = f"{missing} pairs of {place} are about other trajectories" if missing else ""
    return JudgedPairs(judgements, tuple(pairs), len(rows), stopped=stopped)


def _features(row: Row, side: str, pool: Pool, places: Mapping[str, int]) -> Array | None:
    """The features of one side: as the file has them, or those of the trajectory of this id."""
    given = row.get(f"{side}_features")
    if isinstance(given, dict) and set(pool.names) <= set(given):
        return feature_row(given, pool.names)
    index = places.get(str(row[side]))
    return None if index is None else np.asarray(pool.features[index])


def feature_row(given: Mapping[str, Any], names: Sequence[str]) -> Array | None:
    """The features of these names; None if one of them is no finite number."""
    try:
        values = np.array([float(given[name]) for name in names])
    except (TypeError, ValueError):
        return None
    return values if np.isfinite(values).all() else None
