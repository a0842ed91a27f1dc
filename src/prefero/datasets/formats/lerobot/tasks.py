"""What was to be done in a LeRobot dataset's episodes: its tasks, in words.

meta/episodes              says the tasks of each episode, as texts
meta/tasks.parquet         version 3.0: their numbers, which frames have as task_index
meta/tasks.jsonl           version 2.x: the same
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.optional import need
from prefero.datasets.formats.lerobot.episode_index import Place

MOST = 12  # tasks that are listed


def with_tasks(folder: Path, places: list[Place]) -> list[Place]:
    """The episodes with their tasks; where the metadata do not say them, by the numbers that frames have."""
    if all(place.tasks for place in places):
        return places
    texts = _task_texts(folder)
    if len(texts) < 2:
        return [p if p.tasks else replace(p, tasks=tuple(texts.values())) for p in places]
    numbers: dict[int, list[int]] = {}
    for path in {place.path for place in places if not place.tasks}:
        for episode, task in _pairs(path):
            numbers.setdefault(episode, []).append(task)
    told = {e: tuple(texts[task] for task in tasks if task in texts) for e, tasks in numbers.items()}
    return [p if p.tasks else replace(p, tasks=told.get(p.episode, ())) for p in places]


def _task_texts(folder: Path) -> dict[int, str]:
    """The dataset's list of tasks; empty if it has none, since nothing else depends on it."""
    meta = folder / "meta"
    try:
        if (meta / "tasks.parquet").is_file():
            rows = need("pyarrow.parquet", extra="datasets").read_table(meta / "tasks.parquet").to_pylist()
        else:
            lines = (meta / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines if line.strip()]
        return {int(row["task_index"]): _text(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return {}


def _text(row: dict[str, Any]) -> str:
    """The task in a row; in Parquet it is the index of a table of pandas', under whatever name."""
    return next(value for key, value in row.items() if key != "task_index" and isinstance(value, str))


def _pairs(path: Path) -> list[tuple[int, int]]:
    """Which episodes in a file have which tasks, each once; a file that cannot be read is told of later."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    columns = ["episode_index", "task_index"]
    try:
        table = parquet.read_table(path, columns=columns).group_by(columns).aggregate([])
        return list(zip(*(table[name].to_pylist() for name in columns), strict=True))
    except (arrow.ArrowException, OSError):
        return []


def of_task(places: list[Place], wanted: str | None) -> tuple[str | None, list[Place]]:
    """The task in the dataset's own words, and its episodes; letters may be large or small."""
    if wanted is None:
        return None, places
    known = _tasks(places)
    found = [task for task in known if task == wanted] or [t for t in known if _alike(t) == _alike(wanted)]
    if len(found) != 1:
        raise ValueError(f"no episode has the task {wanted!r}: the tasks are {listed(places) or 'not said'}")
    return found[0], [place for place in places if found[0] in place.tasks]


def listed(places: Iterable[Place]) -> str:
    """The tasks that episodes have, for people."""
    known = _tasks(places)
    more = f" and {len(known) - MOST} more" if len(known) > MOST else ""
    return ", ".join(map(repr, known[:MOST])) + more


def _tasks(places: Iterable[Place]) -> list[str]:
    return list(dict.fromkeys(task for place in places for task in place.tasks))


def _alike(task: str) -> str:
    return " ".join(task.casefold().split()).rstrip(".")
