"""Calibration: of the pairs that a model predicts with a probability of 80 %, are 80 % right?"""

from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero.experiments.figures.base import TUNED, Figure, Scale
from prefero.experiments.results import Results
from prefero.experiments.runs import BINS, CALIBRATED_AFTER, Run
from prefero.methods import full_name
from prefero.plots.style import color_of, new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table

LABELS = {"Prefero": "Prefero", "ActiveLinear": "ActiveLinear", "ActiveGP": full_name("ActiveGP", *TUNED)}
SETTINGS = [(world, truth) for world in ("driver", "tosser") for truth in ("linear", "quadratic")]
NOTE = """
A model predicts a user's answers, with their noise, and the test set's answers are noiseless: a calibrated
model is right at least as often as it predicts.
"""
MIDDLES = (BINS[1:] + BINS[:-1]) / 2
MIN_COUNT = 50  # pairs in a bin, for a point to be drawn


class Calibration(Figure):
    """The fraction of right predictions against the predicted probability, over all settings and runs."""

    name = "calibration"
    title = "Calibration of predicted preferences"

    def plan(self, scale: Scale) -> list[Run]:
        """Runs of the curves."""
        return [
            run
            for world, truth in SETTINGS
            for run in scale.runs_of(scale.setting(world, truth), LABELS.values())
        ]

    def counts(self, results: Results, scale: Scale, method: str, after: int) -> tuple[Array, Array]:
        """Predictions in each bin, and right ones."""
        bins, right = np.zeros(len(BINS) - 1), np.zeros(len(BINS) - 1)
        for run in self.plan(scale):
            if run.method == method:
                rows = results.rows(run)
                bins += rows["bin_counts"][after - 1]
                right += rows["bin_correct"][after - 1]
        return bins, right

    def checkpoints(self, scale: Scale) -> list[int]:
        """After how many questions."""
        return [after for after in CALIBRATED_AFTER if after <= scale.questions]

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """A panel for each number of questions."""
        checkpoints = self.checkpoints(scale)
        figure, axes = new_figure(len(checkpoints), width=3.6, height=3.6)
        for axis, after in zip(axes, checkpoints, strict=True):
            axis.plot([0.5, 1], [0.5, 1], color="#8a8a8a", linewidth=1, linestyle=":")
            for label, method in LABELS.items():
                bins, right = self.counts(results, scale, method, after)
                there = bins >= MIN_COUNT
                fraction = right[there] / bins[there]
                axis.plot(MIDDLES[there], fraction, "o-", color=color_of(label), markersize=4, label=label)
            style_axis(axis, xlabel="predicted", ylabel="right", title=f"after {after} questions")
            axis.set(ylim=(0.4, 1.02))
        axes[0].legend(frameon=False, fontsize=8)
        save_figure(figure, path)

    def describe(self, results: Results, scale: Scale) -> str:
        """The mean distance between predicted and found, weighted by how often it is predicted."""
        rows = []
        for label, method in LABELS.items():
            cells = []
            for after in self.checkpoints(scale):
                bins, right = self.counts(results, scale, method, after)
                gap = np.abs(right / np.maximum(bins, 1) - MIDDLES)
                cells.append(f"{float(np.sum(bins * gap) / bins.sum()):.3f}")
            rows.append([label, *cells])
        head = ["calibration error after", *(str(n) for n in self.checkpoints(scale))]
        return markdown_table(head, rows) + NOTE
