"""What is acceptable: where the bar lies, and how many trajectories of a pool are above it.

    bar       what a person finds just acceptable, a reward without features (`prefero.models.posterior.bar`)
    x         (M, d)   scaled features of the pool
    above              how far a reward is above the bar

Probabilities are closed forms. How many trajectories are acceptable at the same time is counted in joint
draws of the rewards and of the bar; of a large pool, in draws of the trajectories that stand for it.
"""

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.sentences import percent
from prefero.models.explain.explanation import Statement
from prefero.models.posterior.bar import has_bar, probability_acceptable
from prefero.models.posterior.draws import CONFIDENCE, Estimate, draw_rewards, interval
from prefero.models.posterior.gaussian import Distribution
from prefero.models.posterior.standardized import StandardizedRewards, reference_rows
from prefero.questions.comparisons import bar_features


def check_bar(belief: Distribution) -> None:
    """An error unless answers have said what is acceptable."""
    if not has_bar(belief):
        raise ValueError(
            "nobody has said what is acceptable: ask for labels or let 'none' be an answer "
            '(learner.ask(kind="success"), "rate-5" or "best-or-none-3"; teaching with --answers rate-5), or '
            "give labels that there are: prefero.Pool(labels=...), --labels"
        )


def bar_moments(belief: Distribution) -> tuple[float, float]:
    """Mean and standard deviation of the bar, in the unit of the reward."""
    mean, variance = belief.marginals(bar_features(belief.n_features))
    return float(mean[0]), float(np.sqrt(variance[0]))


def standardized_bar(belief: Distribution, x: Array) -> Estimate:
    """How far the bar is above the average reward of x, in standard deviations of the reward over x."""
    rows = reference_rows(len(x))
    unit = StandardizedRewards(belief, x[rows])
    draws = draw_rewards(belief, np.concatenate([x[rows], bar_features(x.shape[1])]))
    above = (draws.rewards[:, -1] - draws.rewards[:, :-1].mean(axis=1)) / unit.unit
    mean = float(unit(bar_features(x.shape[1]))[0][0])
    return _around(mean, *interval(above, draws.weights))


def acceptable_count(belief: Distribution, x: Array) -> Estimate:
    """How many of the trajectories x are acceptable."""
    rows, probabilities = reference_rows(len(x)), probability_acceptable(belief, x)
    draws = draw_rewards(belief, np.concatenate([x[rows], bar_features(x.shape[1])]))
    fractions = np.mean(draws.rewards[:, :-1] > draws.rewards[:, -1:], axis=1)
    low, high = interval(fractions - probabilities[rows].mean(), draws.weights)
    mean, most = float(probabilities.sum()), len(x)
    return _around(mean, max(mean + most * low, 0.0), min(mean + most * high, float(most)))


def nearest_to_bar(belief: Distribution, x: Array, count: int) -> Indices:
    """The trajectories whose expected reward is nearest to the bar's, the nearest first."""
    return np.argsort(np.abs(belief.marginals(x)[0] - bar_moments(belief)[0]), kind="stable")[:count]


def acceptable_statement(belief: Distribution, x: Array) -> Statement:
    """How many trajectories are acceptable, in a sentence."""
    return Statement(
        acceptable_sentence(acceptable_count(belief, x), len(x)),
        "The number of trajectories whose reward is above what was said to be just acceptable, as expected "
        f"from the answers. The true number is in the range with a probability of {percent(CONFIDENCE)}.",
    )


def acceptable_sentence(count: Estimate, total: int) -> str:
    """How many of all are acceptable, and how sure that is."""
    low, high = round(count.low), round(count.high)
    between = f"{low} to {high}" if low < high else f"{low}"
    sure = f"{percent(CONFIDENCE)} sure: {between}"
    return f"About {round(count.mean)} of {total} trajectories are acceptable ({sure})."


def _around(mean: float, low: float, high: float) -> Estimate:
    """An interval that draws give, which contains the mean."""
    return Estimate(mean, min(low, mean), max(high, mean))
