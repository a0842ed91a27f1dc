"""Opening: what each path and id is recognised as, and what is said of what is nothing."""

from pathlib import Path

import numpy as np
import pytest

from datasets.recorded import clips, lerobot_2, lerobot_3
from prefero.datasets import open_dataset
from prefero.datasets.registry import KINDS, kind_of, open_recipe


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


def test_each_kind_is_recognised(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", features=np.eye(2))
    (tmp_path / "t.csv").write_text("speed\n1\n2\n", encoding="utf-8")
    (tmp_path / "d" / "data").mkdir(parents=True)
    (tmp_path / "d" / "data" / "metadata.json").write_text('{"data_format": "hdf5"}', encoding="utf-8")
    known: dict[str | Path, str | None] = {
        lerobot_2(tmp_path / "l2", lengths=(5, 6), cameras=()): "lerobot",
        lerobot_3(tmp_path / "l3", lengths=(5, 6), cameras=()): "lerobot",
        clips(tmp_path / "c", count=1): "clips",
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
    assert {what: kind_of(what) for what in known} == known


@pytest.mark.parametrize("what", ["nowhere", "nowhere/at-all-v3", "Nothing-v0"])
def test_what_is_nothing_is_told_what_was_looked_for(what: str) -> None:
    with pytest.raises(
        ValueError, match=rf"'{what}' is none of what was looked for: a LeRobot dataset .* Gymnasium"
    ):
        open_dataset(what)


def test_the_kind_can_be_said() -> None:
    assert open_dataset("gymnasium:CartPole-v1", episodes=2).name == "CartPole-v1"
    with pytest.raises(ValueError, match="neither a folder with a Minari dataset"):
        open_dataset("minari:CartPole-v1")


def test_options_of_other_kinds_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("speed\n1\n2\n", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"opened as table, which has no option 'camera': it has features, ids"
    ):
        open_dataset(tmp_path / "t.csv", camera="top", policy=None)


def test_a_recipe_opens_the_same_again(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,speed,height\na,1,2\nb,2,4\n", encoding="utf-8")
    np.savez(tmp_path / "a.npz", states=np.zeros((3, 4, 2)))
    opened = [
        open_dataset(lerobot_3(tmp_path / "l3", lengths=(5, 6)), camera="top"),
        open_dataset(clips(tmp_path / "c", count=2)),
        open_dataset(tmp_path / "t.csv", features=["height"]),
        open_dataset(tmp_path / "a.npz"),
        open_dataset("CartPole-v1", episodes=3, seed=4),
    ]
    assert {dataset.recipe["kind"] for dataset in opened if dataset.recipe} == set(KINDS) - {"minari"}
    for dataset in opened:
        assert dataset.recipe is not None
        again = open_recipe(dataset.recipe)
        assert (again.name, again.ids, again.recipe) == (dataset.name, dataset.ids, dataset.recipe)
        assert again.version == dataset.version
