"""Labels that exist already: which values are which levels, and what is an error."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero import Labels
from prefero.questions.answer import LABELS
from prefero.questions.labels import MOST_LEVELS, count_evidence, warn_about

numbers = st.lists(
    st.one_of(st.none(), st.integers(-40, 40), st.floats(-5, 5).map(lambda x: round(x, 1))), min_size=2
)


def level(labels: Labels) -> dict[int, int]:
    """The level of each labelled trajectory, from 0."""
    places = (
        {"fail": 0, "pass": 1} if labels.kind == "success" else {str(i + 1): i for i in range(MOST_LEVELS)}
    )
    return {item: places[choice] for item, choice in zip(labels.items, labels.choices, strict=True)}


@pytest.mark.parametrize(
    "values",
    [
        [True, False, None],
        np.array([1.0, 0.0, np.nan]),
        [1, 0, ""],
        ["true", "False", "nan"],
        ["PASS", "fail", " "],
        [np.True_, np.False_, None],
        ["1.0", "0", None],
    ],
)
def test_flags_are_successes_and_failures(values: list[object]) -> None:
    labels = Labels.of(values, "flag")
    assert (labels.kind, labels.items, labels.choices) == ("success", (0, 1), ("pass", "fail"))
    assert labels.describe() == "2 labels of flag: 1 pass, 1 fail"


def test_few_numbers_are_levels_and_two_are_a_failure_and_a_success() -> None:
    stars = Labels.of([5, 3, 4, 3, np.nan], "stars")
    assert (stars.kind, stars.choices, stars.words) == ("rate-3", ("3", "1", "2", "1"), ("3", "4", "5"))
    assert stars.describe() == "4 labels of stars in 3 levels: 5 (1), 4 (1), 3 (2)"
    two = Labels.of([5, 3, 3])
    assert (two.kind, two.choices) == ("success", ("pass", "fail", "fail"))


def test_texts_take_the_order_that_is_given_and_levels_nobody_used_are_said() -> None:
    labels = Labels.of(["Good", "bad", None], "grade", order=["bad", "okay", "good"])
    assert (labels.kind, labels.choices) == ("rate-3", ("3", "1"))
    assert labels.describe() == "2 labels of grade in 3 levels: good (1), okay (0), bad (1)"


@given(numbers, st.one_of(st.none(), st.integers(2, MOST_LEVELS)))
def test_levels_follow_the_order_of_the_numbers(values: list[float | None], wanted: int | None) -> None:
    known = {item: value for item, value in enumerate(values) if value is not None}
    if len(set(known.values())) < 2:
        return
    flags = set(known.values()) <= {0, 1}
    labels = Labels.of(values, levels=wanted)
    found = level(labels)
    assert list(found) == list(known)  # missing stay missing
    for one in known:
        for other in known:
            if known[one] == known[other]:
                assert found[one] == found[other]
            if found[one] < found[other]:
                assert known[one] < known[other]
    assert set(found.values()) == set(range(len(labels.words)))  # each level is used
    different = len(set(known.values()))
    assert flags or len(labels.words) == (different if different <= (wanted or MOST_LEVELS) else wanted or 5)


@given(st.integers(8, 300), st.integers(2, MOST_LEVELS))
def test_different_numbers_are_cut_into_equal_shares(count: int, wanted: int) -> None:
    shares = Labels.of(np.random.default_rng(0).permutation(count), levels=wanted).counts.values()
    assert max(shares) - min(shares) <= 1
    assert sum(shares) == count


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([None, np.nan, ""], {}, "'c' has no label: all 3 values are missing"),
        (["bad", "okay", "good"], {}, r"texts without an order \('bad', 'good', 'okay'\).*--label-order"),
        (
            ["bad", "okay", "good"],
            {"order": ["bad", "good"]},
            "does not have all labels of 'c': 'okay' is missing",
        ),
        (["a"], {"order": list("abcdefgh")}, "names 2 to 7 different ones"),
        (["a"], {"order": ["a", "A"]}, "names 2 to 7 different ones"),
        ([3.0, 3.0], {}, "every label of 'c' is 3, and nothing says whether that is good"),
        ([1, 2, 3], {"levels": 8}, "2 to 7 levels, but 8"),
        (["bad", 3], {}, "texts without an order"),
    ],
)
def test_what_is_no_label_is_an_error(values: list[object], options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Labels.of(values, "c", **options)  # type: ignore[arg-type]


def test_all_the_same_is_taken_with_a_word() -> None:
    labels = Labels.of([True, True], "flag")
    assert labels.choices == ("pass", "pass")
    with pytest.warns(
        UserWarning, match="every label of flag is pass: .* nothing about which trajectory is better"
    ):
        warn_about(labels)


def test_several_labels_of_one_trajectory_all_count() -> None:
    labels = Labels.of([True, False, True], "flag", items=[4, 4, 2])
    assert (labels.items, labels.contradictions) == ((4, 4, 2), (4,))
    with pytest.warns(UserWarning, match="different labels of flag, which all count: e"):
        warn_about(labels, list("abcdef"))


def test_labels_are_answers_of_their_own_source() -> None:
    answers = Labels.of([True, None, False]).answers("ann")
    assert [(a.question.items, a.choice, a.person, a.source) for a in answers] == [
        ((0,), "pass", "ann", LABELS),
        ((2,), "fail", "ann", LABELS),
    ]


def test_selected_rows_have_their_labels() -> None:
    labels = Labels.of([1, 2, 3, 1], "stars")
    some = labels.rows([3, 1])
    assert (some.items, some.choices, some.kind) == ((1, 0), ("2", "1"), "rate-3")
    assert labels.rows([]).describe().startswith("0 labels of stars")


def test_json_gives_the_same_labels_and_nonsense_is_refused() -> None:
    labels = Labels.of(np.arange(30) % 11, "score")
    assert Labels.from_json(labels.to_json()) == labels
    for change in ({"kind": "pair"}, {"choices": ["9"] * 30}, {"items": [-1] * 30}, {"words": ["a"]}):
        with pytest.raises(ValueError, match=r"success|answer is|index|words"):
            Labels.from_json(labels.to_json() | change)


def test_evidence_in_words() -> None:
    assert [count_evidence(*pair) for pair in ((1, 0), (12, 250), (0, 1), (0, 0))] == [
        "1 answer",
        "12 answers and 250 labels",
        "1 label",
        "0 answers",
    ]
