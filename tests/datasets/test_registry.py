"""The registry: which format a path or an id is of, and how datasets are opened, and opened again."""

import json
from pathlib import Path

import numpy as np
import pytest

from datasets.write_datasets import write_lerobot_2, write_lerobot_3, write_video_folder
from prefero.datasets import (
    Dataset,
    DatasetSpec,
    GymnasiumOptions,
    LeRobotOptions,
    TableOptions,
    open_dataset,
)
from prefero.datasets.registry import KEPT_OPEN, formats, open_once, open_spec, options_for, recognize


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


def test_each_format_is_recognized(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", features=np.eye(2))
    (tmp_path / "t.csv").write_text("speed\n1\n2\n", encoding="utf-8")
    (tmp_path / "d" / "data").mkdir(parents=True)
    (tmp_path / "d" / "data" / "metadata.json").write_text('{"data_format": "hdf5"}', encoding="utf-8")
    known: dict[str | Path, str | None] = {
        write_lerobot_2(tmp_path / "l2", lengths=(5, 6), cameras=()): "lerobot",
        write_lerobot_3(tmp_path / "l3", lengths=(5, 6), cameras=()): "lerobot",
        write_video_folder(tmp_path / "c", count=1): "video-folder",
        tmp_path / "a.npz": "archive",
        tmp_path / "t.csv": "table",
        tmp_path / "d": "minari",
        tmp_path / "d" / "data": "minari",
        "CartPole-v1": "gymnasium",
        "nowhere": None,
        tmp_path / "nowhere": None,
        tmp_path: None,
        Path(__file__): None,
    }
    found = {what: recognize(what)[0] for what in known}
    assert {what: kind and kind.format_name for what, kind in found.items()} == known


@pytest.mark.parametrize("what", ["nowhere", "nowhere/at-all-v3", "Nothing-v0"])
def test_an_unknown_path_is_an_error_that_lists_the_formats(what: str) -> None:
    with pytest.raises(
        FileNotFoundError, match=rf"(?s)^no such file or dataset: '{what}'\..* LeRobot .* Gymnasium"
    ) as refused:
        open_dataset(what)
    wanted = str(refused.value).splitlines()[1:]
    assert [line.strip() for line in wanted[1:-1]] == [one.description for one in formats()]  # one a line
    assert "FORMAT:PATH" in wanted[-1]


def test_a_missing_file_and_a_misspelt_name_are_told_apart_with_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "throws.csv").write_text("speed\n1\n2\n", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"^no such file: .*thros.csv; did you mean '.*throws.csv'"):
        open_dataset(tmp_path / "thros.csv")
    with pytest.raises(FileNotFoundError, match=r"^no such file: nowhere/t.csv, .*no folder"):
        open_dataset("nowhere/t.csv")
    with pytest.raises(FileNotFoundError, match=r"'CartPol-v1'; did you mean 'CartPole-v1'\?$"):
        open_dataset("CartPol-v1")
    (tmp_path / "letter.txt").write_text("Dear robot,", encoding="utf-8")
    with pytest.raises(ValueError, match=r"letter.txt' is not recognized"):
        open_dataset(tmp_path / "letter.txt")


def test_the_format_can_be_given() -> None:
    opened = open_dataset("gymnasium:CartPole-v1", GymnasiumOptions(episodes=2))
    assert (opened.name, len(opened)) == ("CartPole-v1", 2)
    with pytest.raises(ValueError, match="Minari dataset"):
        open_dataset("minari:CartPole-v1")


def test_options_of_other_formats_are_refused(tmp_path: Path) -> None:
    path = write_video_folder(tmp_path / "c", count=1)
    with pytest.raises(ValueError, match=r"no option 'camera': .*trust, table"):
        options_for(path, {"camera": "top", "policy": None, "render": False})
    with pytest.raises(ValueError, match=r"takes VideoFolderOptions, .*LeRobotOptions"):
        open_dataset(path, LeRobotOptions(camera="top"))


def test_options_by_name_become_those_of_the_format(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", lengths=(5, 6), cameras=())
    given = {"task": "reach", "camera": None, "render": False, "episodes": None}
    assert options_for(folder, given) == LeRobotOptions(task="reach")


def test_a_spec_opens_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,speed,height\na,1,2\nb,2,4\n", encoding="utf-8")
    np.savez(tmp_path / "a.npz", states=np.zeros((3, 4, 2)))
    opened = [
        open_dataset(write_lerobot_3(tmp_path / "l3", lengths=(5, 6)), LeRobotOptions(camera="top")),
        open_dataset(write_video_folder(tmp_path / "c", count=2)),
        open_dataset(tmp_path / "t.csv"),
        open_dataset(tmp_path / "a.npz"),
        open_dataset("CartPole-v1", GymnasiumOptions(episodes=3, seed=4)),
    ]
    assert len({dataset.spec.format for dataset in opened if dataset.spec}) == len(opened)
    for dataset in opened:
        assert dataset.spec is not None
        again = open_spec(DatasetSpec(**json.loads(json.dumps(dataset.spec.to_json()))))
        assert (again.name, again.ids, again.spec) == (dataset.name, dataset.ids, dataset.spec)
        assert again.version == dataset.version


# --- datasets that stay open ------------------------------------------------------------------------------


def test_a_dataset_is_opened_once_until_its_files_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, opened = tmp_path / "t.csv", list[str]()
    path.write_text("speed\n1\n2\n", encoding="utf-8")
    spec = open_dataset(path).spec
    assert spec is not None

    def counted(spec: DatasetSpec, *, trust: bool) -> Dataset:
        opened.append(spec.path)
        return open_spec(spec, trust=trust)

    monkeypatch.setattr("prefero.datasets.registry.open_spec", counted)
    assert open_once(spec) is open_once(spec)
    assert len(opened) == 1
    path.write_text("speed\n1\n2\n3\n", encoding="utf-8")
    assert len(open_once(spec)) == 3
    assert len(opened) == 2


def test_only_a_few_datasets_stay_open(tmp_path: Path) -> None:
    specs = []
    for number in range(KEPT_OPEN + 1):
        (tmp_path / f"{number}.csv").write_text("speed\n1\n2\n", encoding="utf-8")
        specs.append(DatasetSpec("table", str(tmp_path / f"{number}.csv"), {}))
    first = open_once(specs[0])
    assert open_once(specs[0]) is first
    for spec in specs[1:]:
        open_once(spec)
    assert open_once(specs[0]) is not first


def test_options_of_a_table_are_not_those_of_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", features=np.eye(3))
    with pytest.raises(ValueError, match=r"takes FormatOptions, .*TableOptions"):
        open_dataset(tmp_path / "a.npz", TableOptions(ids="who"))
