"""The best question about a pool, by any acquisition function and for any kind of answer.

A function of the moments of pairs is maximized exactly, or within a tolerance over a large pool; other
scorers by exchanges. A question about several trajectories grows from the best pair, and one about a single
trajectory is the best of them.
"""

from collections.abc import Iterable
from math import comb
from typing import Any

import numpy as np

from prefero._support.arrays import AnyArray, one_thread, to_numpy
from prefero.acquisition import base
from prefero.acquisition.base import AnyAcquisitionFunction, Scorer, acquisition_named, generator
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.scorers import scorer_of
from prefero.acquisition.searches.exact import exact_search
from prefero.acquisition.searches.exchange import exchange_search
from prefero.acquisition.searches.incumbent import NothingLeftError
from prefero.acquisition.searches.items import best_item
from prefero.acquisition.searches.large_pools import ClusterSearch, suits
from prefero.acquisition.searches.sets import best_set
from prefero.models.posterior.gaussian import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, items_of
from prefero.trajectories.features import feature_matrix

DEFAULT = "mutual-information"
TOLERANCE = 0.005  # of the value: how much better another question about a large pool may be


@one_thread
def best_question(
    belief: Distribution,
    pool: Pool | AnyArray,
    *,
    acquisition: AnyAcquisitionFunction | str = DEFAULT,
    kind: Kind = "pair",
    exclude: Iterable[tuple[int, ...]] = (),
    answered: Iterable[tuple[int, ...]] = (),
    tile: int | None = None,
    tolerance: float = TOLERANCE,
) -> Question:
    """The best question about a pool, or a good one.

    A function of the moments of pairs, such as "mutual-information" or your own, is maximized over all
    M (M - 1) / 2 pairs. The question's `optimality_gap` says whether it is the best exactly, or how much
    better another may be. It is exact for pools of up to 2000 trajectories, and for one Gaussian. Of equally
    good pairs, the one with the smallest indices is chosen then. Other functions, and questions about more
    than two trajectories, are searched without a proof.

    Args:
        belief: The posterior over rewards.
        pool: A `Pool` gives its features in the units that the belief was fitted with, scaled or raw. An
            array (M, d) is taken to be in these units already; its library and device decide where the work
            is done: NumPy here, torch on a GPU.
        acquisition: What is best: "mutual-information", "predictive-information", "best-information",
            "expected-utility", "knowledge-gradient", "thompson-duel", another registered name, or an
            `AcquisitionFunction` or `PoolAcquisitionFunction` of your own.
        kind: Of the answer. A function of the moments of pairs scores "pair" and "strength" only, and others
            are refused. Of several trajectories, "best-information", "knowledge-gradient" and
            "thompson-duel" take the expected utility of the best of them.
        exclude: Trajectories that are not asked about together.
        answered: Trajectories that were asked about together; "best-information", and questions about one
            trajectory, ask about others while there are any.
        tile: How many rows the exact search works on at once; None chooses.
        tolerance: A fraction of the value by which another question about a large pool may be better under a
            mixture; with 0 the search is exact, and takes longer.

    Returns:
        The question, with its value and unit.

    Raises:
        ValueError: If the function scores no questions of this kind, or nothing is left to ask.
    """
    if not hasattr(belief, "components"):
        raise TypeError(
            f"wanted a belief about rewards, as model.posterior_ or learner.belief(), but got {belief!r}"
        )
    x, count = _features_of(belief, pool), items_of(kind)
    excluded = _checked(exclude, x.shape[0], kind, tile)
    known, function = pool if isinstance(pool, Pool) else to_numpy(x), acquisition_named(acquisition)
    scorer = scorer_of(function, belief, known, kind)
    if count == 1:
        others = Excluded([*excluded.sets, *(items for items in answered if len(items) == 1)])
        return best_item(scorer, x.shape[0], excluded, others, generator(belief, x.shape[0]), kind)
    if kind == "pair":
        return _best_pair(
            scorer, belief, x, _without_answered(excluded, answered, scorer, x), tile, tolerance
        )
    in_pairs = scorer_of(function, belief, known, "pair")
    pairs = _without_answered(excluded if count == 2 else Excluded(), answered, in_pairs, x)
    pair = _best_pair(in_pairs, belief, x, pairs, tile, tolerance)
    if count == 2:
        return Question(*pair.items, value=scorer.value(pair.items), unit=scorer.unit, kind=kind)
    size = x.shape[0]
    items = best_set(scorer, pair.items, count, size, excluded, generator(belief, size))
    return Question(*items, value=scorer.value(items), unit=scorer.unit, kind=kind)


def _best_pair(
    scorer: Scorer, belief: Distribution, x: AnyArray, excluded: Excluded, tile: int | None, tolerance: float
) -> Question:
    """By the search that suits the scorer."""
    size, function = x.shape[0], scorer.moments
    if len(excluded.of_size(2)) >= comb(size, 2):
        raise NothingLeftError
    proposals = scorer.proposals()
    if proposals is not None:
        pair = next(sorted(pair) for pair in proposals if pair not in excluded)
        return Question(*pair, value=scorer.value(pair), unit=scorer.unit)
    if function is None:
        return exchange_search(scorer, size, excluded, generator(belief, size))
    if tolerance > 0.0 and tile is None and size > base.LARGE_POOL and suits(function, belief):
        return ClusterSearch(tolerance, scorer, function, belief, x, excluded).run()
    return exact_search(scorer, function, belief, x, excluded, tile)


def _without_answered(
    excluded: Excluded, answered: Iterable[tuple[int, ...]], scorer: Scorer, x: AnyArray
) -> Excluded:
    """What is excluded, and also what was answered if the scorer avoids that and other pairs are left."""
    avoided = excluded | answered if scorer.avoids_answered else excluded
    return avoided if len(avoided.of_size(2)) < comb(x.shape[0], 2) else excluded


def _features_of(belief: Distribution, pool: Any) -> AnyArray:
    if isinstance(pool, Pool):
        return pool.features_for(belief)
    return feature_matrix(pool) if isinstance(pool, list | np.ndarray) else pool


def _checked(exclude: Iterable[tuple[int, ...]], size: int, kind: Kind, tile: int | None) -> Excluded:
    """What is excluded, after checking that there is something to ask about."""
    excluded, count = Excluded(exclude), items_of(kind)
    if size < count:
        wanted = "a question needs two trajectories" if count == 2 else f"{kind!r} needs {count} trajectories"
        raise ValueError(f"{wanted}, but the pool has {size}")
    if not all(0 <= item < size for items in excluded.sets for item in items):
        raise ValueError(f"excluded pairs must be of trajectories 0 to {size - 1}, but are {list(exclude)}")
    if tile is not None and tile < 1:
        raise ValueError(f"tile must be 1 or more, but is {tile}")
    return excluded
