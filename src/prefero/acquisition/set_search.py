"""A question about several trajectories: from the best pair, by adding and exchanging trajectories.

    considered   (M,)   trajectories that may be added: of a large pool a part, always with the best pair

The information of the best of k decides while the search adds and exchanges. For rankings, whose information
takes much longer to compute, it is a shortlist: the last exchanges are decided by the ranking's own.
"""

from collections.abc import Iterable

import numpy as np

from prefero._support.arrays import Array, Indices, one_thread
from prefero._support.ordering import exceeds, first_largest, largest_first
from prefero.acquisition.answer_information import (
    AnswerInformation,
    check_scored,
    estimated_information,
    information_of,
    scores_answers,
)
from prefero.acquisition.base import AnyAcquisitionFunction
from prefero.acquisition.exchange_search import features_of, generator
from prefero.acquisition.pool_search import best_question
from prefero.models.posterior import Distribution
from prefero.pools.pool import Pool
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, default_kind, form_of, items_of

CONSIDERED = 100
DRAWS = 120  # while searching
RANKING_DRAWS = 60
SHORTLIST = 6  # sets whose information as rankings is compared
EXCHANGES = 2  # times that every trajectory of the set is exchanged, if that helps


@one_thread
def best_set(
    belief: Distribution,
    pool: Pool,
    kind: Kind,
    acquisition: AnyAcquisitionFunction,
    exclude: Iterable[tuple[int, ...]] = (),
) -> Question:
    """A good question of a kind.

    Args:
        belief: The posterior over rewards.
        pool: What it is about.
        kind: Of the answer.
        acquisition: What makes a question good. Of several trajectories, predictive information and mutual
            information are computed for the whole answer; functions that look for the best trajectory become
            the expected utility of the best option shown; others score pairs only (`check_scored`).
        exclude: Trajectories that are not asked about together.

    Returns:
        The question, with its value and unit.
    """
    check_scored(acquisition, kind)
    count, excluded = items_of(kind), {frozenset(items) for items in exclude}
    if len(pool) < count:
        raise ValueError(f"{kind!r} needs {count} trajectories, but the pool has {len(pool)}")
    pairs = [(min(items), max(items)) for items in excluded if len(items) == 2] if count == 2 else []
    pair = best_question(belief, pool, acquisition=acquisition, exclude=pairs)
    if count == 2:
        value = pair.value
        if scores_answers(acquisition):
            value = float(information_of(belief, pool, np.array([pair.items]), kind, acquisition)[0])
        return Question(*pair.items, value=value, unit=pair.unit, kind=kind)
    search = _SetSearch(belief, pool, pair.items, acquisition, excluded)
    found = search.run(count, kind)
    value, _ = estimated_information(belief, pool, found, kind, acquisition)
    return Question(*found, value=max(value, 0.0), unit=search.scorer.unit, kind=kind)


class _SetSearch:
    """The search for one set."""

    def __init__(
        self,
        belief: Distribution,
        pool: Pool,
        pair: tuple[int, ...],
        acquisition: AnyAcquisitionFunction,
        excluded: set[frozenset[int]],
    ) -> None:
        size = len(features_of(belief, pool))
        rng = generator(belief, size)
        others = rng.permutation(np.setdiff1d(np.arange(size), pair))[: CONSIDERED - 2]
        self.considered = np.concatenate([np.array(pair), others])
        self.scorer = AnswerInformation.of(belief, pool, self.considered, acquisition, DRAWS)
        self.precise = AnswerInformation.of(belief, pool, self.considered, acquisition, RANKING_DRAWS)
        self.excluded = excluded

    def run(self, count: int, kind: Kind) -> tuple[int, ...]:
        """The set found, as indices of the pool."""
        places: tuple[int, ...] = (0, 1)
        while len(places) < count:
            places = self._best([(*places, other) for other in self._others(places)])[0]
        ranked = [places]
        for _ in range(EXCHANGES):
            exchanged = self._best([new for at in range(count) for new in self._exchanged(places, at)])
            ranked = [*exchanged, *ranked]
            if not exceeds(*self._values([exchanged[0], places])):
                break
            places = exchanged[0]
        if form_of(kind) == "rank" and not self.scorer.utility:
            shortlist = list(dict.fromkeys([places, *ranked]))[:SHORTLIST]
            places = shortlist[first_largest(self.precise.values(np.array(shortlist), kind))]
        return tuple(int(item) for item in self.considered[list(places)])

    def _others(self, places: tuple[int, ...]) -> list[int]:
        return [place for place in range(len(self.considered)) if place not in places]

    def _exchanged(self, places: tuple[int, ...], at: int) -> list[tuple[int, ...]]:
        """The same set with another trajectory in one place."""
        return [(*places[:at], other, *places[at + 1 :]) for other in self._others(places)] + [places]

    def _values(self, sets: list[tuple[int, ...]]) -> Array:
        places: Indices = np.array(sets)
        values = self.scorer.values(places, default_kind(places.shape[1]))
        asked = [frozenset(self.considered[one].tolist()) in self.excluded for one in places]
        return np.where(asked, -np.inf, values)

    def _best(self, sets: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
        """The best few of some sets, the best first."""
        return [sets[i] for i in largest_first(self._values(sets), SHORTLIST)]
