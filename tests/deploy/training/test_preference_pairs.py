"""Preference pairs: the trajectories of answered questions, in files and for the package imitation."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from prefero import FeatureOptions, Learner, Pool, PreferenceGP, Question
from prefero._support.arrays import Array
from prefero.datasets import Episode, extract_features, open_dataset
from prefero.deploy.training.preference_pairs import (
    PairedTrajectory,
    PreferencePair,
    fragment,
    preference_pairs,
    read_pairs,
    to_imitation,
    write_pairs,
)
from prefero.kernels import Anchored, Linear

STEPS, WINDOW = 12, 5
STATES: Array = np.cumsum(np.random.default_rng(0).normal(size=(6, STEPS, 2)), axis=1)
ACTIONS: Array = np.random.default_rng(1).normal(size=(6, STEPS, 1))


def walks(tmp_path: Path) -> Path:
    np.savez(tmp_path / "walks.npz", states=STATES, actions=ACTIONS, step_seconds=0.1, state_names=["x", "y"])
    return tmp_path / "walks.npz"


def taught(pool: Pool) -> Learner:
    learner = Learner(
        pool, model=PreferenceGP(Anchored(Linear(), (0.0,) * len(pool.names)), noise=0.5, learn=False)
    )
    learner.tell(Question(0, 1), "left")
    learner.tell(Question(2, 3), "right")
    learner.tell(Question(4, 1), "equal")
    return learner


def pairs_of(path: Path, options: FeatureOptions) -> tuple[Learner, list[PreferencePair]]:
    learner = taught(Pool.from_table(path, options))
    dataset = open_dataset(path)
    return learner, preference_pairs(learner.answers, learner.reward(), learner.pool, dataset, "anna")


def test_pairs_have_the_states_and_actions_of_both_trajectories(tmp_path: Path) -> None:
    learner, pairs = pairs_of(walks(tmp_path), FeatureOptions(["final", "path-length"]))
    assert [(p.left.episode.id, p.right.episode.id) for p in pairs] == [("0", "1"), ("2", "3"), ("4", "1")]
    np.testing.assert_array_equal(pairs[1].right.episode.states, STATES[3])
    np.testing.assert_array_equal(pairs[0].left.episode.actions, ACTIONS[0])
    assert [pair.preference for pair in pairs] == [1.0, 0.0, 0.5]
    assert {pair.who for pair in pairs} == {"anna"}
    f = learner.pool.features
    expected = learner.reward().predict_proba(f[[0, 2, 4]], f[[1, 3, 1]])
    assert pairs[0].strength == pytest.approx(expected[0])
    assert pairs[1].strength == pytest.approx(1 - expected[1])
    assert pairs[2].strength == pytest.approx(1 - abs(2 * expected[2] - 1))
    assert pairs[0].strength > 0.5


def test_windows_are_parts_of_their_episodes(tmp_path: Path) -> None:
    path = walks(tmp_path)
    options = FeatureOptions(["final", "path-length"], window=WINDOW, stride=7)
    _, pairs = pairs_of(path, options)
    assert [pairs[0].left.episode.id, pairs[0].right.episode.id] == ["0[0:5]", "0[7:12]"]
    np.testing.assert_array_equal(pairs[0].right.episode.states, STATES[0, 7:12])
    assert (pairs[0].left.terminal, pairs[0].right.terminal) == (False, True)
    table = extract_features(open_dataset(path), options)
    table.save(tmp_path / "features.parquet")  # a table of features leads to its dataset
    learner = taught(Pool.from_table(tmp_path / "features.parquet"))
    opened = open_dataset(tmp_path / "features.parquet")
    again = preference_pairs(learner.answers, learner.reward(), learner.pool, opened)
    np.testing.assert_array_equal(again[0].right.episode.states, STATES[0, 7:12])


def test_files_have_everything(tmp_path: Path) -> None:
    _, pairs = pairs_of(walks(tmp_path), FeatureOptions(["final", "path-length"]))
    pairs[1] = replace(pairs[1], because="path-length")
    write_pairs(tmp_path / "out" / "pairs.jsonl", pairs)
    assert [pair.because for pair in read_pairs(tmp_path / "out" / "pairs.jsonl")] == ["", "path-length", ""]
    lines = (tmp_path / "out" / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["choice"] for row in rows] == ["left", "right", "equal"]
    assert rows[0]["left"]["states"] == STATES[0].tolist()
    assert rows[0]["right"]["rewards"] is None
    assert rows[0]["left"]["state_names"] == ["x", "y"]
    write_pairs(tmp_path / "pairs.parquet", pairs)
    table = pq.read_table(tmp_path / "pairs.parquet").to_pylist()
    for row, column in zip(rows, table, strict=True):
        assert column["left_states"] == row["left"]["states"]
        assert column["right_id"] == row["right"]["id"]
        assert (column["strength"], column["who"]) == (row["strength"], "anna")
        assert column["because"] == row["because"]


def test_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.jsonl or \.parquet, .*pairs\.pkl"):
        write_pairs("pairs.pkl", [])
    path = walks(tmp_path)
    learner = taught(Pool.from_table(path, ["final", "path-length"]))
    np.savez(tmp_path / "features.npz", features=learner.pool.features)
    table, reward = open_dataset(tmp_path / "features.npz"), learner.reward()
    with pytest.raises(ValueError, match="no states"):
        preference_pairs(learner.answers, reward, learner.pool, table)
    other = Pool(learner.pool.features, learner.pool.names, ids=list("abcdef"))
    with pytest.raises(ValueError, match=r"walks .*no trajectory 'a'"):
        preference_pairs(learner.answers, reward, other, open_dataset(path))


@pytest.mark.parametrize("window", [None, WINDOW])
def test_pairs_are_read_again(tmp_path: Path, window: int | None) -> None:
    _, pairs = pairs_of(walks(tmp_path), FeatureOptions(["final", "path-length"], window=window))
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    again = read_pairs(tmp_path / "pairs.jsonl")
    write_pairs(tmp_path / "again.jsonl", again)
    assert (tmp_path / "again.jsonl").read_bytes() == (tmp_path / "pairs.jsonl").read_bytes()
    np.testing.assert_array_equal(again[1].right.episode.actions, pairs[1].right.episode.actions)
    assert [pair.preference for pair in again] == [1.0, 0.0, 0.5]


@pytest.mark.parametrize("content", ["no JSON", "{}", '{"left": 3, "right": 4}', "[1]"])
def test_a_file_without_pairs_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "pairs.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=r"pairs\.jsonl .*prefero pairs --out"):
        read_pairs(tmp_path / "pairs.jsonl")


def test_episodes_without_actions_are_read_again(tmp_path: Path) -> None:
    side = PairedTrajectory(Episode("e", STATES[0], np.zeros((STEPS, 0))))
    write_pairs(tmp_path / "pairs.jsonl", [PreferencePair(side, side, "equal", 0.5)])
    (again,) = read_pairs(tmp_path / "pairs.jsonl")
    assert again.left.episode.actions.shape == (STEPS, 0)


# --- imitation --------------------------------------------------------------------------------------------


def test_a_fragment_has_one_observation_more_than_actions() -> None:
    episode = Episode("e", STATES[0], ACTIONS[0], np.arange(STEPS, dtype=float))
    made = fragment(PairedTrajectory(episode, terminal=False))
    assert made["obs"].shape == (STEPS, 2)
    assert made["acts"].shape == (STEPS - 1, 1)
    assert made["rews"].tolist() == list(range(STEPS - 1))
    assert made["terminal"] is False
    after = Episode("e", STATES[0], ACTIONS[0, :-1])  # which has the observation after its last action
    assert len(fragment(PairedTrajectory(after))["acts"]) == STEPS - 1
    with pytest.raises(ValueError, match="has a single state"):
        fragment(PairedTrajectory(Episode("e", STATES[0, :1], ACTIONS[0, :1])))


@pytest.mark.skipif(find_spec("imitation") is not None, reason="imitation is there")
def test_without_imitation_its_environment_is_named() -> None:
    with pytest.raises(ImportError, match=r"Gymnasium older than 1\.0") as said:
        to_imitation([])
    assert "pip install imitation" not in str(said.value)


def test_imitation_takes_the_pairs(tmp_path: Path) -> None:
    comparisons = pytest.importorskip("imitation.algorithms.preference_comparisons")
    _, pairs = pairs_of(walks(tmp_path), FeatureOptions(["final", "path-length"]))
    write_pairs(tmp_path / "pairs.jsonl", pairs)
    made = to_imitation(read_pairs(tmp_path / "pairs.jsonl"))
    made.save(tmp_path / "pairs.pkl")
    loaded = comparisons.PreferenceDataset.load(tmp_path / "pairs.pkl")
    assert len(loaded) == 3
    (first, second), preference = loaded[1]
    np.testing.assert_array_equal(first.obs, STATES[2])
    np.testing.assert_array_equal(second.acts, ACTIONS[3, :-1])
    assert preference == 0.0
