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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import ndtr

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import PairMoments
from prefero.acquisition.exchange_search import SearchedAcquisition, features_of
from prefero.acquisition.plausible_best import by_promise, optimistic, promising
from prefero.acquisition.projection import Projection, moments_of, projections
from prefero.models.likelihood import SQRT_2PI
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool

REPORTED = 1000  # trajectories that may be reported: in a larger pool, the most promising ones
BLOCK = 256  # questions that are scored at once


@dataclass(frozen=True)
class KnowledgeGradient(SearchedAcquisition):
    """How much better the trajectory that is reported as best is expected to be after the answer."""

    unit: ClassVar[str] = "utility"

    def _scorers(self, belief: Distribution, pool: Pool | Array) -> Callable[[Indices], "_Scorer"]:
        """Scorers of questions by the mean rewards after each of their answers."""
        x = features_of(belief, pool)
        reported = x[np.sort(by_promise(belief, x)[:REPORTED])]
        return lambda considered: _Scorer.of(belief, x[considered], considered, reported)

    def _considered(self, belief: Distribution, x: Array, rng: np.random.Generator) -> Indices:
        """Of a large pool, the most promising trajectories and some random ones."""
        return promising(belief, x, rng)


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


@dataclass(frozen=True, eq=False)
class _Scorer:
    """Scores questions about the considered trajectories of a pool; a place is an index into these."""

    considered: Indices
    priority: Array
    views: list[Projection]
    reported: list[_Reported]

    @classmethod
    def of(cls, belief: Distribution, x: Array, considered: Indices, reported: Array) -> "_Scorer":
        views = projections(belief, x)
        seen = [_Reported.of(r, v) for r, v in zip(projections(belief, reported), views, strict=True)]
        return cls(considered, optimistic(belief, x), views, seen)

    def moments(self, places: Indices) -> list[PairMoments]:
        """Means and variances of the questions' rewards under every component."""
        return moments_of(self.views, places)

    def estimates(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """The scores: they are cheap enough."""
        return self.scores(moments, places)

    def scores(self, moments: Sequence[PairMoments], places: Indices) -> Array:
        """The knowledge gradient of the questions."""
        now = np.max(sum(p.weight * at.mean for p, at in zip(moments, self.reported, strict=True)))
        answers = list(zip(*(_answers(part) for part in moments), strict=True))
        blocks = [slice(at, at + BLOCK) for at in range(0, len(places), BLOCK)]
        after = [sum(self._best_after(answer, places, block) for answer in answers) for block in blocks]
        return np.maximum(np.concatenate([np.empty(0), *after]) - now, 0.0)

    def _best_after(self, answer: Sequence["_AnswerMoments"], places: Indices, block: slice) -> Array:
        """P(y) max_x E[f(x) | y] of a block of questions."""
        a, b = places[block].T
        total = np.zeros((len(self.reported[0].mean), len(a)))
        for (probability, slope), at in zip(answer, self.reported, strict=True):
            total += np.outer(at.mean, probability[block])
            if at.covariance is not None:
                total += slope[block] * (at.covariance[:, a] - at.covariance[:, b])
        best: Array = total.max(axis=0)
        return best


class _AnswerMoments(NamedTuple):
    """One answer to the questions under one component, multiplied by its weight."""

    probability: Array  # (Q,)
    slope: Array  # (Q,) of the probability by the gap


def _answers(part: PairMoments) -> list[_AnswerMoments]:
    """A, B and, with a margin, "about equal"."""
    probit, root = part.probit, np.sqrt(part.gap_variance + part.probit.scale**2)
    chosen = []
    for sign in (1.0, -1.0):
        z = (sign * part.gap - probit.margin) / root
        slope = sign * (1.0 - probit.lapse) * np.exp(-0.5 * z * z) / (SQRT_2PI * root)
        chosen.append(_AnswerMoments(part.weight * probit.with_lapses(ndtr(z)), part.weight * slope))
    if not probit.margin:
        return chosen
    first, second = chosen
    equal = part.weight - first.probability - second.probability
    return [first, second, _AnswerMoments(equal, -first.slope - second.slope)]
