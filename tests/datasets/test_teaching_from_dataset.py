"""TeachingSession from a dataset: what `prefero teach DATASET` begins, and clips that are cut when shown."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from datasets.write_datasets import (
    LENGTHS,
    colors_in,
    frame_color,
    write_lerobot_2,
    write_lerobot_3,
    write_video_folder,
)
from prefero import Pool
from prefero.datasets import FeatureOptions, extract_features, open_dataset
from prefero.studies.start import begin_teaching, pool_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
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
def test_a_clip_that_cannot_be_cut_is_an_error_in_words(store: Store, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm")
    study, person, _ = begin_teaching(store, str(folder), None, 30)
    next((folder / "videos").rglob("episode_000002.mp4")).unlink()
    with serving(guest_app(store, TeachingSession(study, person, ""))) as address, Client(address) as page:
        assert error_of(page.get("/api/clips/2.mp4")) == (404, "no-trajectory")
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
    with pytest.raises(ValueError, match=r"neither a world \(.*\) nor a pool file \(.npz\) nor a LeRobot"):
        pool_of(str(tmp_path / "nowhere"))
    (tmp_path / "strange.npz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"a pool is what Pool\.save writes"):
        pool_of(str(tmp_path / "strange.npz"))
