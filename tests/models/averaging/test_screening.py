"""Candidates that the first answers rule out are not fitted to all, and the mixture is right without them."""

import numpy as np
import pytest

from prefero.models.averaging import fitter
from prefero.models.averaging.fitter import MixtureFitter
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.screening import Screening, stages
from prefero.models.posterior.mixture import MixturePosterior
from prefero.questions import Comparisons


def test_stages_grow() -> None:
    assert list(stages(1000)) == [64, 160, 400]
    assert list(stages(1001)) == [64, 160, 400, 1000]


def test_who_falls_behind_is_left_out() -> None:
    asked: list[tuple[str, int]] = []
    lines = {"best": -0.1, "close": -0.11, "behind": -0.2, "hopeless": -3.0}  # log weight of each answer

    def log_weight(key: str, answers: int) -> float:
        asked.append((key, answers))
        return lines[key] * answers

    screening: Screening[str] = Screening()
    assert screening.left(list(lines), 1000, log_weight) == ["best", "close"]
    assert ("hopeless", 160) not in asked
    assert ("behind", 400) not in asked
    before = len(asked)
    assert screening.left(list(lines), 1001, log_weight) == ["best", "close"]
    assert asked[before:] == [("best", 1000), ("close", 1000)]  # the first answers are not looked at again


def quadratic_answers(count: int, seed: int = 0) -> Comparisons:
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((2, count, 2))
    won = (a[:, 0] + a[:, 1] ** 2 - b[:, 0] - b[:, 1] ** 2 + 0.3 * rng.standard_normal(count) > 0)[:, None]
    return Comparisons(np.where(won, a, b), np.where(won, b, a), np.zeros(count, dtype=bool))


def many_from(monkeypatch: pytest.MonkeyPatch, answers: int) -> None:
    """Take so many answers for very many."""
    for module in ("averaging.fitter", "inference.low_rank"):
        monkeypatch.setattr(f"prefero.models.{module}.FROM", answers)


def assert_close(found: MixturePosterior, wanted: MixturePosterior) -> None:
    x = np.random.default_rng(1).standard_normal((100, 2))
    (mean, variance), (own, own_variance) = wanted.marginals(x), found.marginals(x)
    assert np.max(np.abs(own - mean) / np.sqrt(variance)) < 0.02
    assert np.max(np.abs(np.sqrt(own_variance / variance) - 1.0)) < 0.02


def test_a_mixture_of_many_answers_is_that_of_the_whole_covariances(monkeypatch: pytest.MonkeyPatch) -> None:
    data = quadratic_answers(90)
    wanted = MixtureFitter(Reference.normal(2), searched=False).fit(data)
    many_from(monkeypatch, 90)
    found = MixtureFitter(Reference.normal(2), searched=False).fit(data)
    assert_close(found, wanted)
    assert found.structures == pytest.approx(wanted.structures, abs=0.01)


def test_one_more_answer_continues_and_agrees_with_a_fit_from_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many_from(monkeypatch, 82)
    data, fitter = quadratic_answers(84), MixtureFitter(Reference.normal(2), searched=False)
    for count in (80, 81, 82, 83):
        fitter.fit(data[:count])
    assert_close(fitter.fit(data), MixtureFitter(Reference.normal(2), searched=False).fit(data))


def test_some_of_the_first_of_many_answers_stay_the_same_until_there_are_half_as_many_more() -> None:
    data = quadratic_answers(3000)
    first = fitter._first_of_many(data[:2600])
    assert len(first) <= 1000
    np.testing.assert_array_equal(first.winners, fitter._first_of_many(data[:2700]).winners)
