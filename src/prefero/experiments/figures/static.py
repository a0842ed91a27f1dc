"""The paper's two figures without runs: the diverse test set, and the targets of mini-golf."""

from pathlib import Path

from prefero.experiments.figures.base import Figure, Scale
from prefero.experiments.results import Results
from prefero.experiments.runs import Run
from prefero.plots import worlds as world_plots
from prefero.pools.pool import Pool
from prefero.worlds.golf import Golf


class Poisson(Figure):
    """Features of 1000 trajectories of Tosser, diverse and uniform samples of them."""

    name = "poisson"
    title = "Diverse and uniform samples of Tosser"

    def plan(self, scale: Scale) -> list[Run]:  # noqa: ARG002
        """No run."""
        return []

    def draw(self, results: Results, scale: Scale, path: Path) -> None:  # noqa: ARG002
        """As in the paper."""
        world_plots.save_poisson(path, Pool.simulate("tosser", scale.trajectories, scale.first_seed))

    def describe(self, results: Results, scale: Scale) -> str:  # noqa: ARG002
        """In words."""
        return "Most uniform samples are alike; Poisson-disk sampling covers what can be reached.\n"


class Targets(Poisson):
    """Golf from above."""

    name = "targets"
    title = "The eight targets of mini-golf"

    def draw(self, results: Results, scale: Scale, path: Path) -> None:  # noqa: ARG002
        """As in the paper."""
        world_plots.save_targets(path, Golf())

    def describe(self, results: Results, scale: Scale) -> str:  # noqa: ARG002
        """In words."""
        return "A linear reward is highest in a corner of what can be reached; most targets lie elsewhere.\n"


STATIC = [Poisson(), Targets()]
