"""`prefero teach DATASET` with options: one task, one camera, other features, and without what is damaged."""

import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.recorded import CAMERAS, LENGTHS, colors_in, cut_short, lerobot_2, lerobot_3, shade
from prefero import Pool
from prefero.datasets import BadEpisode, extract_features, open_dataset
from prefero.studies.start import begin_teaching, pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Refused, Store
from server.processes import Running, run
from server.visiting import Page, well

TASKS = ("pick", "drop")
FEW = (6, 9, 7, 8, 5, 11)

pytestmark = pytest.mark.filterwarnings(
    "ignore:episodes have", "ignore:.* are nearly one", "ignore:.* were left out"
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(open_database(tmp_path / "teach.db"))
    yield store
    store.engine.dispose()


# --- what is asked about ----------------------------------------------------------------------------------


def test_a_task_a_camera_and_features_are_chosen(tmp_path: Path) -> None:
    folder = lerobot_3(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    pool = pool_of(str(folder), features=["highest"], task="drop", camera="wrist")
    assert pool.ids == ("1", "3", "5")
    assert pool.names == ("highest shoulder", "highest elbow")
    wanted = extract_features(open_dataset(folder, task="drop"), ["highest"], jobs=1)
    np.testing.assert_array_equal(pool.features, wanted.features)


def test_the_film_of_the_chosen_camera_and_episode_is_shown(store: Store, tmp_path: Path) -> None:
    from prefero.datasets.media.clips import cut

    folder = lerobot_3(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    study, _, _ = begin_teaching(store, str(folder), None, 30, task="drop", camera="wrist")
    clips = store.pool(study).clips
    assert clips is not None
    np.testing.assert_allclose(colors_in(cut(clips[1])), [shade(3, t, 1) for t in range(FEW[3])], atol=8)


def test_whoever_compares_different_tasks_is_told(tmp_path: Path) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW, cameras=(), tasks=TASKS)
    with pytest.warns(UserWarning, match="episodes of different tasks are compared in arm: 'pick', 'drop'"):
        assert len(pool_of(str(folder))) == len(FEW)


@pytest.mark.parametrize("damage", ["numbers", "film", "no film"])
def test_what_is_damaged_is_named_before_anybody_is_asked_and_the_rest_can_be_used(
    damage: str, store: Store, tmp_path: Path
) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW)
    if damage == "numbers":
        cut_short(next(folder.rglob("episode_000002.parquet")))
    else:
        film = next(folder.rglob("episode_000002.mp4"))
        cut_short(film) if damage == "film" else film.unlink()
    with pytest.raises(BadEpisode, match=r"^episode 2: its (file|film) .*--skip-bad"):
        begin_teaching(store, str(folder), None, 30)
    assert store.studies() == []
    study, _, _ = begin_teaching(store, str(folder), None, 30, skip_bad=True)
    assert store.pool(study).ids == ("0", "1", "3", "4", "5")


def test_kept_features_whose_film_is_lost_since_are_named(tmp_path: Path) -> None:
    folder, kept = lerobot_2(tmp_path / "arm", FEW), tmp_path / "features.parquet"
    extract_features(open_dataset(folder), ["mean"], keep=kept, jobs=1)
    cut_short(next(folder.rglob("episode_000002.mp4")))
    with pytest.raises(BadEpisode, match=r"^episode 2: its film is damaged"):
        pool_of(str(kept))
    assert pool_of(str(kept), skip_bad=True).ids == ("0", "1", "3", "4", "5")


def test_films_are_not_shown_for_features_of_other_episodes(tmp_path: Path) -> None:
    folder, kept = lerobot_2(tmp_path / "arm", FEW), tmp_path / "features.parquet"
    extract_features(open_dataset(folder), ["mean"], keep=kept, jobs=1)
    lines = folder / "meta" / "episodes.jsonl"
    lines.write_text("\n".join(lines.read_text(encoding="utf-8").splitlines()[1:]), encoding="utf-8")
    with pytest.warns(UserWarning, match="arm has changed since they were noted, so that its films are not"):
        assert pool_of(str(kept)).clips is None


@pytest.mark.parametrize(
    ("how", "option"),
    [
        ({"task": "drop"}, "task"),
        ({"camera": "top"}, "camera"),
        ({"features": ["mean"]}, "feature"),
        ({"skip_bad": True}, "skip-bad"),
        ({"render": True}, "render"),
    ],
)
def test_a_world_and_a_pool_have_no_such_options(how: dict[str, Any], option: str, tmp_path: Path) -> None:
    Pool([[1.0], [2.0], [4.0]]).save(tmp_path / "pool.npz")
    for what, kind in (("driver", "a world"), (str(tmp_path / "pool.npz"), "a pool")):
        with pytest.raises(ValueError, match=f"is {kind} and no dataset, so --{option} has no meaning"):
            pool_of(what, **how)


def test_options_of_another_kind_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("speed\n1\n2\n5\n", encoding="utf-8")
    with pytest.raises(ValueError, match="opened as table, which has no option 'task'"):
        pool_of(str(tmp_path / "t.csv"), task="drop")


def test_the_kind_may_be_said(tmp_path: Path) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW, cameras=())
    assert len(pool_of(f"lerobot:{folder}")) == len(FEW)


# --- going on ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "how", [{"task": "drop"}, {"trajectories": 4}, {"skip_bad": True}, {"camera": "wrist"}], ids=str
)
@pytest.mark.filterwarnings("ignore:episodes of different tasks")
def test_a_session_goes_on_with_the_same_options_or_without(
    how: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    film = next(folder.rglob("episode_000002.mp4"))
    if "skip_bad" in how:
        film.rename(film.with_suffix(".away"))
    study, person, _ = begin_teaching(store, str(folder), None, 30, **how)
    assert begin_teaching(store, str(folder), None, 30, **how) == (study, person, True)
    assert begin_teaching(store, str(folder), None, 30) == (study, person, True)


def test_a_session_goes_on_though_a_film_was_lost(store: Store, tmp_path: Path) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW)
    begin_teaching(store, str(folder), None, 30)
    next(folder.rglob("episode_000002.mp4")).unlink()
    assert begin_teaching(store, str(folder), None, 30)[2]


@pytest.mark.parametrize("how", [{"features": ["mean"]}, {"task": "pick"}], ids=str)
def test_other_trajectories_or_features_are_another_session(
    how: dict[str, Any], store: Store, tmp_path: Path
) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW, cameras=(), tasks=TASKS)
    begin_teaching(store, str(folder), None, 30, task="drop", features=["highest"])
    with pytest.raises(Refused, match="begun with other trajectories: choose another --name"):
        begin_teaching(store, str(folder), None, 30, **({"task": "drop", "features": ["highest"]} | how))


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
        with pytest.raises(Refused, match="begun with other trajectories"):
            begin_teaching(store, str(table), None, 30)


# --- as a user types it -----------------------------------------------------------------------------------


def test_the_command_teaches_one_task_and_says_how_to_go_on(tmp_path: Path) -> None:
    folder = lerobot_2(tmp_path / "arm", FEW, cameras=CAMERAS, tasks=TASKS)
    next(folder.rglob("*.wrist/episode_000003.mp4")).unlink()
    words = ["teach", "arm", "--feature", "mean", "--feature", "duration", "--task", "drop"]
    words += ["--camera", "wrist", "--skip-bad", "--port", "0"]
    with Running(tmp_path, *words) as server:
        with Page(server.address()) as page:
            assert [f["name"] for f in well(page.get("/api/scene"))["features"]][-1] == "duration"
            film = page.get("/api/clips/1.mp4").content
            well(page.answer("left"))
        assert server.stop() == 0
        assert "1 of 3 were left out: 3: its film is damaged" in server.said
        told = server.out.read_text(encoding="utf-8")
    (tmp_path / "seen.mp4").write_bytes(film)
    colors = colors_in(tmp_path / "seen.mp4")
    np.testing.assert_allclose(colors, [shade(5, t, 1) for t in range(FEW[5])], atol=8)
    again = shlex.split(told.split("To go on:  prefero ")[1])
    assert sorted(again) == sorted(words[:-2])
    with Running(tmp_path, *again, "--port", "0") as server:
        server.address()
        assert "The session 'arm' goes on after 1 answer." in server.out.read_text(encoding="utf-8")
        assert server.stop() == 0


def test_what_is_damaged_is_one_line(tmp_path: Path) -> None:
    folder = lerobot_2(tmp_path / "arm", LENGTHS)
    next(folder.rglob("episode_000002.mp4")).unlink()
    done = run("teach", "arm", "--port", "0", data=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("prefero: episode 2: its film is damaged: the film ")
    assert "--skip-bad" in done.stderr
    assert done.stderr.count("\n") == 1


def test_windows_logarithms_and_what_is_dropped(store: Store, tmp_path: Path) -> None:
    folder = lerobot_3(tmp_path / "arm", lengths=(12, 16, 20, 24, 28), cameras=())
    how: dict[str, Any] = {
        "features": ["energy", "highest"],
        "window": "4",
        "log": ["energy"],
        "drop": ["highest elbow"],
    }
    study, _, _ = begin_teaching(store, str(folder), None, 30, **how)
    kept = store.pool(study)
    assert set(kept.names) == {"log energy", "highest shoulder"}
    assert kept.ids is not None
    assert kept.ids[:2] == ("0[0:4]", "0[4:8]")
    assert begin_teaching(store, str(folder), None, 30, **how)[2]
    with pytest.raises(Refused, match="begun with other trajectories"):
        begin_teaching(store, str(folder), None, 30)
