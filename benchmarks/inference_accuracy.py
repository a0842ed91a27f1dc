"""How far EP and Laplace are from the exact posterior, and how long each of them takes.

    d            (N,)      answered differences, d ~ N(0, C) a priori
    y            (N,)      d as the user saw them, noise included: y ~ N(0, S), S = C + 2 noise^2 I
    low, high    (N,)      what the answers say of y, unless they are lapses: low < y < high
    inside       (2,)      the probability of an answer where y is between low and high, and elsewhere
    gap          (T,)      f(a) - f(b) of test pairs that were not asked
    weight       (draws,)  true density of a draw of y, beside that from which it was drawn

The answers cut a box out of the normal y, and given y every further gap is normal. So the reference draws y
in that box by minimax tilting (Botev, J. R. Statist. Soc. B 79, 2017), whose weights are bounded, on
scrambled Sobol points; the scatter between independent scrambles (batch means) is its own error. With lapses
y may lie outside, with a smaller weight, and is drawn without tilting. A Markov chain takes hundreds of times
as long to come as close; a short run of that in tests/reference.py checks it.

"The closest Gaussian" has the exact mean and variance of every gap: its error is what no Gaussian posterior
can avoid, since beside an answered question the truth is skewed.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple, Self, TypeVar

import numpy as np
from scipy.linalg import cholesky
from scipy.optimize import root
from scipy.spatial.distance import cdist
from scipy.special import ndtr, ndtri
from scipy.stats import norm, qmc
from threadpoolctl import threadpool_limits

from benchmarks.timing import seconds
from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import Strategy
from prefero.acquisition.pool_search import best_question
from prefero.acquisition.random_question import random_question
from prefero.kernels import RBF
from prefero.models.inference import Inference, infer
from prefero.models.likelihood import Probit
from prefero.questions import Answer, Comparisons
from prefero.simulation.users import RewardFunction, SimulatedUser

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
import reference

Result = TypeVar("Result")
THETA, FEATURES, ANSWERS, POOL, PAIRS = 0.5, 2, 25, 250, 200
NOISES = (0.01, 0.03, 0.1, 0.3, 1.0)  # of the prior standard deviation
MARGIN = 0.1  # with which some answers are "about equal"
LAPSES = ((0.03, 0.02), (0.1, 0.02), (0.03, 0.1), (0.1, 0.1), (0.3, 0.1), (1.0, 0.1))  # noises, lapse rates
WANTED = 0.01
TOO_SHARP = 0.1  # below this noise the Markov chain forgets its start too slowly
WAYS: dict[Inference, str] = {"laplace": "Laplace", "ep": "EP"}
BATCHES, WALKERS, STEPS = 16, 12, 150  # a chain has so many walkers in each batch


# --- the answers ------------------------------------------------------------------------------------------


def drawn_reward(rng: np.random.Generator, centres: int = 150) -> RewardFunction:
    """A reward drawn from the prior at some points, and as smooth as can be between them."""
    x = rng.standard_normal((centres, FEATURES))
    values, vectors = np.linalg.eigh(covariance(x, x))
    weights = vectors @ (rng.standard_normal(centres) / np.sqrt(np.maximum(values, 1e-9)))
    return lambda at: covariance(at, x) @ weights


def asked(strategy: Strategy, probit: Probit, seed: int) -> Comparisons:
    """A simulated user's answers to Prefero's questions, or to random ones."""
    rng = np.random.default_rng(seed)
    x, user = (
        rng.standard_normal((POOL, FEATURES)),
        SimulatedUser(drawn_reward(rng), probit.noise, probit.margin, probit.lapse),
    )
    answers: list[Answer] = []
    for _ in range(ANSWERS):
        posterior, _ = infer(RBF(THETA), Comparisons.from_answers(x, answers), probit)
        question = best_question(posterior, x) if strategy == "active" else random_question(POOL, rng)
        answers.append(Answer(question, user.answer(x[question.left], x[question.right], rng)))
    return Comparisons.from_answers(x, answers)


# --- the model, written out without Prefero ---------------------------------------------------------------


def covariance(x: Array, y: Array) -> Array:
    """The prior's, of rewards."""
    return np.asarray(np.exp(-THETA * cdist(x, y, "sqeuclidean")))


def covariance_of_gaps(a: Array, b: Array, data: Comparisons) -> Array:
    """Cov[f(a) - f(b), d], shape (T, N)."""
    at_a, at_b = (covariance(x, data.winners) - covariance(x, data.losers) for x in (a, b))
    return np.asarray(at_a - at_b)


def variance_of_gaps(a: Array, b: Array) -> Array:
    """Var[f(a) - f(b)] before any answer, shape (T,)."""
    return np.asarray(2.0 - 2.0 * covariance(a, b).diagonal())


# --- the reference ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Box:
    """N(0, S), weighted by `inside` between `low` and `high`; its variables in the order of drawing."""

    order: Indices
    L: Array
    low: Array
    high: Array
    shift: Array  # of the standard normals behind y, so that they fall into the box more evenly
    inside: tuple[float, float] = (1.0, 0.0)

    @classmethod
    def of(cls, S: Array, low: Array, high: Array, lapse: float = 0.0, answers: int = 2) -> Self:
        order = _least_likely_first(S, low, high)
        L, low, high = cholesky(S[np.ix_(order, order)], lower=True), low[order], high[order]
        shift = np.zeros(len(L)) if lapse else _minimax_shift(L, low, high)
        return cls(order, L, low, high, shift, (1.0 - lapse + lapse / answers, lapse / answers))

    def draw(self, uniform: Array) -> tuple[Array, Array]:
        """Draws of y (M, N) and their weights (M,), whose expectation is P(y in the box)."""
        z, log_weight = np.zeros_like(uniform), np.zeros(len(uniform))
        for k, (size, shift) in enumerate(zip(self.L.diagonal(), self.shift, strict=True)):
            before = z[:, :k] @ self.L[k, :k]
            a, b = ((end[k] - before) / size - shift for end in (self.low, self.high))
            step, chance = _weighted(a, b, uniform[:, k], self.inside)
            z[:, k] = step + shift
            log_weight += np.log(chance) + 0.5 * shift**2 - shift * z[:, k]
        y = np.empty_like(z)
        y[:, self.order] = z @ self.L.T
        return y, np.exp(log_weight)


def _chance(a: Array, b: Array) -> Array:
    """P(a < z < b) of a standard normal, from the side where nothing cancels."""
    return np.asarray(np.maximum(np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a)), 1e-300))


def _expected(a: Array, b: Array) -> Array:
    """E[z given a < z < b] of a standard normal."""
    return np.asarray((norm.pdf(a) - norm.pdf(b)) / _chance(a, b))


def _between(a: Array, b: Array, uniform: Array) -> tuple[Array, Array]:
    """Standard normals between a and b, and P(a < z < b); right tails are drawn as left ones."""
    mirrored, chance = a > 0, _chance(a, b)
    low, high = np.where(mirrored, -b, a), np.where(mirrored, -a, b)
    z = np.clip(ndtri(np.maximum(ndtr(low) + uniform * chance, 1e-300)), low, high)
    return np.where(mirrored, -z, z), chance


def _weighted(a: Array, b: Array, uniform: Array, inside: tuple[float, float]) -> tuple[Array, Array]:
    """Normals weighted by the first number between a and b and by the other elsewhere; the mean weight."""
    if inside[1] == 0.0:
        return _between(a, b, uniform)
    shares = np.stack([inside[1] * ndtr(a), inside[0] * _chance(a, b), inside[1] * ndtr(-b)])
    ends = np.cumsum(shares, axis=0)
    at = uniform * ends[2]
    piece = np.sum(at > ends[:2], axis=0)
    share, start = (np.take_along_axis(v, piece[None], axis=0)[0] for v in (shares, ends - shares))
    within = np.clip((at - start) / np.maximum(share, 1e-300), 1e-12, 1.0 - 1e-12)
    low, high = np.choose(piece, [-np.inf, a, b]), np.choose(piece, [a, b, np.inf])
    return _between(low, high, within)[0], np.asarray(ends[2])


def _least_likely_first(S: Array, low: Array, high: Array) -> Indices:
    """An order of drawing that keeps the weights even: those before stand where they are expected."""
    V, centre, order = S.copy(), np.zeros(len(S)), list[int]()
    for _ in range(len(S)):
        sd = np.sqrt(np.maximum(V.diagonal(), 1e-12))
        a, b = (low - centre) / sd, (high - centre) / sd
        chance = _chance(a, b)
        chance[order] = np.inf
        i = int(np.argmin(chance))
        order.append(i)
        centre += V[:, i] / sd[i] * _expected(a[i], b[i])
        V -= np.outer(V[:, i], V[:, i]) / sd[i] ** 2
    return np.array(order)


def _minimax_shift(L: Array, low: Array, high: Array) -> Array:
    """The shift whose largest weight is least: a saddle point of the log weight over z and shift.

    The last shift is 0. Any shift gives the right answers, a good one gives them with fewer draws.
    """
    size = L.diagonal()
    before = L / size[:, None] - np.eye(len(L))

    def slopes(at: Array) -> Array:
        z, shift = np.pad(at.reshape(2, -1), ((0, 0), (0, 1)))
        a, b = (end / size - before @ z - shift for end in (low, high))
        pull = _expected(a, b)
        return np.concatenate([(pull @ before - shift)[:-1], (pull + shift - z)[:-1]])

    found: Array = root(slopes, np.zeros(2 * len(L) - 2)).x
    return np.append(found[len(L) - 1 :], 0.0)


class Exact(NamedTuple):
    """Of every gap: mean, variance, P(a preferred) and the reference's error in that."""

    mean: Array
    variance: Array
    probability: Array
    error: Array
    log_evidence: float


def exact(data: Comparisons, probit: Probit, a: Array, b: Array, draws: int) -> Exact:
    """The posterior of the gaps f(a) - f(b), from weighted draws in independent batches."""
    across, margin = covariance_of_gaps(a, b, data), probit.margin
    S = covariance_of_gaps(data.winners, data.losers, data) + probit.scale**2 * np.eye(len(data))
    share = np.linalg.solve(S, across.T)
    rest = np.maximum(variance_of_gaps(a, b) - np.sum(across * share.T, axis=1), 0.0)
    low, high = np.where(data.tied, -margin, margin), np.where(data.tied, margin, np.inf)
    box = Box.of(S, low, high, probit.lapse, probit.n_answers)
    sums = []
    for batch in range(BATCHES):
        y, weight = box.draw(qmc.Sobol(len(S), seed=batch).random(draws // BATCHES))
        gap = y @ share
        attentive = ndtr((gap - margin) / np.sqrt(probit.scale**2 + rest))
        chosen = weight @ ((1.0 - probit.lapse) * attentive + probit.lapse / probit.n_answers)
        sums.append((weight.sum(), weight @ gap, weight @ gap**2, chosen))
    mass, first, second, chosen = (np.array(part) for part in zip(*sums, strict=True))
    mean = first.sum(axis=0) / mass.sum()
    return Exact(
        mean,
        second.sum(axis=0) / mass.sum() - mean**2 + rest,
        chosen.sum(axis=0) / mass.sum(),
        _error(chosen / mass[:, None]),
        float(np.log(mass.sum() / (draws // BATCHES * BATCHES))),
    )


def chain(data: Comparisons, probit: Probit, a: Array, b: Array) -> tuple[Array, Array]:
    """P(a preferred) by a Markov chain, and its error."""
    C, across = covariance_of_gaps(data.winners, data.losers, data), covariance_of_gaps(a, b, data)
    prior, noise, margin, lapse = variance_of_gaps(a, b), probit.noise, probit.margin, probit.lapse
    length = {"chains": BATCHES * WALKERS, "steps": STEPS, "burn": 2 * STEPS, "thin": 5}
    rng = np.random.default_rng(0)
    samples = reference.sample_differences(C, data.tied, noise, rng, margin=margin, lapse=lapse, **length)
    batches = np.moveaxis(samples.reshape(-1, BATCHES, WALKERS, len(C)), 1, 0).reshape(BATCHES, -1, len(C))
    each = [
        reference.predict_from_samples(batch, C, across, prior, noise, margin, lapse) for batch in batches
    ]
    chosen = np.array([predicted.probability for predicted in each])
    return chosen.mean(axis=0), _error(chosen)


def _error(batches: Array) -> Array:
    """The standard error of the mean of independent batches (B, T)."""
    return np.asarray(batches.std(axis=0, ddof=1) / np.sqrt(len(batches)))


# --- the table --------------------------------------------------------------------------------------------

HEAD = (
    f"{'':22s}{'mean, in sd':>16s}{'variance, %':>16s}{'P(a preferred)':>18s}{'pairs':>7s}{'log':>10s}\n"
    f"{'':22s}{'max':>8s}{'mean':>8s}{'max':>8s}{'mean':>8s}{'max':>9s}{'mean':>9s}"
    f"{f'<{WANTED:g}':>7s}{'evidence':>10s}{'ms':>8s}"
)


class Off(NamedTuple):
    """Errors of every test pair: of the mean in posterior standard deviations, of the variance in parts."""

    mean: Array
    variance: Array
    probability: Array
    log_evidence: float


def off(truth: Exact, mean: Array, variance: Array, probability: Array, log_evidence: float) -> Off:
    return Off(
        np.abs(mean - truth.mean) / np.sqrt(truth.variance),
        np.abs(variance / truth.variance - 1.0),
        np.abs(probability - truth.probability),
        log_evidence - truth.log_evidence,
    )


def show(name: str, errors: Off, rest: str = "") -> None:
    m, v, p = errors.mean, 100.0 * errors.variance, errors.probability
    print(
        f"  {name:20s}{m.max():8.3f}{m.mean():8.3f}{v.max():8.1f}{v.mean():8.1f}{p.max():9.4f}{p.mean():9.4f}"
        f"{np.mean(p < WANTED):7.0%}{errors.log_evidence:10.3f}{rest}"
    )


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def compared(strategy: Strategy, probit: Probit, seed: int, draws: int) -> Off:
    """Print the errors for one set of answers; EP's come back."""
    data = asked(strategy, probit, seed)
    a, b = np.random.default_rng([seed, 1]).standard_normal((2, PAIRS, FEATURES))
    truth, judging = timed(lambda: exact(data, probit, a, b, draws))
    times = seconds(*(partial(infer, RBF(THETA), data, probit, way) for way in WAYS))
    ties = f", {data.tied.sum()} of them about equal (margin {probit.margin:g})" if probit.margin else ""
    lapses = f", lapse rate {probit.lapse:g}" if probit.lapse else ""
    print(f"\n{len(data)} {strategy} answers, noise {probit.noise:g}{lapses}{ties}")
    for way, taken in zip(WAYS, times, strict=True):
        found, _ = infer(RBF(THETA), data, probit, way)
        errors = off(truth, *found.difference(a, b), found.probability(a, b), found.log_evidence)
        show(WAYS[way], errors, f"{1e3 * taken:8.2f}{taken / times[0]:6.1f} x Laplace")
    closest = probit.probabilities(truth.mean, truth.variance)[0]
    show("the closest Gaussian", off(truth, truth.mean, truth.variance, closest, truth.log_evidence))
    own = f"its own error in P: max {truth.error.max():.4f}, mean {truth.error.mean():.4f}"
    print(f"  the reference took {judging / times[-1]:.0f} times as long as EP; {own}")
    print(f"  {checked(truth, data, probit, a, b, times[-1])}")
    return errors


def checked(truth: Exact, data: Comparisons, probit: Probit, a: Array, b: Array, unit: float) -> str:
    """The reference beside a Markov chain: both are compared by root mean squares over the pairs, since the
    batches of a chain say nothing of their error where a probability is nearly 0 or 1.
    """
    if probit.noise < TOO_SHARP:
        return "(a Markov chain is too slow to check the reference at so little noise)"
    (walked, error), walking = timed(lambda: chain(data, probit, a, b))
    apart = np.sqrt(np.mean((walked - truth.probability) ** 2) / np.mean(error**2 + truth.error**2))
    return (
        f"a Markov chain took {walking / unit:.0f} times as long; its error: max {error.max():.4f}; "
        f"it is {apart:.1f} standard errors from the reference"
    )


def verdict(name: str, errors: Sequence[float]) -> None:
    good = sum(error < WANTED for error in errors)
    print(
        f"EP within {WANTED:g} in P(a preferred), {name}: {'yes' if good == len(errors) else 'NO'} "
        f"({good} of {len(errors)} sets of answers, at most {max(errors):.4f})"
    )


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.inference_accuracy", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--draws", type=int, default=2**18, help="of the reference, for each set of answers")
    parser.add_argument("--seed", type=int, default=0, help="of the rewards, the answers and the test pairs")
    options = parser.parse_args(argv)
    lapses = [*(Probit(noise, 0.0, lapse) for noise, lapse in LAPSES), Probit(0.1, MARGIN, 0.1)]
    probits = [*(Probit(noise) for noise in NOISES), Probit(0.1, MARGIN), *lapses]
    print(
        f"{FEATURES} features, RBF(theta={THETA}), prior sd 1; errors over {PAIRS} pairs that were not asked"
    )
    print(HEAD)
    with threadpool_limits(1):
        strategies: tuple[Strategy, ...] = ("active", "random")
        all_off = [
            compared(strategy, p, options.seed, options.draws) for p in probits for strategy in strategies
        ]
    print()
    verdict("on average over pairs", [float(errors.probability.mean()) for errors in all_off])
    verdict("for the worst pair", [float(errors.probability.max()) for errors in all_off])


if __name__ == "__main__":
    main()
