"""What is shown: scenes and replays, films in parts, features; and the page itself."""

from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

from prefero import Pool
from prefero.rendering.scenes import FORMAT
from prefero.studies.storage.store import Store
from server.served_studies import Page, begin, guest_app, problem, served, well

FILMS = [bytes([number]) * 10 + bytes(range(256)) * 20 for number in range(3)]


@pytest.fixture
def films(tmp_path: Path) -> Pool:
    """A pool of three clips in a folder."""
    folder = tmp_path / "clips"
    folder.mkdir()
    clips = [folder / f"{number}.mp4" for number in range(3)]
    for clip, film in zip(clips, FILMS, strict=True):
        clip.write_bytes(film)
    return Pool(np.eye(3), ["a", "b", "c"], clips=clips)


@pytest.fixture
def cinema(store: Store, films: Pool) -> Iterator[Page]:
    with served(guest_app(store, begin(store, films))) as address, Page(address) as page:
        yield page


def test_a_simulated_world_is_replayed_in_its_scene(store: Store, driver_pool: Pool) -> None:
    with served(guest_app(store, begin(store, driver_pool))) as address, Page(address) as page:
        scene = page.get("/api/display")
        replay = page.get("/api/trajectories/3")
    found, world = well(scene), driver_pool.world()
    assert (found["kind"], found["scene"], found["seconds"]) == (
        *("scene", world.scene.to_json()),
        world.duration,
    )
    assert "max-age" in scene.headers["cache-control"]
    told = well(replay)
    assert (told["replay"]["format"], told["replay"]["frame_time"]) == (
        FORMAT,
        world.scene.to_json()["frame_time"],
    )
    np.testing.assert_allclose(told["replay"]["poses"], driver_pool.trajectory(3).poses, atol=1e-4)
    assert "private" in replay.headers["cache-control"]


def test_features_are_shown_where_nothing_can_be_played(teacher: Page, pool: Pool) -> None:
    found = well(teacher.get("/api/display"))
    low, high = pool.features.min(axis=0), pool.features.max(axis=0)
    assert found == {
        "kind": "features",
        "features": [
            {"name": name, "unit": "", "low": low[i], "high": high[i]} for i, name in enumerate(pool.names)
        ],
    }
    told = well(teacher.get("/api/trajectories/0"))
    features = dict(zip(pool.names, pool.features[0].tolist(), strict=True))
    assert told == {"features": features, "replay": None}


# --- clips ------------------------------------------------------------------------------------------------


def test_a_clip_is_served_whole(cinema: Page) -> None:
    assert well(cinema.get("/api/display"))["kind"] == "clips"
    for number, film in enumerate(FILMS):
        found = cinema.get(f"/api/clips/{number}.mp4")
        assert (found.status_code, found.headers["content-type"]) == (200, "video/mp4")
        assert found.content == film
        assert found.headers["accept-ranges"] == "bytes"
        assert "private" in found.headers["cache-control"]
    assert problem(cinema.get("/api/clips/3.mp4")) == (404, "no-trajectory")


@pytest.mark.parametrize(
    ("wanted", "first", "end"),
    [("bytes=0-9", 0, 10), ("bytes=100-", 100, 5130), ("bytes=-30", 5100, 5130), ("bytes=5-99999", 5, 5130)],
)
def test_a_part_of_a_clip_is_served_as_the_player_asks_for_it(
    cinema: Page, wanted: str, first: int, end: int
) -> None:
    found = cinema.get("/api/clips/1.mp4", range=wanted)
    assert found.status_code == 206
    assert found.headers["content-range"] == f"bytes {first}-{end - 1}/5130"
    assert found.content == FILMS[1][first:end]
    assert "content-encoding" not in found.headers  # the numbers are of the film's own bytes


def test_a_part_past_the_end_of_a_clip_is_refused(cinema: Page) -> None:
    found = cinema.get("/api/clips/1.mp4", range="bytes=9999-")
    assert (found.status_code, found.headers["content-range"]) == (416, "bytes */5130")


def test_where_the_clips_are_is_not_told(cinema: Page, tmp_path: Path) -> None:
    assert str(tmp_path) not in cinema.get("/api/display").text
    assert str(tmp_path) not in cinema.get("/api/trajectories/0").text


def test_a_clip_that_has_gone_is_missed_in_words(cinema: Page, tmp_path: Path) -> None:
    (tmp_path / "clips" / "2.mp4").unlink()
    assert problem(cinema.get("/api/clips/2.mp4")) == (404, "no-trajectory")


# --- the page ---------------------------------------------------------------------------------------------


def test_the_page_and_its_parts_are_served(paged: Page) -> None:
    found = paged.get("/")
    assert found.headers["content-type"].startswith("text/html")
    assert "<title>Prefero</title>" in found.text
    script = paged.get("/assets/page.js")
    assert "javascript" in script.headers["content-type"]
    assert problem(paged.get("/assets/other.js")) == (404, "http")
    assert well(paged.get("/api/me"))["role"] == "teacher"


def test_an_answer_does_not_wait_for_the_network(paged: Page) -> None:
    """Small answers go out at once: a socket that gathers them first makes each 40 ms late."""
    paged.get("/api/me")
    times = []
    for _ in range(15):
        start = perf_counter()
        well(paged.get("/api/me"))
        times.append(perf_counter() - start)
    assert min(times) < 0.03
