"""TeachingSession from a dataset: what `prefero teach DATASET` begins, and clips that are cut when shown."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from datasets.slide_environment import Slide
from datasets.write_datasets import (
    LENGTHS,
    colors_in,
    frame_color,
    write_lerobot_2,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Pool
from prefero.datasets import FeatureOptions, GymnasiumOptions, extract_features, open_dataset
from prefero.datasets.base import EpisodeDataset
from prefero.datasets.media.clip_preparation import ClipPreparation, UnplayableClip
from prefero.datasets.media.clips import cut_planned_clip
from prefero.studies.start import begin_teaching, pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Refused, Store
from server.served_studies import Client, TeachingSession, error_of, guest_app, ok, serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(open_database(tmp_path / "teach.db"))
    yield store
    store.engine.dispose()


@pytest.mark.filterwarnings("ignore:episodes have", "ignore:.* are strongly correlated")
def test_a_clip_is_cut_when_the_page_wants_to_show_it(store: Store, tmp_path: Path) -> None:
    write_lerobot_3(tmp_path / "arm")
    study, person, known = begin_teaching(store, str(tmp_path / "arm"), None, 30)
    assert not known
    pool = store.pool(study)
    assert pool.clips is not None
    assert not any(Path(clip).exists() for clip in pool.clips)
    with serving(guest_app(store, TeachingSession(study, person, ""))) as address, Client(address) as page:
        assert ok(page.get("/api/display"))["kind"] == "clips"
        video = page.get("/api/clips/1.mp4").content
    assert [Path(clip).exists() for clip in pool.clips] == [False, True, False, False]
    (tmp_path / "seen.mp4").write_bytes(video)
    wanted = [frame_color(1, t) for t in range(LENGTHS[1])]
    np.testing.assert_allclose(colors_in(tmp_path / "seen.mp4"), wanted, atol=8)
    again = begin_teaching(store, str(tmp_path / "arm"), None, 30)
    assert again[2]


@pytest.mark.filterwarnings("ignore:episodes have", "ignore:.* are strongly correlated")
def test_a_clip_that_cannot_be_cut_is_an_error_that_says_why(store: Store, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm")
    study, person, _ = begin_teaching(store, str(folder), None, 30)
    next((folder / "videos").rglob("episode_000002.mp4")).unlink()
    with serving(guest_app(store, TeachingSession(study, person, ""))) as address, Client(address) as page:
        missing = page.get("/api/clips/2.mp4")
        assert error_of(missing) == (404, "no-trajectory")
        assert "episode_000002.mp4 is missing" in missing.json()["error"]["message"]
        assert page.get("/api/clips/0.mp4").status_code == 200


def test_everything_that_is_a_dataset_can_be_taught(tmp_path: Path) -> None:
    np.savez(tmp_path / "archive.npz", features=np.random.default_rng(0).normal(size=(9, 2)))
    Pool([[1.0], [2.0], [4.0]]).save(tmp_path / "pool.npz")
    (tmp_path / "table.csv").write_text("speed\n1\n2\n5\n6\n", encoding="utf-8")
    kept = tmp_path / "features.parquet"
    extract_features(
        open_dataset(write_lerobot_3(tmp_path / "arm")), FeatureOptions(["mean"], cache=kept, jobs=1)
    )
    sizes = {
        tmp_path / "archive.npz": 9,
        tmp_path / "pool.npz": 3,
        tmp_path / "table.csv": 4,
        write_video_folder(tmp_path / "throws"): 5,
        kept: 4,
    }
    assert {what: len(pool_of(str(what))) for what in sizes} == sizes
    assert pool_of(str(kept)).clips is not None
    assert len(pool_of(str(tmp_path / "archive.npz"), 4)) == 4


def test_what_is_nothing_is_told_what_it_might_have_been(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"of\n  a world \(.*\)\n  a pool file \(.npz\)\n  a LeRobot"):
        pool_of(str(tmp_path / "nowhere"))
    (tmp_path / "strange.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"a pool .*Pool\.save"):
        pool_of(str(tmp_path / "strange.npz"))


# --- environments -----------------------------------------------------------------------------------------


@pytest.fixture
def slide(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """An environment by its id, in a cache of its own: none is open whose recordings are in another."""
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("prefero.datasets.registry._OPEN", {})
    gymnasium.register("Slide-v3", "datasets.slide_environment:Slide", max_episode_steps=8)
    yield "Slide-v3"
    gymnasium.registry.pop("Slide-v3")


SLIDES, FINAL = GymnasiumOptions(episodes=4), FeatureOptions(["final"], jobs=1)


def test_a_session_uses_videos_that_have_become_possible(
    store: Store, slide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setattr(Slide, "render", lambda _: 1 / 0)
        with pytest.warns(UserWarning, match="Slide-v3 cannot be rendered"):
            before, person, _ = begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)
    shown = store.display(before)
    assert shown["kind"] == "features"
    assert shown["no_video"].startswith("Slide-v3 cannot be rendered: ")
    after, again, known = begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)
    assert (known, after.id, again) == (True, before.id, person)
    assert store.display(after)["kind"] == "clips"
    pool = store.pool(after)
    np.testing.assert_array_equal(pool.features, store.pool(before).features)
    assert pool.clips is not None
    brightness = colors_in(cut_planned_clip(pool.clips[2]))[:, 0]
    assert brightness[0] <= brightness[-1] <= 20 * pool.features[2, 0] + 4
    with pytest.raises(Refused, match="other trajectories"):
        store.replace_pool(after, Pool(pool.features + 1, pool.names), {})


def test_an_environment_has_the_signals_of_what_was_played(store: Store, slide: str) -> None:
    study, person, _ = begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)
    dataset = open_dataset(f"gymnasium:{slide}", SLIDES)
    assert isinstance(dataset, EpisodeDataset)
    episode = dataset.episode(2)
    with serving(guest_app(store, TeachingSession(study, person, ""))) as address, Client(address) as page:
        found = ok(page.get("/api/trajectories/2/signals"))["signals"]
    shown = {one["name"]: one["values"] for one in found}
    assert list(shown) == [*episode.state_names, *episode.action_names, "reward"]
    np.testing.assert_allclose(shown[episode.state_names[0]], episode.states[:, 0], rtol=1e-6)
    np.testing.assert_allclose(shown[episode.action_names[0]], episode.actions[:, 0], rtol=1e-6)


def test_a_replay_that_differs_is_said_on_the_page_and_in_the_terminal(
    store: Store, slide: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = store.pool(begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)[0])
    assert pool.clips is not None
    monkeypatch.setattr(Slide, "drift", 0.1)  # the environment is of another version now
    said: list[str] = []
    clips, path = ClipPreparation(said.append), Path(pool.clips[1])
    with pytest.raises(UnplayableClip, match=r"^episode 1: .*differs .* at step 1"):
        clips.prepare(path)
    problem = clips.status(path).problem
    assert problem is not None
    assert said == [f"A clip cannot be shown: {problem}"]


def test_lost_videos_are_looked_for_again(store: Store, slide: str, tmp_path: Path) -> None:
    """The clips' folder of a session may be deleted: the next start plans it again."""
    study, _, _ = begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)
    shutil.rmtree(tmp_path / "cache" / "clips")
    again, _, _ = begin_teaching(store, slide, None, 30, None, FINAL, SLIDES)
    assert again == study
    clips = store.pool(again).clips
    assert clips is not None
    assert cut_planned_clip(clips[0]).is_file()
