"""What the tables of a LeRobot dataset say of each episode: its tasks, or another column, such as its policy.

meta/episodes              columns of each episode, among them its tasks as texts; in version 2.x a JSON-lines
                           file
meta/tasks.parquet         version 3.0: the numbers of tasks, which frames have as task_index
meta/tasks.jsonl           version 2.x: the same

A column of the frames' tables may say it instead; then its value in the first frame of an episode counts. How
well an episode went is said by all its frames: LeRobot's evaluation writes `next.success`, which is true from
the frame on in which the task was solved.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero._support.names import did_you_mean
from prefero.datasets.columns import as_label
from prefero.datasets.formats.lerobot.episode_index import EpisodeEntry
from prefero.datasets.formats.lerobot.parquet import Unreadable, read_columns, readable
from prefero.datasets.outcomes import Reduction

MOST_LISTED = 12  # tasks that a message names, at most


def read_labels(folder: Path, entries: Sequence[EpisodeEntry], column: str) -> tuple[str, ...] | None:
    """The label of each episode; None if there is no such column."""
    sources = (_jsonl_values(folder, column), _episode_values(folder, column), _frame_values(entries, column))
    found = next((values for values in map(dict, sources) if values), None)
    return None if found is None else tuple(as_label(found.get(entry.episode)) for entry in entries)


def read_outcomes(
    folder: Path, entries: Sequence[EpisodeEntry], column: str, reduce: Reduction
) -> tuple[Any, ...] | None:
    """The value of each episode, or of all its frames together; None if there is no such column."""
    own = dict(_jsonl_values(folder, column)) or dict(_episode_values(folder, column))
    if not own:
        frames: dict[int, list[Any]] = {}
        for path in dict.fromkeys(entry.path for entry in entries if entry.path.is_file()):
            for episode, value in _rows(path, column):
                frames.setdefault(episode, []).append(value)
        own = {episode: reduce(values) for episode, values in frames.items()}
    return tuple(own.get(entry.episode) for entry in entries) if own else None


def episode_columns(folder: Path) -> list[str]:
    """The columns of the episodes' own tables that are neither places of files nor statistics."""
    for path in sorted((folder / "meta" / "episodes").glob("*/*.parquet")):
        with suppress(Unreadable), readable(path, ()) as names:
            return [name for name in names if "/" not in name]
    return []


def _jsonl_values(folder: Path, column: str) -> Iterator[tuple[int, Any]]:
    path = folder / "meta" / "episodes.jsonl"
    for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
        row = json.loads(line) if line.strip() else {}
        if column in row:
            yield int(row["episode_index"]), row[column]


def _episode_values(folder: Path, column: str) -> Iterator[tuple[int, Any]]:
    for path in sorted((folder / "meta" / "episodes").glob("*/*.parquet")):
        yield from _rows(path, column)


def _frame_values(entries: Sequence[EpisodeEntry], column: str) -> Iterator[tuple[int, Any]]:
    """The last frame comes first, so that the value of the first frame is kept."""
    for path in dict.fromkeys(entry.path for entry in entries if entry.path.is_file()):
        yield from reversed(list(_rows(path, column)))


def _rows(path: Path, column: str) -> Iterator[tuple[int, Any]]:
    """Episode and value of each row, if the file has the column."""
    try:
        table = read_columns(path, ["episode_index", column])
    except Unreadable:
        return  # a damaged file is reported where its episodes are read
    yield from zip(table["episode_index"].to_pylist(), table[column].to_pylist(), strict=True)


# --- tasks ------------------------------------------------------------------------------------------------


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
            with readable(meta / "tasks.parquet", ["task_index"]) as columns:
                rows = read_columns(meta / "tasks.parquet", columns).to_pylist()
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
    columns = ["episode_index", "task_index"]
    try:
        table = read_columns(path, columns).group_by(columns).aggregate([])
    except Unreadable:
        return []
    return list(zip(*(table[name].to_pylist() for name in columns), strict=True))


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
