"""A summary of features before questions are asked: a line for each, and their histograms in a figure."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.files import write_atomically
from prefero._support.names import shortened
from prefero._support.optional import need
from prefero.datasets.features.tables.diagnostics import Diagnostic
from prefero.datasets.features.tables.table import FeatureTable
from prefero.trajectories.categories import Variable

BARS = "▁▂▃▄▅▆▇█"
BINS = 16
COLUMNS = 4
PLAIN, WARNING, GRAY = "#0b6e99", "#d1662c", "#8a8a8a"


@dataclass(frozen=True)
class FeatureSummary:
    """One feature: its range, its histogram in a line of text, the kinds of its problems, and of findings.

    A category is one row for all of its levels, and has no range.
    """

    name: str
    range: tuple[float, float, float] | None  # min, median, max
    histogram: str
    problems: str
    findings: str


def summarize(table: FeatureTable) -> list[FeatureSummary]:
    """A summary of each feature."""
    problems, findings = _problems(table.diagnostics()), table.findings()
    return [
        FeatureSummary(
            one.name,
            None if one.categories else _range(one.values(table.features)),
            _text_histogram(one, table.features),
            ", ".join(dict.fromkeys(kind for i in one.features for kind in problems.get(table.names[i], ()))),
            ", ".join(found.kind for found in findings if one.name in found.names),
        )
        for one in table.variables
    ]


def _range(values: Array) -> tuple[float, float, float]:
    return float(values.min()), float(np.median(values)), float(values.max())


def _text_histogram(variable: Variable, features: Array) -> str:
    """The counts of a category's levels, or the histogram of numbers, in one line of text."""
    is_number = variable.categories is None
    return bars(np.histogram(variable.values(features), BINS)[0] if is_number else variable.counts(features))


def _problems(diagnostics: Sequence[Diagnostic]) -> dict[str, list[str]]:
    """Which features have which kinds of problems; of two duplicates, only the second has one."""
    found: dict[str, list[str]] = {}
    for one in diagnostics:
        for name in one.names[-1:] if one.kind == "duplicate" else one.names:
            if one.kind not in found.setdefault(name, []):
                found[name].append(one.kind)
    return found


def bars(counts: Indices) -> str:
    """Bars as tall as these counts, in one line of text."""
    heights = np.ceil(counts / counts.max() * len(BARS)).astype(int)
    return "".join(" " if height == 0 else BARS[height - 1] for height in heights)


def save_histograms(path: Path, table: FeatureTable) -> None:
    """A figure with the histogram of every feature; those with problems say so."""
    summaries = summarize(table)
    if not summaries:
        raise ValueError(
            "features of steps mean nothing alone, so there are no histograms to draw: leave out the figure"
        )
    columns = min(COLUMNS, len(summaries))
    rows = -(-len(summaries) // columns)
    figures = need("matplotlib.figure", extra="plots")
    figure = figures.Figure(figsize=(3.2 * columns, 2.3 * rows), layout="constrained")
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for axis, one, variable in zip(axes, summaries, table.variables, strict=False):
        _draw(axis, one, variable, table.features)
    for axis in axes[len(summaries) :]:
        axis.set_axis_off()
    figure.suptitle(f"{table.dataset.name}: {len(table)} trajectories", fontsize=10)
    memory = io.BytesIO()
    figure.savefig(memory, dpi=140, format=path.suffix.lstrip(".").lower())
    write_atomically(path, memory.getvalue())


def _draw(axis: Any, one: FeatureSummary, variable: Variable, features: Array) -> None:
    color = WARNING if one.problems else PLAIN
    if variable.categories is not None:
        counts = variable.counts(features)
        axis.bar(np.arange(len(counts)), counts, color=color)
        axis.set_xticks(np.arange(len(counts)), labels=[shortened(x, 12) for x in variable.categories.levels])
        axis.tick_params(axis="x", rotation=45 if len(counts) > 3 else 0)
    else:
        values = variable.values(features)
        axis.hist(values, bins=min(40, max(BINS, len(values) // 10)), color=color)
        axis.axvline(np.median(values), color=GRAY, linewidth=1, linestyle=":")
        axis.locator_params(axis="x", nbins=5)
    said = ", ".join(filter(None, (one.problems, one.findings)))
    axis.set_title(f"{one.name}\n{said}" if said else one.name, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.spines[["top", "right"]].set_visible(False)
