"""Datasets and rewards on the Hub, against a stand-in: only what is used is downloaded."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from datasets.write_datasets import LENGTHS, colors_in, frame_color, write_lerobot_2, write_lerobot_3
from fake_hub import FakeHub, running_hub
from prefero import Learner, Pool, Question, Reward, load_reward
from prefero._support.hub import HubAddress, HubError
from prefero.datasets import BadEpisode, LeRobotOptions, open_dataset
from prefero.datasets.media.clips import cut_planned_clip
from prefero.datasets.registry import _OPEN
from run_here import run_here

pytest.importorskip("huggingface_hub")
WORDS = ["max(elbow)", "final(shoulder)"]
NAME = "someone/arm"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "huggingface"))
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    with running_hub() as running:
        monkeypatch.setenv("HF_ENDPOINT", running.url)
        yield running


def kinds_of(names: list[str]) -> set[str]:
    return {name.partition("/")[0] for name in names}


# --- datasets ---------------------------------------------------------------------------------------------


def test_metadata_are_downloaded_first_then_numbers_then_the_videos_that_are_shown(
    hub: FakeHub, tmp_path: Path
) -> None:
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "arm"))
    dataset = open_dataset(f"hf://{NAME}")
    assert dataset.name == NAME
    assert dataset.has_video
    assert kinds_of(hub.downloaded()) == {"meta"}
    pool = Pool.from_dataset(dataset, WORDS, clips="later")
    assert kinds_of(hub.downloaded()) == {"meta", "data"}
    np.testing.assert_array_equal(pool.features, Pool.from_lerobot(tmp_path / "arm", WORDS).features)
    assert pool.clips is not None
    clip = cut_planned_clip(pool.clips[3])  # as the page asks for one
    videos = [name for name in hub.downloaded() if name.startswith("videos/")]
    assert len(videos) == 1  # of two: each has two episodes
    assert np.abs(colors_in(clip)[0] - frame_color(3, 0)).max() < 20
    before = len(hub.requests)
    cut_planned_clip(pool.clips[2])  # from the same file
    assert hub.requests[before:] == []


def test_of_version_2_only_the_chosen_episodes_are_downloaded(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_folder(NAME, write_lerobot_2(tmp_path / "arm", cameras=()))
    chosen = open_dataset(f"hf://datasets/{NAME}@main", LeRobotOptions(episode_range="1:3"))
    pool = Pool.from_dataset(chosen, WORDS)
    assert pool.ids == ("1", "2")
    data = [name for name in hub.downloaded() if name.startswith("data/")]
    assert sorted(name[-11:-8] for name in data) == ["001", "002"]


def test_without_network_what_was_downloaded_is_used_again(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "arm", cameras=()))
    wanted = Pool.from_dataset(f"hf://{NAME}", WORDS).features
    _OPEN.clear()
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    np.testing.assert_array_equal(Pool.from_lerobot(f"hf://{NAME}", WORDS).features, wanted)
    with pytest.raises(HubError) as raised:
        open_dataset("hf://someone/else")
    assert "\n" not in str(raised.value)
    assert "so hf://someone/else was not opened" in str(raised.value)


def test_a_new_commit_is_another_dataset(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "arm", cameras=()))
    first = open_dataset(f"hf://{NAME}")
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "longer", (*LENGTHS, 11), cameras=()))
    second = open_dataset(f"hf://{NAME}")
    assert (len(first), len(second)) == (4, 5)
    assert first.version != second.version


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (
            "hf://someone/nothing",
            "no dataset 'someone/nothing'",
        ),
        ("hf://someone/arm@never", "someone/arm has no revision 'never'"),
        ("hf://arm", "hf://OWNER/NAME, .*'hf://arm'"),
        ("hf://models/someone/arm", "a dataset on the Hub is"),
        ("hf://someone/pictures", r"no LeRobot dataset: .*meta/info.json"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(
    hub: FakeHub, tmp_path: Path, address: str, message: str
) -> None:
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "arm", cameras=()))
    hub.repositories["dataset", "someone/pictures"] = {"cat.png": b""}
    with pytest.raises(ValueError, match=message) as raised:
        open_dataset(address)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("commit", ["../../../../theirs", "/theirs", "main", "A" * 40, ""])
def test_a_commit_that_is_none_names_no_folder(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, commit: str
) -> None:
    hub.add_folder(NAME, write_lerobot_2(tmp_path / "arm"))
    monkeypatch.setattr(FakeHub, "commit", lambda *_: commit)
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(HubError, match=r"hf://someone/arm, .* 40"):
        open_dataset(f"hf://{NAME}")
    assert sorted(tmp_path.rglob("*")) == before


def test_videos_and_numbers_that_are_not_on_the_hub(hub: FakeHub, tmp_path: Path) -> None:
    hub.add_folder(NAME, write_lerobot_2(tmp_path / "arm"))
    files = hub.repositories["dataset", NAME]
    video = next(name for name in files if name.endswith("episode_000001.mp4"))
    number = next(name for name in files if name.endswith("episode_000002.parquet"))
    del files[video], files[number]
    dataset = open_dataset(f"hf://{NAME}", LeRobotOptions(videos="check"))
    found = list(dataset.read(range(4)))  # type: ignore[attr-defined]
    assert [isinstance(one, BadEpisode) for one in found] == [False, True, True, False]
    assert "is not on the Hub" in str(found[1])
    assert "on the Hub" in str(found[2])
    assert not [name for name in hub.downloaded() if name.endswith(".mp4")]


def test_score_reads_and_copies_a_dataset_of_the_hub(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.add_folder(NAME, write_lerobot_3(tmp_path / "arm", cameras=()))
    monkeypatch.chdir(tmp_path)
    learned(tmp_path / "arm").save("reward.json")
    words = ["score", "reward.json", f"hf://{NAME}", "--copy-to", "scored", "--rabc", "p.parquet"]
    assert run_here(monkeypatch, *words, "--jobs", "1") == 0
    scored = open_dataset("scored")
    assert len(scored) == len(LENGTHS)
    assert {p.name for p in Path("scored").iterdir()} == {"data", "meta"}


# --- rewards ----------------------------------------------------------------------------------------------


def learned(folder: Path) -> Reward:
    learner = Learner(Pool.from_lerobot(folder, WORDS, clips="never"))
    learner.tell(Question(0, 1), "left")
    return learner.reward()


def test_a_reward_is_pushed_with_its_card_and_loaded_again(hub: FakeHub, tmp_path: Path) -> None:
    reward = learned(write_lerobot_3(tmp_path / "arm", cameras=()))
    assert reward.push_to_hub("me/careful", private=True) == "hf://me/careful"
    assert hub.private["me/careful"]
    files = hub.repositories["model", "me/careful"]
    assert set(files) == {"reward.json", "README.md", "config.json"}
    card = files["README.md"].decode()
    assert 'load_reward("hf://me/careful")' in card
    assert "| max elbow |" in card
    assert "learned from 1 answer," in card
    assert "states shoulder, elbow" in card
    loaded = load_reward("hf://me/careful", names=reward.scaling.names)
    x = np.random.default_rng(0).normal(size=(5, 2))
    for one in (loaded, load_reward("me/careful"), load_reward("me/careful@main")):
        np.testing.assert_allclose(one(x), reward(x), atol=1e-3)  # as after any file
    assert loaded.feature_spec is not None
    assert loaded.feature_spec.words == tuple(WORDS)


def test_the_command_pushes_a_reward_and_says_how_to_load_it(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learned(write_lerobot_3(tmp_path / "arm", cameras=())).save(tmp_path / "reward.json")
    command = ["push", str(tmp_path / "reward.json"), "me/grasps"]
    assert run_here(monkeypatch, *command, "--private", "--message", "First try") == 0
    assert 'prefero.load_reward("hf://me/grasps")' in " ".join(capsys.readouterr().out.split())
    assert hub.private["me/grasps"]
    assert hub.messages == ["First try"]
    assert load_reward("hf://me/grasps").scaling.names == ("max elbow", "final shoulder")
    assert run_here(monkeypatch, *command) == 0  # another version in the same repository
    assert hub.messages == ["First try", "Add a reward learned with Prefero"]


def test_the_command_says_why_a_reward_was_not_pushed(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    learned(write_lerobot_3(tmp_path / "arm", cameras=())).save(tmp_path / "reward.json")
    path = str(tmp_path / "reward.json")

    def error(*words: str) -> str:
        assert run_here(monkeypatch, "push", *words) == 2
        return capsys.readouterr().err

    assert "no such file: nowhere.json" in error("nowhere.json", "me/grasps")
    assert "hf://OWNER/NAME" in error(path, "grasps")
    hub.token = "hf_secret"
    assert "not let you write to hf://me/grasps: log in with  hf auth login" in error(path, "me/grasps")
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    assert run_here(monkeypatch, "push", path, "me/grasps") == 0
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert "cannot be reached, so nothing was uploaded to hf://me/grasps" in error(path, "me/grasps")


def test_a_reward_that_is_not_on_the_hub(hub: FakeHub) -> None:
    with pytest.raises(HubError, match="no model 'me/nothing'"):
        load_reward("hf://me/nothing")
    hub.repositories["model", "me/other"] = {"model.bin": b""}
    with pytest.raises(HubError, match=r"me/other .*no file reward\.json"):
        load_reward("hf://me/other")
    with pytest.raises(HubError, match=r"no file or folder me/nothing, .*no model 'me/nothing'"):
        load_reward("me/nothing")
    with pytest.raises(FileNotFoundError, match=r"no such file: me/nothing\.json"):
        load_reward("me/nothing.json")


def test_addresses() -> None:
    assert HubAddress.of("hf://a/b@v1.0", "model") == HubAddress("model", "a/b", "v1.0")
    assert str(HubAddress.of("hf://datasets/a/b/", "dataset")) == "hf://a/b"
    for wrong in ("hf://", "hf://a/b/c", "hf://../b@main", "hf://a/..", "hf://a/b@"):
        with pytest.raises(HubError, match="hf://OWNER/NAME"):
            HubAddress.of(wrong, "dataset")
