"""`prefero rank`: the worst and the best episodes of a dataset, by a learned reward, with pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from prefero.cli.console import check_apart, check_figure, check_outputs, console, say
from prefero.cli.options import with_dataset_flags
from prefero.cli.scoring import (
    RewardAndTrajectories,
    SessionDatabase,
    SessionName,
    open_trajectories,
    reward_and_trajectories,
    say_scored,
    say_warnings,
    shown_reward,
)
from prefero.datasets import FeatureOptions, FeatureTable
from prefero.datasets.features.extraction.match_reward import windows_for
from prefero.datasets.scores.table import check_score_table, score_columns, write_score_table
from prefero.datasets.scores.write import check_score_copy, write_scores
from prefero.deploy.scoring.quality import EpisodeQuality, rate_episodes
from prefero.plots.episodes import EpisodeRow, save_episodes
from prefero.rewards.reward import Reward

QUALITY, AMONG_WORST = "quality", "among_worst"


@with_dataset_flags(without=("drop",))
def rank(
    words: RewardAndTrajectories,
    worst: Annotated[int, typer.Option(help="How many of the worst episodes are listed.", min=1)] = 20,
    best: Annotated[int, typer.Option(help="How many of the best episodes are listed.", min=0)] = 5,
    picture: Annotated[
        Path | None, typer.Option(help="Save a picture of these episodes to this file (.png, .pdf, .svg).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the quality of all episodes to this file (.parquet, .csv).")
    ] = None,
    copy_to: Annotated[
        Path | None, typer.Option(help="Copy the dataset to this folder with the quality in it.")
    ] = None,
    name: SessionName = None,
    database: SessionDatabase = None,
    *,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """List the worst and the best episodes of a dataset, as a learned reward sees them.

    Rewards and their order are those of prefero score.

    For example:

        prefero rank pick_and_place --worst 20 --picture worst.png
        prefero rank reward.json pick_and_place --out quality.parquet
    """
    check_figure(picture)
    if out is not None:
        check_score_table(out)
    check_outputs(picture, out)
    learned, dataset = reward_and_trajectories("rank", words, name, database)
    opened = open_trajectories(dataset, opening, videos=picture is not None)
    if out is not None:
        check_apart(out, dataset, opened.files)
    if copy_to is not None:
        check_score_copy(opened, copy_to, windows_for(features, learned.feature_spec))
    table = learned.extract_features(opened, features, trust=bool(opening["trust"]))
    rated = rate_episodes(learned, table.features, worst)
    _print(table, rated, learned, worst, best)
    say_warnings(table, learned, features)
    _write(table, rated, out, copy_to)
    if picture is not None:  # last, since a video may be damaged
        save_episodes(picture, table, _sections(table, rated, worst, best))
        say(f"The picture is in {picture}.")


# --- what is said -----------------------------------------------------------------------------------------


def _print(table: FeatureTable, rated: EpisodeQuality, learned: Reward, worst: int, best: int) -> None:
    shown = Table("", "episode", "better than", f"among the worst {rated.count}", "reward")
    lowest, highest = _ends(rated, worst, best)
    for rows, what in ((lowest, "worst"), (highest, "best")):
        for place, row in enumerate(rows, 1):
            better, among = f"{rated.quality[row]:.0%}", f"{rated.among_worst[row]:.0%}"
            value = shown_reward(rated.standardized[row], rated.standardized_std[row])
            shown.add_row(f"{what} {place}", escape(table.ids[row]), better, among, value)
        shown.add_section()
    console.print(shown)
    what = "windows" if any(table.at_origin().segments) else "episodes"
    say_scored(learned, f"{len(table)} {what} were compared", table.skipped)
    expected = float(rated.among_worst[lowest].sum())
    say(
        f"About {expected:.0f} of the {len(lowest)} that seem worst are expected to be among the worst "
        f"{rated.count}; more answers make it more certain."
    )


def _ends(rated: EpisodeQuality, worst: int, best: int) -> tuple[list[int], list[int]]:
    """The rows of the worst, worst first, and of the best, best first; none is in both."""
    order = rated.order.tolist()
    lowest = order[:worst]
    return lowest, order[len(lowest) :][::-1][:best]


def _sections(
    table: FeatureTable, rated: EpisodeQuality, worst: int, best: int
) -> list[tuple[str, Sequence[EpisodeRow]]]:
    lowest, highest = _ends(rated, worst, best)
    sections = [(f"The worst {len(lowest)}", lowest), (f"The best {len(highest)}", highest)]
    return [(title, [_row(table, rated, row) for row in rows]) for title, rows in sections if rows]


def _row(table: FeatureTable, rated: EpisodeQuality, row: int) -> EpisodeRow:
    steps = "" if table.steps is None else f", {table.steps[row]} steps"
    better = f"better than {rated.quality[row]:.0%} of the others"
    among = f"among the worst {rated.count}: {rated.among_worst[row]:.0%}"
    return EpisodeRow(row, f"{table.ids[row]}{steps}\n{better}\n{among}")


# --- files ------------------------------------------------------------------------------------------------


def _write(table: FeatureTable, rated: EpisodeQuality, out: Path | None, copy_to: Path | None) -> None:
    if out is not None:
        columns = score_columns(table, rated)
        write_score_table(out, columns | {QUALITY: rated.quality, AMONG_WORST: rated.among_worst})
        say(f"The quality of all is in {out}.")
    if copy_to is not None:
        write_scores(table, rated.mean, rated.std, copy_to, quality=rated.quality)
        say(f"The copy with the quality of all is in {copy_to}.")
