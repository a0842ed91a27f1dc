"""The kinds of answers and the words for their choices."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero.questions.answer_kinds import (
    ANSWER_KINDS,
    Kind,
    canonical,
    choices_of,
    default_kind,
    items_of,
    kind_named,
)
from prefero.questions.kinds.rank import ranking_of, ranking_word
from questions.conformance import check_answer_kind

COUNTS = {
    "pair": 3,
    "strength": 5,
    "best-of-4": 4,
    "worst-of-5": 5,
    "rank-3": 13,
    "rank-4": 75,
    "rank-5": 541,
}


@pytest.mark.parametrize("kind", ANSWER_KINDS.names())
def test_every_choice_of_a_kind_is_another_word_and_canonical(kind: Kind) -> None:
    choices = choices_of(kind)
    assert len(set(choices)) == len(choices) == COUNTS.get(kind, len(choices))
    assert all(canonical(kind, choice) == choice for choice in choices)
    assert set(choices_of(kind, ties=False)) <= set(choices)


@pytest.mark.parametrize(("kind", "strict"), [("rank-3", 6), ("rank-4", 24), ("pair", 2), ("strength", 4)])
def test_without_ties_there_are_as_many_answers_as_orders(kind: Kind, strict: int) -> None:
    assert len(choices_of(kind, ties=False)) == strict


@given(st.permutations([0, 1, 2, 3]), st.lists(st.sampled_from(">="), min_size=3, max_size=3))
def test_a_ranking_is_read_as_it_was_written(order: list[int], signs: list[str]) -> None:
    word = str(order[0] + 1) + "".join(s + str(i + 1) for s, i in zip(signs, order[1:], strict=True))
    groups = ranking_of(word)
    assert canonical("rank-4", word) == ranking_word(groups)
    assert ranking_of(ranking_word(groups)) == groups
    assert len(groups) == 1 + signs.count(">")


@pytest.mark.parametrize("word", ["", "1>1>2", "2>3", "1>x>2", "1>2>4", "left"])
def test_what_is_no_ranking_is_refused(word: str) -> None:
    with pytest.raises(ValueError, match=r"ranking names .*once"):
        canonical("rank-3", word)


def test_a_ranking_of_fewer_trajectories_is_refused() -> None:
    with pytest.raises(ValueError, match="rank the 4 trajectories"):
        canonical("rank-4", "2>1>3")


@pytest.mark.parametrize(("kind", "choice"), [("pair", "1"), ("best-of-3", "4"), ("strength", "left")])
def test_a_choice_of_another_kind_is_refused(kind: Kind, choice: str) -> None:
    with pytest.raises(ValueError, match="skip it"):
        canonical(kind, choice)


def test_kinds_know_their_form_and_number_of_items() -> None:
    found = [(kind_named(kind).form, items_of(kind)) for kind in ANSWER_KINDS.names()[:4]]
    assert found == [("pair", 2), ("strength", 2), ("best", 3), ("best", 4)]
    assert (default_kind(2), default_kind(3), kind_named("rank-4").form) == ("pair", "best-of-3", "rank")


@pytest.mark.parametrize("kind", ANSWER_KINDS.names())
def test_every_kind_conforms(kind: Kind) -> None:
    check_answer_kind(kind_named(kind))


def test_the_page_has_a_file_for_what_is_asked() -> None:
    folder = Path(__file__).parents[2] / "web" / "src" / "compare" / "kinds"
    assert {file.stem for file in folder.iterdir()} == {kind_named(kind).form for kind in ANSWER_KINDS}


def test_an_unknown_kind_names_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=r"no answer kind 'rank-9'.*pair, strength"):
        kind_named("rank-9")
    with pytest.raises(ValueError, match=r"1 to 5 trajectories, .*6"):
        default_kind(6)
