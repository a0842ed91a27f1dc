"""The paper's figures of Driver and Tosser, and users like people: accuracy and log-likelihood."""

from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.statistics import paired_test
from prefero.experiments.figures.base import TUNED, Figure, Scale, best_in_hindsight, curves_of
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.experiments.settings import Setting
from prefero.methods import full_name
from prefero.plots.style import new_figure, plot_mean_and_std, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.simulation.tasks import LIKE_PEOPLE

BEFORE = "Prefero, mutual information"  # the questions that earlier versions asked by default
COLUMNS = (5, 10, 20, 50, 100, 200)
MEASURES = {"accuracy": "accuracy on the test set", "log_likelihood": "mean log-likelihood of true answers"}


class Curves(Figure):
    """Some methods in one setting; the paper's with tuned hyper-parameters and with the best in hindsight."""

    def __init__(
        self, name: str, title: str, world: str, truth: str, paper: list[str], others: list[str]
    ) -> None:
        self.name, self.title, self.world, self.truth = name, title, world, truth
        self.paper, self.others = paper, others

    def setting(self, scale: Scale) -> Setting:
        """What is taught."""
        return scale.setting(self.world, self.truth)

    def plan(self, scale: Scale) -> list[Run]:
        """The paper's methods on the whole grid."""
        fixed = [name for method in self.paper for name in (*scale.grid(method), full_name(method, *TUNED))]
        return scale.runs_of(self.setting(scale), [*self.others, *fixed])

    def shown(self, results: Results, scale: Scale) -> dict[str, str]:
        """Labels of the curves, and the methods that they are of."""
        found = {name: name for name in self.others}
        for method in self.paper:
            best = best_in_hindsight(results, scale, self.setting(scale), method)
            found[f"{method} tuned"] = full_name(method, *TUNED)
            found[f"{method} best in hindsight"] = best
        return found

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Accuracy on the left, log-likelihood on the right; mean and standard deviation over the runs.

        Users like people differ much, so that their bands are standard errors.
        """
        figure, axes = new_figure(2, width=5.4)
        for axis, (column, label) in zip(axes, MEASURES.items(), strict=True):
            for name, method in self.shown(results, scale).items():
                values = curves_of(results, scale, self.setting(scale), method, column)
                line = "--" if "hindsight" in name else "-"
                plot_mean_and_std(axis, values, name, of_mean=self.truth == LIKE_PEOPLE, linestyle=line)
            style_axis(axis, xlabel="questions", ylabel=label)
        axes[0].set(ylim=(0.45, 1.01))
        axes[1].set(ylim=(max(axes[1].get_ylim()[0], -1.5), 0.02))
        axes[0].legend(frameon=False, fontsize=8, loc="lower right")
        figure.suptitle(self.title)
        save_figure(figure, path)

    def describe(self, results: Results, scale: Scale) -> str:
        """Accuracy at some numbers of questions, and paired tests against the first method."""
        at = [n for n in COLUMNS if n < scale.questions] + [scale.questions]
        setting, shown = self.setting(scale), self.shown(results, scale)
        curves, likelihoods = (
            {name: curves_of(results, scale, setting, method, column) for name, method in shown.items()}
            for column in MEASURES
        )
        reference = next(iter(curves))
        head = ["accuracy after", *map(str, at), f"log-likelihood after {at[-1]}", f"p against {reference}"]
        rows = [
            [
                self._with_hyperparameters(name, shown[name]),
                *(f"{values[:, n - 1].mean():.3f}" for n in at),
                f"{likelihoods[name][:, -1].mean():.3f}",
                "" if name == reference else f"{paired_test(_area(values), _area(curves[reference])):.3f}",
            ]
            for name, values in curves.items()
        ]
        note = "p: Wilcoxon's signed-rank test of the accuracy's mean over all questions, run by run.\n"
        return markdown_table(head, rows) + "\n" + note

    def _with_hyperparameters(self, label: str, method: str) -> str:
        family, *numbers = method.split(" ")
        fixed = family in self.paper
        return f"{label} (theta {numbers[0]}, sigma {numbers[1]})" if fixed else label


def _area(curves: Array) -> Array:
    mean: Array = np.mean(curves, axis=1)
    return mean


TITLES = {"driver": "Driver", "tosser": "Tosser"}
MODELS = ["Prefero", BEFORE, "ActiveLinear", "Oracle"]
KINDS = [  # name, title, reward, the paper's methods, other methods
    ("linear", "a linear reward", "linear", ["ActiveGP"], MODELS),
    ("poly", "a polynomial reward", "quadratic", ["ActiveGP"], MODELS),
    (
        "active",
        "active against random questions, a polynomial reward",
        "quadratic",
        ["ActiveGP", "RandomGP"],
        ["Prefero", BEFORE, "Prefero, random"],
    ),
    (
        "people",
        "users like real people",
        LIKE_PEOPLE,
        ["ActiveGP"],
        ["Prefero", "Prefero, random", "ActiveLinear"],
    ),
]
CURVES = [
    Curves(f"{world}-{name}", f"{title}: {shown}", world, truth, paper, others)
    for world, title in TITLES.items()
    for name, shown, truth, paper, others in KINDS
]
