"""`prefero features`: extract features of a dataset's trajectories, before questions are asked about them."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from prefero._support.commands import prefero_command
from prefero._support.sentences import pluralize
from prefero.cli.console import check_apart, check_figure, check_outputs, console, say, say_skipped
from prefero.cli.options import with_dataset_flags
from prefero.datasets import EpisodeDataset, FeatureOptions, FeatureTable, extract_features, open_dataset
from prefero.datasets.features.extraction.extract import check_features
from prefero.datasets.features.tables.diagnostics import messages
from prefero.datasets.features.tables.summary import save_histograms, summarize
from prefero.datasets.registry import describe_formats, options_for

OUT = Path("features.parquet")


@with_dataset_flags()
def features(
    dataset: Annotated[str, typer.Argument(help=f"The dataset: {describe_formats()}.")],
    out: Annotated[Path, typer.Option(help="Save the features to this file (.parquet).")] = OUT,
    figure: Annotated[
        Path | None, typer.Option(help="Save their histograms to this file (.png, .pdf, .svg).")
    ] = None,
    *,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Extract features of a dataset's trajectories, save them in a file, and diagnose problems.

    For example:

        prefero features pick_and_place --figure features.png
    """
    check_figure(figure)
    check_outputs(figure, out)
    opened = open_dataset(dataset, options_for(dataset, opening))
    if isinstance(opened, EpisodeDataset):
        check_features(features.features)
    check_apart(out, dataset, opened.files)
    table = extract_features(opened, replace(features, cache=out))
    _say_summary(table)
    if figure:
        save_histograms(figure, table)
        say(f"The histograms are in {figure}.")
    table.without_redundant().save(out)
    say(f"The features are in {out}. To teach with them:  {prefero_command('teach', str(out))}")


def _say_summary(table: FeatureTable) -> None:
    what = "windows" if any(table.segments) else "trajectories"
    count = len(table.variables)
    of_steps = len(table.names) if not count else 0  # which mean nothing alone
    counted = f"{of_steps} features of steps" if of_steps else pluralize(count, "feature")
    console.print(f"{escape(table.dataset.name)}: {len(table)} {what}, {counted}.")
    if count:
        console.print(_summary_table(table))
    for reason in table.left_out():
        _say_line("green", "left out", reason)
    for kind, message in messages(table.diagnostics()):
        _say_line("yellow", kind, message)
    for kind, message in messages(table.findings()):
        _say_line("cyan", kind, message)
    say_skipped(table.skipped)


def _say_line(color: str, kind: str, message: str) -> None:
    console.print(f"[{color}]{kind}[/]: {escape(message)}.", soft_wrap=True, highlight=False)


def _summary_table(table: FeatureTable) -> Table:
    """A row for each feature; those of one category have one row."""
    summaries = summarize(table)
    found = ["found"] if any(one.problems or one.findings for one in summaries) else []
    shown = Table("feature", "min", "median", "max", "histogram", *found, title=None)
    for one in summaries:
        numbers = ("", "", "") if one.range is None else (f"{value:.4g}" for value in one.range)
        kinds = [f"[yellow]{one.problems}[/]"] * bool(one.problems) + [one.findings] * bool(one.findings)
        last = [", ".join(kinds)] if found else []
        shown.add_row(escape(one.name), *numbers, one.histogram, *last)
    return shown
