"""Questions, answers, and the comparisons made of them."""

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero.questions import CHOICES, Answer, Comparisons, PairChoice, Question
from prefero.questions.comparisons import pair_indices

ITEMS = np.arange(10.0).reshape(5, 2)
SWAPPED: dict[PairChoice, PairChoice] = {"left": "right", "right": "left", "equal": "equal"}

indices = st.integers(0, 10**9)
different = st.lists(indices, min_size=2, max_size=4, unique=True)
pairs = st.lists(st.integers(0, 4), min_size=2, max_size=2, unique=True)


def test_a_question_keeps_its_items_value_unit_and_number() -> None:
    question = Question(3, 1, value=0.5, unit="utility", number=7)
    assert (question.items, question.left, question.right) == ((3, 1), 3, 1)
    assert (question.value, question.unit, question.number) == (0.5, "utility", 7)


def test_the_value_of_a_question_is_unknown_unless_given() -> None:
    assert np.isnan(Question(0, 1).value)
    assert (Question(0, 1).unit, Question(0, 1).number) == ("bits", 0)


@given(items=different, value=st.floats(-1e9, 1e9), number=st.integers(0, 1000))
def test_a_question_has_any_number_of_items(items: list[int], value: float, number: int) -> None:
    question = Question(*items, value=value, number=number)
    assert question.items == tuple(items)
    assert Question(*np.array(items)).items == tuple(items)
    assert all(type(item) is int for item in Question(*np.array(items)).items)
    for same in (deepcopy(question), pickle.loads(pickle.dumps(question)), eval(repr(question))):
        assert (same, same.value, same.unit) == (question, question.value, question.unit)


@given(items=different, number=st.integers(0, 1000))
def test_questions_are_equal_whatever_their_value(items: list[int], number: int) -> None:
    question = Question(*items, number=number)
    assert question == Question(*items, value=0.3, unit="utility", number=number)
    assert hash(question) == hash(Question(*items, value=0.3, number=number))
    assert question != Question(*reversed(items), number=number)
    assert question != Question(*items, max(items) + 1, number=number)
    assert question != Question(*items, number=number + 1)
    assert question.numbered(number + 1) == Question(*items, number=number + 1)


def test_another_number_keeps_the_rest() -> None:
    again = Question(3, 1, value=0.5, unit="utility").numbered(4)
    assert (again.items, again.value, again.unit, again.number) == ((3, 1), 0.5, "utility", 4)


def test_a_question_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Question(0, 1).value = 1.0  # type: ignore[misc]


@given(items=different, place=st.integers(0, 7))
def test_the_items_of_a_question_are_different(items: list[int], place: int) -> None:
    again = items[place % len(items)]
    with pytest.raises(ValueError, match=f"trajectory {again} .*with itself"):
        Question(*items, again)


def test_a_question_needs_an_item_and_one_alone_is_labelled() -> None:
    with pytest.raises(ValueError, match="needs a trajectory, or several"):
        Question()
    assert Question(4).kind == "success"
    with pytest.raises(ValueError, match="'pair' asks about 2 trajectories, not 1"):
        Question(4, kind="pair")


@pytest.mark.parametrize("bad", [-1, 0.0, "0", None, True])
def test_an_item_is_an_index(bad: Any) -> None:
    with pytest.raises(ValueError, match="index, a whole number from 0"):
        Question(1, bad)


@given(items=different.filter(lambda items: len(items) > 2))
def test_only_pairs_have_sides_and_answers(items: list[int]) -> None:
    question = Question(*items)
    for side in ("left", "right"):
        with pytest.raises(ValueError, match=f"two .* a {side} one, .*items"):
            getattr(question, side)
    with pytest.raises(ValueError, match="this is 'left'"):
        Answer(question, "left")


def test_there_are_three_choices() -> None:
    assert CHOICES == ("left", "right", "equal")


@pytest.mark.parametrize(("choice", "pair"), [("left", (3, 1)), ("right", (1, 3)), ("equal", (3, 1))])
def test_the_winner_of_an_answer_comes_first(choice: PairChoice, pair: tuple[int, int]) -> None:
    assert Answer(Question(3, 1), choice).pair == pair


@given(items=pairs, choice=st.sampled_from(CHOICES))
def test_swapping_sides_and_answer_is_the_same_comparison(items: list[int], choice: PairChoice) -> None:
    answer = Answer(Question(*items), choice)
    swapped = Answer(Question(*reversed(items)), SWAPPED[choice])
    assert set(swapped.pair) == set(answer.pair)
    assert choice == "equal" or swapped.pair == answer.pair
    one, other = (Comparisons.from_answers(ITEMS, [a]) for a in (answer, swapped))
    np.testing.assert_array_equal(one.tied, other.tied)
    sign = -1.0 if choice == "equal" else 1.0
    np.testing.assert_array_equal(one.winners - one.losers, sign * (other.winners - other.losers))


@pytest.mark.parametrize("bad", ["", "Left", "both", None, 0])
def test_an_unknown_choice_is_refused(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"'left', 'right' or 'equal'"):
        Answer(Question(0, 1), bad)


def test_no_comparisons_are_none() -> None:
    data = Comparisons.none(3)
    assert len(data) == 0
    assert data.winners.shape == data.losers.shape == (0, 3)
    assert not data.has_ties


def test_comparisons_hold_the_features_of_winner_and_loser() -> None:
    data = Comparisons.of(ITEMS, [[3, 1], [0, 4]])
    np.testing.assert_array_equal(data.winners, ITEMS[[3, 0]])
    np.testing.assert_array_equal(data.losers, ITEMS[[1, 4]])
    np.testing.assert_array_equal(data.tied, [False, False])
    assert len(data) == 2
    assert not data.has_ties


def test_ties_come_after_the_pairs() -> None:
    data = Comparisons.of(ITEMS, [[3, 1]], ties=[[0, 4], [2, 1]])
    np.testing.assert_array_equal(data.tied, [False, True, True])
    np.testing.assert_array_equal(data.winners[1:], ITEMS[[0, 2]])
    assert data.has_ties


def test_there_may_be_only_ties_and_no_answers_at_all() -> None:
    assert Comparisons.of(ITEMS, [], ties=[[0, 1]]).has_ties
    assert len(Comparisons.of(ITEMS, [])) == 0
    assert len(Comparisons.of(ITEMS, np.empty((0, 2), dtype=int), ties=[])) == 0


def test_answers_become_comparisons_in_their_order() -> None:
    choices: list[PairChoice] = ["left", "equal", "right"]
    answers = [Answer(Question(i, i + 1), choice) for i, choice in enumerate(choices)]
    data = Comparisons.from_answers(ITEMS, answers)
    np.testing.assert_array_equal(data.winners, ITEMS[[0, 1, 3]])
    np.testing.assert_array_equal(data.losers, ITEMS[[1, 2, 2]])
    np.testing.assert_array_equal(data.tied, [False, True, False])


def test_answers_and_pairs_say_the_same() -> None:
    answers = [
        Answer(Question(0, 1), "left"),
        Answer(Question(2, 3), "right"),
        Answer(Question(4, 0), "equal"),
    ]
    of_answers = Comparisons.from_answers(ITEMS, answers)
    of_pairs = Comparisons.of(ITEMS, [[0, 1], [3, 2]], ties=[[4, 0]])
    for name in ("winners", "losers", "tied"):
        np.testing.assert_array_equal(getattr(of_answers, name), getattr(of_pairs, name))


def test_no_answers_become_no_comparisons() -> None:
    data = Comparisons.from_answers(ITEMS, [])
    assert data.winners.shape == (0, 2)
    assert data.tied.dtype == np.bool_


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_indices_may_be_of_any_integer_type(dtype: type[np.integer[Any]]) -> None:
    indices = pair_indices(np.array([[0, 1], [4, 2]], dtype=dtype), 5, "pairs")
    assert indices.dtype == np.intp
    np.testing.assert_array_equal(indices, [[0, 1], [4, 2]])


@pytest.mark.parametrize(
    "bad", [[0, 1], [[0, 1, 2]], [[0.0, 1.0]], [[True, False]], [[[0, 1]]], [["0", "1"]], 3]
)
def test_indices_must_be_rows_of_two_integers(bad: Any) -> None:
    with pytest.raises(ValueError, match=r"pairs must be an \(N, 2\) array"):
        pair_indices(bad, 5, "pairs")


@pytest.mark.parametrize("bad", [[0, 5], [-1, 2], [0, 2**40]])
def test_indices_must_point_into_the_pool_and_the_row_is_named(bad: list[int]) -> None:
    with pytest.raises(ValueError, match=r"ties .*items 0 to 4, .*row 1 is \["):
        pair_indices([[0, 1], bad], 5, "ties")


def test_a_row_that_compares_an_item_with_itself_is_named() -> None:
    with pytest.raises(ValueError, match="row 2 of pairs compares item 3 with itself"):
        pair_indices([[0, 1], [1, 2], [3, 3]], 5, "pairs")


def test_comparisons_name_the_argument_that_was_wrong() -> None:
    with pytest.raises(ValueError, match=r"pairs .*items 0 to 4"):
        Comparisons.of(ITEMS, [[0, 9]])
    with pytest.raises(ValueError, match=r"ties .*items 0 to 4"):
        Comparisons.of(ITEMS, [[0, 1]], ties=[[0, 9]])
