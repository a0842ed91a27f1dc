"""How trajectories are shown: replayed in their scene, as videos, or by their features."""

import json
from pathlib import Path

import numpy as np
import pytest

from prefero import Pool
from prefero.pools.displays import details_of, display_of
from prefero.studies.reports.learning_summary import FeatureLabel, labels_of
from prefero.studies.session import task_description
from prefero.trajectories import Categories
from prefero.worlds.base import TASK_DESCRIPTION
from studies.fake_study import features_only, protocol_of


def with_clips(folder: Path) -> Pool:
    videos = []
    for number in range(12):
        video = folder / ("early" if number < 6 else "late") / f"{number}.mp4"
        video.parent.mkdir(parents=True, exist_ok=True)
        video.write_bytes(b"video")
        videos.append(video)
    return Pool(features_only().features, ["speed", "distance"], clips=videos)


def test_a_simulated_pool_is_shown_in_its_scene(driver_pool: Pool) -> None:
    display = display_of(driver_pool)
    world = driver_pool.world()
    assert (display["kind"], display["seconds"]) == ("scene", world.duration)
    assert display["scene"] == world.scene.to_json()
    assert (display["task_description"], display["subject"]) == (world.task_description, "the blue car")
    assert json.loads(json.dumps(display)) == display
    assert labels_of(display) == [FeatureLabel(feature.name, feature.unit) for feature in world.features]
    assert [unit.name for unit in labels_of(display)] == list(driver_pool.names)


def test_what_to_do_is_in_the_display(pool: Pool) -> None:
    assert task_description(protocol_of(), display_of(pool)) == TASK_DESCRIPTION


def test_features_alone_are_shown_with_their_ranges(pool: Pool) -> None:
    display = display_of(pool)
    low, high = pool.features.min(axis=0), pool.features.max(axis=0)
    assert display == {
        "kind": "features",
        "features": [
            {"name": "speed", "unit": "", "levels": [], "ordered": True, "low": low[0], "high": high[0]},
            {"name": "distance", "unit": "", "levels": [], "ordered": True, "low": low[1], "high": high[1]},
        ],
        "no_video": "",
        "task_description": TASK_DESCRIPTION,
        "subject": "",
    }
    assert json.loads(json.dumps(display)) == display
    assert labels_of(display) == [FeatureLabel("speed", ""), FeatureLabel("distance", "")]


def test_a_category_is_one_feature_whose_value_is_the_place_of_its_level() -> None:
    one = Categories("surface", ("clay", "grass", "sand"))
    values = ["sand", "clay", "grass", "sand"]
    features = np.column_stack([[1.0, 2.0, 4.0, 3.0], one.encode(values)])
    pool = Pool(features, ("speed", *one.names), categories=(one,))
    speed, surface = display_of(pool)["features"]
    assert surface == {
        "name": "surface",
        "unit": "",
        "levels": ["clay", "grass", "sand"],
        "ordered": False,
        "low": 0.0,
        "high": 2.0,
    }
    assert (speed["levels"], speed["ordered"]) == ([], True)
    assert details_of(pool, display_of(pool), 2)["features"] == {"speed": 4.0, "surface": 1.0}
    assert labels_of(display_of(pool))[1] == FeatureLabel("surface", "", ("clay", "grass", "sand"))


def test_clips_are_shown_from_their_common_folder(tmp_path: Path) -> None:
    """The server serves files of that folder alone."""
    videos = with_clips(tmp_path / "videos")
    display = display_of(videos)
    assert display["kind"] == "clips"
    assert Path(display["folder"]) == (tmp_path / "videos").resolve()
    assert labels_of(display) == [FeatureLabel("speed", ""), FeatureLabel("distance", "")]
    assert json.loads(json.dumps(display)) == display


def test_missing_clips_are_counted_and_named(tmp_path: Path) -> None:
    videos = with_clips(tmp_path)
    for number in (3, 7):
        next(tmp_path.rglob(f"{number}.mp4")).unlink()
    with pytest.raises(ValueError, match=r"2 clips .*are missing, .*3\.mp4"):
        display_of(videos)


def test_a_replay_holds_the_poses_to_a_tenth_of_a_millimetre(driver_pool: Pool) -> None:
    display = display_of(driver_pool)
    assert driver_pool.trajectories is not None
    for index in (0, 7, 59):
        details = details_of(driver_pool, display, index)
        replay = details["replay"]
        poses = driver_pool.trajectories.poses[index]
        assert np.shape(replay["poses"]) == poses.shape
        np.testing.assert_allclose(replay["poses"], poses, rtol=0, atol=0.51e-4)
        assert replay["frame_time"] == driver_pool.world().scene.frame_time
        assert details["features"] == dict(
            zip(driver_pool.names, driver_pool.features[index].tolist(), strict=True)
        )
        assert json.loads(json.dumps(details)) == details


def test_without_a_scene_the_features_are_shown(pool: Pool, tmp_path: Path) -> None:
    speed, distance = pool.features[4].tolist()
    for one in (pool, with_clips(tmp_path)):
        features = {"speed": speed, "distance": distance}
        assert details_of(one, display_of(one), 4) == {"features": features, "replay": None}


@pytest.mark.parametrize("index", [-1, 12])
def test_there_are_no_details_of_a_trajectory_outside_the_pool(pool: Pool, index: int) -> None:
    with pytest.raises(ValueError, match="trajectories 0 to 11"):
        details_of(pool, display_of(pool), index)
