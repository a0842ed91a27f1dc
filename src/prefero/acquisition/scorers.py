"""Scorers of questions about a pool: how acquisition functions of either protocol score them."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread, to_numpy
from prefero.acquisition.base import (
    AcquisitionFunction,
    AnyAcquisitionFunction,
    PairMoments,
    Scorer,
    acquisition_named,
    check_answers,
    features_of,
)
from prefero.acquisition.projection import Projection, moments_of, projections
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions.answer_kinds import Kind


class MomentScorer(Scorer):
    """Scores pairs by a function of their moments.

    Args:
        function: The function.
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
    """

    def __init__(self, function: AcquisitionFunction, belief: Distribution, x: Array) -> None:
        self.unit, self.moments, self.function = function.unit, function, function
        self.belief, self.x = belief, x

    def scores(self, items: Indices) -> Array:
        """By the function."""
        used, places = np.unique(items, return_inverse=True)
        moments = moments_of(projections(self.belief, self.x[used]), places.reshape(items.shape))
        return np.broadcast_to(to_numpy(self.function.score(moments)), len(items))


@dataclass(frozen=True, eq=False, kw_only=True)
class PoolScorer(Scorer):
    """Scores questions by what is computed once for all trajectories that they are about.

    A subclass has `_scores`, and perhaps `_estimates`, of places: indices among the prepared trajectories.

    Args:
        belief: The posterior over rewards.
        x: The pool, (M, d), in the units of the belief.
        prepared: Indices of the trajectories; None prepares those that are in the questions, each time.
    """

    belief: Distribution
    x: Array
    prepared: Indices | None = None

    @abstractmethod
    def _scores(self, places: Indices) -> Array: ...

    def _estimates(self, places: Indices) -> Array:
        return self._scores(places)

    def about(self, considered: Indices) -> Self:
        """Prepared for these trajectories."""
        return replace(self, prepared=considered)

    def scores(self, items: Indices) -> Array:
        """The value of each question, (n,)."""
        ready = self._ready(items)
        return ready._scores(ready._places(items))

    def estimates(self, items: Indices) -> Array:
        """Cheap estimates of the scores."""
        ready = self._ready(items)
        return ready._estimates(ready._places(items))

    @property
    def features(self) -> Array:
        """Of the prepared trajectories."""
        return self.x[self.prepared]

    @cached_property
    def views(self) -> list[Projection]:
        """The components of the belief, projected onto the prepared trajectories."""
        return projections(self.belief, self.features)

    def _ready(self, items: Indices) -> Self:
        return self if self.prepared is not None else self.about(np.unique(items))

    def _places(self, items: Indices) -> Indices:
        assert self.prepared is not None
        return places_among(self.prepared, items)

    def _moments(self, places: Indices) -> list[PairMoments]:
        """Means and variances of the rewards of pairs under every component."""
        return moments_of(self.views, places)


def places_among(considered: Indices, items: Indices) -> Indices:
    """Where among the considered trajectories, in whatever order, these are."""
    order = np.argsort(considered, kind="stable")
    return order[np.searchsorted(considered, items, sorter=order)]


def scorer_of(
    function: AnyAcquisitionFunction, belief: Distribution, pool: Pool | Array, kind: Kind
) -> Scorer:
    """What scores questions of a kind by a function of either protocol; an error in words if nothing does."""
    check_answers(function, kind)
    if hasattr(function, "scorer"):
        made: Scorer = function.scorer(belief, pool, kind)
        return made
    return MomentScorer(function, belief, features_of(belief, pool))


@one_thread
def score_questions(
    belief: Distribution,
    pool: Pool | Array,
    items: Indices | Sequence[Sequence[int]],
    *,
    acquisition: AnyAcquisitionFunction | str,
    kind: Kind = "pair",
) -> Array:
    """The value of questions about a pool.

    Args:
        belief: The posterior over rewards.
        pool: The trajectories; an array (M, d) is in the units of the belief.
        items: The questions, as indices of their trajectories, (n, k).
        acquisition: What makes a question good.
        kind: Of the answers.

    Returns:
        The values, (n,).
    """
    return scorer_of(acquisition_named(acquisition), belief, pool, kind).scores(np.asarray(items))
