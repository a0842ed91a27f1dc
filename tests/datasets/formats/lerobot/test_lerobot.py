"""LeRobot's datasets of both versions: what is read, how videos are cut, and what damage is called."""

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets.write_datasets import (
    CAMERAS,
    FPS,
    LENGTHS,
    LEROBOT,
    actions_of,
    colors_in,
    frame_color,
    states_of,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
)
from prefero.datasets import BadEpisode, Episode, FeatureOptions, LeRobotOptions, extract_features
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset, column_names, distinct

VERSIONS = list(LEROBOT)


@pytest.fixture(scope="module", params=VERSIONS)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole dataset with two cameras, to be read only."""
    folder: Path = LEROBOT[request.param](tmp_path_factory.mktemp("lerobot") / "arm", cameras=CAMERAS)
    return folder


@pytest.fixture
def mine(made: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    return Path(shutil.copytree(made, tmp_path / "arm"))


# --- what is read -----------------------------------------------------------------------------------------


def test_every_episode_is_read_as_it_was_written(made: Path) -> None:
    dataset = LeRobotDataset(made)
    assert (dataset.name, dataset.ids) == ("arm", ("0", "1", "2", "3"))
    for number, length in enumerate(LENGTHS):
        episode = dataset.episode(number)
        np.testing.assert_allclose(episode.states, states_of(number, length), atol=1e-6)
        np.testing.assert_allclose(episode.actions, actions_of(number, length), atol=1e-6)
        assert episode.rewards is not None
        assert episode.rewards.tolist() == [0.5] * length
        assert episode.state_names == ("shoulder", "elbow")
        assert (episode.step_seconds, episode.duration) == pytest.approx((1 / FPS, length / FPS))


@pytest.mark.parametrize("place", ["arm", "."])
def test_the_command_for_removing_episodes_writes_a_new_folder_beside_the_dataset(
    mine: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(mine.parent if place == "arm" else mine)
    words = shlex.split(LeRobotDataset(Path(place)).deletion_command([2, 0]) or "")
    given = dict(zip(words[1::2], words[2::2], strict=True))
    assert words[0] == "lerobot-edit-dataset"
    assert given["--repo_id"] == "arm"
    assert Path(given["--root"]).resolve() == mine.resolve()
    assert Path(given["--new_root"]).resolve() == mine.resolve().with_name("arm_cleaned")
    assert given["--operation.episode_indices"] == "[0, 2]"


def test_several_episodes_are_the_same_as_one_by_one_in_any_order(made: Path) -> None:
    dataset = LeRobotDataset(made)
    for number, episode in zip([2, 0, 3, 1, 1], dataset.read([2, 0, 3, 1, 1]), strict=True):
        assert isinstance(episode, Episode)
        np.testing.assert_array_equal(episode.states, dataset.episode(number).states)


def test_a_file_of_many_episodes_is_read_once_for_those_that_follow_each_other(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset, read = LeRobotDataset(made), pq.read_table
    opened: list[Path] = []

    def noticed(path: Path, **options: Any) -> Any:
        opened.append(path)
        return read(path, **options)

    monkeypatch.setattr(pq, "read_table", noticed)
    list(dataset.read(range(4)))
    assert len(opened) == len(set(opened)) == len({place.path for place in dataset.entries})


def test_there_is_no_such_episode(made: Path) -> None:
    with pytest.raises(ValueError, match=r"arm has episodes 0 to 3, .* 4"):
        LeRobotDataset(made).episode(4)


def test_all_observed_numbers_are_states_and_names_that_come_twice_get_a_number() -> None:
    assert column_names("observation.state", {"shape": [2], "names": ["x", "y"]}) == ["x", "y"]
    assert column_names("observation.state", {"shape": [2], "names": {"motors": ["x", "y"]}}) == ["x", "y"]
    assert column_names("observation.state", {"shape": [2], "names": None}) == ["state 1", "state 2"]
    assert column_names("observation.force", {"shape": [1], "names": ["dim"]}) == ["force"]
    assert distinct(["x", "y", "x"]) == ("x", "y", "x (2)")


def test_an_environments_state_is_a_state_too(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "push", cameras=())
    info = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    info["features"]["observation.environment_state"] = {"dtype": "float32", "shape": [1], "names": None}
    (folder / "meta" / "info.json").write_text(json.dumps(info), encoding="utf-8")
    for file in (folder / "data").rglob("*.parquet"):
        table = pq.read_table(file)
        pq.write_table(table.append_column("observation.environment_state", table["timestamp"]), file)
    episode = LeRobotDataset(folder).episode(1)
    assert episode.state_names == ("shoulder", "elbow", "environment_state")
    np.testing.assert_allclose(episode.states[:, 2], np.arange(15) / FPS, atol=1e-6)


# --- videos -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("camera", "number"), [(None, 0), ("top", 0), ("wrist", 1), (CAMERAS[1], 1)])
def test_a_clip_shows_its_episode_and_nothing_else(
    made: Path, tmp_path: Path, camera: str | None, number: int
) -> None:
    dataset = LeRobotDataset(made, LeRobotOptions(camera=camera))
    for episode in (0, 1, 3):
        colors = colors_in(dataset.cut_clip(episode, tmp_path / "clips"))
        wanted = [frame_color(episode, t, number) for t in range(LENGTHS[episode])]
        np.testing.assert_allclose(colors, wanted, atol=8)  # neighbours are 10 apart, episodes 40


def test_a_part_of_an_episode_has_its_part_of_the_video(made: Path, tmp_path: Path) -> None:
    path = LeRobotDataset(made).cut_clip(1, tmp_path, (4, 9))
    assert path.name == "000001-000004-000009.mp4"
    np.testing.assert_allclose(colors_in(path), [frame_color(1, t) for t in range(4, 9)], atol=8)


def test_a_clip_is_cut_once(made: Path, tmp_path: Path) -> None:
    dataset = LeRobotDataset(made)
    first = dataset.cut_clip(0, tmp_path)
    time = first.stat().st_mtime_ns
    assert dataset.cut_clip(0, tmp_path) == first
    assert first.stat().st_mtime_ns == time


def test_av1_becomes_h264_for_browsers(tmp_path: Path) -> None:
    dataset = LeRobotDataset(write_lerobot_3(tmp_path / "arm", lengths=(6, 7), codec="libsvtav1"))
    with av.open(str(tmp_path / "arm" / "videos" / CAMERAS[0] / "chunk-000" / "file-000.mp4")) as video:
        assert "264" not in video.streams.video[0].codec_context.name
    path = dataset.cut_clip(1, tmp_path / "clips")
    with av.open(str(path)) as video:
        stream: Any = video.streams.video[0]
        assert (stream.codec_context.name, stream.pix_fmt, float(stream.average_rate)) == (
            "h264",
            "yuv420p",
            FPS,
        )
    np.testing.assert_allclose(colors_in(path), [frame_color(1, t) for t in range(7)], atol=10)


def test_a_dataset_without_videos_says_so(tmp_path: Path) -> None:
    dataset = LeRobotDataset(write_lerobot_2(tmp_path / "arm", cameras=()))
    assert not dataset.has_video
    with pytest.raises(ValueError, match="arm has no videos"):
        dataset.cut_clip(0, tmp_path)


def test_a_camera_that_is_not_there_is_refused_with_those_that_are(made: Path) -> None:
    with pytest.raises(ValueError, match=r"no camera 'front'.* .*top, .*wrist"):
        LeRobotDataset(made, LeRobotOptions(camera="front"))


# --- damage -----------------------------------------------------------------------------------------------


def data_of(folder: Path, episode: int) -> Path:
    return LeRobotDataset(folder).entries[episode].path


def video_of(folder: Path, episode: int) -> Path:
    return LeRobotDataset(folder).entries[episode].videos[CAMERAS[0]].path


def changed(folder: Path, episode: int, change: Callable[[dict[str, list[Any]]], None]) -> None:
    """Rewrite the rows of one episode."""
    path = data_of(folder, episode)
    table = pq.read_table(path)
    rows = [row for row in table.to_pylist() if row["episode_index"] == episode]
    others = [row for row in table.to_pylist() if row["episode_index"] != episode]
    mine = {key: [row[key] for row in rows] for key in rows[0]}
    change(mine)
    again = [dict(zip(mine, values, strict=True)) for values in zip(*mine.values(), strict=True)]
    pq.write_table(pa.Table.from_pylist([*again, *others], schema=table.schema), path)


def missing_file(folder: Path) -> None:
    data_of(folder, 3).unlink()


def truncated_file(folder: Path) -> None:
    truncate(data_of(folder, 3))


def not_a_number(folder: Path) -> None:
    changed(folder, 3, lambda rows: rows["observation.state"].__setitem__(2, [0.0, float("nan")]))


def nothing_there(folder: Path) -> None:
    changed(folder, 3, lambda rows: rows["observation.state"].__setitem__(2, [None, None]))


def rows_lost(folder: Path) -> None:
    def shorten(rows: dict[str, list[Any]]) -> None:
        for values in rows.values():
            values.pop()

    changed(folder, 3, shorten)


def out_of_order(folder: Path) -> None:
    changed(folder, 3, lambda rows: rows["frame_index"].reverse())


def zero_length(folder: Path) -> None:
    def empty(rows: dict[str, list[Any]]) -> None:
        for values in rows.values():
            values.clear()

    changed(folder, 3, empty)
    lines = folder / "meta" / "episodes.jsonl"
    if lines.exists():
        lines.write_text(
            lines.read_text(encoding="utf-8").replace('"length": 20', '"length": 0'), encoding="utf-8"
        )
    else:
        path = folder / "meta" / "episodes" / "chunk-000" / "file-000.parquet"
        rows = pq.read_table(path).to_pylist()
        pq.write_table(pa.Table.from_pylist([*rows[:3], rows[3] | {"length": 0}]), path)


DAMAGE: dict[Callable[[Path], None], str] = {
    missing_file: "its file .* is missing",
    truncated_file: "its file .* is damaged or cut short",
    not_a_number: "its states are not finite: nan at step 2, column 1",
    nothing_there: "its states are not finite",
    rows_lost: "it should have 20 frames, but .* has 19 of it",
    out_of_order: "its frames are not in their order",
    zero_length: "it has no steps",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_episode_is_named_and_the_others_can_be_used(
    mine: Path, damage: Callable[[Path], None]
) -> None:
    damage(mine)
    dataset = LeRobotDataset(mine)
    with pytest.raises(BadEpisode, match=f"^episode 3: {DAMAGE[damage]}"):
        dataset.episode(3)
    with pytest.raises(BadEpisode, match=r"^episode [23]: .*--skip-bad"):
        extract_features(dataset, FeatureOptions(["mean"], jobs=1))
    found = extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1))
    whole = (
        {"0", "1"}
        if damage in (missing_file, truncated_file) and "v3" in str(dataset.info)
        else {"0", "1", "2"}
    )
    assert set(found.ids) == whole
    assert set(found.skipped) == set(dataset.ids) - whole


def test_an_episode_that_was_repaired_is_read_again(mine: Path, tmp_path: Path) -> None:
    whole, kept = data_of(mine, 3).read_bytes(), tmp_path / "features.parquet"
    truncate(data_of(mine, 3))
    assert (
        "3"
        in extract_features(
            LeRobotDataset(mine), FeatureOptions(["mean"], skip_bad=True, cache=kept, jobs=1)
        ).skipped
    )
    data_of(mine, 3).write_bytes(whole)
    assert (
        extract_features(
            LeRobotDataset(mine), FeatureOptions(["mean"], skip_bad=True, cache=kept, jobs=1)
        ).skipped
        == {}
    )


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_video_that_is_cut_short_is_named_and_no_clip_is_left_behind(
    mine: Path, tmp_path: Path, share: float
) -> None:
    truncate(video_of(mine, 3), share)
    with pytest.raises(BadEpisode, match=r"^episode 3: .*video is damaged: .*\.mp4"):
        LeRobotDataset(mine).cut_clip(3, tmp_path / "clips")
    assert list((tmp_path / "clips").iterdir()) == []


def test_a_video_that_is_missing_is_named(mine: Path, tmp_path: Path) -> None:
    video_of(mine, 3).unlink()
    with pytest.raises(BadEpisode, match=r"^episode 3: .*video is damaged: .* is missing"):
        LeRobotDataset(mine).cut_clip(3, tmp_path)


def test_a_video_that_is_shorter_than_its_episode_is_named(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", lengths=(12, 8))
    shutil.copy(video_of(folder, 1), video_of(folder, 0))
    with pytest.raises(BadEpisode, match=r"^episode 0: .*video is damaged: .* 8 of its 12 frames"):
        LeRobotDataset(folder).cut_clip(0, tmp_path)


def broken_info(folder: Path) -> None:
    (folder / "meta" / "info.json").write_text("{", encoding="utf-8")


def no_rate(folder: Path) -> None:
    info = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    (folder / "meta" / "info.json").write_text(
        json.dumps({k: v for k, v in info.items() if k != "fps"}), encoding="utf-8"
    )


def future_version(folder: Path) -> None:
    text = (folder / "meta" / "info.json").read_text(encoding="utf-8")
    (folder / "meta" / "info.json").write_text(
        text.replace('"v3.0"', '"v4.0"').replace('"v2.1"', '"v4.0"'), encoding="utf-8"
    )


def odd_template(folder: Path) -> None:
    text = (folder / "meta" / "info.json").read_text(encoding="utf-8")
    (folder / "meta" / "info.json").write_text(
        text.replace("{chunk_index", "{c").replace("{episode_chunk", "{c"), encoding="utf-8"
    )


def no_episodes(folder: Path) -> None:
    shutil.rmtree(folder / "meta" / "episodes", ignore_errors=True)
    (folder / "meta" / "episodes.jsonl").unlink(missing_ok=True)


def broken_episodes(folder: Path) -> None:
    for path in [*(folder / "meta").rglob("file-000.parquet"), *(folder / "meta").glob("*.jsonl")]:
        truncate(path, 0.6)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (broken_info, r"no LeRobot dataset: .*info.json cannot be read"),
        (no_rate, r"info.json is damaged: .*'fps'"),
        (future_version, "version v4.0, .*2.0, 2.1 and 3.0"),
        (odd_template, "cannot be filled in"),
        (no_episodes, r"meta/episodes"),
        (broken_episodes, r"damaged"),
    ],
)
def test_metadata_that_cannot_be_used_are_named(
    mine: Path, damage: Callable[[Path], None], message: str
) -> None:
    damage(mine)
    with pytest.raises(ValueError, match=message):
        LeRobotDataset(mine)
