"""Folders that are written whole: killed at any step, they are the old or the new one, never a mixture."""

from pathlib import Path
from stat import S_IMODE

import pytest

from prefero._support.folders import whole_folder
from systems import posix_only

FILES = ("a.txt", "b.txt")
OLD, NEW = {"a.txt": "old", "b.txt": "old"}, {"a.txt": "new"}  # the new one has a file less


class Killed(BaseException):
    """In place of a signal, after which nothing is done."""


def write(folder: Path, content: dict[str, str], overwrite: bool = False) -> None:
    with whole_folder(folder, FILES, overwrite) as new:
        for name, text in content.items():
            (new / name).write_text(text, encoding="utf-8")


def read(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_a_folder_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "folder"
    write(folder, OLD)
    assert read(folder) == OLD
    write(folder, NEW, overwrite=True)
    assert read(folder) == NEW
    assert [path.name for path in folder.parent.iterdir()] == ["folder"]


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    write(tmp_path / "folder", NEW)
    assert read(tmp_path / "folder") == NEW


def test_a_file_in_its_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    with pytest.raises(ValueError, match=r"is a file: .*--out"):
        write(tmp_path / "folder", NEW, overwrite=True)


def test_it_is_given_by_any_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    write(Path("..") / "folder", NEW)
    assert read(tmp_path / "folder") == NEW


def kill_at(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """End before the renaming of this number; nothing is cleaned up after a kill."""
    rename, steps = Path.rename, iter(range(9))

    def counted(path: Path, target: Path) -> Path:
        if next(steps) == step:
            raise Killed
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", counted)
    monkeypatch.setattr("shutil.rmtree", lambda *_, **__: None)


@pytest.mark.parametrize("step", [0, 1])
def test_a_kill_between_two_steps_loses_nothing(
    step: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the first of the two renamings the old folder is beside; the next write puts it back first."""
    folder = tmp_path / "folder"
    write(folder, OLD)
    with monkeypatch.context() as killed:
        kill_at(step, killed)
        with pytest.raises(Killed):
            write(folder, NEW, overwrite=True)
    assert folder.exists() == (step == 0)
    if folder.exists():
        assert read(folder) == OLD
    with pytest.raises(ValueError, match="exists already"):
        write(folder, NEW)
    assert read(folder) == OLD
    write(folder, NEW, overwrite=True)
    assert read(folder) == NEW
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_what_another_folder_left_is_not_touched(tmp_path: Path) -> None:
    for name in (".folder2.new-1", ".[folder].old-1", "folder.old-1"):
        (tmp_path / name).mkdir()
    write(tmp_path / "folder", NEW)
    write(tmp_path / "folder", NEW, overwrite=True)
    assert len(list(tmp_path.iterdir())) == 4


@posix_only
def test_only_its_owner_can_read_the_new_folder(tmp_path: Path) -> None:
    write(tmp_path / "folder", NEW)
    modes = {S_IMODE(path.stat().st_mode) for path in (tmp_path / "folder").iterdir()}
    assert (S_IMODE((tmp_path / "folder").stat().st_mode), modes) == (0o700, {0o600})
