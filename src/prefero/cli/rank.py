"""`prefero rank`: the worst and the best episodes of a dataset, by a learned reward, with pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.commands import prefero_command
from prefero.cli.console import check_apart, check_paths, console, say, say_skipped
from prefero.cli.databases import open_known_store
from prefero.cli.options import with_dataset_flags
from prefero.datasets import Dataset, FeatureOptions, FeatureTable, extract_for_reward, open_dataset
from prefero.datasets.features.match_reward import scoring_warnings, windows_for
from prefero.datasets.registry import describe_formats, options_for
from prefero.datasets.scores.table import check_score_table, score_columns, write_score_table
from prefero.datasets.scores.write import check_score_copy, write_scores
from prefero.deploy.quality import EpisodeQuality, rate_episodes
from prefero.plots.episodes import EpisodeRow, save_episodes
from prefero.reward import Reward, load_reward

QUALITY, AMONG_WORST = "quality", "among_worst"


@with_dataset_flags(without=("drop",))
def rank(
    dataset: Annotated[str, typer.Argument(help=f"The dataset: {describe_formats()}.")],
    reward: Annotated[
        str | None,
        typer.Option(
            help="A reward file (.json), or hf://OWNER/NAME; without it, your answers to prefero teach."
        ),
    ] = None,
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
    name: Annotated[str | None, typer.Option(help="The name of the session, if it has one.")] = None,
    database: Annotated[
        str | None, typer.Option(help="The file of the session's database, or postgresql://...")
    ] = None,
    *,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """List the worst and the best episodes of a dataset, as a learned reward sees them."""
    check_paths(picture, out)
    if out is not None:
        check_score_table(out)
    options = options_for(dataset, opening)
    learned = _taught(dataset, name, database) if reward is None else load_reward(reward)
    opened = open_dataset(dataset, options)
    if out is not None:
        check_apart(out, dataset, opened.files)
    if copy_to is not None:
        check_score_copy(opened, copy_to, windows_for(features, learned.feature_spec))
    table = _features(learned, opened, features, bool(opening["trust"]))
    rated = rate_episodes(learned, table.features, worst)
    _print(table, rated, learned, worst, best)
    for warning in scoring_warnings(table, learned.scaling, features, learned.feature_spec):
        say(warning if warning.endswith("?") else f"{warning}.")
    if picture is not None:
        save_episodes(picture, table, _sections(table, rated, worst, best))
        say(f"The picture is in {picture}.")
    _write(table, rated, out, copy_to)


def _taught(dataset: str, name: str | None, database: str | None) -> Reward:
    """The reward that the answers of a session give."""
    from prefero.studies.start import taught_reward

    store = open_known_store(database, "teach.db")
    return taught_reward(store, name or Path(dataset).stem, prefero_command("teach", dataset))


def _features(learned: Reward, opened: Dataset, features: FeatureOptions, trust: bool) -> FeatureTable:
    spec = learned.feature_spec
    taught = learned.scaling
    return extract_for_reward(
        opened, taught.names, features, spec=spec, trust=trust, categories=taught.categories
    )


# --- what is said -----------------------------------------------------------------------------------------


def _print(table: FeatureTable, rated: EpisodeQuality, learned: Reward, worst: int, best: int) -> None:
    shown = Table("", "episode", "better than", f"among the worst {rated.count}", "reward")
    lowest, highest = _ends(rated, worst, best)
    for rows, what in ((lowest, "worst"), (highest, "best")):
        for place, row in enumerate(rows, 1):
            better, among = f"{rated.quality[row]:.0%}", f"{rated.among_worst[row]:.0%}"
            value = f"{rated.mean[row]:.2f} ± {rated.std[row]:.2f}"
            shown.add_row(f"{what} {place}", escape(table.ids[row]), better, among, value)
        shown.add_section()
    console.print(shown)
    what = "windows" if any(table.at_origin().segments) else "episodes"
    say(f"{len(table)} {what} were compared; {learned.describe()}.")
    expected = float(rated.among_worst[lowest].sum())
    say(
        f"About {expected:.0f} of the {len(lowest)} that seem worst are expected to be among the worst "
        f"{rated.count}; more answers make it more certain."
    )
    say_skipped(table.skipped)


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
        columns = score_columns(table, rated.mean, rated.std)
        write_score_table(out, columns | {QUALITY: rated.quality, AMONG_WORST: rated.among_worst})
        say(f"The quality of all is in {out}.")
    if copy_to is not None:
        write_scores(table, rated.mean, rated.std, copy_to, quality=rated.quality)
        say(f"The copy with the quality of all is in {copy_to}.")
