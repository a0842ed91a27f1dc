"""Labels that datasets have already: columns of every format, and files of ids and labels."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from gymnasium import spaces

from datasets.write_datasets import LEROBOT, write_video_folder
from prefero import FeatureOptions, Labels, Pool
from prefero.datasets import LabelColumn, extract_features, open_dataset
from prefero.datasets.formats.gymnasium import GymnasiumDataset, GymnasiumOptions
from prefero.datasets.outcomes import at_end, reduction_of

pytestmark = pytest.mark.filterwarnings(
    "ignore:episodes have", "ignore:.* are strongly correlated", "ignore:.*categories were found"
)
SOLVED = (False, True, True, False)  # of LeRobot's four episodes
SUCCESS = Labels.of(SOLVED, "next.success")


def said(pool: Pool) -> dict[str, str]:
    """What each labelled trajectory is called, and its label."""
    assert pool.labels is not None
    ids = pool.ids or tuple(map(str, range(len(pool))))
    return {ids[i]: choice for i, choice in zip(pool.labels.items, pool.labels.choices, strict=True)}


def add_frame_column(folder: Path, name: str, value_of: Callable[[int, int], Any]) -> None:
    """A column of frames, as LeRobot's evaluation writes it."""
    for path in (folder / "data").rglob("*.parquet"):
        table = pq.read_table(path)
        pairs = zip(table["episode_index"].to_pylist(), table["frame_index"].to_pylist(), strict=True)
        pq.write_table(table.append_column(name, pa.array([value_of(*pair) for pair in pairs])), path)
    info = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    info["features"][name] = {"dtype": "bool", "shape": [1], "names": None}
    (folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")


# --- steps ------------------------------------------------------------------------------------------------


def test_a_success_at_any_step_counts_and_of_numbers_the_last() -> None:
    assert at_end([False, True, False]) is True
    assert at_end([[False], [False]]) is False  # LeRobot may keep a list of one
    assert at_end([1.0, 3.0, float("nan")]) == 3.0
    assert at_end([None]) is None


@pytest.mark.parametrize(
    ("word", "value"),
    [("sum", 6.0), ("mean", 2.0), ("min", 1.0), ("max", 3.0), ("first", 2.0), ("last", 3.0)],
)
def test_all_steps_become_one_value_as_it_is_wanted(word: str, value: float) -> None:
    name, reduce = reduction_of(f"{word}(next.reward)")
    assert (name, reduce([2.0, 1.0, 3.0]), reduce([])) == ("next.reward", value, None)


# --- LeRobot ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", LEROBOT)
def test_the_frames_of_a_lerobot_dataset_tell_its_successes(tmp_path: Path, version: str) -> None:
    folder = LEROBOT[version](tmp_path / "arm", cameras=())
    add_frame_column(folder, "next.success", lambda episode, frame: SOLVED[episode] and frame == 4)
    pool = Pool.from_lerobot(folder, ["mean"], clips="never", labels="next.success")
    assert pool.labels == SUCCESS
    some = Pool.from_lerobot(folder, ["mean"], clips="never", labels="next.success", count=2)
    assert said(some) == {one: choice for one, choice in said(pool).items() if one in (some.ids or ())}


def test_metadata_of_episodes_and_totals_are_labels_too(tmp_path: Path) -> None:
    folder = LEROBOT["v3.0"](tmp_path / "arm", cameras=())
    path = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    table = pq.read_table(path)
    pq.write_table(table.append_column("grade", pa.array(["bad", None, "good", "bad"])), path)
    graded = LabelColumn("grade", order=["bad", "okay", "good"])
    pool = Pool.from_dataset(folder, ["mean"], clips="never", labels=graded)
    assert said(pool) == {"0": "1", "2": "3", "3": "1"}
    total = Pool.from_dataset(folder, ["mean"], clips="never", labels="sum(next.reward)").labels
    assert total is not None  # 0.5 at each step, and the lengths differ
    assert (total.kind, total.choices) == ("rate-4", ("2", "3", "1", "4"))


def test_a_misspelt_column_is_named_with_the_nearest(tmp_path: Path) -> None:
    folder = LEROBOT["v3.0"](tmp_path / "arm", cameras=())
    with pytest.raises(ValueError, match=r"no column 'next.rewards'; did you mean 'next.reward'.*FILE.csv"):
        Pool.from_dataset(folder, ["mean"], labels="next.rewards")


def test_labels_of_episodes_are_not_labels_of_windows(tmp_path: Path) -> None:
    folder = LEROBOT["v3.0"](tmp_path / "arm", cameras=())
    add_frame_column(folder, "next.success", lambda episode, _: SOLVED[episode])
    with pytest.raises(ValueError, match="about whole episodes, and these are windows"):
        Pool.from_dataset(folder, FeatureOptions(["mean"], window=4), clips="never", labels="next.success")


def test_features_that_were_extracted_before_have_the_labels_of_their_dataset(tmp_path: Path) -> None:
    folder = LEROBOT["v3.0"](tmp_path / "arm", cameras=())
    add_frame_column(folder, "next.success", lambda episode, _: SOLVED[episode])
    extract_features(open_dataset(folder), ["mean"]).save(tmp_path / "features.parquet")
    assert Pool.from_dataset(tmp_path / "features.parquet", labels="next.success").labels == SUCCESS


# --- Minari and Gymnasium ---------------------------------------------------------------------------------


def write_minari(folder: Path) -> None:
    minari = pytest.importorskip("minari")
    from minari.data_collector.episode_buffer import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    space = spaces.Box(-9, 9, (2,))
    rng = np.random.default_rng(0)
    buffers = [
        EpisodeBuffer(
            observations=list(rng.normal(size=(4, 2)).astype(np.float32)),
            actions=list(rng.normal(size=(3, 2)).astype(np.float32)),
            rewards=[0.0, 1.0, float(episode)],
            terminations=[False, False, solved],
            truncations=[False] * 3,
            infos={"success": np.array([False, False, solved, False])},
        )
        for episode, solved in enumerate(SOLVED)
    ]
    storage = MinariStorage.new(folder / "data", space, space)
    storage.update_metadata({"dataset_id": "some/labels-v0", "minari_version": minari.__version__})
    storage.update_episodes(buffers)
    storage.update_episode_metadata([{"grade": episode + 1} for episode in range(4)])


@pytest.mark.parametrize("column", ["success", "infos/success", "terminations"])
def test_steps_of_a_minari_dataset_tell_its_successes(tmp_path: Path, column: str) -> None:
    write_minari(tmp_path)
    labels = Pool.from_minari(tmp_path, ["mean"], clips="never", labels=column).labels
    assert labels is not None
    assert labels.choices == SUCCESS.choices


@pytest.mark.parametrize("column", ["grade", "sum(rewards)", "rewards"])
def test_metadata_and_rewards_of_a_minari_dataset_are_labels(tmp_path: Path, column: str) -> None:
    write_minari(tmp_path)
    labels = Pool.from_minari(tmp_path, ["mean"], clips="never", labels=column).labels
    assert labels is not None
    assert (labels.kind, labels.choices) == ("rate-4", ("1", "2", "3", "4"))
    with pytest.raises(ValueError, match="no column 'sucess'; did you mean"):
        Pool.from_minari(tmp_path, ["mean"], labels="sucess")


class Goal(gymnasium.Env[Any, Any]):
    """A dot that moves at random; whether it is far is told at the last step only."""

    observation_space, action_space = spaces.Box(-99, 99, (1,)), spaces.Box(-1, 1, (1,))

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:  # noqa: ARG002
        super().reset(seed=seed)
        self.place, self.count = np.zeros(1), 0
        return self.place, {}

    def step(self, action: Any) -> Any:
        self.place, self.count = self.place + action, self.count + 1
        over = self.count == 5
        told = {"is_success": bool(self.place[0] > 0), "distance": float(self.place[0])} if over else {}
        return self.place, 0.0, over, False, told | {"picture": np.zeros((2, 2))}


def test_an_environment_tells_successes_of_the_episodes_that_features_are_of() -> None:
    rng = np.random.default_rng()  # a policy that never plays the same again
    options = GymnasiumOptions(episodes=8)
    dataset = GymnasiumDataset(lambda **_: Goal(), options, policy=lambda _: rng.uniform(-1, 1, 1))
    pool = Pool.from_dataset(dataset, FeatureOptions(["final"], jobs=1), clips="never", labels="is_success")
    assert pool.labels is not None
    final = pool.features[:, 0] > 0
    assert pool.labels.choices == tuple(np.where(final, "pass", "fail").tolist())
    assert dataset.outcome_column("distance", at_end) == pytest.approx(pool.features[:, 0])
    assert {"is_success", "distance", "rewards", "terminated", "truncated"} == set(dataset.outcome_names())
    assert dataset.outcome_column("picture", at_end) is None


# --- tables, archives and videos --------------------------------------------------------------------------


def test_the_labels_of_a_table_are_no_feature_and_may_have_gaps() -> None:
    table = {"id": list("abcde"), "x": [1.0, 2.0, 3.0, 4.0, 5.0], "won": [True, None, False, True, None]}
    pool = Pool.from_table(table, labels="won")
    assert pool.names == ("x",)
    assert said(pool) == {"a": "pass", "c": "fail", "d": "pass"}


def test_categories_that_are_labels_are_no_features() -> None:
    grades = ["bad", "good", "bad", "good", "okay", "okay"]
    column = LabelColumn("grade", order=["bad", "okay", "good"])
    pool = Pool.from_table({"x": np.arange(6.0), "grade": grades}, labels=column)
    assert pool.names == ("x",)
    with pytest.raises(ValueError, match="has no feature beside its labels, 'grade'"):
        Pool.from_table({"id": list("abcdef"), "grade": grades}, labels=column)


def test_arrays_of_an_archive_are_labels(tmp_path: Path) -> None:
    states = np.random.default_rng(0).normal(size=(4, 5, 2))
    rewards = np.arange(20.0).reshape(4, 5)
    np.savez(tmp_path / "runs.npz", states=states, rewards=rewards, success=SOLVED)
    for column, choices in (("success", SUCCESS.choices), ("rewards", ("1", "2", "3", "4"))):
        labels = Pool.from_dataset(tmp_path / "runs.npz", ["mean"], labels=column).labels
        assert labels is not None
        assert labels.choices == choices


def test_a_file_of_ids_labels_any_trajectories(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "throws", 4)
    (folder / "features.csv").unlink()
    path = tmp_path / "labels.csv"
    path.write_text("video,label\nthrow 0,1\nthrow 2.mp4,0\nthrow 3.mp4,\n", encoding="utf-8")
    pool = Pool.from_video_folder(folder, labels=str(path), clips="never")
    assert said(pool) == {"throw 0.mp4": "pass", "throw 2.mp4": "fail"}


TABLE = {"id": list("abcd"), "x": [1.0, 2.0, 3.0, 4.0]}


def write_labels(path: Path, *lines: str) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_labels_outside_the_pool_and_contradictions_are_said_and_nothing_else_is_lost(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "labels.csv", "id,label", "a,1", "a,0", "b,1", "zz,0")
    with (
        pytest.warns(UserWarning, match="1 of 4 labels in .* not used: zz"),
        pytest.warns(UserWarning, match="different labels of .*, which all count: a"),
    ):
        pool = Pool.from_table(TABLE, labels=path)
    assert pool.labels is not None
    assert pool.labels.items == (0, 0, 1)


def test_levels_are_those_of_the_whole_file(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "labels.csv", "id,stars", "a,1", "b,2", "zz,3")
    with pytest.warns(UserWarning, match="not used: zz"):
        labels = Pool.from_table(TABLE, labels=path).labels
    assert labels is not None
    assert (labels.kind, labels.counts) == ("rate-3", {"1": 1, "2": 1, "3": 0})


@pytest.mark.parametrize(
    ("lines", "column", "message"),
    [
        (["id,label", "y,1", "z,0"], "", "no id in .* is one of table: it has y, z, and table has a, b"),
        (["who,label", "a,1"], "", "must say which trajectory a label is of.*columns are who, label"),
        (["id,one,two", "a,1,0"], "", "several columns that may be the labels.*:COLUMN"),
        (["id,one,two", "a,1,0"], ":three", "no column 'three'"),
        (["id,label", "a,", "b,"], "", "has no label: all 2 values are missing"),
    ],
)
def test_a_file_without_usable_labels_is_an_error(
    tmp_path: Path, lines: list[str], column: str, message: str
) -> None:
    path = write_labels(tmp_path / "labels.csv", *lines)
    with pytest.raises(ValueError, match=message):
        Pool.from_table(TABLE, labels=path + column)


def test_a_column_of_a_file_is_named(tmp_path: Path) -> None:
    path = write_labels(tmp_path / "labels.csv", "id,one,two", "a,1,0", "b,0,1")
    assert said(Pool.from_table(TABLE, labels=f"{path}:two")) == {"a": "fail", "b": "pass"}
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):
        Pool.from_table(TABLE, labels=str(tmp_path / "none.csv"))


def test_all_the_same_label_is_taken_with_a_word() -> None:
    with pytest.warns(UserWarning, match="every label of won is pass"):
        pool = Pool.from_table({**TABLE, "won": [True] * 4}, labels="won")
    assert len(pool.labels or ()) == 4
