"""Answers about rewards of known structure, and the mixture that is learned from them."""

from functools import cache

import numpy as np

from prefero._support.arrays import Array
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.structures import Candidate, ModelSettings, grid_candidates
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons
from prefero.simulation.tasks import make_task

RIGHT = {"linear": {"linear"}, "quadratic": {"quadratic"}, "bumpy": {"rbf", "linear+rbf", "ard"}}


@cache
def answers(kind: str, number: int, seed: int = 1, margin: float = 0.0) -> Comparisons:
    """What a simulated user says to random questions; fewer answers are the beginning of more."""
    task = make_task(kind, trajectories=80, margin=margin, test_size=2, seed=seed)
    rng, x = np.random.default_rng(seed), task.pool.scaled
    rows = []
    for _ in range(number):
        i, j = rng.choice(len(x), 2, replace=False)
        choice = task.user.answer(x[i], x[j], rng)
        rows.append((x[j], x[i], False) if choice == "right" else (x[i], x[j], choice == "equal"))
    winners, losers, tied = (np.array(column) for column in zip(*rows, strict=True))
    return Comparisons(winners, losers, tied)


def first(data: Comparisons, number: int) -> Comparisons:
    return Comparisons(data.winners[:number], data.losers[:number], data.tied[:number])


def turned(data: Comparisons, *which: int) -> Comparisons:
    """The same with some answers the other way round."""
    swap = np.isin(np.arange(len(data)), which)[:, None]
    winners, losers = np.where(swap, data.losers, data.winners), np.where(swap, data.winners, data.losers)
    return Comparisons(winners, losers, data.tied)


def places(number: int = 20, seed: int = 9) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((number, 2)), rng.standard_normal((number, 2))


def order(belief: MixturePosterior) -> list[str]:
    return sorted(belief.structures, key=lambda structure: -belief.structures[structure])


def grid() -> list[Candidate]:
    return grid_candidates(ModelSettings(Reference.normal(2), None, None, "ep"))


def fresh(data: Comparisons) -> MixturePosterior:
    return MixtureFitter(Reference.normal(2)).fit(data)


def assert_same(found: MixturePosterior, expected: MixturePosterior, tolerance: float = 1e-4) -> None:
    np.testing.assert_allclose(found.probability(*places()), expected.probability(*places()), atol=tolerance)
    assert order(found) == order(expected)
