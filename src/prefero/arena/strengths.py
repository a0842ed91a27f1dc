"""The posterior over the strengths of policies, given comparisons and success labels of their rollouts.

    P(A preferred to B) = Phi(f(A) - f(B) - margin)
    P(A passes) = Phi(f(A) - bar)

    f, bar      sums of effects, see `prefero.arena.effects`; the noise of an answer has standard deviation 1
    success     of a policy: the probability that a new rollout of it passes, on average over tasks and judges

This is Thurstone's model, Bradley and Terry's with the normal in place of the logistic distribution. It is
also a linear reward, so the inference is that of rewards (`prefero.models.inference.infer`). How large each
kind of effect is, is not known: candidates on a grid are weighted by their marginal likelihood.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array
from prefero.arena.effects import (
    VARIANCE_RATIOS,
    Candidate,
    Effects,
    Judgment,
    effects_of,
    labels_of,
    with_rollout_noise,
)
from prefero.arena.plan import ArenaPlan
from prefero.models.algebra.linalg import symmetric_root
from prefero.models.averaging.model_average import ModelAverage
from prefero.models.inference.fit import Fit
from prefero.models.inference.infer import infer
from prefero.models.likelihood.probit import SQRT_2, Probit
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons

NOISE = 1 / SQRT_2  # so that an answer's noise has standard deviation 1
MARGINS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)  # of ties
TYPICAL = 0.5  # the standard deviation of policies that the margin is chosen with
NEGLIGIBLE = 1e-3  # of the largest weight
DRAWS = 4096  # joint samples of the strengths that probabilities are computed from
TOLERANCE = 1e-3  # of inference, in standard deviations: probabilities change by less than in their draws
TINY = 1e-300  # a variance that is not 0
SAME_DRAWS = 0  # the seed, so that the same answers always give the same probabilities


@dataclass(frozen=True, eq=False)
class Strengths:
    """The posterior over the policies' strengths.

    Args:
        effects: The effects of the model.
        posterior: Over the effects.
        rollout_variances: Of the effects of rollouts in each component of the posterior; 0 without them.
    """

    effects: Effects
    posterior: MixturePosterior
    rollout_variances: tuple[float, ...]

    def sample(self, x: Array, count: int) -> Array:
        """Joint samples of the strengths and of f at rows of x, (count, P + M); always the same ones."""
        rows = np.concatenate([self.effects.policies, x])
        return self.posterior.sample(rows, count, np.random.default_rng(SAME_DRAWS))

    @cached_property
    def _moments(self) -> list[tuple[float, Array, Array]]:
        """Weight, mean and covariance of the strengths in each component of the posterior."""
        return [(weight, *one(self.effects.policies)) for weight, one in self.posterior.components]

    @cached_property
    def draws(self) -> Array:
        """Joint samples of the strengths, (DRAWS, P), in a random order; their average is 0 in each."""
        rng = np.random.default_rng(SAME_DRAWS)
        drawn = rng.permutation(np.concatenate(list(self._drawn(self.effects.policies, rng))))
        centered: Array = drawn - drawn.mean(axis=1, keepdims=True)
        return centered

    def _drawn(self, x: Array, rng: np.random.Generator) -> Iterator[Array]:
        """Samples of f at rows of x from each component, as many as it has of the weight: DRAWS in all."""
        noise = rng.standard_normal((DRAWS, len(x)))
        ends = np.round(DRAWS * np.cumsum([weight for weight, _ in self.posterior.components])).astype(int)
        for some, (_, one) in zip(np.split(noise, ends[:-1]), self.posterior.components, strict=True):
            mean, covariance = one(x)
            yield mean + some @ symmetric_root(covariance)

    @cached_property
    def success(self) -> Array | None:
        """Samples of the probability that a rollout of each policy passes, (DRAWS, P), each policy alone.

        None if nobody has said what is acceptable.
        """
        if not self.effects.bars:
            return None
        policies = range(len(self.effects.plan.policies))
        return np.column_stack([self._success_of(policy) for policy in policies])

    def _success_of(self, policy: int) -> Array:
        drawn = self._drawn(self.effects.above_bar(policy), np.random.default_rng(SAME_DRAWS))
        passing = [
            ndtr(above / np.sqrt(1 + variance)).mean(axis=1)
            for above, variance in zip(drawn, self.rollout_variances, strict=True)
        ]
        return np.concatenate(passing)

    @cached_property
    def mean(self) -> Array:
        """The expected strengths, (P,), with average 0."""
        mean = np.sum([weight * mean for weight, mean, _ in self._moments], axis=0)
        centered: Array = mean - mean.mean()
        return centered

    @cached_property
    def better(self) -> Array:
        """P(the policy of the row is better than that of the column), (P, P); 1/2 on the diagonal."""
        total = np.zeros((len(self.mean),) * 2)
        for weight, mean, covariance in self._moments:
            variance = _variances_of_differences(covariance)
            total += weight * ndtr((mean[:, None] - mean) / np.sqrt(variance))
        return total

    def log_ratio(self, difference: float) -> Array:
        """log of posterior / prior density that the row's strength is larger by this than the column's."""
        x, candidates = self.effects.policies, self.effects.candidates()
        before = [(one.log_prior, np.zeros(len(x)), self.effects.kernel(one)(x, x)) for one in candidates]
        after = [(np.log(weight), mean, covariance) for weight, mean, covariance in self._moments]
        return _log_density(after, difference) - _log_density(before, difference)


def _log_density(components: Sequence[tuple[float, Array, Array]], difference: float) -> Array:
    """Of the differences of all pairs under a mixture of log weights, means and covariances; (P, P)."""
    total = np.full(components[0][2].shape, -np.inf)
    for log_weight, mean, covariance in components:
        variance = _variances_of_differences(covariance)
        square = (difference - (mean[:, None] - mean)) ** 2 / variance
        total = np.logaddexp(total, log_weight - 0.5 * (square + np.log(2 * np.pi * variance)))
    return total


def _variances_of_differences(covariance: Array) -> Array:
    own = covariance.diagonal()
    found: Array = np.maximum(own[:, None] + own - 2 * covariance, TINY)
    return found


@dataclass(eq=False)
class StrengthFitter:
    """Fits strengths to judgments, and to the labels of the plan, and quickly again as judgments are added.

    The result depends on the judgments alone; what is kept from one fit to the next only saves time.
    """

    plan: ArenaPlan
    _judgments: tuple[Judgment, ...] = ()  # the labels of the plan too
    _average: ModelAverage[Candidate] = field(default_factory=lambda: ModelAverage(NEGLIGIBLE))
    _last: Strengths | None = None

    @cached_property
    def _labels(self) -> tuple[Judgment, ...]:
        return labels_of(self.plan)

    def fit(self, judgments: Sequence[Judgment], also: Sequence[int] = ()) -> Strengths:
        """The strengths after these judgments; `also` are trajectories that may be shown next."""
        given, before = (*self._labels, *judgments), self._judgments
        effects = effects_of(self.plan, given, also)
        if self._last is not None and before == given and self._last.effects >= effects:
            return self._last
        data, alone = effects.comparisons(given), effects.alone(given)
        margin, continued = _learned_margin(effects, data), before == given[: len(before)]
        self._average.begin(len(data), (effects.active, margin), continued)
        averaged = self._average.over(
            {candidate: candidate.log_prior for candidate in effects.candidates()},
            lambda some: {
                one: self._fit(effects, one, with_rollout_noise(data, alone, one), margin) for one in some
            },
        )
        components = tuple((weight, averaged.fits[one].posterior) for one, weight in averaged.weights.items())
        variances = tuple(one.rollout if effects.shown else 0.0 for one in averaged.weights)
        self._judgments = given
        self._last = Strengths(effects, MixturePosterior(components, {}, averaged.log_evidence), variances)
        return self._last

    def _fit(self, effects: Effects, candidate: Candidate, data: Comparisons, margin: float) -> Fit:
        start, kernel = self._average.start(candidate, len(data)), effects.kernel(candidate)
        return infer(kernel, data, Probit(NOISE, margin), start=start, tolerance=TOLERANCE)


def _learned_margin(effects: Effects, data: Comparisons) -> float:
    """The margin in units of an answer's noise: 0 without ties, else the most probable on a grid."""
    if not data.has_ties:
        return 0.0
    kernel = effects.kernel(Candidate.of(TYPICAL, *VARIANCE_RATIOS[:1] * 3))
    return max(MARGINS, key=lambda m: infer(kernel, data, Probit(NOISE, m)).log_evidence)
