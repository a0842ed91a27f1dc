"""How many questions were the best ones, counted and in words."""

from collections import Counter
from dataclasses import replace

import pytest

from prefero.studies.log.event_log import Selection
from prefero.studies.log.selections import selection_counts, selection_sentence
from prefero.studies.storage.store import Store
from studies.fake_study import answer, invited, study_of


def test_tests_and_retests_are_not_counted(store: Store) -> None:
    person = invited(store, "P1", study_of(store, "first"))
    for _ in range(4):
        answer(store, person, "left")
    log = store.event_log(person)
    selections: list[Selection] = ["best", "quick", "best", "random"]
    methods = ["A", "A", "test", "A"]
    questions = tuple(
        replace(asked, selection=selection, method=method)
        for asked, selection, method in zip(log.questions, selections, methods, strict=True)
    )
    changed = replace(log, questions=questions)
    assert selection_counts([changed, changed]) == {"best": 2, "quick": 2, "random": 2}


@pytest.mark.parametrize(
    ("counts", "wanted"),
    [
        ({}, ""),
        ({"best": 1}, "Of 1 question that methods chose, all were the best ones."),
        (
            {"best": 9, "quick": 1},
            "Of 10 questions that methods chose, 9 were the best ones (90%); where these were not ready in "
            "time, the participants got others (1 quick).",
        ),
        ({"by-hand": 1}, "1 question was chosen by hand."),
        (
            {"best": 2, "by-hand": 3},
            "Of 2 questions that methods chose, all were the best ones. 3 questions were chosen by hand.",
        ),
    ],
)
def test_the_sentence(counts: dict[str, int], wanted: str) -> None:
    assert selection_sentence(Counter(counts)) == wanted
    assert "2 quick and 3 random" in selection_sentence(Counter(best=1, quick=2, random=3))
