"""Files: whole or not at all, archives that carry what they are given, and where the cache lies."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from prefero._support.files import ArchiveError, cache_folder, read_archive, write_archive, write_atomically

# --- written whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "wanted"), [("grün\n", "grün\n".encode()), (b"\x00\xff", b"\x00\xff"), ("", b"")]
)
def test_a_file_has_what_was_written(content: str | bytes, wanted: bytes, tmp_path: Path) -> None:
    write_atomically(tmp_path / "file", content)
    assert (tmp_path / "file").read_bytes() == wanted
    assert len(list(tmp_path.iterdir())) == 1


def test_a_file_is_replaced(tmp_path: Path) -> None:
    for content in ("a long first version", "second"):
        write_atomically(tmp_path / "file", content)
    assert (tmp_path / "file").read_text(encoding="utf-8") == "second"


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("error", [OSError("the disk is full"), KeyboardInterrupt()], ids=["full", "stopped"])
def test_a_failure_leaves_the_old_file_and_no_other(
    step: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> None:
        raise error

    (tmp_path / "file").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(error)):
        write_atomically(tmp_path / "file", "new")
    assert [(file.name, file.read_text(encoding="utf-8")) for file in tmp_path.iterdir()] == [("file", "old")]


def test_the_old_file_is_there_until_the_new_one_is_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    replace = os.replace

    def watched(source: Any, target: Any) -> None:
        seen.extend([Path(target).read_text(encoding="utf-8"), Path(source).read_text(encoding="utf-8")])
        replace(source, target)

    (tmp_path / "file").write_text("old", encoding="utf-8")
    monkeypatch.setattr(os, "replace", watched)
    write_atomically(tmp_path / "file", "new")
    assert seen == ["old", "new"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_atomically(tmp_path / "nowhere" / "file", "content")


# --- archives ---------------------------------------------------------------------------------------------


def test_an_archive_carries_arrays_and_header(tmp_path: Path) -> None:
    header = {"kind": "test", "größe": [1, 2.5, None, {"deep": True}]}
    arrays: dict[str, npt.NDArray[Any]] = {
        "numbers": np.random.default_rng(0).standard_normal((3, 0, 2)),
        "single": np.array([1e-30, np.inf, np.nan], dtype=np.float32),
        "whole": np.arange(4, dtype=np.int16).reshape(2, 2).T,
        "flags": np.array([True, False]),
    }
    write_archive(tmp_path / "a.npz", header, arrays)
    told, found = read_archive(tmp_path / "a.npz")
    assert told == header
    assert set(found) == set(arrays)
    for name, array in arrays.items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)


def test_an_archive_can_be_opened_without_us(tmp_path: Path) -> None:
    write_archive(tmp_path / "a.npz", {"kind": "test"}, {"x": np.ones(3)})
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert file["x"].tolist() == [1.0, 1.0, 1.0]
        assert json.loads(bytes(file["header"]))["kind"] == "test"


def test_objects_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="allow_pickle=False"):
        write_archive(tmp_path / "a.npz", {}, {"x": np.array([{}], dtype=object)})
    assert list(tmp_path.iterdir()) == []


def test_a_header_that_is_no_json_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="not JSON serializable"):
        write_archive(tmp_path / "a.npz", {"x": np.ones(2)}, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "content", [b"", b"text", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x93NUMPY\x01\x00", b"\x80\x04N."]
)
def test_another_kind_of_file_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_bytes(content)
    with pytest.raises(ArchiveError, match=r"a\.npz is damaged"):
        read_archive(tmp_path / "a.npz")


def test_reading_leaves_no_file_open(tmp_path: Path) -> None:
    """On Windows, a file that is open cannot be replaced."""
    write_archive(tmp_path / "a.npz", {}, {"x": np.ones(30)})
    before = open_files()
    read_archive(tmp_path / "a.npz")
    assert open_files() == before
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "a.npz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ArchiveError) as refused:
        read_archive(tmp_path / "a.npz")
    assert open_files() == before, refused.value


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


# --- the cache --------------------------------------------------------------------------------------------


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is set, and the user's folder is made up."""
    for variable in ("PREFERO_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    place = Path("ada")
    monkeypatch.setattr(Path, "home", lambda: place)
    return place


@pytest.mark.parametrize(
    ("platform", "parts"),
    [
        ("linux", (".cache", "prefero")),
        ("freebsd14", (".cache", "prefero")),
        ("darwin", ("Library", "Caches", "prefero")),
        ("win32", ("AppData", "Local", "prefero", "cache")),
    ],
)
def test_the_cache_lies_where_the_platform_wants_it(
    platform: str, parts: tuple[str, ...], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    assert cache_folder() == home.joinpath(*parts)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("platform", "variable", "parts"),
    [("linux", "XDG_CACHE_HOME", ("prefero",)), ("win32", "LOCALAPPDATA", ("prefero", "cache"))],
)
def test_the_platforms_own_variable_moves_the_cache(
    platform: str, variable: str, parts: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert cache_folder() == tmp_path.joinpath(*parts)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_our_own_variable_comes_first(
    platform: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("XDG_CACHE_HOME", "elsewhere")
    monkeypatch.setenv("PREFERO_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("PREFERO_CACHE", "")
    assert cache_folder() != Path()
    assert home in cache_folder().parents or cache_folder() == Path("elsewhere", "prefero")


def test_tests_never_touch_the_users_cache() -> None:
    assert Path.home() not in cache_folder().parents
    assert cache_folder().name.startswith("prefero-tests-")


# --- large archives ---------------------------------------------------------------------------------------


def large_archive(path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """An archive that is taken for a large one, and its arrays."""
    monkeypatch.setattr("prefero._support.files.LARGE", 0)
    poses = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    arrays = {"poses": poses, "columns": np.asfortranarray(np.arange(6.0).reshape(2, 3))}
    write_archive(path, {"kind": "test"}, arrays)
    return arrays


def test_arrays_of_a_large_archive_stay_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = large_archive(tmp_path / "large.npz", monkeypatch)
    header, arrays = read_archive(tmp_path / "large.npz")
    assert header == {"kind": "test"}
    for name, array in wanted.items():
        assert isinstance(arrays[name], np.memmap)
        np.testing.assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype


def test_a_large_archive_with_a_changed_byte_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.npz"
    large_archive(path, monkeypatch)
    content = bytearray(path.read_bytes())
    content[content.index(np.float32(17.0).tobytes())] ^= 1
    path.write_bytes(content)
    with pytest.raises(ArchiveError, match="damaged"):
        read_archive(path)


def test_a_large_archive_that_is_compressed_or_holds_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("prefero._support.files.LARGE", 0)
    np.savez_compressed(tmp_path / "small.npz", header=np.zeros(3, dtype=np.uint8))
    (tmp_path / "no.npz").write_bytes(b"nothing of the kind")
    for name in ("small.npz", "no.npz"):
        with pytest.raises(ArchiveError, match="damaged"):
            read_archive(tmp_path / name)
