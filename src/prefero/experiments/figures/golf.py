"""Mini-golf: learning the scores of eight targets, and the paper's user study with simulated users.

A user gives distinct scores from 2 to 9 to the targets. A shot's reward is the score of the target that it
stops on, falling off with the distance to its middle. Its rating on the paper's scale of nine points is nine
times its reward as a fraction of the best shot's, and 1 at least.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from prefero.experiments.figures.base import Figure, Scale, best_in_hindsight, curves_of
from prefero.experiments.results import Results
from prefero.experiments.runs import TEST_AFTER, Rows, Run
from prefero.experiments.settings import Setting
from prefero.methods import full_name
from prefero.plots.style import color_of, new_figure, plot_mean_and_std, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.plots.user_study import StudyOutcome, draw_study, study_table
from prefero.worlds.golf import Golf as GolfWorld

QUESTIONS = 60
CHECKPOINTS = (5, 10, 15, 30, 60)
THETAS = (0.3, 1.0, 3.0, 10.0)
TUNED = (1.0, 0.1)  # theta and sigma that were best on the seeds from TUNING_SEED on
SIMULATED_USERS = 10
STUDY_METHODS = {
    "ActiveGP": full_name("ActiveGP", *TUNED),
    "ActiveLinear": "ActiveLinear",
    "RandomGP": full_name("RandomGP", *TUNED),
    "Prefero": "Prefero",
    "Prefero, best": "Prefero, best",
}


def golf_setting(scale: Scale, questions: int) -> Setting:
    """A grid of shots, and a user with scores."""
    shots = min(GolfWorld.pool_size, scale.trajectories)
    return scale.setting("golf", "targets", trajectories=shots, questions=min(questions, scale.questions))


class GolfCurves(Figure):
    """Accuracy, and how good the shot is that it likes best."""

    name = "golf"
    title = "Mini-golf: scores of eight targets"
    others = ("Prefero", "Prefero, mutual information", "Prefero, best", "Prefero, random", "ActiveLinear")

    def grid(self, scale: Scale) -> Scale:
        """Rewards are narrower here than elsewhere, and so are the length-scales."""
        return Scale(**{**vars(scale), "thetas": THETAS})

    def plan(self, scale: Scale) -> list[Run]:
        """The paper's method on a grid of its own."""
        setting = golf_setting(scale, QUESTIONS)
        return scale.runs_of(setting, [*self.others, *self.grid(scale).grid("ActiveGP+EP")])

    def shown(self, results: Results, scale: Scale) -> dict[str, str]:
        """Labels and methods."""
        best = best_in_hindsight(results, self.grid(scale), golf_setting(scale, QUESTIONS), "ActiveGP+EP")
        return {**{name: name for name in self.others}, "ActiveGP+EP best in hindsight": best}

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Accuracy on the left, the best shot on the right."""
        figure, axes = new_figure(2, width=5.2)
        setting = golf_setting(scale, QUESTIONS)
        for label, method in self.shown(results, scale).items():
            plot_mean_and_std(axes[0], curves_of(results, scale, setting, method, "accuracy"), label)
            best = curves_of(results, scale, setting, method, "best_reward")
            at = np.flatnonzero(np.isfinite(best[0]))
            axes[1].plot(at + 1, best[:, at].mean(axis=0), "o-", color=color_of(label), markersize=3)
        style_axis(axes[0], xlabel="questions", ylabel="accuracy on the test set")
        style_axis(
            axes[1], xlabel="questions", ylabel="true reward of its best shot, as a fraction", ylim=(0, 1.03)
        )
        axes[0].legend(frameon=False, fontsize=8)
        save_figure(figure, path)

    def describe(self, results: Results, scale: Scale) -> str:
        """At some numbers of questions."""
        setting = golf_setting(scale, QUESTIONS)
        at = [n for n in CHECKPOINTS if n <= setting.questions]
        rows = []
        for label, method in self.shown(results, scale).items():
            accuracy = curves_of(results, scale, setting, method, "accuracy")
            best = curves_of(results, scale, setting, method, "best_reward")
            cells = [f"{accuracy[:, n - 1].mean():.3f} / {best[:, n - 1].mean():.2f}" for n in at]
            rows.append([f"{label} ({method})" if "hindsight" in label else label, *cells])
        return markdown_table(["accuracy / reward of the best shot after", *map(str, at)], rows)


def simulated_study(results: Results, scale: Scale) -> list[StudyOutcome]:
    """The outcomes of simulated users, one a seed."""
    return [
        _outcome(label, run, results.rows(run))
        for label, method in STUDY_METHODS.items()
        for run in simulated_users(scale, [method])
    ]


def _outcome(label: str, run: Run, rows: Rows) -> StudyOutcome:
    accuracy, best = (rows[name][TEST_AFTER - 1] for name in ("answer_accuracy", "best_reward"))
    return StudyOutcome(str(run.seed), label, accuracy, max(1.0, 9 * best))


def simulated_users(scale: Scale, methods: Iterable[str]) -> list[Run]:
    """Ten users, or as many as there are runs if these are more; each teaches every method."""
    setting = golf_setting(scale, TEST_AFTER)
    seeds = range(scale.first_seed, scale.first_seed + max(SIMULATED_USERS, scale.runs))
    return [Run(setting, method, seed) for method in methods for seed in seeds]


class GolfStudy(Figure):
    """The paper's user study, with simulated users: 15 questions for each method, 5 to test."""

    name = "golf-study"
    title = "The mini-golf user study, simulated"

    def plan(self, scale: Scale) -> list[Run]:
        """Every user teaches every method."""
        return simulated_users(scale, STUDY_METHODS.values())

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Bars with standard errors, and the paper's numbers as marks."""
        draw_study(simulated_study(results, scale), path)

    def describe(self, results: Results, scale: Scale) -> str:
        """The paper's table."""
        return study_table(simulated_study(results, scale)).markdown


GOLF = [GolfCurves(), GolfStudy()]
