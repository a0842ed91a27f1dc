"""`prefero score`: what a learned reward says of trajectories, in a table or in a copy of their dataset."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.cli.console import check_apart, console, say_left_out
from prefero.cli.options import (
    ClipTable,
    Episodes,
    Jobs,
    Like,
    Logarithms,
    Policy,
    Seconds,
    Seed,
    SkipBad,
    StepRange,
    Stride,
    Task,
    Window,
    Words,
)
from prefero.datasets.base import Dataset, EpisodeDataset, FeatureDataset
from prefero.datasets.features.embeddings import Embedding
from prefero.datasets.features.match_reward import extract_for_reward, library_words_for, open_named
from prefero.datasets.features.table import LOG, FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.formats.tables import TABLES, holds_pool, id_column, read_table
from prefero.datasets.registry import Revisited, kind_and_place, open_dataset
from prefero.datasets.scores.write import check_copy, write_scores
from prefero.pools.pool import Pool
from prefero.reward import load_reward
from prefero.trajectories.features import Scaling

SHOWN = 5
ROW, MEAN, STD = "trajectory", "mean", "std"
FAR = 6.0  # standard deviations, of the trajectories that the reward was taught with

Columns = dict[str, npt.NDArray[Any]]


def score(
    reward: Annotated[Path, typer.Argument(help="A reward file (.json), as Reward.save writes it.")],
    trajectories: Annotated[
        str,
        typer.Argument(
            help="A pool (.npz), a LeRobot or Minari dataset, a table, an .npz, clips, or an environment."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the scores here (.parquet or .csv).")] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Copy the LeRobot or Minari dataset to this folder, with the scores as columns."),
    ] = None,
    replace_reward: Annotated[
        bool, typer.Option("--replace-reward", help="In the copy, put them in place of its own reward, too.")
    ] = False,
    feature: Words = None,
    window: Window = None,
    stride: Stride = None,
    like: Like = None,
    log: Logarithms = None,
    skip_bad: SkipBad = False,
    jobs: Jobs = None,
    task: Task = None,
    table: ClipTable = None,
    seconds: Seconds = None,
    episodes: Episodes = None,
    policy: Policy = None,
    steps: StepRange = None,
    seed: Seed = None,
) -> None:
    """Score trajectories with a learned reward: the mean and the standard deviation of each."""
    _check(out, into, replace_reward)
    windows = Windows.maybe(window, stride)
    played = {"episodes": episodes, "policy": policy, "steps": steps, "seed": seed}
    learned = load_reward(reward)
    names, options = learned.scaling.names, {"task": task, "table": table, "seconds": seconds, **played}
    dataset = _opened(trajectories, names, feature, log or [], options)
    if out is not None:
        check_apart(out, trajectories, dataset)
    if into is not None:
        check_copy(dataset, into, windows)
    seen = None if like is None else open_dataset(like)
    how: dict[str, Any] = {"windows": windows, "log": log or [], "skip_bad": skip_bad, "jobs": jobs}
    found = extract_for_reward(dataset, names, feature, like=seen, **how)
    mean, std = learned.predict(found.features, return_std=True)
    scores = {**_beside(trajectories, found), MEAN: mean, STD: std}
    console.print(_ends(scores))
    console.print(f"{len(found)} {_what(found)} were scored; {learned.describe()}.", markup=False)
    say_left_out(found.left_out)
    _beware(dataset, found, learned.scaling, feature, like)
    if into is not None:
        write_scores(found, mean, std, into, replace_reward=replace_reward)
        _say(f"The copy with all scores is in {into}.")
    if out is not None:
        write_table(out, scores)
        _say(f"All scores are in {out}.")


def _check(out: Path | None, into: Path | None, replace_reward: bool) -> None:
    """Before any work is done: can what it makes be written?"""
    if out is not None and out.suffix.lower() not in TABLES:
        raise ValueError(f"scores are written as .parquet or .csv, but --out is {out}")
    if replace_reward and into is None:
        raise ValueError("a reward is replaced in a copy of the dataset: say where, --into FOLDER")


def _opened(
    what: str, names: Sequence[str], feature: list[str] | None, log: list[str], options: dict[str, Any]
) -> Dataset:
    path = Path(what)
    if path.suffix == ".npz" and path.is_file() and holds_pool(path):
        pool = Pool.load(path)
        return FeatureDataset(
            path.stem, pool.features, pool.names, pool.ids or tuple(map(str, range(len(pool))))
        )
    return open_named(what, names, feature, log, **options)


# --- what is said -----------------------------------------------------------------------------------------


def _what(found: FeatureTable) -> str:
    return "windows" if any(_with_parts(found).parts) else "trajectories"


def _ends(scores: Columns) -> Table:
    """The best few trajectories, and the worst."""
    order = np.argsort(-scores[MEAN], kind="stable")
    ranked = list(enumerate(order.tolist(), 1))
    first = next(iter(scores))
    shown = Table("rank", escape(first), MEAN, STD)
    for rank, row in ranked if len(ranked) <= SHOWN + 1 else [*ranked[:SHOWN], ranked[-1]]:
        who, mean, std = (scores[name][row] for name in (first, MEAN, STD))
        shown.add_row(str(rank), escape(str(who)), f"{mean:.3f}", f"{std:.3f}")
    return shown


def _beware(
    dataset: Dataset, found: FeatureTable, taught: Scaling, feature: list[str] | None, like: str | None
) -> None:
    """What may not be as it was when the reward was taught, and nobody would notice."""
    if isinstance(dataset, EpisodeDataset) and not feature:
        words = ", ".join(library_words_for([name.removeprefix(LOG) for name in found.names]))
        _say(f"What was noted, of all states: {words}. Say --feature if the reward was taught otherwise.")
    for word in feature or []:
        if (embedding := Embedding.of(word)) and embedding.looks_first and like is None:
            _say(
                f"{word} is measured by the trajectories that are scored: it is what the reward was taught "
                "only if they are the same. If they are not, name those that it was taught with, --like."
            )
    for name in far(found.features, taught):
        _say(
            f"{name}: half of these are more than {FAR:g} standard deviations away from all that the reward "
            "was taught with. Is it noted in the same way, and in the same units?"
        )


def _say(words: str) -> None:
    console.print(words, soft_wrap=True, markup=False, highlight=False)


def far(features: Array, taught: Scaling) -> list[str]:
    """The features that have little in common with those that a reward was taught with."""
    away = np.median(np.abs(taught(features)), axis=0)
    return [name for name, distance in zip(taught.names, away.tolist(), strict=True) if distance > FAR]


# --- files ------------------------------------------------------------------------------------------------


def _with_parts(found: FeatureTable) -> FeatureTable:
    """FeatureRows of a table that `prefero features` kept are windows, if they were then."""
    if not isinstance(found.dataset, Revisited):
        return found
    kept = found.dataset
    numbers = tuple(kept.numbers[row] for row in found.numbers)
    parts = tuple(kept.parts[row] for row in found.numbers)
    return replace(found, dataset=kept.source, numbers=numbers, parts=parts)


def _beside(what: str, found: FeatureTable) -> Columns:
    """Which trajectory a row is of; of a table, all its columns that are not features of the reward."""
    kind, place = kind_and_place(what)
    if kind != "table":
        return _labels(found)
    columns, _ = read_table(Path(place))
    known = {*found.names, *(name.removeprefix(LOG) for name in found.names), MEAN, STD}
    kept = {name: values for name, values in columns.items() if name not in known}
    rows = {name: values[list(found.numbers)] for name, values in kept.items()}
    windows = _with_parts(found)
    if id_column(kept, None) is not None and not any(windows.parts):
        return rows
    return {**_labels(windows), **rows}


def _labels(found: FeatureTable) -> Columns:
    """The ids, as numbers where they are; of a window, its episode and its steps too."""
    labels: Columns = {ROW: _numbers(found.ids)}
    if any(found.parts):
        labels["episode"] = _numbers([found.dataset.ids[number] for number in found.numbers])
        labels["first"], labels["last"] = np.array([part or (0, 0) for part in found.parts]).T
    return labels


def _numbers(ids: Sequence[str]) -> npt.NDArray[Any]:
    whole = [int(name) for name in ids if name.isdecimal() and str(int(name)) == name]
    return np.array(whole if len(whole) == len(ids) else ids)


def write_table(out: Path, scores: Columns) -> None:
    """Scores in a file of their own."""
    out.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(out, content_of(scores, out.suffix.lower()))


def content_of(scores: Columns, suffix: str) -> bytes:
    """Scores as the content of a file."""
    memory, table = io.BytesIO(), need("pyarrow", extra="datasets").table(scores)
    if suffix == ".csv":
        need("pyarrow.csv", extra="datasets").write_csv(table, memory)
    else:
        need("pyarrow.parquet", extra="datasets").write_table(table, memory)
    return memory.getvalue()
