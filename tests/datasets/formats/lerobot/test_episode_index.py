"""Where LeRobot's episodes are, as its own tools write it, and what is said where that is wrong."""

import json
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from datasets.write_datasets import (
    CAMERAS,
    FPS,
    LENGTHS,
    LEROBOT,
    colors_in,
    frame_color,
    states_of,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
    write_video,
)
from prefero.datasets import BadEpisode, FeatureOptions, LeRobotOptions, extract_features, open_dataset
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset, column_names, distinct
from prefero.datasets.media.video_files import VideoError, check_span, read_frames

VERSIONS = list(LEROBOT)
INDEX = Path("meta") / "episodes" / "chunk-000" / "file-000.parquet"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lerobot_3(tmp_path_factory.mktemp("places") / "arm")


@pytest.fixture
def mine(kept: Path, tmp_path: Path) -> Path:
    """A dataset of version 3.0 with videos, to be changed."""
    return Path(shutil.copytree(kept, tmp_path / "arm"))


def listed(folder: Path, change: Callable[[int, dict[str, Any]], dict[str, Any] | None]) -> None:
    """Change what the metadata say of each episode; None takes it away."""
    rows = pq.read_table(folder / INDEX).to_pylist()
    changed = [row for number, old in enumerate(rows) if (row := change(number, old)) is not None]
    pq.write_table(pa.Table.from_pylist(changed), folder / INDEX)


def informed(folder: Path, **changes: Any) -> None:
    path = folder / "meta" / "info.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


def is_whole(folder: Path) -> bool:
    dataset = LeRobotDataset(folder)
    wanted = [states_of(episode, length) for episode, length in enumerate(LENGTHS)]
    return all(np.allclose(dataset.episode(n).states, w, atol=1e-6) for n, w in enumerate(wanted))


# --- files ------------------------------------------------------------------------------------------------


def test_an_episode_is_found_in_the_next_file_where_the_converter_lists_it_in_the_one_before(
    mine: Path,
) -> None:
    """LeRobot's issue 2401: datasets converted from version 2.1, as soon as they have two files."""
    listed(mine, lambda number, row: row | ({"data/file_index": 0} if number == 2 else {}))
    assert is_whole(mine)
    assert [place.path.name for place in LeRobotDataset(mine).entries] == ["file-000.parquet"] * 2 + [
        "file-001.parquet"
    ] * 2


def test_an_episode_is_found_where_the_file_that_is_listed_was_never_written(mine: Path) -> None:
    """LeRobot's issue 2643: the converter leaves out a file's number."""
    data = mine / "data" / "chunk-000"
    (data / "file-001.parquet").rename(data / "file-002.parquet")
    assert is_whole(mine)


def test_what_is_in_no_file_is_named_with_the_file_that_was_listed(mine: Path) -> None:
    listed(mine, lambda number, row: row | ({"episode_index": 7} if number == 3 else {}))
    with pytest.raises(BadEpisode, match=r"^episode 7: .*20 frames, .*file-001.* has 0"):
        LeRobotDataset(mine).episode(3)
    assert extract_features(LeRobotDataset(mine), FeatureOptions(["mean"], skip_bad=True, jobs=1)).ids == (
        "0",
        "1",
        "2",
    )


def test_the_metadata_may_be_in_several_files_in_any_order(mine: Path) -> None:
    rows = pq.read_table(mine / INDEX).to_pylist()
    for number, part in enumerate((rows[2:], rows[:2])):
        place = mine / "meta" / "episodes" / f"chunk-00{number}" / "file-000.parquet"
        place.parent.mkdir(exist_ok=True)
        pq.write_table(pa.Table.from_pylist(part), place)
    assert LeRobotDataset(mine).ids == ("0", "1", "2", "3")
    assert is_whole(mine)


def test_an_episode_that_is_listed_twice_is_one_unless_they_differ(mine: Path) -> None:
    other = mine / "meta" / "episodes" / "chunk-000" / "file-001.parquet"
    shutil.copy(mine / INDEX, other)
    assert is_whole(mine)
    listed(mine, lambda number, row: row | ({"length": 8} if number == 2 else {}))
    dataset = LeRobotDataset(mine)
    assert dataset.ids == ("0", "1", "2", "3")
    with pytest.raises(BadEpisode, match=r"^episode 2: .*listed twice"):
        dataset.episode(2)
    assert set(extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1)).skipped) == {"2"}


def test_numbers_that_became_fractions_are_numbers(mine: Path) -> None:
    """As pandas makes of whole numbers when some are missing."""
    listed(mine, lambda _, row: {k: float(v) if isinstance(v, int) else v for k, v in row.items()})
    assert is_whole(mine)


@pytest.mark.parametrize("lost", [None, float("nan")])
@pytest.mark.parametrize("key", ["length", "data/chunk_index", "data/file_index"])
def test_an_episode_of_which_nobody_knows_where_it_is_is_named(mine: Path, key: str, lost: Any) -> None:
    listed(mine, lambda number, row: row | ({key: lost} if number == 1 else {}))
    dataset = LeRobotDataset(mine)
    with pytest.raises(BadEpisode, match=r"^episode 1: meta/episodes .* where it is$"):
        dataset.episode(1)
    assert [isinstance(found, BadEpisode) for found in dataset.read([0, 1, 2])] == [False, True, False]
    assert extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1)).ids == ("0", "2", "3")


def test_rows_about_no_episode_are_damage(mine: Path) -> None:
    listed(mine, lambda number, row: row | ({"episode_index": None} if number == 1 else {}))
    with pytest.raises(ValueError, match=r"file-000\.parquet is damaged: .*rows without an episode"):
        LeRobotDataset(mine)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_pointer_of_gits_is_not_called_damage(version: str, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm")
    dataset = LeRobotDataset(folder)
    for path in (dataset.entries[3].path, dataset.entries[3].videos[CAMERAS[0]].path):
        path.write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", encoding="utf-8"
        )
    with pytest.raises(BadEpisode, match=r"^episode 3: its file .* Git LFS pointer: `git lfs pull`"):
        LeRobotDataset(folder).episode(3)
    with pytest.raises(BadEpisode, match=r"^episode 3: its video .* Git LFS pointer: `git lfs pull`"):
        LeRobotDataset(folder).cut_clip(3, tmp_path)


def test_fewer_episodes_than_the_dataset_speaks_of_are_told(mine: Path) -> None:
    informed(mine, total_episodes=9)
    with pytest.warns(UserWarning, match=r"info\.json .*9 episodes, .* 4 "):
        open_dataset(mine)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fps": "30"}, "fps is a positive number, .*'30'"),
        ({"fps": 0}, "fps is a positive number, .*0"),
        ({"fps": float("nan")}, "fps is a positive number, .*nan"),
        ({"features": []}, "features .*each column"),
        ({"features": {"action": None}}, "features .*each column"),
        ({"video_path": None}, "video_path .*None"),
    ],
)
def test_what_the_dataset_says_about_itself_is_checked(
    mine: Path, changes: dict[str, Any], message: str
) -> None:
    informed(mine, **changes)
    with pytest.raises(ValueError, match=rf"info\.json .*{message}"):
        LeRobotDataset(mine)


# --- numbers ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_observations_may_have_rows_and_columns(version: str, tmp_path: Path) -> None:
    """Hugging Face keeps them as lists of lists."""
    folder = LEROBOT[version](tmp_path / "arm", cameras=())
    columns = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))["features"]
    pose = {"dtype": "float32", "shape": [2, 3], "names": None}
    informed(folder, features=columns | {"observation.pose": pose})
    for path in (folder / "data").rglob("*.parquet"):
        table = pq.read_table(path)
        values = [(t + np.arange(6).reshape(2, 3)).tolist() for t in table["frame_index"].to_pylist()]
        kind = pa.list_(pa.list_(pa.float32()))
        pq.write_table(table.append_column("observation.pose", pa.array(values, kind)), path)
    for episode in (0, 3):
        read = LeRobotDataset(folder).episode(episode)
        assert read.state_names == ("shoulder", "elbow", *(f"pose {i}" for i in range(1, 7)))
        wanted = np.arange(LENGTHS[episode])[:, None] + np.arange(6)
        np.testing.assert_array_equal(read.states[:, 2:], wanted)


@pytest.mark.parametrize("broken", [[[1.0, 2.0], [3.0]], [[1.0, 2.0], None], None])
def test_lists_of_unequal_lengths_are_named(broken: Any, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", lengths=(3, 3), cameras=())
    columns = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))["features"]
    informed(folder, features=columns | {"observation.pose": {"dtype": "float32", "shape": [2, 2]}})
    for number, path in enumerate(sorted((folder / "data").rglob("*.parquet"))):
        whole = [[1.0, 2.0], [3.0, 4.0]]
        column = pa.array([whole, whole, broken if number else whole], pa.list_(pa.list_(pa.float64())))
        pq.write_table(pq.read_table(path).append_column("observation.pose", column), path)
    assert LeRobotDataset(folder).episode(0).states[2].tolist()[2:] == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(BadEpisode, match=r"^episode 1: .*observation.pose .*not numbers"):
        LeRobotDataset(folder).episode(1)


def test_names_may_be_the_keys_of_places_and_are_never_twice_the_same() -> None:
    assert column_names("action", {"shape": [2], "names": {"x": 0, "y": 1}}) == ["x", "y"]
    assert column_names("action", {"shape": [2, 2], "names": ["row", "column"]})[3] == "action 4"
    assert distinct(["x", "x (2)", "x", "x"]) == ("x", "x (2)", "x (3)", "x (4)")


@given(st.lists(st.sampled_from(["x", "x (2)", "x (3)", "y"]), max_size=8))
def test_distinct_names_are_as_many_and_begin_as_before(names: list[str]) -> None:
    made = distinct(names)
    assert len(set(made)) == len(made) == len(names)
    assert all(new.startswith(old) for new, old in zip(made, names, strict=True))


# --- videos -----------------------------------------------------------------------------------------------


def retimed(folder: Path, change: Callable[[int, float, float], tuple[float, float]]) -> None:
    """Change from when to when each episode is said to be in its video."""
    keys = [f"videos/{CAMERAS[0]}/{what}_timestamp" for what in ("from", "to")]

    def moved(number: int, row: dict[str, Any]) -> dict[str, Any]:
        return row | dict(zip(keys, change(number, row[keys[0]], row[keys[1]]), strict=True))

    listed(folder, moved)


@pytest.mark.parametrize("rate", ["7", "25/2", "24", "30000/1001", "50"])
def test_videos_of_every_rate_are_cut_where_episodes_begin(rate: str, tmp_path: Path) -> None:
    folder, fps = write_lerobot_3(tmp_path / "arm", split=4), Fraction(rate)
    informed(folder, fps=round(float(fps), 2))
    colors = [frame_color(e, t) for e, n in enumerate(LENGTHS) for t in range(n)]
    write_video(next((folder / "videos").rglob("*.mp4")), colors, rate=fps)
    starts = np.cumsum([0, *LENGTHS]) / float(fps)
    retimed(folder, lambda number, *_: (starts[number], starts[number + 1]))
    dataset = LeRobotDataset(folder, LeRobotOptions(videos="check"))
    for episode, length in enumerate(LENGTHS):
        assert len(dataset.episode(episode)) == length
        seen = colors_in(dataset.cut_clip(episode, tmp_path / "clips"))
        np.testing.assert_allclose(seen, [frame_color(episode, t) for t in range(length)], atol=8)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.floats(-0.4, 0.4), st.integers(0, 14), st.integers(1, 15))
def test_times_that_were_added_up_with_rounding_do_no_harm(
    kept: Path, drift: float, first: int, count: int
) -> None:
    """LeRobot's issue 3177: beginnings drift, as long as a whole image is not lost."""
    (video,) = {place.videos[CAMERAS[0]].path for place in LeRobotDataset(kept).entries[:2]}
    last = min(first + count, 15)
    start = (12 + drift + first) / FPS
    seen = np.array([p[24, 32] for p in read_frames(video, start, start + (last - first) / FPS, FPS)])
    np.testing.assert_allclose(seen, [frame_color(1, t) for t in range(first, last)], atol=8)


@pytest.mark.parametrize("missing", [2, 9])
def test_a_video_that_lost_images_does_not_go_on_with_the_next_episode(
    mine: Path, tmp_path: Path, missing: int
) -> None:
    """As when the encoder was too slow: the video is shorter than the numbers are, and says so."""
    retimed(mine, lambda number, start, end: (start, end - (missing / FPS if number == 0 else 0)))
    shown = 12 - missing
    with pytest.raises(BadEpisode, match=rf"^episode 0: .*video is damaged: .* {shown} of its 12"):
        LeRobotDataset(mine).cut_clip(0, tmp_path)
    with pytest.raises(BadEpisode, match=rf"^episode 0: .* {shown / FPS:.2f} s of its 1.20 s"):
        LeRobotDataset(mine, LeRobotOptions(videos="check")).episode(0)
    part = colors_in(LeRobotDataset(mine).cut_clip(0, tmp_path, (0, shown)))
    np.testing.assert_allclose(part, [frame_color(0, t) for t in range(shown)], atol=8)


def test_a_video_may_begin_at_any_time(tmp_path: Path) -> None:
    """Some are cut from longer ones, and keep their times."""
    folder = write_lerobot_2(tmp_path / "arm", lengths=(12, 9))
    video = LeRobotDataset(folder).entries[1].videos[CAMERAS[0]].path
    write_video(video.with_suffix(".mkv"), [frame_color(1, t) for t in range(9)], first=7)
    video.with_suffix(".mkv").rename(video)
    with av.open(str(video)) as opened:
        assert next(opened.decode(video=0)).time == pytest.approx(0.7)
    seen = colors_in(LeRobotDataset(folder, LeRobotOptions(videos="check")).cut_clip(1, tmp_path))
    np.testing.assert_allclose(seen, [frame_color(1, t) for t in range(9)], atol=8)


def test_a_camera_without_a_video_of_an_episode_is_told(mine: Path, tmp_path: Path) -> None:
    key = f"videos/{CAMERAS[0]}/from_timestamp"
    listed(mine, lambda number, row: row | ({key: None} if number == 1 else {}))
    dataset = LeRobotDataset(mine, LeRobotOptions(videos="check"))
    for ask in (lambda: dataset.episode(1), lambda: dataset.cut_clip(1, tmp_path)):
        with pytest.raises(BadEpisode, match=rf"^episode 1: .*no video .*{CAMERAS[0]}"):
            ask()
    assert extract_features(dataset, FeatureOptions(["mean"], skip_bad=True, jobs=1)).ids == ("0", "2", "3")


@pytest.mark.parametrize("version", VERSIONS)
def test_who_brought_the_numbers_alone_does_without_videos(version: str, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm")
    shutil.rmtree(folder / "videos")
    with pytest.warns(UserWarning, match=rf"no video of {CAMERAS[0]} .*features"):
        dataset = open_dataset(folder, LeRobotOptions(videos="check"))
    assert not dataset.has_video
    assert len(extract_features(dataset, FeatureOptions(["mean"], jobs=1))) == 4


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_video_is_looked_at_before_it_is_shown(version: str, share: float, tmp_path: Path) -> None:
    folder = LEROBOT[version](tmp_path / "arm")
    truncate(LeRobotDataset(folder).entries[3].videos[CAMERAS[0]].path, share)
    assert extract_features(LeRobotDataset(folder), FeatureOptions(["mean"], jobs=1)).skipped == {}
    with pytest.raises(BadEpisode, match=r"^episode [23]: .*video is damaged: .*--skip-bad"):
        extract_features(
            LeRobotDataset(folder, LeRobotOptions(videos="check")), FeatureOptions(["mean"], jobs=1)
        )
    found = extract_features(
        LeRobotDataset(folder, LeRobotOptions(videos="check")),
        FeatureOptions(["mean"], skip_bad=True, jobs=1),
    )
    assert "3" in found.skipped
    assert {"0", "1"} <= set(found.ids)


def index_in_front(whole: Path, front: Path) -> list[tuple[int, int]]:
    """As LeRobot leaves it when it joins videos; where each packet is, and how large."""
    with av.open(str(whole)) as old, av.open(str(front), "w", options={"movflags": "+faststart"}) as new:
        stream = new.add_stream_from_template(old.streams.video[0])
        for packet in old.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                new.mux(packet)
    with av.open(str(front)) as video:
        return [(packet.pos or 0, packet.size) for packet in video.demux(video=0) if packet.size]


def test_videos_with_their_index_in_front_are_seen_to_end_too_soon(tmp_path: Path) -> None:
    """The rest can be lost, and the file still opens."""
    whole, front = tmp_path / "whole.mp4", tmp_path / "front.mp4"
    write_video(whole, [((37 * t) % 250, (91 * t) % 250, (53 * t) % 250) for t in range(60)])
    index_in_front(whole, front)
    for start, end in ((0.0, 6.0), (2.0, 4.0), (5.9, 6.0)):
        check_span(front, start, end, FPS)
    truncate(front, 0.6)
    check_span(front, 0.0, 1.0, FPS)
    for start, end in ((0.0, 6.0), (5.0, 5.5), (5.9, 6.0)):
        with pytest.raises(VideoError, match=r"front\.mp4"):
            check_span(front, start, end, FPS)
    for start, end in ((0.0, 7.0), (6.0, 6.1)):
        with pytest.raises(VideoError, match=rf"{end:.2f} s, .* 5\.90 s"):
            check_span(whole, start, end, FPS)


def test_half_an_image_is_none(tmp_path: Path) -> None:
    whole, front = tmp_path / "whole.mp4", tmp_path / "front.mp4"
    write_video(whole, [((37 * t) % 250, (91 * t) % 250, (53 * t) % 250) for t in range(20)], "mpeg4")
    place, size = index_in_front(whole, front)[-2]
    front.write_bytes(front.read_bytes()[: place + size // 2])
    check_span(front, 0.0, 1.9, FPS)
    with pytest.raises(VideoError, match=r"front\.mp4 .*2\.00 s, .* 1\.70 s"):
        check_span(front, 0.0, 2.0, FPS)


def test_another_video_is_another_dataset(mine: Path) -> None:
    """Clips that were cut from the old one are not shown for it."""
    before = LeRobotDataset(mine).version
    write_video(LeRobotDataset(mine).entries[0].videos[CAMERAS[0]].path, [(9, 9, 9)] * 27)
    assert LeRobotDataset(mine).version != before
