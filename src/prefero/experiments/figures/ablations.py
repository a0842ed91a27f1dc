"""One change at a time: the printed formula, Laplace's approximation, lapses, ties, the test set's size."""

from abc import abstractmethod
from collections.abc import Mapping
from pathlib import Path

from prefero.experiments.figures.base import TUNED, Figure, Scale, curves_of
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.experiments.settings import Setting
from prefero.methods import full_name
from prefero.plots.style import new_figure, plot_mean_and_std, save_figure, style_axis
from prefero.plots.tables import markdown_table

Panels = Mapping[str, tuple[Setting, Mapping[str, str]]]  # title, setting, label and method of each curve
COLUMNS = (10, 20, 50, 100, 200)


class Ablation(Figure):
    """Panels side by side, each with a few curves of accuracy."""

    note = ""
    shown = 200  # questions, at most

    @abstractmethod
    def panels(self, scale: Scale) -> Panels:
        """What is shown."""

    def asked(self, scale: Scale) -> int:
        """How many questions runs have that are made for this figure alone."""
        return min(scale.questions, self.shown)

    def plan(self, scale: Scale) -> list[Run]:
        """All curves of all panels."""
        panels = self.panels(scale).values()
        return [run for setting, methods in panels for run in scale.runs_of(setting, methods.values())]

    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Mean and standard deviation over the runs."""
        panels = self.panels(scale)
        figure, axes = new_figure(len(panels), width=3.9, height=3.4)
        for axis, (title, (setting, methods)) in zip(axes, panels.items(), strict=True):
            for label, method in methods.items():
                curves = curves_of(results, scale, setting, method, "accuracy")
                plot_mean_and_std(axis, curves[:, : self.shown], label)
            style_axis(axis, xlabel="questions", title=title, ylim=(0.45, 1.01))
        axes[0].set(ylabel="accuracy on the test set")
        axes[0].legend(frameon=False, fontsize=8, loc="lower right")
        save_figure(figure, path)

    def describe(self, results: Results, scale: Scale) -> str:
        """Accuracy at some numbers of questions."""
        at = [n for n in COLUMNS if n <= min(scale.questions, self.shown)] or [scale.questions]
        rows = [
            [title, label, *(f"{values[:, n - 1].mean():.3f}" for n in at)]
            for title, (setting, methods) in self.panels(scale).items()
            for label, method in methods.items()
            for values in [curves_of(results, scale, setting, method, "accuracy")]
        ]
        return markdown_table(["", "accuracy after", *(str(n) for n in at)], rows) + f"\n{self.note}\n"


class Formula(Ablation):
    """The mutual information as the paper prints it, against the exact one."""

    name = "formula"
    title = "The printed formula against the exact one, for three values of the noise"
    note = "All else is the paper's: Laplace, a fixed theta, sigma the user's noise."
    shown = 100
    noises = (0.1, 0.3, 1.0)

    def panels(self, scale: Scale) -> Panels:
        """One for each noise."""
        return {
            f"Tosser, noise {noise:g}": (
                scale.setting("tosser", "quadratic", noise=noise, questions=self.asked(scale)),
                {
                    "ActiveGP": full_name("ActiveGP", TUNED[0], noise),
                    "CorrectedGP": full_name("CorrectedGP", TUNED[0], noise),
                },
            )
            for noise in self.noises
        }


class Inference(Ablation):
    """Laplace's approximation against expectation propagation."""

    name = "inference"
    title = "Laplace against expectation propagation"
    note = "The oracle is told the reward's family and the noise; the others have the paper's kernel."

    def panels(self, scale: Scale) -> Panels:
        """Both worlds, with the right kernel and with the paper's."""
        return {
            f"{world.title()}, quadratic": (
                scale.setting(world, "quadratic"),
                {
                    "Oracle": "Oracle",
                    "Oracle, Laplace": "Oracle, Laplace",
                    "ActiveGP+EP": full_name("ActiveGP+EP", *TUNED),
                    "CorrectedGP": full_name("CorrectedGP", *TUNED),
                },
            )
            for world in ("driver", "tosser")
        }


class Lapses(Ablation):
    """Users who answer at random now and then, and users who say "about equal"."""

    name = "lapses"
    title = "Users who lapse, and users who see no difference"
    shown = 100
    note = 'A lapse is a random answer. With a margin of 0.2, smaller differences are "about equal".'

    def panels(self, scale: Scale) -> Panels:
        """Lapse rates of a tenth and a fifth, and ties."""
        both = {"Prefero": "Prefero", "ActiveGP": full_name("ActiveGP", *TUNED)}
        tosser, asked = ("tosser", "quadratic"), self.asked(scale)
        return {
            "Tosser, no lapses": (scale.setting(*tosser), both),
            "Tosser, 10 % lapses": (scale.setting(*tosser, lapse_rate=0.1, questions=asked), both),
            "Tosser, 20 % lapses": (scale.setting(*tosser, lapse_rate=0.2, questions=asked), both),
            "Tosser, margin 0.2": (
                scale.setting(*tosser, margin=0.2, questions=asked),
                {"Prefero": "Prefero"},
            ),
        }


class SizeOfTestSet(Ablation):
    """The paper's warning: in a large test set trajectories are alike, and random questions look good."""

    name = "test-set-size"
    title = "The size of the diverse test set"
    shown = 100
    note = "The last test set holds a fifth of all candidates: it is hardly diverse."

    def panels(self, scale: Scale) -> Panels:
        """From few and diverse to many."""
        both = {"ActiveGP": full_name("ActiveGP", *TUNED), "RandomGP": full_name("RandomGP", *TUNED)}
        asked = self.asked(scale)
        sizes = {max(2, scale.test_size // 2): asked}
        sizes[scale.test_size] = scale.questions  # has runs already
        sizes[max(2, scale.trajectories // 5)] = asked
        return {
            f"Tosser, {size} trajectories": (
                scale.setting("tosser", "quadratic", test_size=size, questions=questions),
                both,
            )
            for size, questions in sizes.items()
        }


ABLATIONS = [Formula(), Inference(), Lapses(), SizeOfTestSet()]
