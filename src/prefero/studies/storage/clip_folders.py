"""The folders whose videos this account serves.

A database, an exported study or a pool may come from somebody else, and names the folders of its videos. The
server sends videos only from Prefero's own cache, from folders that the user named on this machine when a
session or a study was made of them, and from those that a command allows. So the list is kept in the user's
data folder, and not in the database.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from prefero._support.files import cache_folder, data_folder, make_private_folder, write_atomically

FILE = "clip-folders.json"


def remember_folder(folder: str | Path) -> None:
    """Let servers of this account send videos from this folder, and from those in it."""
    place = str(Path(folder).resolve())
    known = _remembered()
    if place not in known and not is_served(place):
        make_private_folder(data_folder())
        write_atomically(data_folder() / FILE, json.dumps([*known, place], indent=1) + "\n")


def is_served(path: str | Path, more: Iterable[str | Path] = ()) -> bool:
    """May videos be sent from there? `more` are folders that the command allows."""
    place = Path(path).resolve()
    folders = (cache_folder() / "clips", *map(Path, _remembered()), *map(Path, more))
    return any(place.is_relative_to(folder.resolve()) for folder in folders)


def _remembered() -> list[str]:
    try:
        known = json.loads((data_folder() / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []
    return [folder for folder in known if isinstance(folder, str)] if isinstance(known, list) else []
