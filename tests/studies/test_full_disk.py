"""A disk that becomes full while people answer, and has room again: what was acknowledged is there.

The disk is a small file system in memory, which only root may mount; elsewhere the test is skipped.
"""

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from prefero.studies.storage.database import DatabaseUnavailable, open_database
from prefero.studies.storage.store import Participant, Store
from soak import SOAK, repetitions
from studies import postgres
from studies.fake_study import ask, invited, new_key, study_of
from waiting import wait_until

SIZES = {"sqlite": 2, "postgresql": 120}  # MB
ROOM = {"sqlite": 200_000, "postgresql": 1_200_000}  # bytes that answers can take
FILLINGS = repetitions("fillings", short=2, long=20)  # how often the disk becomes full
MOST = 3000  # answers until it is


@pytest.fixture(params=["sqlite", "postgresql"] if SOAK else ["sqlite"])
def disk(request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    """The kind of database, and the folder of a small file system, which PostgreSQL's user may enter too."""
    folder = Path(tempfile.mkdtemp(prefix="prefero-disk-"))
    size = f"size={SIZES[request.param]}m"
    mount = ["mount", "-t", "tmpfs", "-o", f"{size},mode=0777", "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or subprocess.run(mount, capture_output=True).returncode:
        folder.rmdir()
        pytest.skip("a small disk can only be mounted on Linux by root")
    try:
        yield request.param, folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


@pytest.fixture
def database(disk: tuple[str, Path]) -> Iterator[str]:
    kind, folder = disk
    with ExitStack() as stack:
        if kind == "sqlite":
            yield str(folder / "studies.db")
        else:
            folder.chmod(0o777)
            yield stack.enter_context(stack.enter_context(postgres.running(folder, durable=True)).database())


def fill(folder: Path, room: int) -> Path:
    """A file that takes the room that is left, but for a little."""
    filler = folder / "filler"
    filler.write_bytes(b"x" * max(shutil.disk_usage(folder).free - room, 0))
    return filler


def answer_until_refused(store: Store, person: Participant) -> list[str]:
    """The keys that were acknowledged before the disk was full."""
    keys: list[str] = []
    for _ in range(MOST):
        key = new_key()
        try:
            store.add_event(person, ask(store, person), "left", key)
        except DatabaseUnavailable:
            return keys
        keys.append(key)
    raise AssertionError(f"the disk is not full after {MOST} answers")


def recorded(store: Store, person: Participant) -> list[str]:
    """The keys in the database; PostgreSQL starts again after its log could not be written."""

    def keys() -> tuple[list[str]] | None:
        try:
            return ([event.key for event in store.event_log(person).events],)
        except DatabaseUnavailable:
            return None

    (found,) = wait_until(keys, "the database") or ([],)
    return found


def test_a_full_disk_loses_nothing(disk: tuple[str, Path], database: str) -> None:
    """Whenever it is full, another person answers, since every answer reads all events of its person."""
    store = Store(open_database(database))
    study, kept = study_of(store), dict[str, list[str]]()
    people = [invited(store, f"P{number}", study) for number in range(FILLINGS)]
    for person in people:
        filler = fill(disk[1], ROOM[disk[0]])
        acknowledged = answer_until_refused(store, person)
        filler.unlink()
        kept[person.label] = recorded(store, person)
        assert kept[person.label][: len(acknowledged)] == acknowledged
        assert len(kept[person.label]) <= len(acknowledged) + 1  # the last acknowledgement may have been lost
    assert {person.label: recorded(store, person) for person in people} == kept
    print(f"{sum(map(len, kept.values()))} answers, {FILLINGS} full disks")
    store.engine.dispose()
