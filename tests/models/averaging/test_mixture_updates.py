"""Answers that come one by one, are taken back or changed: the mixture depends on the answers alone."""

from itertools import count

import pytest

from models.answers_of_known_rewards import RIGHT, answers, assert_same, first, fresh, turned
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference


@pytest.mark.parametrize("kind", RIGHT)
def test_answers_one_by_one_give_the_mixture_of_all_at_once(kind: str) -> None:
    data, fitter = answers(kind, 60, seed=0), MixtureFitter(Reference.normal(2))
    for number in range(24):
        grown = fitter.fit(first(data, number))
        if number in (5, 19, 20, 23):
            assert_same(grown, fresh(first(data, number)))


@pytest.mark.parametrize("kind", RIGHT)
def test_answers_taken_back_leave_no_trace(kind: str) -> None:
    data, fitter = answers(kind, 60), MixtureFitter(Reference.normal(2))
    for number in (32, 31, 12, 0):
        assert_same(fitter.fit(first(data, number)), fresh(first(data, number)), 1e-5)


def test_an_answer_changed_is_an_answer_never_given() -> None:
    data, fitter = first(answers("bumpy", 60), 15), MixtureFitter(Reference.normal(2))
    fitter.fit(data)
    for which in (14, 0, 7):
        assert_same(fitter.fit(turned(data, which)), fresh(turned(data, which)), 1e-5)


@pytest.mark.parametrize("back", [19, 20])
def test_answers_taken_back_and_then_changed_leave_no_trace(back: int) -> None:
    data, fitter = first(answers("bumpy", 60), 21), MixtureFitter(Reference.normal(2))
    fitter.fit(data)
    fitter.fit(first(data, back))
    assert_same(fitter.fit(turned(data, 20)), fresh(turned(data, 20)))


def test_with_ties_answers_one_by_one_give_the_mixture_of_all_at_once() -> None:
    data, fitter = answers("linear", 24, margin=0.4), MixtureFitter(Reference.normal(2))
    assert data.has_ties
    for number in range(0, 25, 4):
        grown = fitter.fit(first(data, number))
    assert_same(grown, fresh(data), 1e-5)


def test_a_slow_machine_comes_to_the_same_mixture(monkeypatch: pytest.MonkeyPatch) -> None:
    data = first(answers("bumpy", 60), 20)
    quick = fresh(data)
    clock = count()
    monkeypatch.setattr("prefero.models.inference.evidence.time.monotonic", lambda: 0.4 * next(clock))
    assert_same(fresh(data), quick)
