"""How many questions each method needs to reach an accuracy."""

from pathlib import Path

import numpy as np

from prefero.experiments.figures.base import Figure, Scale, curves_of
from prefero.experiments.figures.curves import CURVES, Curves
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.experiments.statistics import Interval, questions_needed
from prefero.plots.style import color_of, new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table

GOALS = (0.9, 0.95)
SETTINGS = [figure for figure in CURVES if "ActiveLinear" in figure.others]


class QuestionsNeeded(Figure):
    """Questions until the mean accuracy is reached, with bootstrap intervals over the runs."""

    name = "questions-needed"
    title = "Questions needed"

    def plan(self, scale: Scale) -> list[Run]:
        """The runs of the curves."""
        return [run for figure in SETTINGS for run in figure.plan(scale)]

    def found(self, results: Results, scale: Scale, figure: Curves, goal: float) -> dict[str, Interval]:
        """Of every method."""
        setting = figure.setting(scale)
        return {
            label: questions_needed(curves_of(results, scale, setting, method, "accuracy"), goal)
            for label, method in figure.shown(results, scale).items()
        }

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """A bar for each method; a pale one where the accuracy is not reached."""
        figure, axes = new_figure(len(SETTINGS), width=3.2, height=3.0)
        for axis, setting in zip(axes, SETTINGS, strict=True):
            found = self.found(results, scale, setting, 0.95)
            for place, (label, need) in enumerate(found.items()):
                low, value, high = (min(n, scale.questions) for n in (need.low, need.value, need.high))
                reached = np.isfinite(need.value)
                axis.barh(place, value, color=color_of(label), alpha=1.0 if reached else 0.3)
                axis.plot([low, high], [place, place], color="black", linewidth=1)
            axis.set_yticks(range(len(found)), list(found) if axis is axes[0] else [""] * len(found))
            axis.invert_yaxis()
            style_axis(axis, xlabel="questions to accuracy 0.95")
            axis.set_title(setting.title, fontsize=9)
        save_figure(figure, path)

    def describe(self, results: Results, scale: Scale) -> str:
        """The same in numbers."""
        tables = []
        for figure in SETTINGS:
            found = {goal: self.found(results, scale, figure, goal) for goal in GOALS}
            rows = [[label, *(found[goal][label] for goal in GOALS)] for label in found[GOALS[0]]]
            head = ["method", *(f"questions to {goal:g} (95 % interval)" for goal in GOALS)]
            tables.append(f"**{figure.title}**\n\n" + markdown_table(head, rows))
        return "\n".join(tables) + f'\n"more" is more than {scale.questions}.\n'
