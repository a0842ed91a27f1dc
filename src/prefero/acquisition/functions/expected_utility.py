"""The expected utility of the best option (EUBO): E[max(f(A), f(B))], in closed form.

With D = f(A) - f(B) ~ N(gap, gap_variance) the larger of two rewards is half their sum and half |D|, and

    E|D| = gap (2 Phi(z) - 1) + 2 sd phi(z),   z = gap / sd,   sd = sqrt(gap_variance).

It needs no model of the answers: what it rewards is that one of the two shown is good. Under a mixture it is
the average over the components. Elementwise, and by the array API standard. Of several trajectories it is the
expected reward of the best of them, by draws, whatever is asked about them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from prefero._support.arrays import AnyArray, Array, Indices, namespace_of, ndtr
from prefero.acquisition.base import PairMoments, Scorer, features_of
from prefero.acquisition.entropy import TINY
from prefero.acquisition.functions.answer_information import AnswerScorer, mean_and_error, precise_draws
from prefero.acquisition.scorers import MomentScorer
from prefero.models.likelihood.probit import SQRT_2PI
from prefero.models.posterior.draws import draw_rewards
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind, default_kind, items_of


@dataclass(frozen=True)
class ExpectedUtility:
    """E[max(f(A), f(B))], the expected utility of the best option (EUBO): finds the best trajectory soon."""

    unit: ClassVar[str] = "utility"

    def scorer(self, belief: Distribution, pool: Pool | Array, kind: Kind) -> Scorer:
        """Pairs by their moments, sets by draws."""
        x = features_of(belief, pool)
        return MomentScorer(self, belief, x) if kind == "pair" else utility_scorer(belief, x, kind)

    def score(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """The expected reward of the better one."""
        total = 0.0
        for component in pairs:
            xp, gap = namespace_of(component.gap_variance), component.gap
            sd = xp.sqrt(xp.clip(component.gap_variance, min=TINY))
            z = gap / sd
            distance = gap * (2.0 * ndtr(z) - 1.0) + 2.0 * sd * xp.exp(-0.5 * z * z) / SQRT_2PI
            total = total + component.weight * 0.5 * (component.left + component.right + distance)
        return total

    def upper_bound(self, pairs: Sequence[PairMoments]) -> AnyArray:
        """With E|D| <= sqrt(E[D^2]) in the place of E|D|."""
        total = 0.0
        for component in pairs:
            xp = namespace_of(component.gap_variance)
            distance = xp.sqrt(xp.clip(component.gap**2 + component.gap_variance, min=0.0))
            total = total + component.weight * 0.5 * (component.left + component.right + distance)
        return total


def utility_scorer(belief: Distribution, x: Array, kind: Kind) -> AnswerScorer:
    """Scores questions about several trajectories by the expected reward of the best of them.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        kind: Of the answers; the utility depends only on how many trajectories are shown.

    Returns:
        The scorer.

    Raises:
        ValueError: If the question shows one trajectory: then there is nothing to choose the best of.
    """
    if items_of(kind) < 2:
        raise ValueError(
            f"{kind!r} is about one trajectory, but this acquisition function compares several: take "
            "'predictive-information', 'mutual-information' or 'best-information'"
        )

    def draw(considered: Indices, draws: int) -> _BestReward:
        drawn = draw_rewards(belief, x[considered], draws)
        return _BestReward(drawn.rewards, drawn.weights)

    return AnswerScorer("utility", default_kind(items_of(kind)), draw, precise_draws(kind))


@dataclass(frozen=True, eq=False)
class _BestReward:
    """Draws of rewards, (S, M), with their weights, (S,)."""

    rewards: Array
    weights: Array

    def values(self, places: Indices, _: Kind) -> Array:
        """The expected largest reward of each set, (Q, k) to (Q,)."""
        best: Array = self.weights @ self.rewards[:, places].max(axis=2)
        return best

    def estimate(self, place: Indices, _: Kind) -> tuple[float, float]:
        """The expected largest reward of one set, and its Monte Carlo standard error."""
        return mean_and_error(self.rewards[:, place].max(axis=1), self.weights)
