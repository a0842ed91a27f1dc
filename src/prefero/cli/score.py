"""`prefero score`: score trajectories with a learned reward, in a table or in a copy of their dataset."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.progress_bar import progress as progress_bar
from prefero.cli.console import check_apart, console, say, say_skipped
from prefero.cli.options import RewardArgument, with_dataset_flags
from prefero.datasets import (
    BadEpisode,
    Dataset,
    EpisodeDataset,
    FeatureDataset,
    FeatureOptions,
    FeatureTable,
    extract_for_reward,
    open_dataset,
)
from prefero.datasets.columns import Columns, matrix_columns
from prefero.datasets.features.match_reward import scoring_warnings, windows_for
from prefero.datasets.formats.table_blocks import TableBlocks
from prefero.datasets.formats.tables import TableDataset, TableOptions, id_column
from prefero.datasets.registry import describe_formats, options_for
from prefero.datasets.scores.progress import check_progress_file, write_progress
from prefero.datasets.scores.table import (
    INDEX,
    MEAN,
    STANDARDIZED,
    STANDARDIZED_STD,
    check_score_table,
    score_columns,
    write_score_table,
)
from prefero.datasets.scores.write import check_score_copy, writable_formats, write_scores
from prefero.deploy.prefix_rewards import PrefixRewards
from prefero.deploy.table_scores import score_table
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file
from prefero.reward import Reward, load_reward

SHOWN = 5  # of the best trajectories
UNIT = "The reward is in standard deviations above the average of the scored trajectories, as on the page."
RABC_FLAGS = "lerobot-train --sample_weighting.type rabc --sample_weighting.progress_path"


Scored = Annotated[str, typer.Argument(help=f"A pool (.npz), or a dataset: {describe_formats()}.")]
Out = Annotated[Path | None, typer.Option(help="Write the scores to this file (.parquet, .csv).")]
CopyTo = Annotated[
    Path | None,
    typer.Option(
        help="Copy the dataset to this folder with the scores in it; its format is one of: "
        f"{', '.join(writable_formats())}."
    ),
]
ReplaceReward = Annotated[
    bool, typer.Option("--replace-reward", help="In the copy, also replace the dataset's own reward.")
]
Rabc = Annotated[
    Path | None,
    typer.Option(
        help="Write the progress of every frame of a LeRobot dataset to this file (.parquet), which "
        "LeRobot's reward-aligned behavior cloning reads."
    ),
]


@with_dataset_flags(without=("drop",))
def score(
    reward: RewardArgument,
    trajectories: Scored,
    out: Out = None,
    copy_to: CopyTo = None,
    replace_reward: ReplaceReward = False,
    rabc: Rabc = None,
    *,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Compute a learned reward for each trajectory, with its uncertainty.

    The table shows the reward as the page does: in standard deviations above the average of the scored
    trajectories. The file has it in the columns standardized and standardized_std, and in mean and std the
    reward itself, which is comparable between datasets: 0 is the reward of average features.
    """
    _check(out, copy_to, replace_reward, rabc)
    learned = load_reward(reward)
    spec, trust = learned.feature_spec, bool(opening["trust"])
    large = _large_table(trajectories, opening)
    if large is not None and copy_to is None and rabc is None:
        _score_in_blocks(learned, large, features, out, trust)
        return
    dataset = _opened(trajectories, opening)
    if out is not None:
        check_apart(out, trajectories, dataset.files)
    if rabc is not None:
        _check_frames(dataset)
    if copy_to is not None:
        check_score_copy(dataset, copy_to, windows_for(features, spec))
    taught = learned.scaling
    table = extract_for_reward(
        dataset, taught.names, features, spec=spec, trust=trust, categories=taught.categories
    )
    mean, std = learned.predict(table.features, return_std=True)
    columns = score_columns(table, mean, std, learned.standardized(table.features))
    console.print(_best_and_worst(columns, len(table)))
    what = "windows" if any(table.at_origin().segments) else "trajectories"
    _say_scored(learned, f"{len(table)} {what}", table.skipped)
    _say_warnings(table, learned, features)
    if copy_to is not None:
        write_scores(table, mean, std, copy_to, replace_reward=replace_reward)
        say(f"The copy with all scores is in {copy_to}.")
    if out is not None:
        write_score_table(out, columns)
        say(f"All scores are in {out}.")
    if rabc is not None:
        _write_progress(rabc, learned, table, trust)
        say(f"The progress of every frame is in {rabc}. To train with it:  {RABC_FLAGS} {rabc}")


def _large_table(trajectories: str, opening: Mapping[str, object]) -> TableBlocks | None:
    """A table that is not read at once, if the trajectories are one."""
    path = Path(trajectories)
    if not TableDataset.recognizes(trajectories):
        return None
    options = replace(options_for(path, opening), videos="ignore")
    assert isinstance(options, TableOptions)
    table = TableBlocks.of(path, options)
    return table if table.is_large else None


def _score_in_blocks(
    learned: Reward, table: TableBlocks, features: FeatureOptions, out: Path | None, trust: bool
) -> None:
    """Score a large table, whose rows are not all in memory at once."""
    if out is not None:
        check_apart(out, str(table.path))
    scores = score_table(learned, table, features, out, trust=trust, shown=SHOWN)
    console.print(_best_and_worst(scores.extreme, scores.count))
    _say_scored(learned, f"{scores.count} trajectories", scores.skipped)
    _say_warnings(scores.sample, learned, features)
    if out is not None:
        say(f"All scores are in {out}.")


def _say_scored(learned: Reward, what: str, skipped: dict[str, str]) -> None:
    say(UNIT)
    say(f"{what} were scored; {learned.describe()}.")
    say_skipped(skipped)


def _say_warnings(table: FeatureTable, learned: Reward, features: FeatureOptions) -> None:
    for warning in scoring_warnings(table, learned.scaling, features, learned.feature_spec):
        say(warning if warning.endswith("?") else f"{warning}.")


def _write_progress(path: Path, learned: Reward, table: FeatureTable, trust: bool) -> None:
    """The rewards of all prefixes of the scored episodes, as LeRobot reads them."""
    there = table.at_origin()
    assert isinstance(there.dataset, EpisodeDataset)
    prefixes = PrefixRewards.of(
        replace(learned, feature_spec=table.spec or learned.feature_spec), trust=trust
    )
    numbers = list(dict.fromkeys(there.numbers))
    rewards = {}
    with progress_bar("rewards of all frames", len(numbers), None) as advance:
        for number, episode in zip(numbers, there.dataset.read(numbers), strict=True):
            if isinstance(episode, BadEpisode):
                raise episode
            rewards[number] = prefixes(episode)
            advance(1)
    write_progress(path, there.dataset, rewards)


def _check(out: Path | None, copy_to: Path | None, replace_reward: bool, rabc: Path | None) -> None:
    """An error, before any work is done, if what is asked for cannot be written."""
    if out is not None:
        check_score_table(out)
    if rabc is not None:
        check_progress_file(rabc)
    if replace_reward and copy_to is None:
        raise ValueError("the reward is replaced in a copy of the dataset: give its folder, --copy-to FOLDER")


def _check_frames(dataset: Dataset) -> None:
    """An error, before any work is done, unless the frames of a dataset have numbers."""
    source = dataset if dataset.origin is None else dataset.origin.dataset
    if not isinstance(source, EpisodeDataset) or type(source).frame_indices is EpisodeDataset.frame_indices:
        raise ValueError(f"--rabc is for LeRobot datasets, and {source.name} is none")


def _opened(what: str, opening: Mapping[str, object]) -> Dataset:
    """A pool's features, or a dataset without its videos, which scores do not need."""
    if not is_pool_file(Path(what)):
        return open_dataset(what, replace(options_for(what, opening), videos="ignore"))
    pool = Pool.load(what)
    ids = pool.ids or tuple(map(str, range(len(pool))))
    columns = matrix_columns(pool.features, pool.names)
    return FeatureDataset(Path(what).stem, columns, ids, categories=pool.scaling.categories)


def _best_and_worst(columns: Columns, count: int) -> Table:
    """The best few of `count` trajectories, and the worst; the columns have these at least."""
    order = np.argsort(-columns[MEAN], kind="stable").tolist()
    ranked = [*enumerate(order[:SHOWN], 1)]
    if count > SHOWN:
        ranked.append((count, order[-1]))
    first = id_column(columns, None) or next(iter(columns))
    named = [first, INDEX] if INDEX in columns and first != INDEX else [first]
    shown = Table("rank", *map(escape, named), "reward", "uncertainty")
    for rank, row in ranked:
        which = (escape(str(columns[name][row])) for name in named)
        reward, uncertainty = columns[STANDARDIZED][row], columns[STANDARDIZED_STD][row]
        shown.add_row(str(rank), *which, f"{reward:.2f}", f"{uncertainty:.2f}")
    return shown
