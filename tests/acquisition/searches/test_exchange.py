"""The exchange search and its runners-up, with scores from a table instead of a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array, Indices
from prefero.acquisition.base import Scorer
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.searches.exchange import EXCHANGES, ExchangeSearch, pairs_with

seeds = st.integers(0, 10_000)
SIZE = 90


class TableScorer(Scorer):
    """The value of a question is in a table; it counts the pairs that were scored."""

    unit = "bits"

    def __init__(self, seed: int) -> None:
        table = np.random.default_rng(seed).random((SIZE, SIZE))
        self.table = table + table.T
        self.looks: list[set[tuple[int, ...]]] = []

    def priority(self, considered: Indices) -> Array:
        return np.asarray(self.table[considered].sum(axis=1))

    def estimates(self, items: Indices) -> Array:
        return np.asarray(self.table[items[:, 0], items[:, 1]])

    def scores(self, items: Indices) -> Array:
        self.looks.append({tuple(sorted(pair)) for pair in items.tolist()})
        return self.estimates(items)


def search_of(scorer: Scorer) -> ExchangeSearch:
    return ExchangeSearch(scorer, np.arange(SIZE), Excluded(), np.random.default_rng(0))


def with_every_exchange(scorer: TableScorer) -> tuple[float, set[int]]:
    """The same search by hand, which looks at every exchange whether it knows the outcome or not."""
    search = search_of(scorer)
    search.look_at(search.sample())
    for exchange in range(EXCHANGES):
        search.look_at(pairs_with(search.best.items[exchange % 2], np.arange(SIZE)))
    return search.best.value, set(search.best.items)


@pytest.mark.rounding
@given(seeds)
def test_no_exchange_is_looked_at_twice_and_the_question_is_the_same(seed: int) -> None:
    scorer = TableScorer(seed)
    question = search_of(scorer).run()
    assert (question.value, set(question.items)) == with_every_exchange(TableScorer(seed))
    exchanges = [frozenset(look) for look in scorer.looks[1:]]
    assert len(set(exchanges)) == len(exchanges)
