"""Clips in a folder: all at once, or each when it is wanted, by a plan that lies beside them."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from datasets.write_datasets import (
    FPS,
    colors_in,
    frame_color,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Pool
from prefero.datasets import BadEpisode, FeatureOptions, extract_features, open_dataset
from prefero.datasets.formats.archives import in_memory
from prefero.datasets.formats.lerobot.dataset import LeRobotDataset, LeRobotOptions
from prefero.datasets.formats.video_folder import VideoFolder
from prefero.datasets.media.clips import (
    camera_clip,
    clip_folder,
    cut_camera_clip,
    cut_clips,
    cut_planned_clip,
    missing_clips,
    plan_clips,
    planned_cameras,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lerobot_3(tmp_path_factory.mktemp("lerobot") / "arm")


def test_all_clips_are_cut_on_several_processes_in_the_order_of_the_rows(
    folder: Path, tmp_path: Path
) -> None:
    found = extract_features(open_dataset(folder), FeatureOptions(["mean"], window=6, jobs=1))
    same, paths = cut_clips(found, tmp_path, jobs=2)
    assert same.ids == found.ids
    for path, (number, part) in zip(paths, zip(found.numbers, found.segments, strict=True), strict=True):
        assert part is not None
        np.testing.assert_allclose(colors_in(path), [frame_color(number, t) for t in range(*part)], atol=8)


def test_rows_without_a_video_stop_everything_or_are_left_out(tmp_path: Path) -> None:
    damaged = write_lerobot_2(tmp_path / "arm")
    truncate(next((damaged / "videos").rglob("episode_000002.mp4")))
    found = extract_features(open_dataset(damaged), FeatureOptions(["mean"], jobs=1))
    with pytest.raises(BadEpisode, match=r"^episode 2: .*video is damaged.*--skip-bad"):
        cut_clips(found, tmp_path / "clips", jobs=1)
    fewer, paths = cut_clips(found, tmp_path / "clips", skip_bad=True, jobs=1)
    assert fewer.ids == ("0", "1", "3")
    assert [path.name for path in paths] == ["000000.mp4", "000001.mp4", "000003.mp4"]
    assert "its video is damaged" in fewer.skipped["2"]


def test_a_planned_clip_is_cut_when_it_is_wanted_by_somebody_who_knows_only_its_path(
    folder: Path, tmp_path: Path
) -> None:
    found = extract_features(open_dataset(folder), FeatureOptions(["mean"], window=6, jobs=1))
    paths = plan_clips(found, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["plan.json"]
    assert missing_clips(paths) == []
    assert cut_planned_clip(paths[3]) == paths[3]
    number, part = found.numbers[3], found.segments[3]
    assert part is not None
    np.testing.assert_allclose(colors_in(paths[3]), [frame_color(number, t) for t in range(*part)], atol=8)
    assert len(list(tmp_path.glob("*.mp4"))) == 1


def test_a_dataset_is_opened_once_for_many_clips(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy, openings = Path(shutil.copytree(folder, tmp_path / "arm")), list[str]()
    paths = plan_clips(extract_features(open_dataset(copy), FeatureOptions(["mean"], jobs=1)), tmp_path)
    init = LeRobotDataset.__init__

    def counted(self: LeRobotDataset, *arguments: Any) -> None:
        openings.append(str(arguments[0]))
        init(self, *arguments)

    monkeypatch.setattr(LeRobotDataset, "__init__", counted)
    for path in paths[:3]:
        assert cut_planned_clip(path).is_file()
    assert len(openings) == 1
    (copy / "meta" / "info.json").touch()  # what opening reads has changed
    assert cut_planned_clip(paths[3]).is_file()
    assert len(openings) == 2


def test_plans_of_one_dataset_add_up_and_those_of_another_are_refused(folder: Path, tmp_path: Path) -> None:
    found = extract_features(open_dataset(folder), FeatureOptions(["mean"], jobs=1))
    plan_clips(found, tmp_path)
    plan_clips(extract_features(open_dataset(folder), FeatureOptions(["mean"], window=5, jobs=1)), tmp_path)
    assert len(json.loads((tmp_path / "plan.json").read_text(encoding="utf-8"))["clips"]) == 4 + 10
    other = extract_features(open_dataset(write_video_folder(tmp_path / "throws", count=2)))
    with pytest.raises(ValueError, match=r"clips of another dataset.* another folder"):
        plan_clips(other, tmp_path)


def test_videos_that_browsers_play_are_not_planned_but_shown(tmp_path: Path) -> None:
    found = extract_features(open_dataset(write_video_folder(tmp_path / "throws", count=3)))
    assert plan_clips(found, tmp_path / "clips") == tuple(
        tmp_path / "throws" / f"throw {n}.mp4" for n in range(3)
    )


def test_a_clip_without_a_plan_is_missing(tmp_path: Path) -> None:
    assert missing_clips([tmp_path / "a.mp4", tmp_path / "b.mp4"]) == [tmp_path / "a.mp4", tmp_path / "b.mp4"]
    with pytest.raises(ValueError, match=r"a\.mp4 is missing.* no plan"):
        cut_planned_clip(tmp_path / "a.mp4")
    (tmp_path / "plan.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match="no plan"):
        cut_planned_clip(tmp_path / "a.mp4")


def test_a_dataset_that_words_cannot_name_is_not_planned() -> None:
    found = extract_features(
        in_memory({"states": np.random.default_rng(0).normal(size=(3, 5, 2))}),
        FeatureOptions(["mean"], jobs=1),
    )
    with pytest.raises(ValueError, match="cannot be opened again"):
        plan_clips(found, Path("clips"))


def test_clips_are_kept_in_the_cache_under_the_datasets_version(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "arm"))
    before = clip_folder(open_dataset(copy))
    assert before == clip_folder(open_dataset(copy))
    assert before != clip_folder(open_dataset(folder))
    (copy / "meta" / "info.json").write_text(
        (copy / "meta" / "info.json").read_text(encoding="utf-8") + " ", encoding="utf-8"
    )
    assert before != clip_folder(open_dataset(copy))


def test_videos_of_two_folders_of_one_name_are_not_mistaken_for_each_other(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": ["throw 0", "throw 1"], "fun": [1.0, 2.0]})
    one, other = (write_video_folder(tmp_path / place / "throws", count=2) for place in ("here", "there"))
    assert clip_folder(VideoFolder(one, table=table)) == clip_folder(VideoFolder(one, table=table))
    assert clip_folder(VideoFolder(one, table=table)) != clip_folder(VideoFolder(other, table=table))


def test_a_video_that_was_replaced_is_copied_anew(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "throws", count=2, codec="mpeg4")
    before = clip_folder(open_dataset(folder))
    os.utime(folder / "throw 1.mp4", (1, 1))
    assert clip_folder(open_dataset(folder)) != before


def test_bringing_cuts_clips_now_or_later(folder: Path, tmp_path: Path) -> None:
    dataset = open_dataset(folder)
    now = Pool.from_dataset(dataset, FeatureOptions(["mean"], jobs=1), clip_folder=tmp_path / "now", count=2)
    later = Pool.from_dataset(
        dataset, FeatureOptions(["mean"], jobs=1), clip_folder=tmp_path / "later", clips="later"
    )
    assert now.clips is not None
    assert later.clips is not None
    assert len(now.clips) == 2
    assert all(Path(clip).is_file() for clip in now.clips)
    assert not any(Path(clip).exists() for clip in later.clips)
    assert cut_planned_clip(later.clips[1]).is_file()
    assert Pool.from_dataset(dataset, FeatureOptions(["mean"], jobs=1), clips="never").clips is None


def test_kept_features_go_on_showing_the_videos_of_their_dataset(folder: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(folder, tmp_path / "arm"))
    kept = tmp_path / "features.parquet"
    extract_features(open_dataset(copy), FeatureOptions(["mean"], window=6, cache=kept, jobs=1))
    again = Pool.from_dataset(open_dataset(kept), clip_folder=tmp_path / "clips", clips="later")
    assert again.clips is not None
    np.testing.assert_allclose(
        colors_in(cut_planned_clip(again.clips[3])), [frame_color(1, t) for t in range(6, 12)], atol=8
    )
    images, rate = open_dataset(kept).frames(3, None)
    assert (len(list(images)), rate) == (6, FPS)
    shutil.rmtree(copy)
    with pytest.warns(UserWarning, match="videos are not shown"):
        assert not open_dataset(kept).has_video


def test_a_plan_is_not_followed_when_its_dataset_has_changed(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "features.parquet"
    extract_features(open_dataset(folder), FeatureOptions(["mean"], window=6, cache=kept, jobs=1))
    before = clip_folder(open_dataset(kept))
    planned = Pool.from_dataset(open_dataset(kept), clip_folder=tmp_path / "clips", clips="later").clips
    assert planned is not None
    extract_features(open_dataset(folder), FeatureOptions(["mean"], window=4, cache=kept, jobs=1))
    with pytest.raises(ValueError, match=r"dataset of the clip .* has changed"):
        cut_planned_clip(planned[1])
    assert clip_folder(open_dataset(kept)) != before


def test_of_a_clip_of_several_cameras_one_can_be_cut_alone(tmp_path: Path) -> None:
    arm = write_lerobot_3(tmp_path / "arm", cameras=("observation.images.top", "observation.images.wrist"))
    both = LeRobotDataset(arm, LeRobotOptions(camera="all"))
    found = extract_features(both, FeatureOptions(["mean"], jobs=1))
    path = plan_clips(found, tmp_path / "clips")[1]
    top, wrist = planned_cameras(path)
    for place, camera in enumerate((top, wrist)):
        cut = cut_camera_clip(path, camera)
        assert cut == camera_clip(path, camera)
        np.testing.assert_allclose(colors_in(cut), [frame_color(1, t, place) for t in range(15)], atol=8)
    with pytest.raises(ValueError, match=r"no plan .* for the camera 'roof'"):
        cut_camera_clip(path, "roof")
    assert planned_cameras(plan_clips(extract_features(open_dataset(arm)), tmp_path / "one")[0]) == []
