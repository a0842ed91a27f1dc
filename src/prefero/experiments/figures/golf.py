"""Mini-golf: learning the scores of eight targets, and the paper's user study with simulated people.

A person gives distinct scores from 2 to 9 to the targets. A shot is worth the score of the target that it
stops on, falling off with the distance to its middle. Its rating on the paper's scale of nine points is nine
times its worth as a share of the best shot's, and 1 at least.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from prefero.experiments.figures.base import Figure, Scale, curves_of, hindsight
from prefero.experiments.results import Results
from prefero.experiments.runs import TEST_AFTER, Run
from prefero.experiments.settings import Setting
from prefero.methods import named
from prefero.plots.style import color_of, new_figure, plot_mean_and_std, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.plots.user_study import Outcome, draw_study, study_table
from prefero.worlds.golf import Golf as GolfWorld

QUESTIONS = 60
MOMENTS = (5, 10, 15, 30, 60)
THETAS = (0.3, 1.0, 3.0, 10.0)
CHOSEN = (1.0, 0.1)  # theta and sigma that were best on the seeds from CHOOSING_SEED on
PEOPLE = 10
STUDIED = {
    "ActiveGP": named("ActiveGP", *CHOSEN),
    "ActiveLinear": "ActiveLinear",
    "RandomGP": named("RandomGP", *CHOSEN),
    "Prefero": "Prefero",
    "Prefero, best": "Prefero, best",
}


def golf_setting(scale: Scale, questions: int) -> Setting:
    """A grid of shots, and a person with scores."""
    shots = min(GolfWorld.pool_size, scale.trajectories)
    return scale.setting("golf", "targets", trajectories=shots, questions=min(questions, scale.questions))


class Golf(Figure):
    """Accuracy, and how good the shot is that it likes best."""

    name = "golf"
    title = "Mini-golf: scores of eight targets"
    others = ("Prefero", "Prefero, best", "Prefero, random", "ActiveLinear")

    def grid(self, scale: Scale) -> Scale:
        """Rewards are narrower here than elsewhere, and so are the length-scales."""
        return Scale(**{**vars(scale), "thetas": THETAS})

    def plan(self, scale: Scale) -> list[Run]:
        """The paper's method on a grid of its own."""
        setting = golf_setting(scale, QUESTIONS)
        return scale.runs_of(setting, [*self.others, *self.grid(scale).grid("ActiveGP+EP")])

    def shown(self, results: Results, scale: Scale) -> dict[str, str]:
        """Labels and methods."""
        best = hindsight(results, self.grid(scale), golf_setting(scale, QUESTIONS), "ActiveGP+EP")
        return {**{name: name for name in self.others}, "ActiveGP+EP best in hindsight": best}

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Accuracy on the left, the best shot on the right."""
        figure, axes = new_figure(2, width=5.2)
        setting = golf_setting(scale, QUESTIONS)
        for label, method in self.shown(results, scale).items():
            plot_mean_and_std(axes[0], curves_of(results, scale, setting, method, "accuracy"), label)
            best = curves_of(results, scale, setting, method, "best")
            at = np.flatnonzero(np.isfinite(best[0]))
            axes[1].plot(at + 1, best[:, at].mean(axis=0), "o-", color=color_of(label), markersize=3)
        style_axis(axes[0], xlabel="questions", ylabel="accuracy on the exam")
        style_axis(
            axes[1], xlabel="questions", ylabel="true worth of its best shot, as a share", ylim=(0, 1.03)
        )
        axes[0].legend(frameon=False, fontsize=8)
        save_figure(figure, path)

    def tell(self, results: Results, scale: Scale) -> str:
        """At some numbers of questions."""
        setting = golf_setting(scale, QUESTIONS)
        at = [n for n in MOMENTS if n <= setting.questions]
        rows = []
        for label, method in self.shown(results, scale).items():
            accuracy = curves_of(results, scale, setting, method, "accuracy")
            best = curves_of(results, scale, setting, method, "best")
            cells = [f"{accuracy[:, n - 1].mean():.3f} / {best[:, n - 1].mean():.2f}" for n in at]
            rows.append([f"{label} ({method})" if "hindsight" in label else label, *cells])
        return markdown_table(["accuracy / worth of the best shot after", *map(str, at)], rows)


def simulated_study(results: Results, scale: Scale) -> list[Outcome]:
    """The outcomes of simulated people, one a seed."""
    return [
        Outcome(
            str(run.seed), label, rows["test"][TEST_AFTER - 1], max(1.0, 9 * rows["best"][TEST_AFTER - 1])
        )
        for label, method in STUDIED.items()
        for run in people(scale, [method])
        for rows in [results.rows(run)]
    ]


def people(scale: Scale, methods: Iterable[str]) -> list[Run]:
    """Ten people, or as many as there are runs if these are more; everybody teaches every method."""
    setting = scale.setting(
        "golf", "targets", trajectories=min(GolfWorld.pool_size, scale.trajectories), questions=TEST_AFTER
    )
    seeds = range(scale.first_seed, scale.first_seed + max(PEOPLE, scale.runs))
    return [Run(setting, method, seed) for method in methods for seed in seeds]


class GolfStudy(Figure):
    """The paper's user study, with simulated people: 15 questions for each method, 5 to test."""

    name = "golf-study"
    title = "The mini-golf user study, simulated"

    def plan(self, scale: Scale) -> list[Run]:
        """Everybody teaches every method."""
        return people(scale, STUDIED.values())

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Bars with standard errors, and the paper's numbers as marks."""
        draw_study(simulated_study(results, scale), path)

    def tell(self, results: Results, scale: Scale) -> str:
        """The paper's table."""
        return study_table(simulated_study(results, scale))


GOLF = [Golf(), GolfStudy()]
