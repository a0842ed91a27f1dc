"""Tasks of LeRobot's datasets: one of them is chosen, or a warning lists them."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.write_datasets import LENGTHS, LEROBOT, write_lerobot_2, write_lerobot_3
from prefero import Pool
from prefero.datasets import FeatureOptions, LeRobotOptions, extract_features, open_dataset
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset
from prefero.datasets.registry import open_spec
from run_here import run_here

VERSIONS = list(LEROBOT)
TASKS = ("pick the cube", "open the drawer")


@pytest.fixture(scope="module", params=VERSIONS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Episodes 0 and 2 pick the cube, 1 and 3 open the drawer; to be read only."""
    folder: Path = LEROBOT[request.param](tmp_path_factory.mktemp("tasks") / "arm", cameras=(), tasks=TASKS)
    return folder


def set_tasks(folder: Path, tasks: Sequence[Any]) -> None:
    """Say other tasks in the metadata of the episodes."""
    lines = folder / "meta" / "episodes.jsonl"
    if lines.exists():
        known = [json.loads(line) for line in lines.read_text(encoding="utf-8").splitlines()]
        changed = [row | {"tasks": task} for row, task in zip(known, tasks, strict=True)]
        lines.write_text("\n".join(map(json.dumps, changed)), encoding="utf-8")
        return
    path = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
    rows = pq.read_table(path).to_pylist()
    changed = [row | {"tasks": task} for row, task in zip(rows, tasks, strict=True)]
    pq.write_table(pa.Table.from_pylist(changed), path)


# --- choosing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("said", ["open the drawer", "Open the  drawer.", " OPEN THE DRAWER"])
def test_a_task_is_chosen_by_its_words(made: Path, said: str) -> None:
    dataset = open_dataset(made, LeRobotOptions(task=said))
    assert isinstance(dataset, LeRobotDataset)
    assert (dataset.task, dataset.ids) == ("open the drawer", ("1", "3"))
    assert [len(dataset.episode(number)) for number in range(2)] == [LENGTHS[1], LENGTHS[3]]
    with pytest.raises(ValueError, match=r"arm has episodes 0 to 1, .* 2"):
        dataset.episode(2)


def test_the_dataset_is_found_again_with_its_task(made: Path) -> None:
    dataset = open_dataset(made, LeRobotOptions(task="Open the drawer"))
    assert dataset.spec is not None
    again = open_spec(dataset.spec)
    assert (again.ids, again.version) == (("1", "3"), dataset.version)
    assert (
        dataset.version
        != LeRobotDataset(made, LeRobotOptions(task=TASKS[0])).version
        != LeRobotDataset(made).version
    )


def test_a_task_that_nobody_did_is_refused_with_those_that_there_are(made: Path) -> None:
    with pytest.raises(ValueError, match=r"task 'dance'.* 'pick the cube', 'open the drawer'$"):
        LeRobotDataset(made, LeRobotOptions(task="dance"))


def test_words_that_differ_by_letters_alone_are_told_apart(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=(), tasks=("Pick", "pick"))
    assert LeRobotDataset(folder, LeRobotOptions(task="pick")).ids == ("1", "3")
    told = r"no episode has the task 'PICK'; did you mean 'pick'\? the tasks are 'Pick', 'pick'"
    with pytest.raises(ValueError, match=told):
        LeRobotDataset(folder, LeRobotOptions(task="PICK"))


def test_many_tasks_are_not_all_listed(tmp_path: Path) -> None:
    names = [f"task {number}" for number in range(40)]
    folder = write_lerobot_3(tmp_path / "arm", lengths=(4,) * 40, cameras=(), tasks=names)
    with pytest.raises(ValueError, match=r"'task 11' and 28 more$"):
        LeRobotDataset(folder, LeRobotOptions(task="dance"))


def test_an_episode_of_several_tasks_belongs_to_each(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    set_tasks(folder, [["reach", "grasp"], ["grasp"], ["lift"], []])
    ids = {task: LeRobotDataset(folder, LeRobotOptions(task=task)).ids for task in ("reach", "grasp", "lift")}
    assert ids == {"reach": ("0", "3"), "grasp": ("0", "1"), "lift": ("2",)}  # 3 is the dataset's only task


def test_a_pool_is_of_one_task(made: Path) -> None:
    pool = Pool.from_lerobot(made, FeatureOptions(["max"], jobs=1), task="pick the cube")
    assert pool.ids == ("0", "2")
    whole = extract_features(LeRobotDataset(made), FeatureOptions(["max"], jobs=1))
    np.testing.assert_array_equal(pool.features, whole.features[[0, 2]])


# --- the metadata do not say ------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_frames_say_the_task_where_the_episodes_do_not(version: str, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm", cameras=(), tasks=TASKS)
    set_tasks(folder, [None] * 4)
    assert LeRobotDataset(folder, LeRobotOptions(task="open the drawer")).ids == ("1", "3")
    set_tasks(folder, [None, ["open the drawer"], None, ["open the drawer"]])
    assert LeRobotDataset(folder, LeRobotOptions(task="pick the cube")).ids == ("0", "2")


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("damage", ["gone", "broken"])
def test_a_list_of_tasks_that_is_missing_does_no_harm(version: str, damage: str, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm", cameras=(), tasks=TASKS)
    (path,) = (folder / "meta").glob("tasks.*")
    path.unlink()
    if damage == "broken":
        path.write_text("{", encoding="utf-8")
    assert LeRobotDataset(folder, LeRobotOptions(task="open the drawer")).ids == ("1", "3")
    set_tasks(folder, [None] * 4)
    assert len(LeRobotDataset(folder)) == 4
    with pytest.raises(ValueError, match=r"task 'reach'.* not given"):
        LeRobotDataset(folder, LeRobotOptions(task="reach"))


def test_a_file_of_frames_that_is_damaged_has_no_task(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=(), tasks=TASKS)
    set_tasks(folder, [None] * 4)
    next(folder.rglob("episode_000001.parquet")).write_bytes(b"nothing")
    assert LeRobotDataset(folder, LeRobotOptions(task="open the drawer")).ids == ("3",)


def test_newer_datasets_call_the_column_of_tasks_by_its_name(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=(), tasks=TASKS)
    set_tasks(folder, [None] * 4)
    pq.write_table(pa.table({"task": list(TASKS), "task_index": [1, 0]}), folder / "meta" / "tasks.parquet")
    assert LeRobotDataset(folder, LeRobotOptions(task="pick the cube")).ids == ("1", "3")


# --- none was chosen --------------------------------------------------------------------------------------


def test_whoever_compares_different_tasks_is_told(made: Path) -> None:
    said = r"different tasks are compared in arm: 'pick the cube', 'open the drawer'\. Choose .* --task"
    with pytest.warns(UserWarning, match=said):
        assert len(open_dataset(made)) == 4
    with pytest.warns(UserWarning, match=said):
        Pool.from_lerobot(made, FeatureOptions(["max"], jobs=1))


def test_nobody_is_told_twice_or_for_nothing(made: Path, tmp_path: Path) -> None:
    """Warnings are errors here."""
    dataset = LeRobotDataset(made)
    assert dataset.spec is not None
    open_spec(dataset.spec)
    open_dataset(made, LeRobotOptions(task=TASKS[0]))
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    set_tasks(folder, [["reach", "grasp"], ["grasp", "reach"], ["reach", "grasp"], ["reach", "grasp"]])
    open_dataset(folder)  # all do both


# --- as a user types it -----------------------------------------------------------------------------------


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """`prefero features arm`, with more words; the exit code."""
    write_lerobot_3(tmp_path / "arm", cameras=(), tasks=TASKS)
    monkeypatch.chdir(tmp_path)
    return lambda *words: run_here(monkeypatch, "features", "arm", "--jobs", "1", *words)


def test_features_of_one_task_are_noted(typed: Callable[..., int], tmp_path: Path) -> None:
    assert typed("--task", "Open the drawer", "--features", "mean") == 0
    assert pq.read_table("features.parquet")["episode"].to_pylist() == ["1", "3"]
    assert open_dataset(tmp_path / "features.parquet").ids == ("1", "3")


def test_a_task_that_nobody_did_is_one_line(
    typed: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("--task", "dance") == 2
    said = capsys.readouterr().err
    assert re.fullmatch(r"prefero: .*'dance': .*'pick the cube', 'open the drawer'\n", said)
