"""The knowledge gradient: how much better the trajectory reported as best is expected to be after the answer.

After an answer y the trajectory with the largest posterior mean is reported. The knowledge gradient of a
question (Frazier, Powell & Dayanik, 2009) is

    sum_y P(y) max_x E[f(x) | y]  -  max_x E[f(x)].

No posterior is fitted for it: under one component, with d ~ N(gap, gap_variance) the difference of the
question and P(y) a function of the gap, Stein's lemma gives the mean after an answer exactly,

    P(y) E[f(x) | y] = P(y) E[f(x)] + Cov[f(x), d] dP(y)/dgap,

and a mixture averages both sides, with the weights before the answer: P(y) on the left is then that of the
mixture, so that the components that foresaw the answer count for more.

    reported   (R, d)   trajectories that may be reported: the pool, or of a large one the most promising
    mean       (R,)     E[f(x)] of these, under one component
    covariance (R, M)   of their rewards with those of the considered trajectories
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero._support.parallel import chunks_of
from prefero.acquisition.base import PairMoments, Scorer, features_of
from prefero.acquisition.functions.expected_utility import utility_scorer
from prefero.acquisition.plausible_best import by_promise, optimistic, promising
from prefero.acquisition.projection import Projection, projections
from prefero.acquisition.scorers import PoolScorer
from prefero.models.likelihood.probit import SQRT_2PI
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind

REPORTED = 1000  # trajectories that may be reported: in a larger pool, the most promising ones
TOGETHER = 256  # questions that are scored at once


@dataclass(frozen=True)
class KnowledgeGradient:
    """How much better the trajectory that is reported as best is expected to be after the answer."""

    unit: ClassVar[str] = "utility"

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs by the mean rewards after each of their answers, sets by EUBO."""
        x = features_of(belief, pool)
        if kind != "pair":
            return utility_scorer(belief, x, kind)
        return _GradientScorer(belief=belief, x=x, reported=x[np.sort(by_promise(belief, x)[:REPORTED])])


class _Reported(NamedTuple):
    """Trajectories that may be reported, under one component."""

    mean: Array  # (R,)
    covariance: Array | None  # (R, M) with the considered ones; None where the reward is known

    @classmethod
    def of(cls, reported: Projection, view: Projection) -> "_Reported":
        if view.is_certain:
            return cls(reported.mean, None)
        prior = view.kernel(reported.x, view.x)
        return cls(reported.mean, prior - reported.learned @ view.learned.T)


@dataclass(frozen=True, eq=False, kw_only=True)
class _GradientScorer(PoolScorer):
    """Scores pairs by the knowledge gradient, which is cheap enough to need no estimates.

    Args:
        reported: Trajectories that may be reported, (R, d).
    """

    unit = "utility"
    reported: Array

    @cached_property
    def _reported(self) -> list[_Reported]:
        seen = zip(projections(self.belief, self.reported), self.views, strict=True)
        return [_Reported.of(reported, view) for reported, view in seen]

    def considered(self, _: int, rng: np.random.Generator) -> Indices:
        """Of a large pool, the most promising trajectories and some random ones."""
        return promising(self.belief, self.x, rng)

    def priority(self, considered: Indices) -> Array:
        """Trajectories that may be good first."""
        return optimistic(self.belief, self.x[considered])

    def _scores(self, places: Indices) -> Array:
        moments = self._moments(places)
        now = np.max(sum(p.weight * at.mean for p, at in zip(moments, self._reported, strict=True)))
        answers = list(zip(*(_answers(pairs) for pairs in moments), strict=True))
        after = [
            sum(self._best_after(answer, places, some) for answer in answers)
            for some in chunks_of(len(places), TOGETHER)
        ]
        return np.maximum(np.concatenate([np.empty(0), *after]) - now, 0.0)

    def _best_after(self, answer: Sequence["_AnswerMoments"], places: Indices, some: slice) -> Array:
        """P(y) max_x E[f(x) | y] of some of the questions."""
        a, b = places[some].T
        total = np.zeros((len(self._reported[0].mean), len(a)))
        for (probability, slope), at in zip(answer, self._reported, strict=True):
            total += np.outer(at.mean, probability[some])
            if at.covariance is not None:
                total += slope[some] * (at.covariance[:, a] - at.covariance[:, b])
        best: Array = total.max(axis=0)
        return best


class _AnswerMoments(NamedTuple):
    """One answer to the questions under one component, multiplied by its weight."""

    probability: Array  # (Q,)
    slope: Array  # (Q,) of the probability by the gap


def _answers(pairs: PairMoments) -> list[_AnswerMoments]:
    """A, B and, with a margin, "about equal"."""
    probit, root = pairs.probit, np.sqrt(pairs.gap_variance + pairs.probit.scale**2)
    chosen = []
    for sign in (1.0, -1.0):
        z = (sign * pairs.gap - probit.margin) / root
        slope = sign * (1.0 - probit.lapse) * np.exp(-0.5 * z * z) / (SQRT_2PI * root)
        chosen.append(_AnswerMoments(pairs.weight * probit.with_lapses(ndtr(z)), pairs.weight * slope))
    if not probit.margin:
        return chosen
    first, second = chosen
    equal = pairs.weight - first.probability - second.probability
    return [first, second, _AnswerMoments(equal, -first.slope - second.slope)]
