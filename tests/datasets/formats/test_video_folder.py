"""Folders of videos with a table: which video is which, and how it is shown."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from datasets.write_datasets import colors_in, frame_color, truncate, write_video, write_video_folder
from prefero.datasets import BadEpisode, FeatureDataset, FeatureOptions, extract_features, open_dataset
from prefero.datasets.formats.video_folder import VideoFolder
from prefero.datasets.media.video_files import SUFFIXES, plays_in_browsers


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_video_folder(tmp_path_factory.mktemp("clips") / "throws")


def test_a_folder_of_videos_has_features_and_ids(folder: Path) -> None:
    found = open_dataset(folder)
    assert isinstance(found, FeatureDataset)
    assert (found.name, found.names, found.ids[1]) == ("throws", ("speed", "height"), "throw 1.mp4")
    assert extract_features(found).features[2].tolist() == [3.0, 4.0]


def test_a_video_that_browsers_play_is_shown_as_it_is(folder: Path, tmp_path: Path) -> None:
    found = VideoFolder(folder)
    assert found.cut_clip(1, tmp_path) == folder / "throw 1.mp4"
    assert list(tmp_path.iterdir()) == []


def test_another_video_is_copied_into_one_that_they_play(tmp_path: Path) -> None:
    found = VideoFolder(write_video_folder(tmp_path / "old", count=2, codec="mpeg4"))
    path = found.cut_clip(1, tmp_path / "new")
    assert path == tmp_path / "new" / "000001.mp4"
    np.testing.assert_allclose(colors_in(path), [frame_color(1, t) for t in range(6)], atol=12)


CODECS = {".mp4": "libx264", ".m4v": "libx264", ".mov": "libx264", ".mkv": "libx264"}
CODECS |= {".webm": "libvpx", ".avi": "mpeg4", ".gif": "gif"}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("table", ["names", "ids", "none"])
def test_videos_of_every_suffix_are_read_and_converted_for_browsers(
    suffix: str, table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    folder, shown = tmp_path / "throws", tmp_path / "shown"
    for number in range(2):
        colors = [frame_color(number, 2 * t) for t in range(6)]
        write_video(folder / f"{number}a{suffix.upper()}", colors, CODECS[suffix])
    (folder / "._0a.mov").write_bytes(b"what a Mac adds")
    if table != "none":
        end = suffix.upper() if table == "names" else ""
        rows = "".join(f"{number}a{end},{number}\n" for number in range(2))
        (folder / "features.csv").write_text(f"video,speed\n{rows}", encoding="utf-8")
    found = open_dataset(folder)
    assert len(extract_features(found)) == 2
    clip = found.cut_clip(1, shown)
    assert (clip.suffix.lower(), plays_in_browsers(clip)) == (".mp4", True)
    assert clip.parent == (folder if suffix == ".mp4" else shown)
    np.testing.assert_allclose(colors_in(clip), [frame_color(1, 2 * t) for t in range(6)], atol=40)


def test_a_folder_without_videos_says_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"(?s)is not recognized.*holds nothing.*\.mov"):
        open_dataset(tmp_path)
    for name in ("a.wav", "b.wav", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "more").mkdir()
    with pytest.raises(ValueError, match=r"holds 2 \.wav files, 1 folder, 1 \.txt file"):
        open_dataset(tmp_path)
    write_video(tmp_path / "one.mov", [frame_color(0, 0)])
    with pytest.raises(ValueError, match=r"two videos .*1 \.mov file"):
        open_dataset(tmp_path)


def test_a_table_in_memory_may_name_videos_without_their_suffix(folder: Path) -> None:
    found = VideoFolder(folder, table=pd.DataFrame({"id": ["throw 3", "throw 0"], "fun": [1.0, 2.0]}))
    assert found.videos == (folder / "throw 3.mp4", folder / "throw 0.mp4")
    assert found.ids == ("throw 3", "throw 0")


def test_missing_and_damaged_videos_are_named(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "throws")
    (folder / "throw 1.mp4").unlink()
    truncate(folder / "throw 3.mp4", 0.6)
    with pytest.raises(BadEpisode, match=r"^episode throw 1.mp4: .* is missing"):
        extract_features(VideoFolder(folder))
    found = extract_features(VideoFolder(folder), FeatureOptions(skip_bad=True))
    assert found.ids == ("throw 0.mp4", "throw 2.mp4", "throw 4.mp4")
    assert "cut short" in found.skipped["throw 3.mp4"]


def test_a_folder_needs_one_table_that_says_which_video_is_which(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"one table .*--table"):
        VideoFolder(tmp_path)
    with pytest.raises(ValueError, match="which video a row is of"):
        VideoFolder(folder, table={"speed": [1.0]})
    with pytest.raises(FileNotFoundError, match=r"no such file: .*nowhere"):
        VideoFolder(tmp_path / "nowhere")
