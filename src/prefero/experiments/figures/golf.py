"""Mini-golf: learning the scores of eight targets, and the paper's user study with simulated people.

A person gives distinct scores from 2 to 9 to the targets. A shot is worth the score of the target that it
stops on, falling off with the distance to its middle. Its rating on the paper's scale of nine points is nine
times its worth as a share of the best shot's, and 1 at least.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero.experiments.figures.base import Figure, Scale, band, color_of, curves_of, hindsight, table, tidy
from prefero.experiments.results import Results
from prefero.experiments.runs import TEST_AFTER, Run
from prefero.experiments.settings import GOLF_SHOTS, Setting
from prefero.experiments.statistics import paired_test, standard_error
from prefero.methods import named
from prefero.plots.learning import new_figure, save_figure

QUESTIONS = 60
MOMENTS = (5, 10, 15, 30, 60)
THETAS = (0.3, 1.0, 3.0, 10.0)
CHOSEN = (1.0, 0.1)  # theta and sigma that were best on the seeds from CHOOSING_SEED on
PEOPLE = 10
PAPER = {  # accuracy and rating, each with its standard error
    "ActiveGP": (0.74, 0.04, 6.9, 0.6),
    "ActiveLinear": (0.62, 0.07, 3.4, 0.7),
    "RandomGP": (0.62, 0.06, 5.1, 0.7),
}
STUDIED = {
    "ActiveGP": named("ActiveGP", *CHOSEN),
    "ActiveLinear": "ActiveLinear",
    "RandomGP": named("RandomGP", *CHOSEN),
    "Prefero": "Prefero",
    "Prefero, best": "Prefero, best",
}


def golf_setting(scale: Scale, questions: int) -> Setting:
    """A grid of shots, and a person with scores."""
    shots = min(GOLF_SHOTS, scale.trajectories)
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
            band(axes[0], curves_of(results, scale, setting, method, "accuracy"), label)
            best = curves_of(results, scale, setting, method, "best")
            at = np.flatnonzero(np.isfinite(best[0]))
            axes[1].plot(at + 1, best[:, at].mean(axis=0), "o-", color=color_of(label), markersize=3)
        tidy(axes[0], xlabel="questions", ylabel="accuracy on the exam")
        tidy(axes[1], xlabel="questions", ylabel="true worth of its best shot, as a share", ylim=(0, 1.03))
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
        return table(["accuracy / worth of the best shot after", *map(str, at)], rows)


@dataclass(frozen=True)
class Outcome:
    """What one method learned from one person."""

    person: str
    method: str
    accuracy: float
    rating: float


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
        "golf", "targets", trajectories=min(GOLF_SHOTS, scale.trajectories), questions=TEST_AFTER
    )
    seeds = range(scale.first_seed, scale.first_seed + max(PEOPLE, scale.runs))
    return [Run(setting, method, seed) for method in methods for seed in seeds]


def study_table(outcomes: Sequence[Outcome]) -> str:
    """Means with standard errors beside the paper's, and paired tests against ActiveGP."""
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    rows = []
    for method in methods:
        accuracy, rating = _measured(outcomes, method)
        tests = ["", ""]
        if method != "ActiveGP" and "ActiveGP" in methods:
            both = [
                _measured(outcomes, name, also=other)
                for name, other in ((method, "ActiveGP"), ("ActiveGP", method))
            ]
            tests = [_tested(a, b) for a, b in zip(*both, strict=True)]
        printed = PAPER.get(method)
        rows.append(
            [
                method,
                _mean(accuracy, 2),
                f"{printed[0]:.2f} ± {printed[1]:.2f}" if printed else "",
                tests[0],
                _mean(rating, 1),
                f"{printed[2]:.1f} ± {printed[3]:.1f}" if printed else "",
                tests[1],
            ]
        )
    head = ["", "accuracy here", "in the paper", "p", "rating here", "in the paper", "p"]
    return table(head, rows) + "\nMean and standard error; p: Wilcoxon's signed-rank test against ActiveGP.\n"


def _mean(values: Array, digits: int) -> str:
    """With its standard error; nothing where nothing was measured, no error where one person was."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return ""
    error = f" ± {standard_error(known):.{digits}f}" if len(known) > 1 else ""
    return f"{known.mean():.{digits}f}{error}"


def _tested(first: Array, second: Array) -> str:
    both = np.isfinite(first) & np.isfinite(second)
    return f"{paired_test(first[both], second[both]):.3f}" if both.any() else ""


def _measured(outcomes: Sequence[Outcome], method: str, also: str | None = None) -> tuple[Array, Array]:
    """Accuracies and ratings of a method, sorted by person; only of those who taught `also` too."""
    taught = {o.person for o in outcomes if also is None or o.method == also}
    of = sorted((o for o in outcomes if o.method == method and o.person in taught), key=lambda o: o.person)
    return np.array([o.accuracy for o in of]), np.array([o.rating for o in of])


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


def draw_study(outcomes: Sequence[Outcome], path: Path) -> None:
    """Accuracy and rating of each method, mean and standard error, with the paper's beside them."""
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    figure, axes = new_figure(2, width=4.6, height=3.4)
    for measure, axis in enumerate(axes):
        for place, method in enumerate(methods):
            values = _measured(outcomes, method)[measure]
            known = values[np.isfinite(values)]
            error = standard_error(known) if len(known) > 1 else None
            if len(known):
                axis.bar(place, known.mean(), yerr=error, color=color_of(method), capsize=4)
            if method in PAPER:
                mean, error = PAPER[method][2 * measure : 2 * measure + 2]
                axis.errorbar(place + 0.25, mean, yerr=error, fmt="D", color="black", markersize=4, capsize=3)
        axis.set_xticks(range(len(methods)), [m.replace(", ", ",\n") for m in methods], fontsize=7)
        tidy(axis, ylabel=("accuracy on 5 questions", "rating, 1 to 9")[measure])
    figure.suptitle("bars: here; diamonds: the paper's people", fontsize=9)
    save_figure(figure, path)


GOLF = [Golf(), GolfStudy()]
