"""Pictures of episodes, one a row: frames of its video, or its states over time where there is none."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Image
from prefero._support.optional import need
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.episode import StepRange
from prefero.datasets.features.tables.table import FeatureTable
from prefero.plots.style import save_figure
from prefero.trajectories.features import location_and_scale

FRAMES = 6  # of each episode
WIDTH, HEIGHT = 1.5, 1.05  # of a frame, in inches
LABEL = 1.9  # the width of the text beside a row
MOST_STATES = 8  # that are drawn


@dataclass(frozen=True)
class EpisodeRow:
    """A row of the picture: an episode of a table of features, and the text beside it."""

    row: int
    label: str


def save_episodes(
    path: Path, table: FeatureTable, sections: Sequence[tuple[str, Sequence[EpisodeRow]]]
) -> None:
    """A picture with some sections of episodes, each with its title; the file's suffix says which kind."""
    figures = need("matplotlib.figure", extra="plots")
    lines = sum(len(rows) for _, rows in sections)
    titles = 0.35 * len(sections)
    figure = figures.Figure(figsize=(LABEL + FRAMES * WIDTH, titles + lines * HEIGHT), layout="constrained")
    subfigures = figure.subfigures(
        len(sections), 1, height_ratios=[0.35 + len(rows) * HEIGHT for _, rows in sections]
    )
    for subfigure, (title, rows) in zip(np.atleast_1d(subfigures), sections, strict=True):
        subfigure.suptitle(title, fontsize=11, fontweight="bold", x=0.01, ha="left")
        _draw_rows(subfigure, table, rows)
    save_figure(figure, path)


def _draw_rows(subfigure: Any, table: FeatureTable, rows: Sequence[EpisodeRow]) -> None:
    there = table.at_origin()
    grid = subfigure.add_gridspec(len(rows), FRAMES + 1, width_ratios=[LABEL, *[WIDTH] * FRAMES])
    for line, one in enumerate(rows):
        text = subfigure.add_subplot(grid[line, 0])
        text.axis("off")
        text.text(0.0, 0.5, one.label, va="center", fontsize=8, parse_math=False)
        images = _some_frames(there.dataset, there.numbers[one.row], there.segments[one.row])
        if images:
            for column, image in enumerate(images):
                _draw_image(subfigure.add_subplot(grid[line, column + 1]), image)
        else:
            _draw_numbers(subfigure.add_subplot(grid[line, 1:]), table, one.row, legend=line == 0)


def _draw_image(axis: Any, image: Image) -> None:
    axis.imshow(image)
    axis.axis("off")


# --- frames -----------------------------------------------------------------------------------------------


def _some_frames(dataset: Dataset, number: int, steps: StepRange | None) -> list[Image]:
    """Frames at evenly spaced times from first to last; none where there is no video."""
    if not dataset.has_video:
        return []
    every = list(dataset.frames(number, steps)[0])
    if not every:
        return []
    return [every[index] for index in np.unique(np.linspace(0, len(every) - 1, FRAMES).round().astype(int))]


# --- numbers ----------------------------------------------------------------------------------------------


def _draw_numbers(axis: Any, table: FeatureTable, row: int, *, legend: bool) -> None:
    """The states over time; of a table of features, each feature in standard deviations from the mean."""
    there = table.at_origin()
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(labelsize=6)
    if isinstance(there.dataset, EpisodeDataset):
        episode = there.dataset.episode(there.numbers[row])
        segment = there.segments[row]
        states = (episode if segment is None else episode.segment(segment)).states
        _draw_states(axis, states, len(states) if there.steps is None else int(there.steps.max()))
        if legend:
            names = list(islice(episode.state_names, MOST_STATES))
            axis.legend(names, fontsize=6, ncols=4, frameon=False, loc="lower left", bbox_to_anchor=(0, 1))
        return
    _draw_bars(axis, table.features, table.names, row, legend)


def _draw_states(axis: Any, states: Array, longest: int) -> None:
    """All episodes have the same axis of time, so that a slow one looks long."""
    for column in states.T[:MOST_STATES]:
        axis.plot(column, linewidth=0.9)
    axis.set_xlim(0, longest)
    axis.set_xticks([])


def _draw_bars(axis: Any, features: Array, names: Sequence[str], row: int, legend: bool) -> None:
    center, scale, varies = location_and_scale(features)
    values = (features[row] - center) / np.where(varies, scale, 1.0)
    axis.bar(range(len(values)), values, color="#0b6e99")
    axis.axhline(0.0, color="#444444", linewidth=0.6)
    axis.set_xticks(range(len(values)), names if legend else [""] * len(values), fontsize=6)
