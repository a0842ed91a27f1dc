"""How figures look: size, axes, the colors of methods, curves with a band. With matplotlib, and no screen."""

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.names import shortened_apart
from prefero._support.optional import need

MOST_ABREAST = 6  # bars whose names are written side by side
LETTERS = 64  # of font size 7 below an axis
COLORS = {
    "Prefero": "#0b6e99",
    "Prefero, random": "#7fb6cf",
    "Prefero, mutual information": "#e0529c",
    "Prefero, best": "#12486b",
    "Prefero, good ones": "#3aa6a0",
    "Oracle": "#222222",
    "Oracle, Laplace": "#8a8a8a",
    "ActiveLinear": "#2e8b57",
    "ActiveGP": "#d1662c",
    "RandomGP": "#b8860b",
    "CorrectedGP": "#a0337a",
    "ActiveGP+EP": "#6b3fa0",
}


def new_figure(columns: int, *, width: float = 4.6, height: float = 4.0) -> tuple[Any, Any]:
    """A figure that needs no screen, and its axes side by side; sizes in inches, the width of one axis."""
    figures = need("matplotlib.figure", extra="plots")
    figure = figures.Figure(figsize=(width * columns, height), layout="constrained")
    return figure, np.atleast_1d(figure.subplots(1, columns))


def save_figure(figure: Any, path: Path) -> None:
    """Into a file, whole; its suffix says which kind."""
    memory = io.BytesIO()
    figure.savefig(memory, dpi=140, format=path.suffix.lstrip(".").lower())
    write_atomically(path, memory.getvalue())


def color_of(label: str) -> str:
    """The color of a method, the same for all of its hyper-parameters."""
    return COLORS.get(label) or COLORS.get(label.split(" ")[0].rstrip(","), "#555555")


def plot_mean_and_std(axis: Any, curves: Array, label: str, *, of_mean: bool = False, **style: Any) -> None:
    """The mean over the runs, and a standard deviation to both sides; `curves` (runs, questions).

    Where users differ much, that of the mean (the standard error) shows more: `of_mean`.
    """
    questions = np.arange(1, curves.shape[1] + 1)
    mean, std = curves.mean(axis=0), curves.std(axis=0) / (np.sqrt(len(curves)) if of_mean else 1.0)
    look = {"color": color_of(label), "linewidth": 1.8, "label": label} | style
    axis.plot(questions, mean, **look)
    axis.fill_between(questions, mean - std, mean + std, color=look["color"], alpha=0.14, linewidth=0)


def name_bars(axis: Any, names: Sequence[str]) -> None:
    """The names below bars at 0, 1, ...: in lines as wide as a bar, or upright if there are many."""
    if len(names) > MOST_ABREAST:
        axis.set_xticks(range(len(names)), shortened_apart(names), fontsize=7, rotation=90)
    else:
        lines = [textwrap.fill(name, LETTERS // len(names)) for name in names]
        axis.set_xticks(range(len(names)), lines, fontsize=7)


def style_axis(axis: Any, **labels: Any) -> None:
    """Labels, a light grid, and no box."""
    axis.set(**labels)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25, linewidth=0.6)
