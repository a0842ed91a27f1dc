"""More features than questions: accuracy after 30 answers as irrelevant features are added, up to 64 in all.

The user's reward is a function of two features, linear or quadratic; all others are noise, and the model is
not told to ignore them. The paper's model is measured with every theta of a grid: which of them is best is
known in hindsight only.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.experiments.settings import Setting
from prefero.learner import Learner
from prefero.methods import THETAS, full_name, method_named
from prefero.pools.pool import Pool
from prefero.simulation import users
from prefero.simulation.tasks import Task, accuracy_of
from prefero.simulation.test_sets import TestSet
from prefero.simulation.users import SimulatedUser
from prefero.trajectories.diversity import sample_diverse

USEFUL = 2
IRRELEVANT = (0, 2, 6, 14, 30, 62)
REWARD_KINDS = ("linear", "quadratic")
NOISE = 0.1
FIXED = tuple(full_name("ActiveGP", theta, NOISE) for theta in THETAS)
PREFERO = "Prefero"


def task_with(kind: str, irrelevant: int, seed: int, trajectories: int = 500, test_size: int = 40) -> Task:
    """A reward of two features among others; the trajectories of the test set differ in what matters."""
    rng = np.random.default_rng([seed, *kind.encode()])
    features = rng.standard_normal((trajectories + 20 * test_size, USEFUL))
    relevant = users.REWARD_KINDS[kind](USEFUL, rng)
    noise = rng.standard_normal((len(features), irrelevant))
    both = np.column_stack([features, noise])
    pool = Pool(both[:trajectories])
    reward = users.with_unit_std(lambda x: relevant(x[:, :USEFUL]), pool.scaled)
    unseen = both[trajectories:]
    chosen = unseen[sample_diverse(unseen[:, :USEFUL], test_size, seed=seed)]
    return Task(kind, pool, SimulatedUser(reward, NOISE), TestSet.of(chosen, reward(pool.scaling(chosen))))


def accuracy(kind: str, method: str, irrelevant: int, seed: int, questions: int = 30) -> float:
    """The accuracy on the test set after so many answers."""
    task, known = task_with(kind, irrelevant, seed), method_named(method)
    model = known.model(Setting("synthetic", kind), task.pool.scaled)
    learner = Learner(task.pool, seed=seed, model=model, acquisition=known.acquisition)
    rng = np.random.default_rng([seed, 1])
    for _ in range(questions):
        question = learner.ask(strategy=known.strategy)
        left, right = task.pool.scaled[[question.left, question.right]]
        learner.tell(question, task.user.answer(left, right, rng))
    return accuracy_of(learner.reward(), task)


@dataclass(frozen=True, eq=False)
class Found:
    """Accuracies of one kind of reward: (methods, numbers of irrelevant features, users)."""

    kind: str
    methods: tuple[str, ...]
    irrelevant: tuple[int, ...]
    values: Array

    def of(self, method: str) -> Array:
        """One method's, (numbers, users)."""
        rows: Array = self.values[self.methods.index(method)]
        return rows


def measure(
    kind: str,
    methods: Sequence[str] = (PREFERO, *FIXED),
    irrelevant: Sequence[int] = IRRELEVANT,
    seeds: int = 4,
    *,
    questions: int = 30,
    jobs: int = 1,
) -> Found:
    """Every method with every number of irrelevant features, for several simulated users."""
    cells = [(m, u, s) for m in methods for u in irrelevant for s in range(seeds)]
    work = (delayed(accuracy)(kind, m, u, s, questions) for m, u, s in cells)
    values = np.array(Parallel(n_jobs=jobs)(work)).reshape(len(methods), len(irrelevant), seeds)
    return Found(kind, tuple(methods), tuple(irrelevant), values)


def table(found: Found) -> Iterator[str]:
    yield f"\n{found.kind} reward of {USEFUL} features, {found.values.shape[2]} simulated users"
    yield f"{'irrelevant features':24s}" + "".join(f"{count:>8d}" for count in found.irrelevant)
    for method in found.methods:
        means = found.of(method).mean(axis=1)
        yield f"{method:24s}" + "".join(f"{mean:8.3f}" for mean in means)


def draw(path: Path, panels: Sequence[Found]) -> None:
    figures = need("matplotlib.figure", extra="plots")
    figure = figures.Figure(figsize=(4.6 * len(panels) + 1.4, 3.9), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(panels), sharey=True))
    for axis, found in zip(axes, panels, strict=True):
        _draw(axis, found)
    axes[0].set_ylabel("accuracy after 30 questions")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=140)


def _draw(axis: Any, found: Found) -> None:
    places, count = np.arange(len(found.irrelevant)), np.sqrt(found.values.shape[2])
    fixed = [method for method in found.methods if method != PREFERO]
    shades = np.linspace(0.25, 0.85, max(len(fixed), 2))
    for shade, method in zip(shades, fixed, strict=False):
        label = f"fixed theta {method.split()[1]}"
        axis.plot(places, found.of(method).mean(axis=1), color=str(shade), linewidth=1, label=label)
    mine = found.of(PREFERO)
    error = mine.std(axis=1) / count
    axis.errorbar(places, mine.mean(axis=1), error, color="#0b6e99", linewidth=2.2, capsize=2, label=PREFERO)
    axis.axhline(0.5, color="#8a8a8a", linewidth=1, linestyle=":")
    axis.set(xticks=places, xticklabels=found.irrelevant, xlabel="irrelevant features", ylim=(0.45, 1.0))
    axis.set_title(f"{found.kind} reward of {USEFUL} features", fontsize=10)
    axis.spines[["top", "right"]].set_visible(False)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.irrelevant_features", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--seeds", type=int, default=4, help="how many simulated users")
    parser.add_argument("--jobs", type=int, default=1, help="processes that work")
    parser.add_argument(
        "--out", type=Path, default=Path("results/irrelevant-features.png"), help="where the plot goes"
    )
    options = parser.parse_args(argv)
    panels = []
    for kind in REWARD_KINDS:
        panels.append(measure(kind, seeds=options.seeds, jobs=options.jobs))
        print("\n".join(table(panels[-1])), flush=True)
    draw(options.out, panels)
    print(f"\nsaved {options.out}")


if __name__ == "__main__":
    main()
