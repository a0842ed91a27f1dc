"""Files that a teacher drops onto the page, in a folder of the database's own, beside its file.

Each upload is one folder. Until all of it is there, its name ends in `.part`, and nothing opens it; then it
is renamed, and never changed again. Files come in chunks in their order; a chunk that was sent twice changes
nothing. Names are made harmless, and only files whose format is known are taken: none of them runs code.
"""

import re
import secrets
import shutil
import threading
import time
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from prefero._support.files import data_folder, make_private_folder, private_opener
from prefero._support.sentences import pluralize
from prefero.datasets.formats.tables import TABLE_SUFFIXES
from prefero.datasets.media.video_files import SUFFIXES as VIDEO_SUFFIXES
from prefero.studies.storage.store import Refused

POOL_SUFFIX = ".npz"
ACCEPTED = (*VIDEO_SUFFIXES, *TABLE_SUFFIXES, POOL_SUFFIX)
CHUNK = 2**20  # bytes of a chunk
MOST_FILES = 5_000
MOST_BYTES = 20 * 2**30
KEPT_FREE = 2**30  # bytes of the disk that an upload leaves free
ABANDONED = 24 * 3600.0  # seconds after which an upload that was never finished is deleted
LONGEST_NAME = 120
PART = ".part"
ID = r"^[0-9a-f]{32}$"
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)$")  # names of devices in Windows


@dataclass(frozen=True)
class UploadedFile:
    """One file of an upload: under which name it is kept, and how many bytes it has."""

    name: str
    size: int


class Uploads:
    """The uploads of one database."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[str, list[UploadedFile]] = {}
        self._lock = threading.Lock()

    @classmethod
    def beside(cls, database: str) -> "Uploads":
        """Beside the file of a database; of PostgreSQL, in Prefero's data folder."""
        if "://" in database:
            return cls(data_folder() / "uploads")
        return cls(Path(database).absolute().with_suffix(".uploads"))

    def begin(self, files: Sequence[tuple[str, int]]) -> tuple[str, list[str]]:
        """A new upload: its id, and the names under which the files are kept; an error if it is too much."""
        _check_sizes(files)
        kept = _different([safe_name(name) for name, _ in files])
        make_private_folder(self.folder)
        self._delete_abandoned()
        _check_space(self.folder, sum(size for _, size in files))
        upload = secrets.token_hex(16)
        make_private_folder(self._part(upload))
        sizes = [size for _, size in files]
        self._files[upload] = [UploadedFile(*one) for one in zip(kept, sizes, strict=True)]
        return upload, kept

    def add(self, upload: str, number: int, offset: int, chunk: bytes) -> int:
        """Add a chunk to a file; the bytes that are there now. One that is there already changes nothing."""
        with self._lock:
            file, path = self._file(upload, number)
            there = path.stat().st_size if path.exists() else 0
            if offset + len(chunk) <= there:
                return there
            if offset != there or offset + len(chunk) > file.size:
                raise Refused("bad-chunk", f"{file.name} goes on at byte {there}, and not at {offset}")
            _append(path, chunk)
            return there + len(chunk)

    def finish(self, upload: str) -> Path:
        """What was uploaded, whole: one table or pool by its file, and anything else by its folder."""
        with self._lock:
            if upload not in self._files and self._whole(upload).is_dir():  # the request was sent twice
                return opened_by(self._whole(upload))
            for number, file in enumerate(self._known(upload)):
                _, path = self._file(upload, number)
                if not path.exists() or path.stat().st_size != file.size:
                    raise Refused("incomplete", f"{file.name} is not complete: drop the files again")
            self._part(upload).rename(self._whole(upload))
            del self._files[upload]
        return opened_by(self._whole(upload))

    def delete(self, upload: str) -> None:
        """Delete an upload that was not finished, or with which no session could be begun."""
        with self._lock:
            self._files.pop(upload, None)
            for folder in (self._part(upload), self._whole(upload)):
                shutil.rmtree(folder, ignore_errors=True)

    def _known(self, upload: str) -> list[UploadedFile]:
        if upload not in self._files:
            raise Refused("no-upload", "the server was started again meanwhile: drop the files again")
        return self._files[upload]

    def _file(self, upload: str, number: int) -> tuple[UploadedFile, Path]:
        files = self._known(upload)
        if number >= len(files):
            raise Refused("no-upload", f"this upload has {pluralize(len(files), 'file')}")
        return files[number], self._part(upload) / files[number].name

    def _part(self, upload: str) -> Path:
        return self.folder / f"{upload}{PART}"

    def _whole(self, upload: str) -> Path:
        return self.folder / upload

    def _delete_abandoned(self) -> None:
        for folder in self.folder.glob(f"*{PART}"):
            name = folder.name.removesuffix(PART)
            if name not in self._files and time.time() - folder.stat().st_mtime > ABANDONED:
                shutil.rmtree(folder, ignore_errors=True)


def opened_by(folder: Path) -> Path:
    """What a session begins with: a pool or a table that is alone but for videos of a pool, or the folder."""
    files = sorted(folder.iterdir())
    pools = [file for file in files if file.suffix == POOL_SUFFIX]
    if len(pools) == 1:
        return pools[0]
    return files[0] if len(files) == 1 and files[0].suffix.lower() in TABLE_SUFFIXES else folder


def safe_name(name: str) -> str:
    """The name of a file without folders and without what a system or a terminal reads as something else."""
    plain = unicodedata.normalize("NFC", re.split(r"[/\\]", name)[-1])
    plain = "".join(letter if letter.isprintable() and letter not in '<>:"|?*' else "_" for letter in plain)
    stem, dot, suffix = plain.rstrip(" .").rpartition(".")
    suffix = f".{suffix.lower()}" if dot else ""
    if suffix not in ACCEPTED:
        raise Refused(
            "bad-upload",
            f"{name!r} cannot be taught about: drop videos ({', '.join(VIDEO_SUFFIXES)}), a table "
            f"({', '.join(TABLE_SUFFIXES)}) or a pool file ({POOL_SUFFIX})",
        )
    stem = stem.strip(" .")[:LONGEST_NAME] or "file"
    return f"{'_' if _RESERVED.match(stem) else ''}{stem}{suffix}"


def _different(names: Sequence[str]) -> list[str]:
    """The same names, with numbers where two are the same, also to a system that ignores case."""
    taken: set[str] = set()
    found = []
    for name in names:
        stem, _, suffix = name.rpartition(".")
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{stem} {number}.{suffix}"
        taken.add(name.casefold())
        found.append(name)
    return found


def _check_sizes(files: Sequence[tuple[str, int]]) -> None:
    if not 1 <= len(files) <= MOST_FILES:
        raise Refused("bad-upload", f"drop 1 to {MOST_FILES:,} files, not {len(files):,}: {IN_TERMINAL}")
    empty = [name for name, size in files if size == 0]
    if empty:
        raise Refused("bad-upload", f"{empty[0]!r} is empty")
    total = sum(size for _, size in files)
    if total > MOST_BYTES:
        raise Refused(
            "too-large",
            f"these files have {gigabytes(total)}, and at most {gigabytes(MOST_BYTES)}: {IN_TERMINAL}",
        )


IN_TERMINAL = "for more, begin in a terminal with the path of their folder"


def _check_space(folder: Path, total: int) -> None:
    free = shutil.disk_usage(folder).free - KEPT_FREE
    if total > free:
        raise Refused(
            "too-large",
            f"these files have {gigabytes(total)}, and the disk of the database has room for "
            f"{gigabytes(max(free, 0))}: make room, then drop them again",
        )


def gigabytes(size: int) -> str:
    """A size as people read it."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 / 10 else f"{size / 2**20:.1f} MB"


def _append(path: Path, chunk: bytes) -> None:
    """A chunk is there whole or not at all: what a full disk cut off is taken away again."""
    there = path.stat().st_size if path.exists() else 0
    try:
        with open(path, "ab", opener=private_opener) as file:
            file.write(chunk)
    except OSError as error:
        with path.open("r+b") as file:
            file.truncate(there)
        raise Refused("disk-full", f"{path.name} could not be stored: {error.strerror}") from error
