"""Uploads: whole or not at all, with names that do no harm, and within limits."""

import os
import time
from pathlib import Path

import pytest

from prefero.server import uploads as module
from prefero.server.uploads import ABANDONED, PART, Uploads, opened_by, safe_name
from prefero.studies.storage.store import Refused

NOWHERE = "0" * 32


def refused(code: str) -> "pytest.RaisesExc[Refused]":
    return pytest.raises(Refused, check=lambda error: error.code == code)


def test_a_file_comes_in_chunks_and_one_that_comes_twice_changes_nothing(tmp_path: Path) -> None:
    found = Uploads.beside(str(tmp_path / "teach.db"))
    upload, names = found.begin([("walks.csv", 6)])
    assert names == ["walks.csv"]
    assert found.add(upload, 0, 0, b"abc") == 3
    assert found.add(upload, 0, 0, b"abc") == 3
    with refused("bad-chunk"):
        found.add(upload, 0, 5, b"x")
    with refused("bad-chunk"):
        found.add(upload, 0, 3, b"defg")  # more than was said
    with refused("incomplete"):
        found.finish(upload)
    found.add(upload, 0, 3, b"def")
    path = found.finish(upload)
    assert path == tmp_path / "teach.uploads" / upload / "walks.csv"
    assert path.read_bytes() == b"abcdef"
    assert found.finish(upload) == path  # the request was sent twice
    assert [one.name for one in found.folder.iterdir()] == [upload]


def test_only_the_owner_can_look_into_the_folder(tmp_path: Path) -> None:
    found = Uploads(tmp_path / "uploads")
    upload, _ = found.begin([("walks.csv", 1)])
    found.add(upload, 0, 0, b"x")
    path = found.finish(upload)
    if os.name == "posix":
        assert [one.stat().st_mode & 0o077 for one in (path, path.parent, found.folder)] == [0, 0, 0]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/walks.csv", "walks.csv"),
        ("C:\\walks\\a.MP4", "a.mp4"),
        ("a\x1b[31m\n.mp4", "a_[31m_.mp4"),
        (".csv", "file.csv"),
        ("...mp4", "file.mp4"),
        ("con.csv", "_con.csv"),
        ("n\u0303.mp4", "\u00f1.mp4"),
        ("x" * 500 + ".npz", "x" * 120 + ".npz"),
    ],
)
def test_names_do_no_harm(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@pytest.mark.parametrize(
    "name", ["plan.json", "a.py", "a", "a.mp4.exe", "a.toml", "", "a.mp4/", "a.csv\x00.py"]
)
def test_other_files_are_refused(name: str) -> None:
    with refused("bad-upload"):
        safe_name(name)


def test_names_that_are_the_same_get_numbers(tmp_path: Path) -> None:
    _, names = Uploads(tmp_path).begin([("a/x.mp4", 1), ("b/X.mp4", 1), ("x.mp4", 1)])
    assert names == ["x.mp4", "X 2.mp4", "x 3.mp4"]


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Uploads(tmp_path / "uploads")
    with refused("bad-upload"):
        found.begin([])
    with refused("bad-upload"):
        found.begin([("a.csv", 1)] * (module.MOST_FILES + 1))
    with refused("bad-upload"):
        found.begin([("a.csv", 0)])
    with refused("too-large"):
        found.begin([("a.mp4", module.MOST_BYTES + 1)])
    monkeypatch.setattr(module, "KEPT_FREE", 2**60)
    with refused("too-large"):
        found.begin([("a.mp4", 1)])
    assert list((tmp_path / "uploads").iterdir()) == []


def test_what_was_never_finished_is_deleted_after_a_day(tmp_path: Path) -> None:
    old, _ = Uploads(tmp_path).begin([("a.csv", 1)])
    lately, _ = Uploads(tmp_path).begin([("a.csv", 1)])
    then = time.time() - ABANDONED - 60
    os.utime(tmp_path / f"{old}{PART}", (then, then))
    again = Uploads(tmp_path)
    again.begin([("a.csv", 1)])
    assert not (tmp_path / f"{old}{PART}").exists()
    assert (tmp_path / f"{lately}{PART}").exists()
    with refused("no-upload"):
        again.add(lately, 0, 0, b"x")  # of a server that was stopped


def test_what_is_opened(tmp_path: Path) -> None:
    for files, opened in {
        ("a.csv",): "a.csv",
        ("a.mp4", "b.mp4"): "",
        ("a.mp4", "b.mp4", "features.csv"): "",
        ("a.mp4", "b.mp4", "pool.npz"): "pool.npz",
    }.items():
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name in files:
            (folder / name).touch()
        assert opened_by(folder) == folder / opened


def test_an_upload_can_be_deleted(tmp_path: Path) -> None:
    found = Uploads(tmp_path)
    upload, _ = found.begin([("a.csv", 1)])
    found.delete(upload)
    found.delete(NOWHERE)
    assert list(tmp_path.iterdir()) == []
