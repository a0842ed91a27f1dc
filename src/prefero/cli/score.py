"""`prefero score`: score trajectories with a learned reward, in a table or in a copy of their dataset."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.markup import escape
from rich.table import Table

from prefero.cli.console import check_apart, check_outputs, console, say
from prefero.cli.options import judge_options, known_options, label_column, with_dataset_flags, with_flags
from prefero.cli.scoring import (
    Learning,
    RewardAndTrajectories,
    SessionDatabase,
    SessionName,
    open_trajectories,
    reward_and_trajectories,
    say_scored,
    say_warnings,
    shown_probability,
    shown_reward,
)
from prefero.datasets import (
    Dataset,
    EpisodeDataset,
    FeatureOptions,
    FeatureTable,
    LabelColumn,
)
from prefero.datasets.columns import Columns
from prefero.datasets.features.extraction.match_reward import windows_for
from prefero.datasets.formats.table_chunks import TableChunks
from prefero.datasets.formats.tables import TableDataset, TableOptions, id_column
from prefero.datasets.registry import options_for
from prefero.datasets.scores.progress import check_progress_file, write_progress
from prefero.datasets.scores.table import (
    ACCEPTABLE,
    INDEX,
    Scores,
    check_score_table,
    score_columns,
    write_score_table,
)
from prefero.datasets.scores.write import check_score_copy, writable_formats, write_scores
from prefero.deploy.scoring.frame_progress import (
    FrameProgress,
    ProgressKind,
    check_cut,
    frame_progress,
)
from prefero.deploy.scoring.scores import score_trajectories
from prefero.deploy.scoring.table_scores import score_table
from prefero.judges.named import Consultation
from prefero.learner.known_options import KnownOptions
from prefero.rewards.reward import Reward

SHOWN = 5  # of the best trajectories
PROGRESS = {
    "quality": "a ramp by the quality of its episode, up for the good ones and down for the others",
    "prefix": "the reward of its episode so far",
}
RABC_FLAGS = "lerobot-train --sample_weighting.type rabc --sample_weighting.progress_path"

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
Progress = Annotated[
    ProgressKind,
    typer.Option(
        help="With --rabc, what progress is: a ramp by the quality of an episode, the reward of its "
        "beginning (prefix), or what tells good from bad (auto)."
    ),
]
Cut = Annotated[
    float | None,
    typer.Option(
        help="With --rabc, the quality above which episodes are learned from: by default 0.5 for the "
        "probability of being acceptable, or else 0.25, all but the worst quarter."
    ),
]


@with_dataset_flags(without=("drop",))
@with_flags("judges", judge_options)
@with_flags("known", known_options)
@with_flags("labels", label_column)
def score(
    words: RewardAndTrajectories,
    out: Out = None,
    copy_to: CopyTo = None,
    replace_reward: ReplaceReward = False,
    rabc: Rabc = None,
    progress: Progress = "auto",
    cut: Cut = None,
    name: SessionName = None,
    database: SessionDatabase = None,
    *,
    labels: LabelColumn | None,
    judges: Consultation,
    known: KnownOptions,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Compute a learned reward for each trajectory, with its uncertainty.

    The table shows the reward as the page does: in standard deviations above the average of the scored
    trajectories. The file has it in the columns standardized and standardized_std, and in mean and std the
    reward itself, which is comparable between datasets: 0 is the reward of average features. Where the
    answers said what is acceptable, the column acceptable is the probability of that.

    For example:

        prefero score reward.json pool.npz --out scores.parquet
        prefero score pick_and_place --copy-to pick_and_place_scored
        prefero score pick_and_place --labels next.success
    """
    _check(out, copy_to, replace_reward, rabc)
    _check_progress(rabc, progress, cut)
    learned, trajectories = reward_and_trajectories(
        "score", words, Learning(name, database, labels, features, opening, known, judges)
    )
    trust = bool(opening["trust"])
    large = _large_table(trajectories, opening) if known.score is None else None
    if large is not None and copy_to is None and rabc is None:
        _score_in_chunks(learned, large, features, out, trust)
        return
    dataset = open_trajectories(trajectories, opening, known)
    if out is not None:
        check_apart(out, trajectories, dataset.files)
    if rabc is not None:
        _check_frames(dataset)
    if copy_to is not None:
        check_score_copy(dataset, copy_to, windows_for(features, learned.feature_spec))
    table = learned.extract_features(dataset, features, trust=trust)
    scores = score_trajectories(learned, table.features)
    columns = score_columns(table, scores)
    console.print(_best_and_worst(columns, len(table)))
    what = "windows" if any(table.at_origin().segments) else "trajectories"
    say_scored(learned, f"{len(table)} {what} were scored", table.skipped)
    say_warnings(table, learned, features)
    if copy_to is not None:
        _write_copy(copy_to, table, scores, replace_reward)
    if out is not None:
        write_score_table(out, columns)
        say(f"All scores are in {out}.")
    if rabc is not None:
        _write_progress(rabc, frame_progress(learned, table, progress, cut, trust=trust), table)


def _large_table(trajectories: str, opening: Mapping[str, object]) -> TableChunks | None:
    """A table that is not read at once, if the trajectories are one."""
    path = Path(trajectories)
    if not TableDataset.recognizes(trajectories):
        return None
    options = replace(options_for(path, opening), videos="ignore")
    assert isinstance(options, TableOptions)
    table = TableChunks.of(path, options)
    return table if table.is_large else None


def _score_in_chunks(
    learned: Reward, table: TableChunks, features: FeatureOptions, out: Path | None, trust: bool
) -> None:
    """Score a large table, whose rows are not all in memory at once."""
    if out is not None:
        check_apart(out, str(table.path))
    scores = score_table(learned, table, features, out, trust=trust, shown=SHOWN)
    console.print(_best_and_worst(scores.extreme, scores.count))
    say_scored(learned, f"{scores.count} trajectories were scored", scores.skipped)
    say_warnings(scores.sample, learned, features)
    if out is not None:
        say(f"All scores are in {out}.")


def _write_copy(folder: Path, table: FeatureTable, scores: Scores, replace_reward: bool) -> None:
    """The dataset with the scores in it."""
    mean, std, acceptable = scores.mean, scores.std, scores.acceptable
    write_scores(table, mean, std, folder, replace_reward=replace_reward, acceptable=acceptable)
    say(f"The copy with all scores is in {folder}.")


def _write_progress(path: Path, found: FrameProgress, table: FeatureTable) -> None:
    """The progress of the frames of the scored episodes, as LeRobot reads it."""
    source = table.at_origin().dataset
    assert isinstance(source, EpisodeDataset)
    write_progress(path, source, found.values)
    say(f"The progress of a frame is {PROGRESS[found.kind]}: {found.reason}.")
    say(f"The progress of every frame is in {path}. To train with it:  {RABC_FLAGS} {path}")


def _check(out: Path | None, copy_to: Path | None, replace_reward: bool, rabc: Path | None) -> None:
    """An error, before any work is done, if what is asked for cannot be written."""
    if out is not None:
        check_score_table(out)
    if rabc is not None:
        check_progress_file(rabc)
    check_outputs(out, rabc)
    if replace_reward and copy_to is None:
        raise ValueError("the reward is replaced in a copy of the dataset: give its folder, --copy-to FOLDER")


def _check_progress(rabc: Path | None, progress: ProgressKind, cut: float | None) -> None:
    """An error, before any work is done, if the options of progress make no sense."""
    if rabc is None and (progress != "auto" or cut is not None):
        raise ValueError("--progress and --cut are for the progress of frames: give its file, --rabc FILE")
    check_cut(progress, cut)


def _check_frames(dataset: Dataset) -> None:
    """An error, before any work is done, unless the frames of a dataset have numbers."""
    source = dataset if dataset.origin is None else dataset.origin.dataset
    if not isinstance(source, EpisodeDataset) or type(source).frame_indices is EpisodeDataset.frame_indices:
        raise ValueError(f"--rabc is for LeRobot datasets, and {source.name} is none")


def _best_and_worst(columns: Columns, count: int) -> Table:
    """The best few of `count` trajectories, and the worst; the columns have these at least."""
    order = np.argsort(-columns["mean"], kind="stable").tolist()
    ranked = [*enumerate(order[:SHOWN], 1)]
    if count > SHOWN:
        ranked.append((count, order[-1]))
    first = id_column(columns, None) or next(iter(columns))
    named = [first, INDEX] if INDEX in columns and first != INDEX else [first]
    probability = columns.get(ACCEPTABLE)
    shown = Table("rank", *map(escape, named), "reward", *([] if probability is None else [ACCEPTABLE]))
    for rank, row in ranked:
        which = (escape(str(columns[name][row])) for name in named)
        value = shown_reward(columns["standardized"][row], columns["standardized_std"][row])
        shown.add_row(str(rank), *which, value, *shown_probability(probability, row))
    return shown
