"""A copy of a LeRobot dataset, version 2.x or 3.0, with scores as columns.

    prefero.mean, prefero.std    float32, one number for each frame, as LeRobot keeps rewards
    next.reward                  if it is to be replaced: 0, and the mean at an episode's last frame
    original_reward              what was there before

Files of frames are written again, row group by row group, with the columns added; `meta/info.json` and the
statistics say that they are there; all else is copied. A file that cannot be read is copied as it is, if no
episode in it has a score.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.datasets.base import BadEpisode
from prefero.datasets.formats.lerobot.dataset import INFO, REWARDS, LeRobot
from prefero.datasets.formats.lerobot.statistics import (
    Additions,
    compression_of,
    described,
    read_json,
    renamed,
    write_text,
)
from prefero.datasets.scores.scores import (
    ORIGINAL,
    Advance,
    Scores,
    check_free,
    copy_missing,
    terminal_reward,
)

MEAN, STD = "prefero.mean", "prefero.std"
SCALAR = {"dtype": "float32", "shape": [1], "names": None}
NUMBERS = ("episode_index", "frame_index")
VALUE = {"dtype": "float32", "_type": "Value"}  # the same in Hugging Face's words


@dataclass(frozen=True, eq=False)
class Frames:
    """The new columns of a dataset: what they are called, and what each frame has in them."""

    scores: Scores
    lengths: dict[int, int]  # of all episodes that the dataset lists
    reward: str | None  # the column that is replaced
    renamed: dict[str, str]

    @classmethod
    def of(cls, dataset: LeRobot, scores: Scores) -> "Frames":
        """After checks: episodes are as long as they were, and no column is in the way."""
        lengths = {place.episode: place.length for place in dataset.places}
        for episode in scores.episodes:
            scores.check(episode, lengths[episode])
        columns = dict(dataset.info["features"])
        reward = next((key for key in REWARDS if key in columns), REWARDS[0])
        frames = cls(
            scores,
            lengths,
            reward if scores.replace_reward else None,
            {reward: ORIGINAL} if scores.replace_reward and reward in columns else {},
        )
        check_free([MEAN, STD, *frames.renamed.values()], list(columns), dataset.name)
        return frames

    @property
    def names(self) -> list[str]:
        """The columns that are added."""
        return [MEAN, STD, *([self.reward] if self.reward else [])]

    def rename(self, column: str) -> str:
        """What a column is called in the copy."""
        return self.renamed.get(column, column)

    def added_to(self, table: Any) -> Any:
        """A table of frames, with the new columns."""
        arrow = need("pyarrow", extra="datasets")
        made = self._values(*(table[key].to_numpy() for key in NUMBERS))
        table = renamed(table, self.rename)
        for name, values in made.items():
            table = table.append_column(name, arrow.array(values.astype(np.float32)))
        added = dict.fromkeys(made, VALUE)
        return table.replace_schema_metadata(described(table.schema.metadata, self.rename, added))

    def _values(self, episodes: Any, frames: Any) -> dict[str, Array]:
        """The columns at these frames of these episodes, (M,)."""
        several, row = np.unique(episodes, return_inverse=True)
        mean, std = self.scores.of(several.tolist())
        made = {MEAN: mean[row], STD: std[row]}
        if self.reward:
            last = np.array([self.lengths.get(e, 0) - 1 for e in several.tolist()], dtype=int)
            made[self.reward] = np.where(frames == last[row], mean[row], 0.0)
        return made

    def additions(self) -> Additions:
        """All that is added, by columns and episodes, for the statistics."""
        courses: dict[str, dict[int, Array]] = {name: {} for name in self.names}
        for episode, (mean, std) in self.scores.episodes.items():
            steps = self.lengths[episode]
            courses[MEAN][episode] = np.full(steps, mean, dtype=np.float32)
            courses[STD][episode] = np.full(steps, std, dtype=np.float32)
            if self.reward:
                courses[self.reward][episode] = terminal_reward(mean, steps).astype(np.float32)
        return Additions(courses, self.renamed)


def write_lerobot(dataset: LeRobot, scores: Scores, folder: Path, advance: Advance) -> None:
    """The copy, in an empty folder."""
    frames, seen = Frames.of(dataset, scores), Counter[int]()
    for path in data_files(dataset):
        place = folder / path.relative_to(dataset.folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        seen += _written(path, place, frames, _scored_in(path, dataset, scores))
    for episode in scores.episodes:
        if seen[episode] != frames.lengths[episode]:
            raise BadEpisode(
                str(episode), f"it should have {frames.lengths[episode]} frames, but has {seen[episode]}"
            )
    _write_info(dataset.folder / INFO, folder / INFO, frames)
    frames.additions().write(dataset.folder, folder)
    copy_missing(dataset.folder, folder, advance)


def data_files(dataset: LeRobot) -> list[Path]:
    """All files of frames, those too that no episode is said to be in, since LeRobot reads them all."""
    top = Path(str(dataset.info["data_path"])).parts[0]
    listed = {place.path for place in dataset.places if place.path.is_file()}
    return sorted(listed | set((dataset.folder / top).rglob("*.parquet")))


def _scored_in(path: Path, dataset: LeRobot, scores: Scores) -> list[int]:
    return [p.episode for p in dataset.places if p.path == path and p.episode in scores.episodes]


def _written(path: Path, target: Path, frames: Frames, scored: Sequence[int]) -> Counter[int]:
    """One file of frames; how many there are of each episode."""
    seen = Counter[int]()
    tables = _tables(path)
    try:
        schema = frames.added_to(next(tables)).schema
        parquet = need("pyarrow.parquet", extra="datasets")
        with parquet.ParquetWriter(target, schema, compression=compression_of(path)) as writer:
            for table in tables:
                seen.update(table["episode_index"].to_pylist())
                writer.write_table(frames.added_to(table), row_group_size=max(len(table), 1))
    except Unreadable as error:
        if scored:
            raise BadEpisode(str(scored[0]), str(error)) from error
        target.unlink(missing_ok=True)  # and is copied as it is
    return seen


class Unreadable(ValueError):
    """A file of frames that is damaged."""


def _tables(path: Path) -> Iterator[Any]:
    """An empty table of the same columns, and then one for each row group."""
    arrow, parquet = need("pyarrow", extra="datasets"), need("pyarrow.parquet", extra="datasets")
    try:
        with parquet.ParquetFile(path) as file:
            missing = [key for key in NUMBERS if key not in file.schema_arrow.names]
            if missing:
                raise Unreadable(f"its file {path} has no column {missing[0]!r}")
            yield file.schema_arrow.empty_table()
            yield from (file.read_row_group(group) for group in range(file.num_row_groups))
    except (arrow.ArrowException, OSError) as error:
        raise Unreadable(f"its file {path} is damaged or cut short: {error}") from error


def _write_info(source: Path, target: Path, frames: Frames) -> None:
    info = read_json(source)
    old = {frames.rename(key): feature for key, feature in info["features"].items()}
    info["features"] = old | dict.fromkeys(frames.names, SCALAR)
    write_text(target, json.dumps(info, indent=4, ensure_ascii=False))
