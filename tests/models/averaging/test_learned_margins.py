"""Margins are learned at milestones, from the answers alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero.models.averaging import learned_margins
from prefero.models.averaging.learned_margins import MILESTONES, LearnedMargins
from prefero.models.averaging.milestones import last_milestone
from prefero.models.averaging.reference import Reference
from prefero.models.averaging.structures import Margins, ModelSettings
from prefero.questions import Comparisons

RNG = np.random.default_rng(0)
WINNERS, LOSERS = RNG.standard_normal((2, 40, 2))
TIED = RNG.random(40) < 0.3
TIED[:5] = False


def first(answers: int) -> Comparisons:
    return Comparisons(WINNERS[:answers], LOSERS[:answers], TIED[:answers])


def margins() -> LearnedMargins:
    return LearnedMargins(ModelSettings(Reference.of(WINNERS), None, None, "ep"))


@given(answers=st.integers(1, 10**6))
def test_a_milestone_is_at_most_an_eighth_of_the_answers_ago(answers: int) -> None:
    last = last_milestone(answers, *MILESTONES)
    assert last is not None
    assert last <= answers < last + max(last // 8, 1)
    assert last_milestone(last, *MILESTONES) == last


def test_before_the_first_milestone_there_is_none() -> None:
    assert last_milestone(9, 10, 2) is None
    assert [last_milestone(answers, 10, 2) for answers in (10, 14, 15, 22)] == [10, 10, 15, 22]


def test_one_more_answer_learns_nothing_anew_between_milestones(monkeypatch: pytest.MonkeyPatch) -> None:
    learned = []
    whole = LearnedMargins._learned

    def counted(self: LearnedMargins, data: Comparisons) -> Margins:
        learned.append(len(data))
        return whole(self, data)

    monkeypatch.setattr(learned_margins.LearnedMargins, "_learned", counted)
    told, alone = margins(), {}
    for answers in range(30, 41):
        alone[answers] = told.of(first(answers))
    assert learned == [30, 33, 37]
    assert alone[40] == margins().of(first(40)) == margins().of(first(37))


def test_the_first_tie_is_not_ignored() -> None:
    tie = int(np.flatnonzero(TIED)[0]) + 1
    assert margins().of(first(tie - 1)) == Margins()
    assert margins().of(first(tie)).equal > 0.0
