"""A study with all that a log can hold, and what its files and its database contain."""

import csv
from pathlib import Path

from sqlalchemy import func, select

from prefero.studies.storage import schema
from prefero.studies.storage.database import reading
from prefero.studies.storage.store import Participant, Store
from studies.fake_study import answer, ask, new_key, proposal

FILES = {
    "annotations.csv",
    "answers.csv",
    "display.json",
    "events.csv",
    "participants.csv",
    "pool.npz",
    "questions.csv",
    "ratings.csv",
    "reasons.csv",
    "stage_events.csv",
    "study.json",
}
LABELS = ["P1", 'Zoë, the "second"', "P10"]


def live_through(store: Store, person: Participant) -> None:
    """Events of every kind, with values that are hard to write to files."""
    first = answer(store, person, "left", proposal(1, value=0.1 + 0.2, accuracy=1 / 3))
    answer(store, person, "skip", proposal(2, value=None, unit=None, accuracy=None))
    third = answer(store, person, "right", proposal(3))
    store.undo(person, new_key())
    store.add_event(person, third, "equal", new_key(), None)
    store.add_event(person, first, "delete", new_key())
    answer(store, person, "left", proposal(5))
    store.add_event(person, first, "restore", new_key())
    last = answer(store, person, "left", proposal(6))
    store.add_event(person, last, "delete", new_key())
    store.undo(person, new_key())
    answer(store, person, "right")
    answer(store, person, "skip")
    store.undo(person, new_key())
    store.add_reason(person, store.event_log(person).answers[-1].asked.id, "speed", new_key())
    store.annotate(person, "note", "=looks unsafe,\nand is", new_key(), question=third)
    store.annotate(person, "tag", "collision", new_key(), trajectory=4)
    store.annotate(person, "tag", "near miss", new_key(), trajectory=4)
    store.annotate(person, "untag", "collision", new_key(), trajectory=4)
    store.add_stage_event(
        person, "consent", "", {"agreed": True, "text": 'a "quoted", text\r\nwith ümlauts'}, new_key()
    )
    store.add_stage_event(person, "rate", "Random", {"trajectory": 4, "rating": 9}, new_key())
    ask(store, person)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def table(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rows(store: Store) -> dict[str, int]:
    with reading(store.engine) as connection:
        return {
            name: int(connection.execute(select(func.count()).select_from(found)).scalar_one())
            for name, found in schema.metadata.tables.items()
        }
