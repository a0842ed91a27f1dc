"""Prefero compared with BoTorch's PairwiseGP: the same answers, learned hyper-parameters, one thread.

BoTorch's PairwiseGP (Laplace, one start of the optimizer, again when it fails) has the features scaled to the
unit cube, as BoTorch expects them, and as they are. Prefero has one ARD kernel (two starts of the optimizer),
and its default, Bayesian model averaging.

    fit         fit_gpytorch_mll or PreferenceGP.fit, from nothing
    posterior   mean and covariance of a pool of 500
    accuracy    the share of pairs of 100 unseen trajectories that are ordered as the truth orders them

Times are medians over several simulated users, ratios are medians of each user's ratio.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import prefero
from prefero._support.arrays import Array, Indices
from prefero.kernels import RBF
from prefero.models.inference.infer import Inference
from prefero.simulation.tasks import Task, make_task

ANSWERS = (25, 50, 100, 200)
FEATURES, POOL, TESTS, NOISE, THETA = 4, 500, 100, 0.1, 0.15
INSTALL = "BoTorch is not installed, so it is left out: type  pip install --group bench  in the repository"
Predict = Callable[[Array], tuple[Array, Array]]  # features in, mean and covariance out
Fit = Callable[[Array, Indices], Predict]  # items and pairs (winner, loser) in


class Teaching(NamedTuple):
    """A task and so many of its user's answers, as rows of the pool: winner, loser."""

    task: Task
    pairs: Indices


def taught_by(answers: int, seed: int) -> Teaching:
    task = make_task(
        "quadratic", features=FEATURES, trajectories=POOL, noise=NOISE, test_size=TESTS, seed=seed
    )
    x, rng = task.pool.scaled, np.random.default_rng([seed, answers])
    pairs = np.array([rng.choice(POOL, 2, replace=False) for _ in range(answers)])
    left = np.array([task.user.answer(x[i], x[j], rng) == "left" for i, j in pairs])
    return Teaching(task, np.where(left[:, None], pairs, pairs[:, ::-1]))


def one_kernel(inference: Inference) -> Fit:
    def fit(items: Array, pairs: Indices) -> Predict:
        kernel = 1.0 * RBF((THETA,) * items.shape[1])
        return (
            prefero.PreferenceGP(kernel=kernel, learn=True, inference=inference).fit(items, pairs).posterior_
        )

    return fit


def averaged(items: Array, pairs: Indices) -> Predict:
    return prefero.PreferenceGP().fit(items, pairs).posterior_


def botorch(unit_cube: bool) -> Fit:
    torch: Any = import_module("torch")
    models: Any = import_module("botorch.models.pairwise_gp")
    transforms: Any = import_module("botorch.models.transforms.input")
    fit_mll: Any = import_module("botorch.fit").fit_gpytorch_mll
    failure: Any = import_module("botorch.exceptions.errors").ModelFittingError

    def fit(items: Array, pairs: Indices) -> Predict:
        shown, compared = np.unique(pairs, return_inverse=True)
        bounds = torch.tensor(np.stack([items.min(axis=0), items.max(axis=0)]))
        transform = transforms.Normalize(items.shape[1], bounds=bounds) if unit_cube else None
        points, comparisons = torch.tensor(items[shown]), torch.tensor(compared.reshape(-1, 2))
        model = models.PairwiseGP(points, comparisons, input_transform=transform)
        with suppress(failure):  # rarely all attempts fail; the first hyper-parameters stay then
            fit_mll(models.PairwiseLaplaceMarginalLogLikelihood(model.likelihood, model))
        return predict(model)

    def predict(model: Any) -> Predict:
        def at(x: Array) -> tuple[Array, Array]:
            with torch.no_grad():
                posterior = model.posterior(torch.tensor(x))
                return posterior.mean.numpy().ravel(), posterior.covariance_matrix.numpy()

        return at

    return fit


def models() -> dict[str, Fit]:
    ours: dict[str, Fit] = {
        "Prefero, one ARD kernel, EP": one_kernel("ep"),
        "Prefero, one ARD kernel, Laplace": one_kernel("laplace"),
        "Prefero, model averaging (the default)": averaged,
    }
    try:
        theirs = import_module("botorch")
    except ImportError:
        print(INSTALL)
        return ours
    torch: Any = import_module("torch")
    torch.set_num_threads(1)
    print(f"BoTorch {theirs.__version__}, torch {torch.__version__}")
    return ours | {
        "BoTorch PairwiseGP, unit cube": botorch(unit_cube=True),
        "BoTorch PairwiseGP, features as they are": botorch(unit_cube=False),
    }


def same_order(predicted: Array, truth: Array) -> float:
    """The share of pairs that both order alike."""
    i, j = np.triu_indices(len(truth), 1)
    return float(np.mean((predicted[i] > predicted[j]) == (truth[i] > truth[j])))


@dataclass
class Record:
    """What was measured of one model, user by user."""

    fit: list[float] = field(default_factory=list)
    posterior: list[float] = field(default_factory=list)
    accuracy: list[float] = field(default_factory=list)
    warned: int = 0

    def add(self, fit: Fit, teaching: Teaching) -> None:
        task, pairs = teaching
        x, test = task.pool.scaled, task.pool.scaling(task.test_set.features)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.process_time()
            predict = fit(x, pairs)
            fitted = time.process_time()
            predict(x)
            done = time.process_time()
        self.fit.append(fitted - start)
        self.posterior.append(done - fitted)
        self.accuracy.append(same_order(predict(test)[0], task.user.reward(test)))
        self.warned += bool(caught)


def learned(fits: dict[str, Fit], answers: int, users: int) -> None:
    records = {name: Record() for name in fits}
    for seed in range(users):
        teaching = taught_by(answers, seed)
        for name, fit in fits.items():
            records[name].add(fit, teaching)
    unit = next(iter(records.values()))
    print(f"\n{answers} answers, learned hyper-parameters, {users} simulated users")
    print(f"{'':42s}{'fit, s':>9s}{'x EP':>8s}{'posterior, ms':>15s}{'x EP':>8s}{'accuracy':>10s}  warned")
    for name, record in records.items():
        print(
            f"{name:42s}{np.median(record.fit):9.2f}{_ratio(record.fit, unit.fit):8.1f}"
            f"{1e3 * np.median(record.posterior):15.1f}{_ratio(record.posterior, unit.posterior):8.1f}"
            f"{np.mean(record.accuracy):10.3f}{f'{record.warned} of {users}':>8s}",
            flush=True,
        )


def _ratio(times: Sequence[float], units: Sequence[float]) -> float:
    return float(np.median(np.divide(times, units)))


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks botorch_comparison", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--users", type=int, default=3, help="how many simulated users")
    parser.add_argument("--most", type=int, default=max(ANSWERS), help="the most answers")
    options = parser.parse_args(argv)
    sizes = [answers for answers in ANSWERS if answers <= options.most]
    with threadpool_limits(1):
        fits = models()
        for fit in fits.values():
            Record().add(fit, taught_by(20, 0))  # the first time, everything is slower
        for answers in sizes:
            learned(fits, answers, options.users)


if __name__ == "__main__":
    main()
