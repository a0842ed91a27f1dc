"""`prefero rank`: the worst and the best episodes of a dataset, by a learned reward, with pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Self

import numpy as np
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
    shown_probability,
    shown_reward,
)
from prefero.datasets import FeatureOptions, FeatureTable
from prefero.datasets.features.extraction.match_reward import windows_for
from prefero.datasets.scores.table import ACCEPTABLE, check_score_table, score_columns, write_score_table
from prefero.datasets.scores.write import check_score_copy, write_scores
from prefero.deploy.scoring.quality import EpisodeQuality, rate_episodes
from prefero.plots.episodes import EpisodeRow, save_episodes
from prefero.rewards.acceptable import check_bar
from prefero.rewards.reward import Reward

QUALITY, AMONG_WORST = "quality", "among_worst"


@with_dataset_flags(without=("drop",))
def rank(
    words: RewardAndTrajectories,
    worst: Annotated[int, typer.Option(help="How many of the worst episodes are listed.", min=1)] = 20,
    best: Annotated[int, typer.Option(help="How many of the best episodes are listed.", min=0)] = 5,
    acceptable: Annotated[
        float | None,
        typer.Option(
            help="Only episodes that are acceptable with at least this probability, such as 0.8; for a "
            "reward taught with labels, ratings or 'none of these'.",
            min=0.0,
            max=1.0,
        ),
    ] = None,
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

    Rewards and their order are those of prefero score. With --acceptable the others are left out, of the
    table, the picture and the file; all are in a copy.

    For example:

        prefero rank pick_and_place --worst 20 --picture worst.png
        prefero rank pick_and_place --acceptable 0.8 --out acceptable.csv
        prefero rank reward.json pick_and_place --out quality.parquet
    """
    check_figure(picture)
    if out is not None:
        check_score_table(out)
    check_outputs(picture, out)
    learned, dataset = reward_and_trajectories("rank", words, name, database)
    if acceptable is not None:
        check_bar(learned.belief)
    opened = open_trajectories(dataset, opening, videos=picture is not None)
    if out is not None:
        check_apart(out, dataset, opened.files)
    if copy_to is not None:
        check_score_copy(opened, copy_to, windows_for(features, learned.feature_spec))
    table = learned.extract_features(opened, features, trust=bool(opening["trust"]))
    rated = rate_episodes(learned, table.features, worst)
    listed = _Listed.of(rated, acceptable, worst, best)
    _print(table, rated, learned, listed)
    say_warnings(table, learned, features)
    _write(table, rated, listed, out, copy_to)
    if picture is not None and listed.rows:  # last, since a video may be damaged
        save_episodes(picture, table, _sections(table, rated, listed))
        say(f"The picture is in {picture}.")


# --- which episodes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Listed:
    """The rows that are wanted, in the order of the dataset, and of these the worst and the best.

    `lowest` begins with the worst, and `highest` with the best; none is in both.
    """

    rows: list[int]
    lowest: list[int]
    highest: list[int]
    least: float | None  # probability of being acceptable

    @classmethod
    def of(cls, rated: EpisodeQuality, least: float | None, worst: int, best: int) -> Self:
        """Those that are acceptable with at least this probability, or all."""
        kept = np.ones(len(rated.mean), dtype=bool)
        if least is not None and rated.acceptable is not None:
            kept = rated.acceptable >= least
        order = [row for row in rated.order.tolist() if kept[row]]
        lowest = order[:worst]
        return cls(np.flatnonzero(kept).tolist(), lowest, order[len(lowest) :][::-1][:best], least)


# --- what is said -----------------------------------------------------------------------------------------


def _print(table: FeatureTable, rated: EpisodeQuality, learned: Reward, listed: _Listed) -> None:
    heads = [] if rated.acceptable is None else [ACCEPTABLE]
    shown = Table("", "episode", "better than", f"among the worst {rated.count}", "reward", *heads)
    for rows, what in ((listed.lowest, "worst"), (listed.highest, "best")):
        for place, row in enumerate(rows, 1):
            better, among = f"{rated.quality[row]:.0%}", f"{rated.among_worst[row]:.0%}"
            value = shown_reward(rated.standardized[row], rated.standardized_std[row])
            cells = better, among, value, *shown_probability(rated.acceptable, row)
            shown.add_row(f"{what} {place}", escape(table.ids[row]), *cells)
        shown.add_section()
    if listed.rows:
        console.print(shown)
    what = "windows" if any(table.at_origin().segments) else "episodes"
    say_scored(learned, f"{len(table)} {what} were compared", table.skipped)
    if listed.least is not None:
        least = f"with a probability of at least {listed.least:g}"
        say(f"{len(listed.rows)} of {len(table)} {what} are acceptable {least}.")
    elif listed.lowest:
        expected = float(rated.among_worst[listed.lowest].sum())
        say(
            f"About {expected:.0f} of the {len(listed.lowest)} that seem worst are expected to be among the "
            f"worst {rated.count}; more answers make it more certain."
        )


def _sections(
    table: FeatureTable, rated: EpisodeQuality, listed: _Listed
) -> list[tuple[str, Sequence[EpisodeRow]]]:
    parts = (("worst", listed.lowest), ("best", listed.highest))
    sections = [(f"The {what} {len(rows)}", rows) for what, rows in parts]
    return [(title, [_row(table, rated, row) for row in rows]) for title, rows in sections if rows]


def _row(table: FeatureTable, rated: EpisodeQuality, row: int) -> EpisodeRow:
    steps = "" if table.steps is None else f", {table.steps[row]} steps"
    better = f"better than {rated.quality[row]:.0%} of the others"
    among = f"among the worst {rated.count}: {rated.among_worst[row]:.0%}"
    return EpisodeRow(row, f"{table.ids[row]}{steps}\n{better}\n{among}")


# --- files ------------------------------------------------------------------------------------------------


def _write(
    table: FeatureTable, rated: EpisodeQuality, listed: _Listed, out: Path | None, copy_to: Path | None
) -> None:
    if out is not None:
        columns = score_columns(table, rated)
        columns |= {QUALITY: rated.quality, AMONG_WORST: rated.among_worst}
        write_score_table(out, {name: values[listed.rows] for name, values in columns.items()})
        what = "all" if listed.least is None else "those that are acceptable"
        say(f"The quality of {what} is in {out}.")
    if copy_to is not None:
        write_scores(
            table, rated.mean, rated.std, copy_to, quality=rated.quality, acceptable=rated.acceptable
        )
        say(f"The copy with the quality of all is in {copy_to}.")
