"""How many questions learning takes: EP against Laplace, and model averaging against the oracle.

Synthetic pools of 250 trajectories, rewards of standard deviation 1, noise 0.1, accuracy on all pairs of a
diverse test set. Linear and quadratic rewards in 2 and 4 features, and a bumpy one in 2. Every method asks
about the same pools and has the same users. The design was tuned on seeds from 1000 on; the tables are of
seeds from 0 on.

    oracle      is told the structure and the scale of the reward, and the noise
    averaging   Prefero's default, Bayesian model averaging, which is told nothing
    theta T     an RBF kernel with a fixed theta, the noise known, asked by mutual information with EP
"""

import argparse
import itertools
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array
from prefero.kernels import RBF, Kernel, Linear, Quadratic
from prefero.learner import Learner
from prefero.models.inference import Inference
from prefero.models.preference_gp import PreferenceGP
from prefero.simulation.tasks import make_task, teach

THETAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
COLUMNS = (5, 10, 15, 20, 30, 40, 60)


class Run(NamedTuple):
    kind: str
    features: int
    method: str
    seed: int
    questions: int


def oracle(kind: str, features: int, inference: Inference = "ep") -> PreferenceGP:
    """The model of the right family, with the right scale and the right noise."""
    d = float(features)
    kernel: Kernel = (1 / d) * Linear()
    if kind == "quadratic":
        kernel = (1 / (2 * d + d * (d + 1) / 2)) * (Linear() + Quadratic())
    return PreferenceGP(kernel, noise=0.1, learn=False, inference=inference)


def model(run: Run) -> PreferenceGP:
    if run.method.startswith("theta"):
        return PreferenceGP(RBF(float(run.method.split()[1])), noise=0.1, learn=False)
    named: dict[str, Callable[[], PreferenceGP]] = {
        "averaging": PreferenceGP,
        "oracle": lambda: oracle(run.kind, run.features),
        "oracle, Laplace": lambda: oracle(run.kind, run.features, "laplace"),
    }
    return named[run.method]()


def curve(run: Run) -> list[float]:
    """Accuracy after every answer."""
    task = make_task(run.kind, features=run.features, trajectories=250, seed=run.seed)
    learner = Learner(task.pool, seed=run.seed, model=model(run))
    return [step.accuracy for step in teach(task, learner, run.questions, seed=run.seed)]


def questions_to_reach(accuracy: Array, goal: float = 0.95) -> float:
    """How many questions until the mean curve reaches the goal; infinity if it does not."""
    reached = np.flatnonzero(accuracy >= goal)
    return float(reached[0] + 1) if len(reached) else np.inf


def table(runs: Sequence[Run], curves: Sequence[list[float]], rows: Sequence[str]) -> dict[str, Array]:
    """Mean accuracy of each method, printed with its standard error at a few numbers of questions."""
    means: dict[str, Array] = {}
    at = [n for n in COLUMNS if n <= runs[0].questions]
    print(f"{'accuracy after':18s}" + "".join(f"{n:>13d}" for n in at) + f"{'to 0.95':>10s}")
    for method in rows:
        values = np.array([c for run, c in zip(runs, curves, strict=True) if run.method == method])
        means[method] = values.mean(axis=0)
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        cells = "".join(f"  {means[method][n - 1]:.3f}±{error[n - 1]:.3f}" for n in at)
        print(f"{method:18s}{cells}{questions_to_reach(means[method]):10.0f}")
    return means


def compare(
    pool: ProcessPoolExecutor, kind: str, features: int, methods: Sequence[str], seeds: range, questions: int
) -> dict[str, Array]:
    """Run every method on every seed, and print the table."""
    runs = [
        Run(kind, features, method, seed, questions) for seed, method in itertools.product(seeds, methods)
    ]
    curves = list(pool.map(curve, runs))
    print(f"\n{kind} reward, {features} features, {len(seeds)} simulated users", flush=True)
    return table(runs, curves, methods)


def families(pool: ProcessPoolExecutor, seeds: range) -> None:
    """EP against Laplace, and model averaging against the oracle."""
    for kind, features, questions in (
        ("linear", 2, 20), ("linear", 4, 40), ("quadratic", 2, 40), ("quadratic", 4, 60),
    ):  # fmt: skip
        means = compare(pool, kind, features, ("oracle, Laplace", "oracle", "averaging"), seeds, questions)
        ratio = questions_to_reach(means["averaging"]) / questions_to_reach(means["oracle"])
        print(
            f"model averaging needs {ratio:.2f} times the oracle's questions to 0.95: "
            f"wanted 1.3, {_verdict(ratio <= 1.3)}"
        )


def bumps(pool: ProcessPoolExecutor, seeds: range) -> None:
    """Model averaging against every fixed theta."""
    fixed = [f"theta {theta}" for theta in THETAS]
    means = compare(pool, "bumpy", 2, (*fixed, "averaging"), seeds, 60)
    for n in (15, 30, 60):
        best = max(fixed, key=lambda method: means[method][n - 1])
        behind = means[best][n - 1] - means["averaging"][n - 1]
        print(
            f"after {n}: behind the best in hindsight ({best}) by {behind:.3f}: "
            f"wanted 0.01, {_verdict(behind <= 0.01)}"
        )


def _verdict(good: bool) -> str:
    return "yes" if good else "NO"


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=20, help="simulated users for each task")
    parser.add_argument(
        "--first-seed", type=int, default=0, help="seeds from 1000 on are for choosing a design"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--only", choices=("families", "bumps"), help="one of the two parts")
    options = parser.parse_args(argv)
    seeds = range(options.first_seed, options.first_seed + options.runs)
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.only != "bumps":
            families(pool, seeds)
        if options.only != "families":
            bumps(pool, seeds)


if __name__ == "__main__":
    main()
