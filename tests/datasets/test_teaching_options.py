"""`prefero teach DATASET` with options: one task, one camera, other features, and without what is damaged."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.write_datasets import (
    CAMERAS,
    LENGTHS,
    colors_in,
    frame_color,
    truncate,
    write_lerobot_2,
    write_lerobot_3,
)
from prefero import Pool
from prefero.datasets import BadEpisode, FeatureOptions, LeRobotOptions, extract_features, open_dataset
from prefero.studies.start import begin_teaching, opening_options, pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Refused, Store
from server.run_commands import RunningCommand, run
from server.served_studies import Client, ok

TASKS = ("pick", "drop")
SKIP_BAD = FeatureOptions(skip_bad=True)
FEW = (6, 9, 7, 8, 5, 11)

pytestmark = pytest.mark.filterwarnings(
    "ignore:episodes have", "ignore:.* are strongly correlated", "ignore:.* were left out"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(open_database(tmp_path / "teach.db"))
    yield store
    store.engine.dispose()


# --- what is asked about ----------------------------------------------------------------------------------


def test_a_task_a_camera_and_features_are_chosen(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    pool = pool_of(
        str(folder), features=FeatureOptions(["max"]), opening=LeRobotOptions(task="drop", camera="wrist")
    )
    assert pool.ids == ("1", "3", "5")
    assert pool.names == ("max shoulder", "max elbow")
    wanted = extract_features(
        open_dataset(folder, LeRobotOptions(task="drop")), FeatureOptions(["max"], jobs=1)
    )
    np.testing.assert_array_equal(pool.features, wanted.features)


def test_the_video_of_the_chosen_camera_and_episode_is_shown(store: Store, tmp_path: Path) -> None:
    from prefero.datasets.media.clips import cut_planned_clip

    folder = write_lerobot_3(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    study, _, _ = begin_teaching(
        store, str(folder), None, 30, opening=LeRobotOptions(task="drop", camera="wrist")
    )
    clips = store.pool(study).clips
    assert clips is not None
    np.testing.assert_allclose(
        colors_in(cut_planned_clip(clips[1])), [frame_color(3, t, 1) for t in range(FEW[3])], atol=8
    )


def test_whoever_compares_different_tasks_is_told(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW, cameras=(), tasks=TASKS)
    with pytest.warns(UserWarning, match=r"different tasks .*arm: 'pick', 'drop'"):
        assert len(pool_of(str(folder))) == len(FEW)


@pytest.mark.parametrize("damage", ["numbers", "video", "no video"])
def test_what_is_damaged_is_named_before_anybody_is_asked_and_the_rest_can_be_used(
    damage: str, store: Store, tmp_path: Path
) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW)
    if damage == "numbers":
        truncate(next(folder.rglob("episode_000002.parquet")))
    else:
        video = next(folder.rglob("episode_000002.mp4"))
        truncate(video) if damage == "video" else video.unlink()
    with pytest.raises(BadEpisode, match=r"^episode 2: its (file|video) .*--skip-bad"):
        begin_teaching(store, str(folder), None, 30)
    assert store.studies() == []
    study, _, _ = begin_teaching(store, str(folder), None, 30, features=SKIP_BAD)
    assert store.pool(study).ids == ("0", "1", "3", "4", "5")


def test_kept_features_whose_video_is_lost_since_are_named(tmp_path: Path) -> None:
    folder, kept = write_lerobot_2(tmp_path / "arm", FEW), tmp_path / "features.parquet"
    extract_features(open_dataset(folder), FeatureOptions(["mean"], cache=kept, jobs=1))
    truncate(next(folder.rglob("episode_000002.mp4")))
    with pytest.raises(BadEpisode, match=r"^episode 2: .*video is damaged"):
        pool_of(str(kept))
    assert pool_of(str(kept), features=SKIP_BAD).ids == ("0", "1", "3", "4", "5")


def test_videos_are_not_shown_for_features_of_other_episodes(tmp_path: Path) -> None:
    folder, kept = write_lerobot_2(tmp_path / "arm", FEW), tmp_path / "features.parquet"
    extract_features(open_dataset(folder), FeatureOptions(["mean"], cache=kept, jobs=1))
    lines = folder / "meta" / "episodes.jsonl"
    lines.write_text("\n".join(lines.read_text(encoding="utf-8").splitlines()[1:]), encoding="utf-8")
    with pytest.warns(UserWarning, match=r"arm, .*has changed .*videos are not"):
        assert pool_of(str(kept)).clips is None


@pytest.mark.parametrize("option", ["task", "camera", "render", "max_steps"])
def test_a_world_and_a_pool_have_no_format(option: str, tmp_path: Path) -> None:
    Pool([[1.0], [2.0], [4.0]]).save(tmp_path / "pool.npz")
    for what, kind in (("driver", "a world"), (str(tmp_path / "pool.npz"), "a pool")):
        assert opening_options(what, {option: None, "skip": False}) is None
        flag = option.replace("_", "-")
        with pytest.raises(ValueError, match=f"is {kind} .*--{flag} does not apply"):
            opening_options(what, {option: "given"})
        with pytest.raises(ValueError, match=f"is {kind} .*not opened"):
            pool_of(what, opening=LeRobotOptions())


@pytest.mark.parametrize(
    ("features", "option"),
    [
        (FeatureOptions(["mean"]), "features"),
        (FeatureOptions(skip_bad=True), "skip-bad"),
        (FeatureOptions(log_transform=["a"]), "log-transform"),
    ],
)
def test_no_features_are_extracted_of_a_world_or_a_pool(
    features: FeatureOptions, option: str, tmp_path: Path
) -> None:
    Pool([[1.0], [2.0], [4.0]]).save(tmp_path / "pool.npz")
    for what, kind in (("driver", "a world"), (str(tmp_path / "pool.npz"), "a pool")):
        with pytest.raises(ValueError, match=f"is {kind} .*--{option} does not apply"):
            pool_of(what, features=features)


def test_options_of_another_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("speed\n1\n2\n5\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"table, .*no option 'task'"):
        opening_options(str(tmp_path / "t.csv"), {"task": "drop"})
    with pytest.raises(ValueError, match=r"takes TableOptions, .*LeRobotOptions"):
        pool_of(str(tmp_path / "t.csv"), opening=LeRobotOptions(task="drop"))


def test_the_kind_may_be_said(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW, cameras=())
    assert len(pool_of(f"lerobot:{folder}")) == len(FEW)


# --- going on ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how",
    [
        {"opening": LeRobotOptions(task="drop")},
        {"trajectories": 4},
        {"features": SKIP_BAD},
        {"opening": LeRobotOptions(camera="wrist")},
    ],
    ids=["task", "trajectories", "skip-bad", "camera"],
)
@pytest.mark.filterwarnings("ignore:episodes of different tasks")
def test_a_session_goes_on_with_the_same_options_or_without(
    how: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    video = next(folder.rglob("episode_000002.mp4"))
    if "features" in how:
        video.rename(video.with_suffix(".away"))
    study, person, _ = begin_teaching(store, str(folder), None, 30, **how)
    assert begin_teaching(store, str(folder), None, 30, **how) == (study, person, True)
    assert begin_teaching(store, str(folder), None, 30) == (study, person, True)


def test_a_session_goes_on_though_a_video_was_lost(store: Store, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW)
    begin_teaching(store, str(folder), None, 30)
    next(folder.rglob("episode_000002.mp4")).unlink()
    assert begin_teaching(store, str(folder), None, 30)[2]


@pytest.mark.parametrize(
    "how",
    [{"features": FeatureOptions(["mean"])}, {"opening": LeRobotOptions(task="pick")}],
    ids=["features", "task"],
)
def test_other_trajectories_or_features_are_another_session(
    how: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW, cameras=(), tasks=TASKS)
    first: dict[str, Any] = {
        "features": FeatureOptions(["max"]),
        "opening": LeRobotOptions(task="drop"),
    }
    begin_teaching(store, str(folder), None, 30, **first)
    with pytest.raises(Refused, match=r"other trajectories: .*another --name"):
        begin_teaching(store, str(folder), None, 30, **(first | how))


def test_a_dataset_that_was_changed_is_another_session(store: Store, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("id,speed\na,1\nb,2\nc,5\n", encoding="utf-8")
    begin_teaching(store, str(table), None, 30)
    table.write_text("id,speed\na,1\nb,2\nc,5\nd,9\n", encoding="utf-8")
    assert begin_teaching(store, str(table), None, 30)[2]  # what was asked about is still the same
    for changed in (
        "id,speed\na,1\nb,3\nc,5\nd,9\n",
        "id,speed\na,1\nc,5\n",
        "id,height\na,1\nb,2\nc,5\nd,9\n",
    ):
        table.write_text(changed, encoding="utf-8")
        with pytest.raises(Refused, match="other trajectories"):
            begin_teaching(store, str(table), None, 30)


# --- as a user types it -----------------------------------------------------------------------------------


def test_the_command_teaches_one_task_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    next(folder.rglob("*.wrist/episode_000003.mp4")).unlink()
    words = ["teach", "arm", "--features", "mean,duration", "--task", "drop"]
    words += ["--camera", "wrist", "--skip-bad", "--port", "0"]
    with RunningCommand(tmp_path, *words) as server:
        with Client(server.address()) as page:
            assert [f["name"] for f in ok(page.get("/api/display"))["features"]][-1] == "duration"
            video = page.get("/api/clips/1.mp4").content
            for item in page.session()["question"]["items"]:
                assert page.get(f"/api/clips/{item}.mp4").status_code == 200
            ok(page.answer("left"))
        assert server.stop() == 0
        assert "1 of 3 were left out: 3: its video is damaged" in server.output
        output = server.out.read_text(encoding="utf-8")
    (tmp_path / "seen.mp4").write_bytes(video)
    colors = colors_in(tmp_path / "seen.mp4")
    np.testing.assert_allclose(colors, [frame_color(5, t, 1) for t in range(FEW[5])], atol=8)
    again = shlex.split(output.split("To continue:  ")[1])[1:]
    assert sorted(again) == sorted(words[:-2])
    with RunningCommand(tmp_path, *again, "--port", "0") as server:
        server.address()
        assert "The session 'arm' continues after 1 answer." in server.out.read_text(encoding="utf-8")
        assert server.stop() == 0


def test_what_is_damaged_is_one_line(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", LENGTHS)
    next(folder.rglob("episode_000002.mp4")).unlink()
    done = run("teach", "arm", "--port", "0", data=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("prefero: episode 2: its video is damaged: the video ")
    assert "--skip-bad" in done.stderr
    assert done.stderr.count("\n") == 1


def test_windows_logarithms_and_what_is_dropped(store: Store, tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", lengths=(12, 16, 20, 24, 28), cameras=())
    features = FeatureOptions(
        ["control-effort", "max"], window="4", log_transform=["control effort"], drop=["max elbow"]
    )
    study, _, _ = begin_teaching(store, str(folder), None, 30, features=features)
    kept = store.pool(study)
    assert set(kept.names) == {"log(control effort)", "max shoulder"}
    assert kept.ids is not None
    assert kept.ids[:2] == ("0[0:4]", "0[4:8]")
    assert begin_teaching(store, str(folder), None, 30, features=features)[2]
    with pytest.raises(Refused, match="other trajectories"):
        begin_teaching(store, str(folder), None, 30)
