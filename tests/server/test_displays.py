"""What the page shows: scenes and replays, clips, features; and the page itself."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from prefero import Pool
from prefero.rendering.scenes import FORMAT
from prefero.server.app import create_app
from prefero.server.auth import ServerContext
from prefero.studies.storage.clip_folders import remember_folder
from prefero.studies.storage.store import Store
from prefero.worlds.base import TASK_DESCRIPTION
from server.served_studies import Client, add_study, add_teaching, error_of, guest_app, ok, serving

VIDEOS = [bytes([number]) * 10 + bytes(range(256)) * 20 for number in range(3)]


@pytest.fixture
def clip_pool(tmp_path: Path) -> Pool:
    """A pool of three clips in a folder."""
    folder = tmp_path / "clips"
    folder.mkdir()
    clips = [folder / f"{number}.mp4" for number in range(3)]
    for clip, video in zip(clips, VIDEOS, strict=True):
        clip.write_bytes(video)
    return Pool(np.eye(3), ["a", "b", "c"], clips=clips)


@pytest.fixture
def clip_client(store: Store, clip_pool: Pool, tmp_path: Path) -> Iterator[Client]:
    remember_folder(tmp_path)
    with serving(guest_app(store, add_teaching(store, clip_pool))) as address, Client(address) as page:
        yield page


def test_a_simulated_world_is_replayed_in_its_scene(store: Store, driver_pool: Pool) -> None:
    with serving(guest_app(store, add_teaching(store, driver_pool))) as address, Client(address) as page:
        scene = page.get("/api/display")
        replay = page.get("/api/trajectories/3")
    found, world = ok(scene), driver_pool.world()
    assert (found["kind"], found["scene"], found["seconds"]) == (
        *("scene", world.scene.to_json()),
        world.duration,
    )
    assert "max-age" in scene.headers["cache-control"]
    told = ok(replay)
    assert (told["replay"]["format"], told["replay"]["frame_time"]) == (
        FORMAT,
        world.scene.to_json()["frame_time"],
    )
    np.testing.assert_allclose(told["replay"]["poses"], driver_pool.trajectory(3).poses, atol=1e-4)
    assert "private" in replay.headers["cache-control"]


def test_features_are_shown_where_nothing_can_be_played(teacher: Client, pool: Pool) -> None:
    found = ok(teacher.get("/api/display"))
    low, high = pool.features.min(axis=0), pool.features.max(axis=0)
    assert found == {
        "kind": "features",
        "features": [
            {"name": name, "unit": "", "levels": [], "ordered": True, "low": low[i], "high": high[i]}
            for i, name in enumerate(pool.names)
        ],
        "no_video": "",
        "task_description": TASK_DESCRIPTION,
        "subject": "",
    }
    told = ok(teacher.get("/api/trajectories/0"))
    features = dict(zip(pool.names, pool.features[0].tolist(), strict=True))
    assert told == {"features": features, "replay": None}


# --- clips ------------------------------------------------------------------------------------------------


def test_a_clip_is_served_whole(clip_client: Client) -> None:
    assert ok(clip_client.get("/api/display"))["kind"] == "clips"
    for number, video in enumerate(VIDEOS):
        found = clip_client.get(f"/api/clips/{number}.mp4")
        assert (found.status_code, found.headers["content-type"]) == (200, "video/mp4")
        assert found.content == video
        assert found.headers["accept-ranges"] == "bytes"
        assert "private" in found.headers["cache-control"]
    assert error_of(clip_client.get("/api/clips/3.mp4")) == (404, "no-trajectory")


@pytest.mark.parametrize(
    ("wanted", "first", "end"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, 5130), ("bytes=-30", 5100, 5130), ("bytes=5-99999", 5, 5130)],
)
def test_a_part_of_a_clip_is_served_as_the_player_asks_for_it(
    clip_client: Client, wanted: str, first: int, end: int
) -> None:
    found = clip_client.get("/api/clips/1.mp4", range=wanted)
    assert found.status_code == 206
    assert found.headers["content-range"] == f"bytes {first}-{end - 1}/5130"
    assert found.content == VIDEOS[1][first:end]
    assert "content-encoding" not in found.headers  # the numbers are of the video's own bytes


def test_a_part_past_the_end_of_a_clip_is_refused(clip_client: Client) -> None:
    found = clip_client.get("/api/clips/1.mp4", range="bytes=9999-")
    assert (found.status_code, found.headers["content-range"]) == (416, "bytes */5130")


def test_the_clips_folder_is_not_disclosed(clip_client: Client, tmp_path: Path) -> None:
    assert str(tmp_path) not in clip_client.get("/api/display").text
    assert str(tmp_path) not in clip_client.get("/api/trajectories/0").text


def test_a_missing_clip_is_reported_with_the_reason(clip_client: Client, tmp_path: Path) -> None:
    (tmp_path / "clips" / "2.mp4").unlink()
    found = clip_client.get("/api/clips/2.mp4")
    assert error_of(found) == (404, "no-trajectory")
    status = ok(clip_client.get("/api/clips/2/status"))
    assert status["state"] == "failed"
    assert status["problem"] == found.json()["error"]["message"]
    assert "2.mp4 is missing" in status["problem"]


@pytest.mark.parametrize("world", ["driver", "golf"])
def test_a_scene_has_no_videos(world: str, store: Store, driver_pool: Pool, golf_pool: Pool) -> None:
    pool = driver_pool if world == "driver" else golf_pool
    with serving(guest_app(store, add_teaching(store, pool))) as address, Client(address) as page:
        assert error_of(page.get("/api/clips/0.mp4")) == (404, "no-trajectory")


def test_participants_do_not_see_the_names_of_files(store: Store, clip_pool: Pool, tmp_path: Path) -> None:
    study = add_study(store, clip_pool)
    remember_folder(tmp_path / "clips")
    (tmp_path / "clips" / "2.mp4").unlink()
    with serving(create_app(ServerContext(store))) as address, Client(address, study.codes[0]) as page:
        found = [page.get("/api/clips/2.mp4"), page.get("/api/clips/2/status")]
        assert "this clip cannot be played" in found[1].text
    assert not any(str(tmp_path) in response.text for response in found)


# --- the page ---------------------------------------------------------------------------------------------


def test_the_page_and_its_parts_are_served(page_client: Client) -> None:
    found = page_client.get("/")
    assert found.headers["content-type"].startswith("text/html")
    assert "<title>Prefero</title>" in found.text
    script = page_client.get("/assets/page.js")
    assert "javascript" in script.headers["content-type"]
    assert error_of(page_client.get("/assets/other.js")) == (404, "http")
    assert ok(page_client.get("/api/me"))["role"] == "teacher"


def test_an_answer_does_not_wait_for_the_network(page_client: Client) -> None:
    """Small responses are sent at once: Nagle's algorithm would delay each by 40 ms."""
    page_client.get("/api/me")
    times = []
    for _ in range(15):
        start = perf_counter()
        ok(page_client.get("/api/me"))
        times.append(perf_counter() - start)
    assert min(times) < 0.03
