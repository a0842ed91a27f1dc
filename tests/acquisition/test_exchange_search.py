"""The exchange search and its runners-up, with scores from a table instead of a model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.arrays import Array, Indices
from prefero.acquisition import exchange_search
from prefero.acquisition.exchange_search import ExchangeSearch
from prefero.acquisition.runners_up import collected_runners_up, offer_runners_up
from prefero.questions import Question

seeds = st.integers(0, 10_000)


class TableScorer:
    """The value of a question is in a table; it counts the pairs that were scored."""

    def __init__(self, seed: int, size: int = 90) -> None:
        table = np.random.default_rng(seed).random((size, size))
        self.table, self.considered = table + table.T, np.arange(size)
        self.priority = self.table.sum(axis=0)
        self.looks: list[set[tuple[int, ...]]] = []

    def moments(self, _: Indices) -> list[Any]:
        return []

    def estimates(self, _: Sequence[Any], places: Indices) -> Array:
        return np.asarray(self.table[places[:, 0], places[:, 1]])

    def scores(self, moments: Sequence[Any], places: Indices) -> Array:
        self.looks.append({tuple(sorted(pair)) for pair in places.tolist()})
        return self.estimates(moments, places)


def with_every_exchange(scorer: TableScorer) -> tuple[float, set[int]]:
    """The same search by hand, which looks at every exchange whether it knows the outcome or not."""
    search = ExchangeSearch(scorer, (), np.random.default_rng(0))
    search._look_at(search._sample())
    for exchange in range(exchange_search.EXCHANGES):
        search._look_at(search._with_one_side(search.pair[exchange % 2]))
    return search.value, set(search.pair)


@pytest.mark.rounding
@given(seeds)
def test_no_exchange_is_looked_at_twice_and_the_question_is_the_same(seed: int) -> None:
    scorer = TableScorer(seed)
    question = ExchangeSearch(scorer, (), np.random.default_rng(0)).run("bits")
    assert (question.value, set(question.items)) == with_every_exchange(TableScorer(seed))
    exchanges = [frozenset(look) for look in scorer.looks[1:]]
    assert len(set(exchanges)) == len(exchanges)


@pytest.mark.rounding
@given(seeds)
def test_runners_up_are_the_best_scored_questions_without_common_trajectories(seed: int) -> None:
    scorer = TableScorer(seed)
    with collected_runners_up(4) as found:
        best = ExchangeSearch(scorer, (), np.random.default_rng(0)).run("bits")
    assert len(found) == 4
    items = [item for question in (best, *found) for item in question.items]
    assert len(set(items)) == len(items)
    values = [question.value for question in (best, *found)]
    assert values == sorted(values, reverse=True)
    scored = set.union(*scorer.looks)
    for question in found:
        assert question.items in scored
        assert question.value == scorer.table[question.items]
    free = [scorer.table[pair] for pair in scored if not set(pair) & set(best.items)]
    assert found[0].value == max(free)


def test_nobody_need_collect_runners_up() -> None:
    question = Question(0, 1, value=1.0)
    pairs, values = np.array([[2, 3], [0, 4]]), np.array([0.5, 0.9])
    offer_runners_up(question, [(pairs, values)])
    with collected_runners_up(2) as found:
        offer_runners_up(question, [])
        assert found == []
        offer_runners_up(question, [(pairs, values)])
    assert [one.items for one in found] == [(2, 3)]
    with pytest.raises(ZeroDivisionError), collected_runners_up(2) as outer:
        raise ZeroDivisionError
    offer_runners_up(question, [(pairs, values)])
    assert outer == []
