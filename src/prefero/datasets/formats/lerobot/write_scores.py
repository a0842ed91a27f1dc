"""A copy of a LeRobot dataset, version 2.x or 3.0, with scores as columns.

    prefero.mean, prefero.std    float32, one number for each frame, as LeRobot keeps rewards
    prefero.quality              likewise, if it is written; prefero.acceptable too
    next.reward                  if it is replaced: 0, and the mean at an episode's last frame
    original_reward              the replaced reward

Files of frames are written again, row group by row group, with the columns added; `meta/info.json` and the
statistics describe them; all else is copied. A file that cannot be read is copied as it is, if no episode in
it has a score.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.datasets.episode import BadEpisode
from prefero.datasets.formats.lerobot.episode_index import INFO, EpisodeEntry, Info
from prefero.datasets.formats.lerobot.parquet import Unreadable, readable
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
    EpisodeScores,
    check_new_columns,
    copy_missing,
)

PREFIX = "prefero."  # before the name of a score
REWARDS = ("next.reward", "reward")
SCALAR = {"dtype": "float32", "shape": [1], "names": None}
NUMBERS = ("episode_index", "frame_index")
VALUE = {"dtype": "float32", "_type": "Value"}  # the same as Hugging Face describes it


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """The new columns of the frames' tables: their names, and their value at each frame."""

    scores: EpisodeScores
    lengths: dict[str, int]  # of all episodes that the dataset lists
    reward: str | None  # the column that is replaced
    renamed: dict[str, str]

    @classmethod
    def of(cls, info: Info, entries: Sequence[EpisodeEntry], scores: EpisodeScores, name: str) -> Self:
        """An error if an episode's length has changed, or if the dataset has such columns already."""
        lengths = {str(entry.episode): entry.length for entry in entries}
        for episode in scores.episodes:
            scores.check_length(episode, lengths[episode])
        columns = dict(info["features"])
        reward = next((key for key in REWARDS if key in columns), REWARDS[0])
        made = cls(
            scores,
            lengths,
            reward if scores.replace_reward else None,
            {reward: ORIGINAL} if scores.replace_reward and reward in columns else {},
        )
        check_new_columns([*made.scored, *made.renamed.values()], list(columns), name)
        return made

    @property
    def scored(self) -> list[str]:
        """The columns that are the same at every frame of an episode."""
        return [PREFIX + name for name in self.scores.names]

    @property
    def names(self) -> list[str]:
        """The columns that are added."""
        return [*self.scored, *([self.reward] if self.reward else [])]

    def rename(self, column: str) -> str:
        """The name of a column in the copy."""
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
        ids = [str(episode) for episode in several.tolist()]
        scores = self.scores.of(ids)
        made = {PREFIX + name: values[row] for name, values in scores.items()}
        if self.reward:
            last = np.array([self.lengths.get(episode, 0) - 1 for episode in ids], dtype=int)
            made[self.reward] = np.where(frames == last[row], scores["mean"][row], 0.0)
        return made

    def additions(self) -> Additions:
        """All that is added, by columns and episodes, for the statistics."""
        added: dict[str, dict[int, Array]] = {name: {} for name in self.names}
        for episode in self.scores.episodes:
            number, steps = int(episode), self.lengths[episode]
            for name, values in self._values(np.full(steps, number), np.arange(steps)).items():
                added[name][number] = values.astype(np.float32)
        return Additions(added, self.renamed)


def write_copy(
    source: Path,
    info: Info,
    entries: Sequence[EpisodeEntry],
    scores: EpisodeScores,
    folder: Path,
    advance: Advance,
) -> None:
    """Write a copy of the dataset in `source` with the scores into an empty folder."""
    columns, counts = ScoreColumns.of(info, entries, scores, source.resolve().name), Counter[str]()
    for path in _data_files(source, info, entries):
        place = folder / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        scored = [str(e.episode) for e in entries if e.path == path and str(e.episode) in scores.episodes]
        counts += _write_frames(path, place, columns, scored)
    for episode in scores.episodes:
        if counts[episode] != columns.lengths[episode]:
            raise BadEpisode(
                episode, f"it should have {columns.lengths[episode]} frames, but has {counts[episode]}"
            )
    _write_info(source / INFO, folder / INFO, columns)
    columns.additions().write(source, folder)
    copy_missing(source, folder, advance)


def _data_files(source: Path, info: Info, entries: Sequence[EpisodeEntry]) -> list[Path]:
    """All files of frames, also those without a listed episode, since LeRobot reads them all."""
    top = Path(str(info["data_path"])).parts[0]
    listed = {entry.path for entry in entries if entry.path.is_file()}
    return sorted(listed | set((source / top).rglob("*.parquet")))


def _write_frames(path: Path, target: Path, columns: ScoreColumns, scored: Sequence[str]) -> Counter[str]:
    """Write one file of frames; how many there are of each episode."""
    counts = Counter[str]()
    tables = _tables(path)
    try:
        schema = columns.added_to(next(tables)).schema
        parquet = need("pyarrow.parquet", extra="datasets")
        with parquet.ParquetWriter(target, schema, compression=compression_of(path)) as writer:
            for table in tables:
                counts.update(map(str, table["episode_index"].to_pylist()))
                writer.write_table(columns.added_to(table), row_group_size=max(len(table), 1))
    except Unreadable as error:
        if scored:
            raise BadEpisode(scored[0], f"its file {error}") from error
        target.unlink(missing_ok=True)  # it is copied as it is
    return counts


def _tables(path: Path) -> Iterator[Any]:
    """An empty table of the same columns, and then one for each row group."""
    parquet = need("pyarrow.parquet", extra="datasets")
    with readable(path, NUMBERS), parquet.ParquetFile(path) as file:
        yield file.schema_arrow.empty_table()
        yield from (file.read_row_group(group) for group in range(file.num_row_groups))


def _write_info(source: Path, target: Path, columns: ScoreColumns) -> None:
    info = read_json(source)
    old = {columns.rename(key): feature for key, feature in info["features"].items()}
    info["features"] = old | dict.fromkeys(columns.names, SCALAR)
    write_text(target, json.dumps(info, indent=4, ensure_ascii=False))
