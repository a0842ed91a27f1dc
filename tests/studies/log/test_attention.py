"""Signs of carelessness: the rules at their thresholds, and simulated participants, careful and careless."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from prefero.questions import PairChoice
from prefero.studies.log.attention import careless_signs, retest_agreements
from prefero.studies.log.event_log import AskedQuestion, Event, EventKind, EventLog

SLOW = 4.0  # seconds


def log_of(*rows: tuple[str, int, int, EventKind, float | None]) -> EventLog:
    """Questions as (method, left, right), and the answer to each with its time."""
    return EventLog(
        tuple(
            AskedQuestion(0, row[0], row[1:3], id=n, number=n, based_on=n - 1, at="")
            for n, row in enumerate(rows, 1)
        ),
        tuple(Event(n, n, 0, row[3], str(n), row[4], "") for n, row in enumerate(rows, 1)),
    )


def answers(choices: str, seconds: float | list[float] = SLOW, retests: str = "") -> EventLog:
    """Answers l, r or e; then retests of the first ones, answered as before (y) or not (n)."""
    words: dict[str, PairChoice] = {"l": "left", "r": "right", "e": "equal"}
    times = [seconds] * len(choices) if isinstance(seconds, float) else seconds
    rows: list[Any] = [
        ("A", 2 * n, 2 * n + 1, words[choice], time)
        for n, (choice, time) in enumerate(zip(choices, times, strict=True))
    ]
    for n, agrees in enumerate(retests):
        same, other = (words[choices[n]], "left" if choices[n] == "r" else "right")
        rows.append(("retest", 2 * n + 1, 2 * n, other if agrees == "y" else same, SLOW))
    return log_of(*rows)


def kinds(log: EventLog) -> list[str]:
    return [sign.kind for sign in careless_signs(log)]


def random_sides(count: int, seed: int = 0) -> str:
    """No pattern: neither rule about sides applies."""
    found = "".join(np.random.default_rng(seed).choice(["l", "r"], count))
    assert kinds(answers(found)) == []
    return found


# --- the rules at their thresholds ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fast", "slow", "found"),
    [(25, 25, ["fast"]), (24, 26, []), (9, 0, []), (10, 0, ["fast"]), (5, 5, ["fast"]), (4, 6, [])],
)
def test_half_of_the_answers_under_a_second_are_a_sign(fast: int, slow: int, found: list[str]) -> None:
    """Spread so that there are never ten in a row where only the share is meant."""
    count = fast + slow
    times = [0.99 if n * fast // count < (n + 1) * fast // count else 1.0 for n in range(count)]
    assert sum(time < 1 for time in times) == fast
    assert kinds(answers(random_sides(count), times)) == found


@pytest.mark.parametrize(("run", "found"), [(9, []), (10, ["fast"])])
def test_ten_fast_answers_in_a_row_are_a_sign(run: int, found: list[str]) -> None:
    assert kinds(answers(random_sides(50), [SLOW] * 20 + [0.5] * run + [SLOW] * (30 - run))) == found


def test_unknown_times_are_left_out() -> None:
    sides: list[PairChoice] = ["left", "right", "right"] * 6
    assert kinds(log_of(*(("A", 2 * n, 2 * n + 1, side, None) for n, side in enumerate(sides)))) == []


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        ("l" * 50, ["one side"]),
        ("r" * 15, ["one side"]),
        ("r" * 14, []),
        ("l" * 9 + "r" + "l" * 9 + "r", ["one side"]),
        ("l" * 9 + "r" + "l" * 8 + "rr", []),
        ("lrrlrllrrl" * 2 + "l" * 15 + "rrlrlrrllr" * 2, ["one side"]),
        ("lrrlrllrr" * 2 + "l" * 14 + "rrlrlrrllr" * 2, []),
        ("l" * 9 + "eeee" + "l" * 6, ["one side"]),
        ("e" * 50, []),
    ],
)
def test_always_the_same_side_is_a_sign(choices: str, found: list[str]) -> None:
    assert kinds(answers(choices)) == found


@pytest.mark.parametrize(
    ("choices", "found"),
    [
        ("lr" * 25, ["alternating"]),
        ("rl" * 8, ["alternating"]),
        ("lr" * 7 + "l", []),
        ("lrlrlrlrl" + "lrlrlrlrl" + "lrl", ["alternating"]),
        ("lrlrlrlrl" + "lrlrlrlrl" + "lr", []),
        ("llrrlrrrll" + "rl" * 8 + "llrrlllrrl", ["alternating"]),
    ],
)
def test_strictly_alternating_sides_are_a_sign(choices: str, found: list[str]) -> None:
    assert kinds(answers(choices)) == found


@pytest.mark.parametrize(
    ("retests", "found"),
    [
        ("", []),
        ("nn", []),
        ("nnn", ["retests"]),
        ("nny", []),
        ("nnnny", ["retests"]),
        ("nnnyy", []),
        ("nnnnnnyyyy", ["retests"]),
        ("nnnnnyyyyy", []),
    ],
)
def test_contradicting_oneself_is_a_sign(retests: str, found: list[str]) -> None:
    """By hand, with agreement in 7 of 10: 0.3^3 = 2.7 %, but 1 of 3 has 21.6 %; 1 of 5 has 3.1 %."""
    assert kinds(answers("lrrlrllrrl" * 2, retests=retests)) == found


def test_a_sign_names_its_numbers() -> None:
    signs = {sign.kind: sign.reason for sign in careless_signs(answers("l" * 50, 0.4, "nnn"))}
    assert signs == {
        "fast": "50 of 53 answers came in less than 1 s",
        "one side": "53 of 53 answers prefer A",
        "retests": "3 of 3 repeated questions were answered otherwise than before",
    }
    (sign,) = careless_signs(answers("lr" * 10 + "rr" + "lr"))
    assert sign.reason == "21 of 23 answers prefer the other side than the one before, 19 of them in a row"


def test_an_undone_answer_does_not_count() -> None:
    log = answers("l" * 15)
    assert kinds(log) == ["one side"]
    assert kinds(log.with_event(Event(99, 15, 1, "undo", "u", None, ""))) == []


# --- simulated participants -------------------------------------------------------------------------------


def simulated(rng: np.random.Generator, kind: str, questions: int = 50, retests: int = 3) -> EventLog:
    """Careful ones take about 4 seconds, and agree with themselves in 85 % of retests."""
    chosen = {
        "alternates": "lr" * questions,
        "one side": "r" * questions,
    }.get(kind) or "".join(rng.choice(["l", "r"], questions))
    median, agreement = (0.6, 0.5) if kind == "hurries" else (4.0, 0.85)
    seconds = median * np.exp(0.6 * rng.standard_normal(questions))
    agrees = "".join("y" if rng.random() < agreement else "n" for _ in range(retests))
    return answers(chosen[:questions], [float(time) for time in seconds], agrees)


@pytest.mark.parametrize("questions", [15, 50, 100])
def test_careful_participants_are_seldom_flagged(questions: int) -> None:
    rng = np.random.default_rng(questions)
    found = Counter(bool(kinds(simulated(rng, "careful", questions))) for _ in range(400))
    assert found[True] <= 8  # 2 %; the rate is 0.3 to 1 %


@pytest.mark.parametrize(
    ("kind", "sign"), [("hurries", "fast"), ("alternates", "alternating"), ("one side", "one side")]
)
def test_careless_participants_are_flagged(kind: str, sign: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        assert sign in kinds(simulated(rng, kind))


# --- labels -----------------------------------------------------------------------------------------------


def labels(levels: str, kind: str = "rate-5", retests: str = "") -> EventLog:
    """A level for each of several trajectories; then for the first ones again."""
    log = EventLog()
    said = [("A", item, level) for item, level in enumerate(levels)]
    said += [("retest", item, level) for item, level in enumerate(retests)]
    for number, (method, item, level) in enumerate(said, 1):
        asked = AskedQuestion(
            number - 1, method, (item,), kind=kind, id=number, number=number, based_on=number - 1, at=""
        )
        event = Event(number, number, 0, level, f"key {number}", SLOW, "")
        log = log.with_question(asked).with_event(event)
    return log


@pytest.mark.parametrize(
    ("levels", "found"),
    [("4" * 14, []), ("4" * 15, ["one level"]), ("12345" * 4, []), ("12345" + "3" * 15, ["one level"])],
)
def test_always_the_same_level_is_a_sign(levels: str, found: list[str]) -> None:
    assert kinds(labels(levels)) == found


def test_a_neighbor_among_five_levels_agrees_and_among_three_it_does_not() -> None:
    assert retest_agreements(labels("135", retests="225")) == [True, True, True]
    assert retest_agreements(labels("135", retests="353")) == [False, False, False]
    assert retest_agreements(labels("123", "rate-3", retests="223")) == [False, True, True]


# --- retests ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "agreed"),
    [
        ([("A", 1, 2, "left")], []),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "right")], [True]),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "left")], [False]),
        ([("A", 1, 2, "equal"), ("retest", 2, 1, "equal")], [True]),
        ([("A", 1, 2, "equal"), ("retest", 2, 1, "left")], [False]),
        (
            [("A", 1, 2, "left"), ("B", 3, 4, "right"), ("retest", 4, 3, "left"), ("retest", 2, 1, "left")],
            [True, False],
        ),
        ([("A", 1, 2, "left"), ("B", 2, 1, "left")], []),
        ([("A", 1, 2, "left"), ("B", 2, 1, "left"), ("retest", 2, 1, "right")], [True]),
        ([("A", 1, 2, "left"), ("retest", 2, 1, "skip")], []),
    ],
)
def test_a_retest_agrees_if_the_same_trajectory_is_preferred(rows: Any, agreed: list[bool]) -> None:
    assert retest_agreements(log_of(*((*row, SLOW) for row in rows))) == agreed
