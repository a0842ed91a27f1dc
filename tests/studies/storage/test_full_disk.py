"""A disk that becomes full while people answer, and has room again: what was acknowledged is there.

The disk is a small file system in memory, which only root may mount; elsewhere the test is skipped.
"""

import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle, islice
from pathlib import Path

import pytest

from prefero.studies.storage.database import DatabaseUnavailable, open_database
from prefero.studies.storage.store import Participant, Store
from soak import SOAK, repetitions
from studies import postgres
from studies.fake_study import ask, invited, new_key, study_of
from waiting import wait_until

SIZES = {"sqlite": 16, "postgresql": 120}  # MB
ROOM = 200_000  # bytes that answers can take
FILLINGS = repetitions("fillings", short=2, long=20)  # how often the disk becomes full
MOST = 3000  # answers until it is
PEOPLE = 20  # who answer in turn: every answer reads all events of its person

Log = defaultdict[str, list[str]]  # the keys of each person's answers


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


def fill(folder: Path) -> Path:
    """A file that takes the room that is left, but for a little."""
    filler = folder / "filler"
    filler.write_bytes(b"x" * max(shutil.disk_usage(folder).free - ROOM, 0))
    return filler


def count(keys: Log) -> int:
    return sum(map(len, keys.values()))


def answer_until_refused(store: Store, people: Sequence[Participant]) -> Log:
    """The keys that were acknowledged before the disk was full."""
    acknowledged = Log(list)
    for person in islice(cycle(people), MOST):
        key = new_key()
        try:
            store.add_event(person, ask(store, person), "left", key)
        except DatabaseUnavailable:
            return acknowledged
        acknowledged[person.label].append(key)
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
    store = Store(open_database(database))
    study, kept = study_of(store), Log(list)
    people = [invited(store, f"P{number}", study) for number in range(PEOPLE)]
    for _ in range(FILLINGS):
        filler = fill(disk[1])
        acknowledged = answer_until_refused(store, people)
        filler.unlink()
        found = Log(list, {person.label: recorded(store, person) for person in people})
        for label, keys in found.items():
            known = kept[label] + acknowledged[label]
            assert keys[: len(known)] == known
        lost = count(found) - count(kept) - count(acknowledged)
        assert 0 <= lost <= 1  # an answer may be recorded whose acknowledgement was lost
        kept.update(found)
    print(f"{count(kept)} answers, {FILLINGS} full disks")
    store.engine.dispose()
