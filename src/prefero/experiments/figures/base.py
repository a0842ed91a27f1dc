"""What a figure of the experiments is: the runs that it needs, an image, and a description in Markdown."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prefero._support.arrays import Array
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.experiments.settings import Setting
from prefero.methods import full_name

GRID_THETAS, GRID_SIGMAS = (0.01, 0.1, 1.0), (0.03, 0.1)
TUNED = (0.01, 0.03)  # theta and sigma that were best over all tasks on the seeds from TUNING_SEED on
TUNING_SEED = 1000


@dataclass(frozen=True)
class Scale:
    """How large the experiments are; the default is the paper's size."""

    runs: int = 5
    questions: int = 200
    trajectories: int = 1000
    test_size: int = 40
    first_seed: int = 0
    thetas: tuple[float, ...] = GRID_THETAS
    sigmas: tuple[float, ...] = GRID_SIGMAS

    def setting(self, world: str, truth: str, **changes: Any) -> Setting:
        """A setting of this size."""
        sizes = {"questions": self.questions, "trajectories": self.trajectories, "test_size": self.test_size}
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
        return [full_name(method, theta, sigma) for theta in self.thetas for sigma in self.sigmas]


class Figure(ABC):
    """One file of the results."""

    name: str
    title: str

    @abstractmethod
    def plan(self, scale: Scale) -> list[Run]:
        """The runs that it needs."""

    @abstractmethod
    def draw(self, results: Results, scale: Scale, path: Path) -> None:
        """Save the image."""

    @abstractmethod
    def describe(self, results: Results, scale: Scale) -> str:
        """What it shows, in Markdown."""


def best_in_hindsight(results: Results, scale: Scale, setting: Setting, method: str) -> str:
    """The theta and sigma with which a method was the most accurate at the end, known only afterwards."""
    final = {
        name: results.curves(scale.runs_of(setting, [name]), "accuracy")[:, -1].mean()
        for name in scale.grid(method)
    }
    return max(final, key=lambda name: final[name])


def curves_of(results: Results, scale: Scale, setting: Setting, method: str, column: str) -> Array:
    """(runs, questions)."""
    return results.curves(scale.runs_of(setting, [method]), column)
