"""Folders that are written whole: beside the old one first, and then in its place.

They hold people's answers, so only their owner can read them. A program that is killed leaves the old folder
or the new one, never some files of each. What it had begun to write is in a hidden folder beside it, which
the next write removes.
"""

import secrets
import shutil
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from prefero._support.files import PRIVATE_FILE, PRIVATE_FOLDER

NEW, OLD = "new", "old"  # a folder that is being written, and the one that it replaces


def check_writable(folder: Path, files: Collection[str], overwrite: bool) -> None:
    """An error if `folder` is in use; with `overwrite`, only if it has other files than these."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise ValueError(f"{folder} is a file: choose another --out")
    found = sorted(path.name for path in folder.iterdir())
    others = [name for name in found if name not in files]
    if others:
        raise ValueError(
            f"{folder} has files of another kind, such as {others[0]}: choose another --out, or move them"
        )
    if found and not overwrite:
        raise ValueError(f"{folder} exists already: choose another --out, or replace it with --overwrite")


@contextmanager
def whole_folder(folder: Path, files: Collection[str], overwrite: bool = False) -> Iterator[Path]:
    """A new folder to write into, which takes the place of `folder` when all is written."""
    _recover(folder.resolve())
    check_writable(folder, files, overwrite)
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    _remove(folder, NEW)
    new = _beside(folder, NEW)
    new.mkdir(PRIVATE_FOLDER)
    try:
        yield new
        for path in new.rglob("*"):
            path.chmod(PRIVATE_FOLDER if path.is_dir() else PRIVATE_FILE)
        _swap(new, folder)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def _swap(new: Path, folder: Path) -> None:
    if folder.exists():
        folder.rename(_beside(folder, OLD))
    new.rename(folder)
    _remove(folder, OLD)


def _recover(folder: Path) -> None:
    """After a kill between the two steps of `_swap`, put the old folder back."""
    old = sorted(folder.parent.glob(_pattern(folder, OLD)))
    if old and not folder.exists():
        old[-1].rename(folder)
    _remove(folder, OLD)


def _remove(folder: Path, kind: str) -> None:
    for left in folder.parent.glob(_pattern(folder, kind)):
        shutil.rmtree(left, ignore_errors=True)


def _beside(folder: Path, kind: str) -> Path:
    return folder.with_name(f".{folder.name}.{kind}-{secrets.token_hex(4)}")


def _pattern(folder: Path, kind: str) -> str:
    escaped = "".join(f"[{letter}]" if letter in "*?[" else letter for letter in folder.name)
    return f".{escaped}.{kind}-*"
