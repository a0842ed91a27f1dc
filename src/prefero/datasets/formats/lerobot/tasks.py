"""The tasks of a LeRobot dataset's episodes, as texts.

meta/episodes              the tasks of each episode, as texts
meta/tasks.parquet         version 3.0: their numbers, which frames have as task_index
meta/tasks.jsonl           version 2.x: the same
"""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.names import did_you_mean
from prefero._support.optional import need
from prefero._support.unpacking import check_parquet
from prefero.datasets.formats.lerobot.episode_index import EpisodeEntry

MOST_LISTED = 12  # tasks that a message names, at most


def with_tasks(folder: Path, entries: list[EpisodeEntry]) -> list[EpisodeEntry]:
    """The entries with their tasks; where the metadata do not have them, by the task_index of the frames."""
    if all(entry.tasks for entry in entries):
        return entries
    texts = _task_texts(folder)
    if len(texts) < 2:
        return [entry if entry.tasks else replace(entry, tasks=tuple(texts.values())) for entry in entries]
    numbers: dict[int, list[int]] = {}
    for path in {entry.path for entry in entries if not entry.tasks}:
        for episode, task in _pairs(path):
            numbers.setdefault(episode, []).append(task)
    found_tasks = {e: tuple(texts[task] for task in tasks if task in texts) for e, tasks in numbers.items()}
    return [
        entry if entry.tasks else replace(entry, tasks=found_tasks.get(entry.episode, ()))
        for entry in entries
    ]


def _task_texts(folder: Path) -> dict[int, str]:
    """The dataset's list of tasks; empty if it has none or cannot be read, since nothing else needs it."""
    meta = folder / "meta"
    try:
        if (meta / "tasks.parquet").is_file():
            parquet = need("pyarrow.parquet", extra="datasets")
            check_parquet(parquet, meta / "tasks.parquet")
            rows = parquet.read_table(meta / "tasks.parquet").to_pylist()
        else:
            lines = (meta / "tasks.jsonl").read_text(encoding="utf-8").splitlines()
            rows = [json.loads(line) for line in lines if line.strip()]
        return {int(row["task_index"]): _text(row) for row in rows}
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return {}


def _text(row: dict[str, Any]) -> str:
    """The task in a row; in Parquet it is the index of a pandas table, under any name."""
    return next(value for key, value in row.items() if key != "task_index" and isinstance(value, str))


def _pairs(path: Path) -> list[tuple[int, int]]:
    """Which episodes in a file have which tasks, each once; a file that cannot be read is reported later."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    columns = ["episode_index", "task_index"]
    try:
        check_parquet(parquet, path, columns)
        table = parquet.read_table(path, columns=columns).group_by(columns).aggregate([])
        return list(zip(*(table[name].to_pylist() for name in columns), strict=True))
    except (arrow.ArrowException, OSError):
        return []


def of_task(entries: list[EpisodeEntry], wanted: str | None) -> tuple[str | None, list[EpisodeEntry]]:
    """The task as the dataset spells it, and its episodes; upper and lower case are the same."""
    if wanted is None:
        return None, entries
    known = _tasks(entries)
    found = [task for task in known if task == wanted] or [
        t for t in known if _normalized(t) == _normalized(wanted)
    ]
    if len(found) != 1:
        guess = did_you_mean(wanted, known) or ":"
        raise ValueError(
            f"no episode has the task {wanted!r}{guess} the tasks are {list_tasks(entries) or 'not given'}"
        )
    return found[0], [entry for entry in entries if found[0] in entry.tasks]


def list_tasks(entries: Iterable[EpisodeEntry]) -> str:
    """The tasks of episodes, for a message."""
    known = _tasks(entries)
    more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
    return ", ".join(map(repr, known[:MOST_LISTED])) + more


def _tasks(entries: Iterable[EpisodeEntry]) -> list[str]:
    return list(dict.fromkeys(task for entry in entries for task in entry.tasks))


def _normalized(task: str) -> str:
    return " ".join(task.casefold().split()).rstrip(".")
