"""Scores of LeRobot datasets that are refused: a copy in the way, an interruption, a dataset that changed."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from datasets.lerobot_with_statistics import MEANS, STDS, contents, extracted, frames_in, spoil
from datasets.write_datasets import LENGTHS, truncate, write_lerobot_2, write_lerobot_3
from prefero.datasets import (
    BadEpisode,
    FeatureOptions,
    FeatureTable,
    extract_features,
    open_dataset,
    write_scores,
)


def test_a_copy_never_lies_in_the_way_of_anything(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    found, before = extracted(folder), contents(tmp_path)
    (tmp_path / "there").mkdir()
    for place, message in [
        (tmp_path / "there", "there exists already, and nothing is overwritten"),
        (folder, "arm exists already"),
        (folder / "data" / "scored", "is inside the dataset that it would be a copy of"),
    ]:
        with pytest.raises(ValueError, match=message):
            write_scores(found, MEANS, STDS, place)
    windows = extract_features(open_dataset(folder), FeatureOptions(["max"], window=5, jobs=1))
    with pytest.raises(ValueError, match="scores of windows"):
        write_scores(windows, np.ones(len(windows)), np.ones(len(windows)), tmp_path / "scored")
    for mean in ([1.0, 2.0], [1.0, 2.0, 3.0, np.nan]):
        with pytest.raises(ValueError, match=r"4 episodes .*finite"):
            write_scores(found, mean, np.ones(len(mean)), tmp_path / "scored")
    assert contents(tmp_path) == before


def test_a_copy_with_scores_is_not_scored_again(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    write_scores(extracted(folder), MEANS, STDS, tmp_path / "scored")
    with pytest.raises(ValueError, match=r"scored has a column 'prefero.mean' already"):
        write_scores(extracted(tmp_path / "scored"), MEANS, STDS, tmp_path / "twice")
    assert not (tmp_path / "twice").exists()


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError("no space left")])
def test_an_interruption_leaves_nothing(error: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_lerobot_3(tmp_path / "arm")
    found, before = extracted(folder), contents(tmp_path)
    videos = []

    def copyfile(source: Path, target: Path) -> None:
        videos.append(target)
        target.write_bytes(source.read_bytes())
        if len(videos) == 2:
            raise error

    monkeypatch.setattr("prefero.datasets.scores.scores.shutil.copyfile", copyfile)
    with pytest.raises(type(error) if isinstance(error, Exception) else error):
        write_scores(found, MEANS, STDS, tmp_path / "new" / "deep" / "scored")
    assert len(videos) == 2
    assert contents(tmp_path) == before
    assert not (tmp_path / "new").exists()


def kept(folder: Path, place: Path, **how: Any) -> FeatureTable:
    """Features as `prefero features` keeps them, opened again."""
    extract_features(open_dataset(folder), FeatureOptions(["max"], cache=place, jobs=1, **how))
    return extract_features(open_dataset(place))


def test_features_that_were_kept_know_whose_they_are(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    spoil(folder, 0)
    found = kept(folder, tmp_path / "features.parquet", skip_bad=True)
    write_scores(found, MEANS[1:], STDS[1:], tmp_path / "scored")
    mean, episode = (frames_in(tmp_path / "scored")[k].to_numpy() for k in ("prefero.mean", "episode_index"))
    np.testing.assert_array_equal(mean[episode > 0], np.array(MEANS, np.float32)[episode[episode > 0]])
    assert np.isnan(mean[episode == 0]).all()
    windows = kept(folder, tmp_path / "windows.parquet", skip_bad=True, window=5)
    with pytest.raises(ValueError, match="scores of windows"):
        write_scores(windows, np.ones(len(windows)), np.ones(len(windows)), tmp_path / "again")


def test_a_dataset_that_has_changed_since_is_not_given_scores(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    extract_features(
        open_dataset(folder), FeatureOptions(["max"], cache=tmp_path / "features.parquet", jobs=1)
    )
    shutil.rmtree(folder)
    write_lerobot_3(folder, (12, 15, 9, 21), cameras=())
    found = extract_features(open_dataset(tmp_path / "features.parquet"))
    with pytest.raises(BadEpisode, match=r"episode 3: .*21 steps, .* 20 "):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    shutil.rmtree(folder)
    write_lerobot_3(folder, LENGTHS[:3], cameras=())
    with pytest.warns(UserWarning, match=r"arm, .*has changed"):
        found = extract_features(open_dataset(tmp_path / "features.parquet"))
    with pytest.raises(
        ValueError,
        match=r"features cannot be copied.* lerobot, hub, minari",
    ):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    assert not (tmp_path / "scored").exists()


def test_a_dataset_that_was_damaged_since_is_not_given_scores(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    found = kept(folder, tmp_path / "features.parquet")
    path = next(folder.rglob("episode_000001.parquet"))
    pq.write_table(pq.read_table(path).slice(3), path)
    with pytest.raises(BadEpisode, match=r"episode 1: .*15 frames, .* 12"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    truncate(path)
    with pytest.raises(BadEpisode, match=r"episode 1: its file .* damaged"):
        write_scores(found, MEANS, STDS, tmp_path / "scored")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm", "features.parquet"]
