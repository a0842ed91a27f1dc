"""How long answers take: usual times, a person's pace, and their own times by kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero.questions import Answer, Question
from prefero.questions.answer_kinds import AUTO_KINDS, allowed_kinds
from prefero.questions.answer_times import AnswerTimes, usual_seconds


def pairs(*seconds: float | None) -> list[Answer]:
    return [Answer(Question(0, 1), "left", seconds=one) for one in seconds]


def test_usual_times_are_those_of_watching_and_of_the_bits() -> None:
    assert usual_seconds("pair") == pytest.approx(6.0)
    assert usual_seconds("success") == pytest.approx(4.0)
    assert usual_seconds("rate-4") == pytest.approx(6.0)
    assert usual_seconds("best-of-4") == pytest.approx(12.0)


def test_nobody_knows_a_person_before_the_first_answer() -> None:
    times = AnswerTimes.of(pairs(None))
    assert times.pace == 1.0
    assert times.expected("rate-5") == pytest.approx(usual_seconds("rate-5"))


@given(st.floats(0.3, 30.0), st.integers(1, 40))
def test_many_answers_outweigh_what_is_usual(seconds: float, count: int) -> None:
    times = AnswerTimes.of(pairs(*[seconds] * count))
    low, high = sorted([seconds, usual_seconds("pair")])
    assert low * (1 - 1e-9) <= times.expected("pair") <= high * (1 + 1e-9)
    if count == 40:
        assert times.expected("pair") == pytest.approx(seconds, rel=0.05)


def test_who_is_slow_at_one_kind_is_expected_to_be_slow_at_others() -> None:
    times = AnswerTimes.of(pairs(*[18.0] * 30))
    assert times.expected("rate-5") == pytest.approx(2.7 * usual_seconds("rate-5"), rel=0.1)


def test_several_kinds_may_be_allowed() -> None:
    assert allowed_kinds("auto") == AUTO_KINDS
    assert allowed_kinds("rate-5") == ("rate-5",)
    assert allowed_kinds("pair, rate-5,pair") == allowed_kinds(["pair", "rate-5"]) == ("pair", "rate-5")
    with pytest.raises(ValueError, match="no answer kind 'stars'"):
        allowed_kinds("pair,stars")
    with pytest.raises(ValueError, match="at least one kind"):
        allowed_kinds([])
