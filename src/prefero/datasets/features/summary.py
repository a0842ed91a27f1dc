"""A summary of features before questions are asked: a line for each, and their histograms in a figure."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.datasets.features.diagnostics import Diagnostic
from prefero.datasets.features.table import FeatureTable

BLOCKS = "▁▂▃▄▅▆▇█"
BINS = 16
COLUMNS = 4
PLAIN, WARNING, GRAY = "#0b6e99", "#d1662c", "#8a8a8a"


@dataclass(frozen=True)
class FeatureSummary:
    """One feature: its range, its histogram in a line of text, and the kinds of its problems."""

    name: str
    min: float
    median: float
    max: float
    histogram: str
    problems: str


def summarize(table: FeatureTable) -> list[FeatureSummary]:
    """A summary of each feature."""
    problems = _problems(table.diagnostics())
    return [
        FeatureSummary(
            name,
            float(values.min()),
            float(np.median(values)),
            float(values.max()),
            text_histogram(values),
            ", ".join(problems.get(name, ())),
        )
        for name, values in zip(table.names, table.features.T, strict=True)
    ]


def _problems(diagnostics: Sequence[Diagnostic]) -> dict[str, list[str]]:
    """Which features have which kinds of problems; of two duplicates, only the second has one."""
    found: dict[str, list[str]] = {}
    for one in diagnostics:
        for name in one.names[-1:] if one.kind == "duplicate" else one.names:
            if one.kind not in found.setdefault(name, []):
                found[name].append(one.kind)
    return found


def text_histogram(values: Array, bins: int = BINS) -> str:
    """A histogram in one line of text."""
    counts = np.histogram(values, bins)[0]
    heights = np.ceil(counts / counts.max() * len(BLOCKS)).astype(int)
    return "".join(" " if height == 0 else BLOCKS[height - 1] for height in heights)


def save_histograms(path: Path, table: FeatureTable) -> None:
    """A figure with the histogram of every feature; those with problems say so."""
    summaries = summarize(table)
    columns = min(COLUMNS, len(summaries))
    rows = -(-len(summaries) // columns)
    figures = need("matplotlib.figure", extra="plots")
    figure = figures.Figure(figsize=(3.2 * columns, 2.3 * rows), layout="constrained")
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for axis, one, values in zip(axes, summaries, table.features.T, strict=False):
        _draw(axis, one, values)
    for axis in axes[len(summaries) :]:
        axis.set_axis_off()
    figure.suptitle(f"{table.dataset.name}: {len(table)} trajectories", fontsize=10)
    memory = io.BytesIO()
    figure.savefig(memory, dpi=140, format=path.suffix.lstrip(".").lower())
    write_atomically(path, memory.getvalue())


def _draw(axis: Any, one: FeatureSummary, values: Array) -> None:
    color = WARNING if one.problems else PLAIN
    axis.hist(values, bins=min(40, max(BINS, len(values) // 10)), color=color)
    axis.axvline(one.median, color=GRAY, linewidth=1, linestyle=":")
    axis.set_title(f"{one.name}\n{one.problems}" if one.problems else one.name, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.locator_params(axis="x", nbins=5)
    axis.spines[["top", "right"]].set_visible(False)
