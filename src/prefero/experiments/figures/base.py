"""What a figure of the experiments is: the runs that it needs, a picture, and what it says in words."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.experiments.settings import Setting
from prefero.methods import named

GRID_THETAS, GRID_SIGMAS = (0.01, 0.1, 1.0), (0.03, 0.1)
CHOSEN = (0.01, 0.03)  # theta and sigma that were best over all tasks on the seeds from CHOOSING_SEED on
CHOOSING_SEED = 1000

COLORS = {
    "Prefero": "#0b6e99",
    "Prefero, random": "#7fb6cf",
    "Prefero, best": "#12486b",
    "Knows": "#222222",
    "Knows, Laplace": "#8a8a8a",
    "ActiveLinear": "#2e8b57",
    "ActiveGP": "#d1662c",
    "RandomGP": "#b8860b",
    "CorrectedGP": "#a0337a",
    "ActiveGP+EP": "#6b3fa0",
}


@dataclass(frozen=True)
class Scale:
    """How large the experiments are; the default is the paper's size."""

    runs: int = 5
    questions: int = 200
    trajectories: int = 1000
    tests: int = 40
    first_seed: int = 0
    thetas: tuple[float, ...] = GRID_THETAS
    sigmas: tuple[float, ...] = GRID_SIGMAS

    def setting(self, world: str, truth: str, **changes: Any) -> Setting:
        """A setting of this size."""
        sizes = {"questions": self.questions, "trajectories": self.trajectories, "tests": self.tests}
        return Setting(world, truth, **(sizes | changes))

    @property
    def seeds(self) -> range:
        """One a run."""
        return range(self.first_seed, self.first_seed + self.runs)

    def runs_of(self, setting: Setting, methods: Iterable[str]) -> list[Run]:
        """Every method with every seed."""
        return [Run(setting, method, seed) for method in methods for seed in self.seeds]

    def grid(self, method: str) -> list[str]:
        """The paper's method at every theta and sigma."""
        return [named(method, theta, sigma) for theta in self.thetas for sigma in self.sigmas]


class Figure(ABC):
    """One file of the results."""

    name: str
    title: str

    @abstractmethod
    def plan(self, scale: Scale) -> list[Run]:
        """The runs that it is made of."""

    @abstractmethod
    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Save the picture."""

    @abstractmethod
    def tell(self, results: Results, scale: Scale) -> str:
        """What it shows, in Markdown."""


def hindsight(results: Results, scale: Scale, setting: Setting, method: str) -> str:
    """The theta and sigma with which a method was the most accurate at the end, which nobody knows before."""
    final = {
        name: results.curves(scale.runs_of(setting, [name]), "accuracy")[:, -1].mean()
        for name in scale.grid(method)
    }
    return max(final, key=lambda name: final[name])


def curves_of(results: Results, scale: Scale, setting: Setting, method: str, column: str) -> Array:
    """(runs, questions)."""
    return results.curves(scale.runs_of(setting, [method]), column)


def color_of(label: str) -> str:
    """The color of a method, whatever its hyper-parameters."""
    return COLORS.get(label) or COLORS.get(label.split(" ")[0].rstrip(","), "#555555")


def band(axis: Any, curves: Array, label: str, **style: Any) -> None:
    """The mean over the runs, and a standard deviation to both sides."""
    questions = np.arange(1, curves.shape[1] + 1)
    mean, spread = curves.mean(axis=0), curves.std(axis=0)
    look = {"color": color_of(label), "linewidth": 1.8, "label": label} | style
    axis.plot(questions, mean, **look)
    axis.fill_between(questions, mean - spread, mean + spread, color=look["color"], alpha=0.14, linewidth=0)


def tidy(axis: Any, **labels: Any) -> None:
    """Labels, and no box."""
    axis.set(**labels)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25, linewidth=0.6)


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([str(cell).replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
