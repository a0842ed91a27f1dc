"""Files: atomic writing, tables, and the folders for caches and for data.

An archive is one `.npz` file of arrays and a header, a JSON object that says what the arrays are. It holds no
pickles, so a file from a stranger can do no harm.
"""

import csv
import io
import json
import math
import os
import secrets
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from prefero._support.names import did_you_mean
from prefero._support.sentences import pluralize
from prefero._support.systems import program_folder, replace_file
from prefero._support.text import from_cell, to_cell
from prefero._support.unpacking import TooLargeError, check_zip

PRIVATE_FILE, PRIVATE_FOLDER = 0o600, 0o700  # their modes; Windows keeps users' folders private by itself
HEADER, ARRAYS = "header", "arrays"
LARGE = 2**28  # bytes: the arrays of larger archives stay in the file

UNREADABLE = (  # what reading a zip file of arrays may end in
    OSError,
    ValueError,
    KeyError,
    EOFError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


class ArchiveError(ValueError):
    """A file is not an archive, or not a whole one."""


def write_atomically(path: Path, content: str | bytes, *, private: bool = False) -> None:
    """Write a file so that a crash leaves either the old one or the new one; see `written_atomically`."""
    with written_atomically(path, private=private) as file:
        file.write(content.encode() if isinstance(content, str) else content)


@contextmanager
def written_atomically(path: Path, *, private: bool = False) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of the old one when it is whole.

    A private one, such as one with somebody's answers, can be read by its owner only.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb", opener=private_opener if private else None) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        replace_file(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def private_opener(path: str, flags: int) -> int:
    """For `open`: a new file can be read by its owner only."""
    return os.open(path, flags, PRIVATE_FILE)


def make_private_folder(path: Path) -> None:
    """Make a folder that only its owner can look into, unless it is there."""
    path.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)


def write_archive(path: Path, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    """Arrays and their header in one file; they go there without a copy of them in memory."""
    with written_atomically(path) as file:
        _save(file, header, arrays)


def to_archive(header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Arrays and their header, as a file's content."""
    memory = io.BytesIO()
    _save(memory, header, arrays)
    return memory.getvalue()


def _save(file: BinaryIO, header: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[Any]]) -> None:
    text = np.frombuffer(json.dumps({**header, ARRAYS: sorted(arrays)}).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **{HEADER: text}, **arrays)


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What `write_archive` wrote; every byte is checked. Arrays of large archives stay in the file."""
    try:
        if path.stat().st_size > LARGE:
            return _mapped_archive(path)
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise missing_file(path) from error
    except OSError as error:
        raise ArchiveError(f"{path} cannot be read: {error}") from error
    return from_archive(content, str(path))


def _mapped_archive(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """An archive whose arrays are read from the file when they are used."""
    try:
        check_zip(path, str(path))
        with zipfile.ZipFile(path) as content:
            members = content.infolist()
            for member in members:
                with content.open(member) as stream:  # its end compares the checksum
                    while stream.read(2**20):
                        pass
        arrays = {member.filename.removesuffix(".npy"): _mapped(path, member) for member in members}
        header = json.loads(arrays.pop(HEADER).tobytes())
    except TooLargeError:
        raise
    except UNREADABLE as error:
        raise ArchiveError(f"{path} is damaged or is another kind of file: {error}") from error
    return _checked_header(header, arrays, str(path)), arrays


def _mapped(path: Path, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    """A member of an archive as an array that stays in the file."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise ValueError(f"{member.filename} is compressed")
    with path.open("rb") as file:
        file.seek(member.header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        file.seek(name + extra, os.SEEK_CUR)
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(file)
        if dtype.hasobject or not math.prod(shape):
            raise ValueError(f"{member.filename} is no array of numbers")
        return np.memmap(file, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def from_archive(content: bytes, name: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What `to_archive` made; `name` is for errors."""
    try:
        memory = io.BytesIO(content)
        check_zip(memory, name)
        with np.load(memory, allow_pickle=False) as file:  # a path would be left open if damaged
            arrays = dict(file.items())
        header = json.loads(arrays.pop(HEADER).tobytes())
    except TooLargeError:
        raise
    except UNREADABLE as error:
        raise ArchiveError(f"{name} is damaged or is another kind of file: {error}") from error
    return _checked_header(header, arrays, name), arrays


def _checked_header(header: Any, arrays: Mapping[str, object], name: str) -> dict[str, Any]:
    if not isinstance(header, dict):
        raise ArchiveError(f"{name} is another kind of file: its header is no JSON object")
    if header.pop(ARRAYS, sorted(arrays)) != sorted(arrays):
        raise ArchiveError(f"{name} is damaged: some of its arrays are missing")
    return header


def csv_text(columns: Sequence[str], rows: Iterable[Mapping[str, object]], *, header: bool = True) -> str:
    """A table as a file's content, safe in a spreadsheet; other keys of the rows are left out."""
    lines = (_csv_line([row.get(column, "") for column in columns]) for row in rows)
    return "".join([_csv_line(columns) if header else "", *lines])


def _csv_line(cells: Iterable[object]) -> str:
    """One line; Python quotes a line break in a cell only if it is one of the line's own end."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\r\n").writerow([to_cell(cell) for cell in cells])
    return f"{text.getvalue()[:-2]}\n"


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a table that `csv_text` wrote, as texts; an error if one of these columns is missing."""
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file, restkey="", restval=None)
        missing = [column for column in columns if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{path} has no column {missing[0]!r}: it needs {', '.join(columns)}")
        rows = list(reader)
    short = [number for number, row in enumerate(rows, 2) if None in row.values() or "" in row]
    if short:
        raise ValueError(f"{path} is damaged: line {short[0]} has not as many cells as columns")
    return [{column: from_cell(row[column]) for column in columns} for row in rows]


def missing_file(path: str | Path) -> FileNotFoundError:
    """The error for a file that is not there, with the file beside it whose name is nearest."""
    return _missing("file", Path(path), paths_beside(path))


def missing_folder(path: str | Path) -> FileNotFoundError:
    """The same for a folder."""
    return _missing("folder", Path(path), [near for near in paths_beside(path) if Path(near).is_dir()])


def _missing(what: str, path: Path, near: list[str]) -> FileNotFoundError:
    if not path.parent.is_dir():
        return FileNotFoundError(f"no such {what}: {path}, since there is no folder {path.parent}")
    return FileNotFoundError(f"no such {what}: {path}{did_you_mean(str(path), near)}")


def contents(folder: Path, most: int = 4) -> str:
    """What is in a folder, in words: how many files of which suffixes, and how many folders."""
    inner = sorted(folder.iterdir(), key=lambda path: path.suffix)
    kinds = Counter("folder" if path.is_dir() else f"{path.suffix or 'other'} file" for path in inner)
    counted = [pluralize(count, kind) for kind, count in kinds.most_common(most)]
    return ", ".join(counted + ["more"] * (len(kinds) > most)) or "nothing"


def paths_beside(path: str | Path) -> list[str]:
    """The paths of all that is in the folder where a file should be; none if there is no such folder."""
    try:
        return [str(Path(path).with_name(inside.name)) for inside in Path(path).parent.iterdir()]
    except OSError:
        return []


def file_names(paths: Sequence[str | Path]) -> list[str]:
    """The names of files; with their folders, from the common one on, where two have the same name."""
    places = [Path(path) for path in paths]
    names = [place.name for place in places]
    if len(set(names)) == len(names):
        return names
    common = os.path.commonpath([place.absolute().parent for place in places])
    return [place.absolute().relative_to(common).as_posix() for place in places]


def inside(folder: Path, path: str | Path, what: str) -> Path:
    """A path that a file in `folder` names, relative to it; an error if it leads out, also by a link.

    A link into the store of Hugging Face's cache, which keeps the files of its folders there, is no way out.
    """
    place, own = folder / path, folder.resolve()
    store = [own.parent.parent / "blobs"] if own.parent.name == "snapshots" else []
    if not any(place.resolve().is_relative_to(root) for root in (own, *store)):
        raise ValueError(f"{folder} names {what} outside of itself, {str(path)!r}: it is not opened")
    return place


def cache_folder() -> Path:
    """The folder for what can be computed again; the variable PREFERO_CACHE changes it."""
    return Path(os.environ.get("PREFERO_CACHE") or program_folder("cache"))


def data_folder() -> Path:
    """The folder for what cannot be computed again; the variable PREFERO_DATA changes it."""
    return Path(os.environ.get("PREFERO_DATA") or program_folder("data"))
