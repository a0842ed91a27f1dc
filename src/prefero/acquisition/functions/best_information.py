"""Information about the best: what the answer to a question tells about which trajectory is best.

    d_q              difference of the rewards of a question
    d_t              of a target: of a trajectory that may be the best, and the one reported as best
    explained        the variance of d_q that d_t explains, Cov[d_q, d_t]^2 / Var[d_t]
    k                component of the mixture

Draws from the posterior say which trajectories may be the best. The targets are these, each against the
trajectory with the largest posterior mean, which would be reported as best now. They are drawn in proportion
to the regret: by how much the draw's best trajectory is better than the reported one. So a structure under
which little can be gained has little influence on the questions, however probable it is.

An answer y is worth what it tells about the differences of the targets, and about the component,

    I(y; d_t, k) = H(y) - sum_k w_k E[h(y | d_t, k)],

averaged over the targets. Given d_t and k the person sees d_q with a noise of variance
2 noise^2 + Var[d_q] - explained, so the expectation is that of mutual information with a larger noise. It is
taken as if the person had to choose one of the two: "about equal" does not count as an answer.

The expected utility of the best option (EUBO) is added with a small weight, so that of questions that tell as
much the one with the better trajectories is asked. A question that was answered is not asked again while
there are others: a second answer would tell most about the person's noise.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments, Scorer, features_of, generator
from prefero.acquisition.entropy import GaussianSum, entropy_bound, entropy_terms, two_answers
from prefero.acquisition.functions.expected_utility import ExpectedUtility, utility_scorer
from prefero.acquisition.label_scorers import target_label_scorer
from prefero.acquisition.plausible_best import by_promise, draw_best, promising
from prefero.acquisition.target_scorer import TargetScorer
from prefero.acquisition.targets import TargetQuestions
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, items_of

DRAWS = 200  # from the posterior
TARGETS = 100  # drawn from the best trajectories of these
ESTIMATED = 4  # of so many targets, one is used for estimates
UTILITY_WEIGHT = 0.1


@dataclass(frozen=True)
class BestInformation:
    """Information about which trajectory is best: finds the best trajectory soon.

    Args:
        utility_weight: With which the expected utility of the best option (EUBO) is added.
    """

    utility_weight: float = UTILITY_WEIGHT
    unit: ClassVar[str] = "bits"

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs and labels by what they tell about what may beat the reported trajectory, sets by EUBO."""
        x = features_of(belief, pool)
        if items_of(kind) > 1 and kind != "pair":
            return utility_scorer(belief, x, kind)
        targets = TargetQuestions.of(x, pairs_of_best(belief, x, generator(belief, len(x))))
        if kind != "pair":
            return target_label_scorer(belief, x, kind, targets, 0.0)
        now = float(belief.marginals(x)[0].max())

        def bonus(moments: Sequence[PairMoments]) -> Array:
            return np.asarray(self.utility_weight * (ExpectedUtility().score(moments) - now))

        return _BestScorer(belief=belief, x=x, targets=targets, bonus=bonus)


def pairs_of_best(belief: Distribution, x: Array, rng: np.random.Generator) -> Indices:
    """Targets, (T, 2): the best of draws, in proportion to the regret, and the reported trajectory."""
    reported, best, regret = draw_best(belief, x, DRAWS, rng)
    if not regret.any():  # nothing is better in any draw: the most promising of the others
        promise = by_promise(belief, x)
        return np.array([[promise[promise != reported][0], reported]])
    others = rng.choice(best, TARGETS, p=regret / regret.sum())
    return np.column_stack([others, np.full(TARGETS, reported)])


class _BestScorer(TargetScorer):
    """Scores pairs by the information about the differences of targets."""

    avoids_answered = True

    def considered(self, _: int, rng: np.random.Generator) -> Indices:
        """Of a large pool, the most promising trajectories and some random ones."""
        return promising(self.belief, self.x, rng)

    def priority(self, _: Indices) -> Array:
        """Trajectories that may be good first: mean and two standard deviations, averaged over components."""
        each = (view.component.weight * (view.mean + 2.0 * np.sqrt(view.variance)) for view in self.views)
        return np.asarray(sum(each))

    def _estimates(self, places: Indices) -> Array:
        """About the scores: by some of the targets, with one Gaussian for the entropy of an answer."""
        return self._by_targets(places, _one_gaussian, slice(None, None, ESTIMATED))

    def _scores(self, places: Indices) -> Array:
        """The information about the targets, and the bonus."""
        return self._by_targets(places, two_answers, slice(None))

    def _by_targets(self, places: Indices, entropy: Callable[[float], GaussianSum], some: slice) -> Array:
        moments = self._moments(places)
        first, remains = np.zeros(len(places)), np.zeros(len(places))
        for pairs, at in zip(moments, self.about_targets, strict=True):
            root = at.roots[:, some]
            explained = (root[places[:, 0]] - root[places[:, 1]]) ** 2
            first += pairs.weight * pairs.probit.forced.probabilities(pairs.gap, pairs.gap_variance)[0]
            remains += pairs.weight * _remaining(pairs, explained, entropy(pairs.probit.lapse)).mean(axis=1)
        information = entropy_terms(first) + entropy_terms(1.0 - first) - remains
        return np.asarray(np.maximum(information, 0.0) + self.bonus(moments))


def _remaining(pairs: PairMoments, explained: Array, entropy: GaussianSum) -> Array:
    """The entropy of the answers that is left if the targets' differences are known, (Q, T)."""
    variance = pairs.gap_variance[:, None]
    explained = np.minimum(explained, variance)
    noise = pairs.probit.scale**2 + variance - explained
    left: Array = entropy.expectation(pairs.gap[:, None] / np.sqrt(noise), explained / noise)
    return left


def _one_gaussian(lapse: float) -> GaussianSum:
    constant, variance = entropy_bound(lapse)
    return GaussianSum((1.0 - constant,), (0.0,), (variance,), constant)
