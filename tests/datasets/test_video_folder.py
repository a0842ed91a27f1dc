"""Folders of videos with a table: which video is which, and how it is shown."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from datasets.write_datasets import colors_in, frame_color, truncate, write_video_folder
from prefero.datasets import BadEpisode, FeatureDataset, FeatureOptions, extract_features, open_dataset
from prefero.datasets.formats.video_folder import VideoFolder


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


def test_a_table_in_memory_may_name_videos_without_their_suffix(folder: Path) -> None:
    found = VideoFolder(folder, table=pd.DataFrame({"id": ["throw 3", "throw 0"], "fun": [1.0, 2.0]}))
    assert found.videos == (folder / "throw 3.mp4", folder / "throw 0.mp4")
    assert found.ids == ("throw 3", "throw 0")


def test_missing_and_damaged_videos_are_named(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "throws")
    (folder / "throw 1.mp4").unlink()
    truncate(folder / "throw 3.mp4", 0.6)
    with pytest.raises(BadEpisode, match=r"^episode throw 1.mp4: the video .* is missing"):
        extract_features(VideoFolder(folder))
    found = extract_features(VideoFolder(folder), FeatureOptions(skip_bad=True))
    assert found.ids == ("throw 0.mp4", "throw 2.mp4", "throw 4.mp4")
    assert "cut short" in found.skipped["throw 3.mp4"]


def test_a_folder_needs_one_table_that_says_which_video_is_which(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"should hold one table .*, but there is none: name one with --table"
    ):
        VideoFolder(tmp_path)
    with pytest.raises(ValueError, match="must say which video a row is of"):
        VideoFolder(folder, table={"speed": [1.0]})
    with pytest.raises(FileNotFoundError, match=r"no such file: .*nowhere"):
        VideoFolder(tmp_path / "nowhere")
