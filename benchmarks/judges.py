"""How far EP and Laplace are from the exact posterior, beside how long each of them takes.

    d            (N,)      answered differences, d ~ N(0, C) a priori
    y            (N,)      d as the person saw them, noise included: y ~ N(0, S), S = C + 2 noise^2 I
    low, high    (N,)      what the answers say of y: low < y < high
    gap          (T,)      f(a) - f(b) of test pairs that were not asked
    weight       (draws,)  exact / proposed density of a draw of y

The answers cut a box out of the normal y, and given y every further difference is normal. So the judge draws
y in that box by Botev's minimax tilting (J. R. Statist. Soc. B 79, 2017), whose weights are bounded, on
scrambled Sobol points; the scatter between independent scrambles (batch means) is its own error. At these noises a
Markov chain would need hours for the same; a short one, that of tests/reference.py, checks the judge.

"The closest Gaussian" has the exact mean and variance of every gap: what is left of its error no Gaussian
posterior can avoid, since beside an answered question the truth is skewed.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import root
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri
from scipy.stats import norm, qmc, truncnorm
from threadpoolctl import threadpool_limits

from benchmarks.measure import seconds
from prefero.arrays import Array, Indices
from prefero.asking import best_question, random_question
from prefero.inference import infer
from prefero.kernels import RBF
from prefero.likelihood import Probit
from prefero.people import Person, RewardFunction
from prefero.questions import Answer, Comparisons

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import reference  # noqa: E402

How = Literal["active", "random"]
THETA, FEATURES, ANSWERS, POOL, PAIRS = 0.5, 2, 25, 250, 200
NOISES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the prior standard deviation
WANTED = 0.01
BATCHES = 16
CHAINS, STEPS = 200, 100


class Exact(NamedTuple):
    """Of every gap: mean, variance, P(a preferred) and the Monte Carlo error of that; and log P(answers)."""

    mean: Array
    variance: Array
    probability: Array
    error: Array
    log_evidence: float
    share: float  # of the draws that are effective
    time: float


class Off(NamedTuple):
    """Errors over the test pairs."""

    mean: Array  # in posterior standard deviations
    variance: Array  # relative
    probability: Array


# --- the answers ------------------------------------------------------------------------------------------


def drawn_reward(rng: np.random.Generator, centres: int = 150) -> RewardFunction:
    """A reward drawn from the prior, exact at some points and smooth between them."""
    x = rng.standard_normal((centres, FEATURES))
    values, vectors = np.linalg.eigh(covariance(x, x))
    weights = vectors @ (rng.standard_normal(centres) / np.sqrt(np.maximum(values, 1e-9)))
    return lambda at: covariance(at, x) @ weights


def asked(how: How, probit: Probit, seed: int) -> Comparisons:
    """A simulated person's answers to Prefero's questions, or to random ones."""
    rng = np.random.default_rng(seed)
    x, person = rng.standard_normal((POOL, FEATURES)), Person(drawn_reward(rng), probit.noise, probit.margin)
    told: list[Answer] = []
    for _ in range(ANSWERS):
        posterior, _ = infer(RBF(THETA), Comparisons.from_answers(x, told), probit)
        question = best_question(posterior, x) if how == "active" else random_question(POOL, rng)
        told.append(Answer(question, person.answer(x[question.left], x[question.right], rng)))
    return Comparisons.from_answers(x, told)


# --- the judge --------------------------------------------------------------------------------------------


def covariance(x: Array, y: Array) -> Array:
    """The kernel, written out: it shares nothing with Prefero's."""
    return np.asarray(np.exp(-THETA * cdist(x, y, "sqeuclidean")))


def of_differences(a: Array, b: Array, data: Comparisons) -> Array:
    """Cov[f(a) - f(b), d], shape (T, N)."""
    first, second = data.winners, data.losers
    above, below = (covariance(x, first) - covariance(x, second) for x in (a, b))
    return np.asarray(above - below)


def exact(data: Comparisons, probit: Probit, a: Array, b: Array, draws: int) -> Exact:
    """The posterior of the gaps f(a) - f(b) from `draws` weighted draws in each of the batches."""
    start = time.process_time()
    S = of_differences(data.winners, data.losers, data) + probit.scale**2 * np.eye(len(data))
    low = np.where(data.tied, -probit.margin, probit.margin)
    high = np.where(data.tied, probit.margin, np.inf)
    share = np.linalg.solve(S, of_differences(a, b, data).T).T
    rest = 2.0 - 2.0 * covariance(a, b).diagonal() - np.sum(share * of_differences(a, b, data), axis=1)
    scale = np.sqrt(probit.scale**2 + np.maximum(rest, 0.0))
    order = least_likely_first(S, low, high)
    L = np.linalg.cholesky(S[np.ix_(order, order)])
    draw = partial(in_box, L, low[order], high[order], minimax_shift(L, low[order], high[order]))
    sums = []
    for batch in range(BATCHES):
        y, weight = draw(qmc.Sobol(len(S), rng=batch).random(draws))
        gap = y @ share[:, order].T
        chosen = weight @ ndtr((gap - probit.margin) / scale)
        sums.append([np.full(len(a), weight.sum()), weight @ gap, weight @ gap**2, chosen])
        sums[-1].append(np.full(len(a), weight @ weight))
    mass, first, second, chosen, square = np.mean(sums, axis=0) / draws
    each = np.array([batch[3] / batch[0] for batch in sums])
    return Exact(
        first / mass,
        second / mass - (first / mass) ** 2 + np.maximum(rest, 0.0),
        chosen / mass,
        each.std(axis=0, ddof=1) / np.sqrt(BATCHES),
        float(np.log(mass[0])),
        float(mass[0] ** 2 / square[0]),
        time.process_time() - start,
    )
