"""Functions, files and judges of other packages, and the pairs that judges are asked about."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judges.conformance import check_judge
from prefero import Pool, worlds
from prefero.judges import (
    Budget,
    Judge,
    JudgedPairs,
    JudgeError,
    Verdict,
    judge_named,
    judge_pairs,
    read_judgements,
    spread_pairs,
    write_judgements,
)
from prefero.judges.function import FunctionJudge, ShownTrajectory
from support.install_package import install_package

X = np.random.default_rng(1).normal(size=(30, 2))
POOL = Pool(X, ["speed", "jerk"], ids=[f"episode {number}" for number in range(30)])
PAIRS = spread_pairs(POOL, 10)


def judged(function: Callable[[Any, Any], object], **options: Any) -> JudgedPairs:
    return judge_pairs(POOL, FunctionJudge(function), PAIRS, progress=False, **options)


def faster(left: ShownTrajectory, right: ShownTrajectory) -> float:
    return left.features["speed"] - right.features["speed"]


# --- pairs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "count"), [(200, 60), (40, 60), (5, 10), (3, 60), (2, 1)])
def test_pairs_are_different_and_spread_over_the_pool(size: int, count: int) -> None:
    pool = Pool(np.random.default_rng(2).normal(size=(size, 2)))
    pairs = spread_pairs(pool, count)
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == min(count, size * (size - 1) // 2)
    assert all(left != right for left, right in pairs)
    uses = np.bincount(np.ravel(pairs), minlength=size)
    if size >= 2 * count:
        assert uses.max() == 1
    assert spread_pairs(pool, count) == pairs


# --- functions --------------------------------------------------------------------------------------------


def test_a_function_says_by_how_much_the_left_one_is_better() -> None:
    found = judged(faster)
    assert found.judgements.judge == "faster"
    assert (found.judgements.better[:, 0] > found.judgements.worse[:, 0]).all()
    assert found.calls == 2 * len(PAIRS)


@pytest.mark.parametrize(
    ("said", "choice"),
    [
        ("left", "left"),
        ("right", "right"),
        ("equal", "equal"),
        (2, "left"),
        (np.float64(-1), "right"),
        (0.0, "equal"),
    ],
)
def test_what_a_function_may_return(said: object, choice: str) -> None:
    assert FunctionJudge(lambda *_: said).judge(POOL, 0, 1).choice == choice


def test_a_function_is_a_judge_as_all_are() -> None:
    check_judge(FunctionJudge(faster), POOL)


def test_a_function_may_not_know() -> None:
    with pytest.raises(JudgeError, match="10 times it could not say"):
        judged(lambda *_: None)


def test_a_function_that_fails_or_returns_something_else_is_named() -> None:
    def fails(left: ShownTrajectory, right: ShownTrajectory) -> float:
        return left.features["weight"] - right.features["weight"]

    with pytest.raises(
        JudgeError, match=r"fails fails about episode \d+ and episode \d+: KeyError\('weight'\)"
    ):
        judged(fails)
    with pytest.raises(JudgeError, match="returned 'better'"):
        judged(lambda *_: "better")


def test_a_function_sees_frames_of_a_world() -> None:
    pool = Pool.simulate(worlds.make("driver"), 3, progress=False)

    def earliest(left: ShownTrajectory, right: ShownTrajectory) -> str:
        assert [frame.seconds for frame in left.frames(3)] == [0.0, 2.5, 5.0]
        assert left.frames(2)[1].image.shape == right.frames(2)[1].image.shape
        return "left" if left.number < right.number else "right"

    found = judge_pairs(pool, FunctionJudge(earliest), [(2, 0)], progress=False)
    assert [pair.choice for pair in found.pairs] == ["right"]


def test_a_function_is_named_by_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_judge.py").write_text(
        "def shorter(left, right):\n    return right.features['speed']\n", encoding="utf-8"
    )
    monkeypatch.chdir(tmp_path)
    assert judge_named("own_judge:shorter").judge(POOL, 0, 1).choice in ("left", "right")
    with pytest.raises(ValueError, match="own_judge:longer"):
        judge_named("own_judge:longer")


def test_a_budget_of_calls_holds_for_functions_too() -> None:
    found = judged(faster, budget=Budget(calls=7))
    assert (found.calls, len(found.pairs)) == (7, 3)
    assert "the budget of 7 calls is spent" in found.stopped


# --- files ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", [".jsonl", ".csv"])
def test_a_file_says_what_its_judges_said(tmp_path: Path, suffix: str) -> None:
    first, second = judged(faster), judge_pairs(POOL, FunctionJudge(min), [], progress=False)
    path = tmp_path / f"said{suffix}"
    write_judgements(path, POOL, [first, second])
    (read,) = read_judgements(path, POOL)
    assert read.judgements.judge == "faster"
    for name in ("better", "worse", "tied"):
        assert np.array_equal(getattr(read.judgements, name), getattr(first.judgements, name))
    assert [(p.left, p.right, p.choice) for p in read.pairs] == [
        (p.left, p.right, p.choice) for p in first.pairs
    ]


def test_a_file_with_features_is_about_another_pool_too(tmp_path: Path) -> None:
    path = tmp_path / "said.jsonl"
    found = judged(faster)
    write_judgements(path, POOL, [found])
    (read,) = read_judgements(path, Pool(X[:2, ::-1], ["jerk", "speed"]))
    assert np.array_equal(read.judgements.better, found.judgements.better[:, ::-1])
    with pytest.raises(ValueError, match="judges other trajectories, such as episode"):
        read_judgements(path, Pool(X, ["a", "b"]))


def test_a_file_by_hand_needs_three_columns(tmp_path: Path) -> None:
    path = tmp_path / "friend.csv"
    path.write_text(
        "left,right,choice\nepisode 3,episode 4,right\nepisode 3,episode 99,left\n", encoding="utf-8"
    )
    (read,) = read_judgements(path, POOL)
    assert read.judgements.judge == "friend"
    assert np.array_equal(read.judgements.better, X[[4]])
    assert "1 pairs of" in read.stopped


@pytest.mark.parametrize("value", ['"fast"', "null", "[1]", "NaN", "{}"])
def test_features_that_are_no_numbers_are_left_out(tmp_path: Path, value: str) -> None:
    path = tmp_path / "said.jsonl"
    write_judgements(path, POOL, [judged(faster)])
    lines = path.read_text(encoding="utf-8").splitlines()
    row = json.loads(lines[0])
    broken = json.dumps(row).replace(json.dumps(row["left_features"]["speed"]), value, 1)
    path.write_text("\n".join([broken, *lines[1:]]), encoding="utf-8")
    (read,) = read_judgements(path, POOL)
    assert (len(read.judgements), read.wanted) == (len(PAIRS) - 1, len(PAIRS))


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.jsonl", '{"left": "1"}\n', "line 1 of .* is no object with left, right, choice"),
        ("a.jsonl", "nonsense\n", "line 1 of"),
        (
            "a.jsonl",
            json.dumps({"left": 1, "right": 2, "choice": "both"}),
            "a choice is left, right or equal",
        ),
        ("a.csv", "left,right\n1,2\n", "has no column 'choice'"),
        ("a.csv", "left,right,choice\n", "has no judgements"),
    ],
)
def test_files_that_are_something_else(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        read_judgements(tmp_path / name, POOL)
    with pytest.raises(FileNotFoundError, match="no such file"):
        read_judgements(tmp_path / "b.csv", POOL)


# --- judges of other packages -----------------------------------------------------------------------------

CODE = """
from prefero.judges import Judge, Verdict


class Longest(Judge):
    both_orders = False

    def __init__(self, address, task, trust):
        self.name, self.address, self.task = "longest", address, task

    def judge(self, pool, left, right):
        return Verdict("left" if pool.features[left, 0] > pool.features[right, 0] else "right", self.task)
"""


@pytest.mark.parametrize(("typed", "address"), [("longest", ""), ("longest=tcp://here", "tcp://here")])
def test_a_package_may_bring_a_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, address: str
) -> None:
    points = {"prefero.judges": {"longest": "own_judges:Longest"}}
    install_package(tmp_path, monkeypatch, "own_judges", CODE, points)
    judge: Any = judge_named(typed, "go far")
    assert judge.address == address
    check_judge(judge, POOL)
    found = judge_pairs(POOL, judge, PAIRS, progress=False)
    assert (found.judgements.better[:, 0] > found.judgements.worse[:, 0]).all()
    assert found.calls == len(PAIRS)


def test_a_judge_that_is_told_of_a_pair_twice_is_asked_twice() -> None:
    class Counts(Judge):
        name, asked = "counts", 0

        def judge(self, pool: Pool, left: int, right: int) -> Verdict:  # noqa: ARG002
            self.asked += 1
            return Verdict("left")

    judge = Counts()
    found = judge_pairs(POOL, judge, [(0, 1)], progress=False)
    assert (judge.asked, found.contradicting, found.judgements.tied.tolist()) == (2, 1, [True])
