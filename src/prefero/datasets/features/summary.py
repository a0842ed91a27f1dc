"""A look at features before anything is asked: a line for each, and their histograms in a picture."""

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
BARS = 16
COLUMNS = 4
INK, WARNING, GREY = "#0b6e99", "#d1662c", "#8a8a8a"


@dataclass(frozen=True)
class Line:
    """A feature at a glance."""

    name: str
    low: float
    median: float
    high: float
    histogram: str
    trouble: str


def summary(gathered: FeatureTable) -> list[Line]:
    """A line for each feature."""
    troubles = _troubles(gathered.advice())
    return [
        Line(
            name,
            float(values.min()),
            float(np.median(values)),
            float(values.max()),
            blocks(values),
            ", ".join(troubles.get(name, ())),
        )
        for name, values in zip(gathered.names, gathered.features.T, strict=True)
    ]


def _troubles(advice: Sequence[Diagnostic]) -> dict[str, list[str]]:
    """Which features have which trouble; of two duplicates, only the later one is to blame."""
    found: dict[str, list[str]] = {}
    for one in advice:
        for name in one.names[-1:] if one.kind == "duplicated" else one.names:
            if one.kind not in found.setdefault(name, []):
                found[name].append(one.kind)
    return found


def blocks(values: Array, bars: int = BARS) -> str:
    """A histogram in one line of text."""
    counts = np.histogram(values, bars)[0]
    heights = np.ceil(counts / counts.max() * len(BLOCKS)).astype(int)
    return "".join(" " if height == 0 else BLOCKS[height - 1] for height in heights)


def save_histograms(path: Path, gathered: FeatureTable) -> None:
    """A histogram of every feature; those with trouble say so."""
    lines = summary(gathered)
    columns = min(COLUMNS, len(lines))
    rows = -(-len(lines) // columns)
    figures = need("matplotlib.figure", extra="plots")
    figure = figures.Figure(figsize=(3.2 * columns, 2.3 * rows), layout="constrained")
    axes = np.ravel(figure.subplots(rows, columns, squeeze=False))
    for axis, line, values in zip(axes, lines, gathered.features.T, strict=False):
        _draw(axis, line, values)
    for axis in axes[len(lines) :]:
        axis.set_axis_off()
    figure.suptitle(f"{gathered.dataset.name}: {len(gathered)} trajectories", fontsize=10)
    memory = io.BytesIO()
    figure.savefig(memory, dpi=140, format=path.suffix.lstrip(".").lower())
    write_atomically(path, memory.getvalue())


def _draw(axis: Any, line: Line, values: Array) -> None:
    color = WARNING if line.trouble else INK
    axis.hist(values, bins=min(40, max(BARS, len(values) // 10)), color=color)
    axis.axvline(line.median, color=GREY, linewidth=1, linestyle=":")
    axis.set_title(f"{line.name}\n{line.trouble}" if line.trouble else line.name, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.locator_params(axis="x", nbins=5)
    axis.spines[["top", "right"]].set_visible(False)
