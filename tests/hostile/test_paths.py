"""Paths from files stay in their folders: nothing outside is read, written or sent."""

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from datasets.write_datasets import write_lerobot_2, write_lerobot_3, write_video_folder
from prefero import Pool
from prefero._support.files import inside
from prefero.datasets import extract_features, open_dataset
from prefero.datasets.scores.write import write_scores
from prefero.pools.displays import display_of
from prefero.server.app import create_app
from prefero.server.auth import ServerContext, Visitor
from prefero.studies.start import begin_teaching, own_folder, pool_of
from prefero.studies.storage.clip_folders import is_served
from prefero.studies.storage.store import Store, new_secret
from server.served_studies import Client, error_of, serving
from studies.fake_study import protocol_of

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links need rights there")


def change_info(folder: Path, **changes: Any) -> None:
    path = folder / "meta" / "info.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    "template",
    [
        "../other/episode_{episode_index:06d}.parquet",
        "/tmp/x-{episode_index}.parquet",
        "data/../../x.parquet",
    ],
)
def test_a_lerobot_dataset_names_no_files_outside(template: str, tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", cameras=())
    change_info(folder, data_path=template)
    with pytest.raises(ValueError, match="leads out of the dataset"):
        open_dataset(folder)


def test_a_camera_whose_name_leads_out_is_refused(tmp_path: Path) -> None:
    folder = write_lerobot_2(tmp_path / "arm", lengths=(9, 9))
    about = json.loads((folder / "meta" / "info.json").read_text(encoding="utf-8"))
    camera = about["features"].pop("observation.images.top")
    change_info(folder, features=about["features"] | {"../../../private": camera})
    with pytest.raises(ValueError, match="leads elsewhere"):
        open_dataset(folder)


def test_a_link_out_of_a_dataset_is_not_read_or_copied(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    table = extract_features(open_dataset(folder), ["mean"])
    (tmp_path / "private.txt").write_text("private", encoding="utf-8")
    (folder / "notes.txt").symlink_to(tmp_path / "private.txt")
    with pytest.raises(ValueError, match=r"outside of itself, 'notes\.txt'"):
        write_scores(table, np.zeros(len(table)), np.ones(len(table)), tmp_path / "copy")
    assert not (tmp_path / "copy").exists()
    (folder / "notes.txt").unlink()
    data = next((folder / "data").rglob("*.parquet"))
    shutil.move(data, tmp_path / "elsewhere.parquet")
    data.symlink_to(tmp_path / "elsewhere.parquet")
    with pytest.raises(ValueError, match="outside of itself"):
        open_dataset(folder)


def test_a_link_that_leads_upwards_is_followed_once(tmp_path: Path) -> None:
    folder = write_lerobot_3(tmp_path / "arm", cameras=())
    (folder / "again").symlink_to(folder)
    table = extract_features(open_dataset(folder), ["mean"])
    write_scores(table, np.zeros(len(table)), np.ones(len(table)), tmp_path / "copy")
    assert (tmp_path / "copy" / "meta" / "info.json").is_file()


def test_the_store_of_a_cache_is_no_way_out(tmp_path: Path) -> None:
    snapshot = tmp_path / "datasets--arm" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    blob = tmp_path / "datasets--arm" / "blobs" / "123"
    blob.parent.mkdir()
    blob.write_text("x", encoding="utf-8")
    (snapshot / "info.json").symlink_to(blob)
    assert inside(snapshot, "info.json", "a file").read_text(encoding="utf-8") == "x"


def test_a_video_folder_names_no_videos_outside(tmp_path: Path) -> None:
    folder = write_video_folder(tmp_path / "videos", 3)
    table = folder / "features.csv"
    text = table.read_text(encoding="utf-8").replace("throw 0.mp4", "../private.mp4")
    table.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="video outside of itself"):
        open_dataset(folder)


def test_a_pool_names_no_videos_outside(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    for number in range(3):
        (private / f"{number}.mp4").write_bytes(b"private")
    (tmp_path / "theirs").mkdir()
    Pool(np.eye(3), clips=[private / f"{n}.mp4" for n in range(3)]).save(tmp_path / "theirs" / "pool.npz")
    with pytest.raises(ValueError, match=r"videos outside .*add --trust"):
        pool_of(str(tmp_path / "theirs" / "pool.npz"))


def test_a_pools_own_folder_is_not_allowed_for_ever(
    file_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be a folder of downloads: its videos are shown while the pool is taught."""
    monkeypatch.setenv("PREFERO_DATA", str(tmp_path / "data"))
    clips = [tmp_path / f"{number}.mp4" for number in range(3)]
    for clip in clips:
        clip.write_bytes(b"video")
    what = str(tmp_path / "pool.npz")
    Pool(np.eye(3), clips=clips).save(what)
    for _ in ("begun", "continued"):
        study, teacher, _ = begin_teaching(file_store, what, None, 3)
        assert not is_served(clips[0])
        assert is_served(clips[0], own_folder(what))
    context = ServerContext(
        file_store, guest=Visitor("teacher", study, teacher), clip_folders=own_folder(what)
    )
    with serving(create_app(context)) as address, Client(address) as page:
        assert page.http.get("/api/clips/0.mp4").content == b"video"
    begin_teaching(file_store, what, None, 3, trust=True)  # they are mine
    assert is_served(clips[0])


def test_a_database_of_others_sends_no_files_of_this_machine(file_store: Store, tmp_path: Path) -> None:
    """Whatever folder it names, and whatever its participants ask for."""
    secrets = [tmp_path / "secret.txt", tmp_path / "secret.mp4"]
    for path in secrets:
        path.write_text("private", encoding="utf-8")
    pool = Pool(np.eye(2), clips=secrets)
    display = display_of(Pool(np.eye(2))) | {"kind": "clips", "folder": "/"}
    secret = new_secret()
    file_store.add_study("theirs", "study", protocol_of().to_json(), pool, display, secret)
    with serving(create_app(ServerContext(file_store))) as address, Client(address, secret) as page:
        for number in range(2):
            assert error_of(page.get(f"/api/clips/{number}.mp4")) == (404, "no-trajectory")
