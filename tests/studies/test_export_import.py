"""Exported studies: imported without a difference, merged, and refused when they are damaged."""

import csv
import hashlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from prefero import Pool
from prefero.pools.pool_file import PoolFileError
from prefero.studies.export_import import StudyFolderError, export_study, import_study
from prefero.studies.session import Session
from prefero.studies.storage import schema
from prefero.studies.storage.database import open_database, reading
from prefero.studies.storage.store import Participant, Refused, Store, new_secret
from studies.fake_study import (
    WithoutPreparations,
    answer,
    answered,
    ask,
    features_only,
    invited,
    new_key,
    proposal,
    refusal,
    respond,
    study_of,
)

FILES = {
    "answers.csv",
    "display.json",
    "events.csv",
    "participants.csv",
    "pool.npz",
    "questions.csv",
    "ratings.csv",
}
FILES |= {"stage_events.csv", "study.json"}
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
    store.add_stage_event(
        person, "consent", "", {"agreed": True, "text": 'a "quoted", text\r\nwith ümlauts'}, new_key()
    )
    store.add_stage_event(person, "rate", "Random", {"trajectory": 4, "rating": 9}, new_key())
    ask(store, person)


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A study of three participants: one did everything, one just began, one never came."""
    engine = open_database(tmp_path_factory.mktemp("original") / "studies.db")
    store = Store(engine)
    plain = features_only()
    ids = [f'run {row}, "fast"' for row in range(len(plain))]
    study = study_of(store, "golf", Pool(plain.features, plain.names, ids=ids))
    for label in LABELS:
        invited(store, label, study, seed=len(label))
    live_through(store, store.participants(study)[0])
    answer(store, store.participants(study)[1])
    yield store
    engine.dispose()


@pytest.fixture(scope="module")
def exported(original: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that this study is exported to."""
    folder = tmp_path_factory.mktemp("exported") / "golf"
    export_study(original, original.study("golf"), folder)
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    """A copy of the folder, to be damaged."""
    return Path(shutil.copytree(exported, tmp_path / "golf"))


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


# --- out --------------------------------------------------------------------------------------------------


def test_the_folder_holds_all_events_and_the_active_answers(folder: Path) -> None:
    assert set(files(folder)) == FILES
    assert [(row["participant"], row["seed"]) for row in table(folder, "participants")] == [
        (LABELS[0], "2"),
        (LABELS[1], "17"),
        (LABELS[2], "3"),
    ]
    events = [(row["question"], row["position"], row["kind"]) for row in table(folder, "events")][:8]
    assert events == [
        ("1", "0", "left"),
        ("2", "0", "skip"),
        ("3", "0", "right"),
        ("3", "1", "undo"),
        ("3", "2", "equal"),
        ("1", "1", "delete"),
        ("4", "0", "left"),
        ("1", "2", "restore"),
    ]
    first = [row for row in table(folder, "answers") if row["participant"] == "P1"]
    assert [(row["items"], row["choice"]) for row in first][:2] == [
        ("1 2", "left"),
        ("3 4", "equal"),
    ]
    assert json.loads(first[1]["ids"]) == ['run 3, "fast"', 'run 4, "fast"']
    assert first[1]["method"] == "Random"
    assert first[1]["seconds"] == ""
    assert table(folder, "ratings") == [
        {"participant": "P1", "method": "Random", "rating": "9", "trajectory": "4", "id": 'run 4, "fast"'}
    ]
    assert table(folder, "questions")[0]["value"] == repr(0.1 + 0.2)
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"], document["name"]) == ("prefero study", 1, "golf")
    np.testing.assert_array_equal(Pool.load(folder / "pool.npz").features, features_only().features)


def test_no_digest_of_a_secret_is_exported(folder: Path, original: Store) -> None:
    with reading(original.engine) as connection:
        codes = connection.execute(
            select(schema.participants.c.code).union(select(schema.studies.c.secret))
        ).scalars()
        digests = list(codes)
    assert len(digests) == 4
    written = b"".join(files(folder).values())
    assert [digest for digest in digests if digest.encode() in written] == []


def test_an_export_overwrites_another_only_if_told_to(folder: Path, store: Store) -> None:
    study, before = import_study(store, folder, new_secret()), files(folder)
    invited(store, "P4", study)
    with pytest.raises(ValueError, match=r"golf exists already: choose another --out, or .* --overwrite"):
        export_study(store, study, folder)
    assert files(folder) == before
    export_study(store, study, folder, overwrite=True)
    assert set(files(folder)) == FILES
    assert table(folder, "participants")[-1]["participant"] == "P4"


def test_a_folder_with_other_files_is_never_overwritten(folder: Path, file_store: Store) -> None:
    study = import_study(file_store, folder, new_secret())
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    before = files(folder)
    with pytest.raises(ValueError, match=r"files of another kind, such as notes\.txt: choose another --out"):
        export_study(file_store, study, folder, overwrite=True)
    assert files(folder) == before


def test_an_export_that_fails_leaves_the_old_one_and_nothing_else(
    folder: Path, file_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, before = import_study(file_store, folder, new_secret()), files(folder)
    monkeypatch.setattr("prefero.studies.export_import.csv_text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_study(file_store, study, folder, overwrite=True)
    assert files(folder) == before
    assert [path.name for path in folder.parent.iterdir() if path.name.startswith(".")] == []


# --- in ---------------------------------------------------------------------------------------------------


def test_export_import_export_gives_the_same_files(folder: Path, store: Store, tmp_path: Path) -> None:
    study_of(store, "other")  # so that no id is what it was
    answer(store, invited(store, study=store.study("other")))
    study = import_study(store, folder, "the-new-secret")
    export_study(store, study, tmp_path / "again")
    assert files(tmp_path / "again") == files(folder)
    assert store.owner_of("the-new-secret") == (study, None)


def test_an_imported_log_means_the_same(folder: Path, store: Store, original: Store) -> None:
    study = import_study(store, folder, new_secret())
    pairs = zip(original.participants(original.study("golf")), store.participants(study), strict=True)
    for before, after in pairs:
        old, new = original.event_log(before), store.event_log(after)
        assert (before.label, before.seed, before.at) == (after.label, after.seed, after.at)
        assert [(live.asked.number, live.choice) for live in old.answers] == [
            (live.asked.number, live.choice) for live in new.answers
        ]
        assert [asked.number for asked in old.skipped] == [asked.number for asked in new.skipped]
        assert [t.kind for t in old.deleted.values()] == [t.kind for t in new.deleted.values()]
        assert (old.open_question and old.open_question.number) == (
            new.open_question and new.open_question.number
        )
        assert [step.data for step in old.stage_events] == [step.data for step in new.stage_events]


def test_imported_participants_can_go_on(folder: Path, file_store: Store) -> None:
    study = import_study(file_store, folder, new_secret())
    second = file_store.participants(study)[1]
    slots = WithoutPreparations()
    session = Session(file_store, study, second, slots)
    assert respond(session, session.state()).answered == 2
    assert answered(file_store.undo(second, new_key())) == answered(file_store.event_log(second))
    slots.close()


def test_a_study_can_be_imported_under_another_name_but_not_twice(folder: Path, file_store: Store) -> None:
    assert import_study(file_store, folder, new_secret()).name == "golf"
    before = rows(file_store)
    with refusal("study-exists"):
        import_study(file_store, folder, new_secret())
    assert rows(file_store) == before
    assert import_study(file_store, folder, new_secret(), name="mini").name == "mini"
    assert len(file_store.participants(file_store.study("mini"))) == 3


def test_two_studies_are_merged_under_a_prefix(folder: Path, store: Store, tmp_path: Path) -> None:
    into = import_study(store, folder, "secret-of-golf")
    before = rows(store)
    with refusal("participant-exists", "'golf' already has a participant 'P1': give the new ones a --prefix"):
        import_study(store, folder, new_secret(), into="golf")
    assert rows(store) == before
    merged = import_study(store, folder, new_secret(), into="golf", prefix="B-")
    assert merged == into
    assert [person.label for person in store.participants(into)] == [
        *LABELS,
        *(f"B-{label}" for label in LABELS),
    ]
    twice = {name: 2 * count for name, count in before.items()} | {"pools": 1, "studies": 1}
    assert rows(store) == twice
    export_study(store, merged, tmp_path / "both")
    assert len(table(tmp_path / "both", "answers")) == 2 * len(table(folder, "answers"))


@pytest.mark.parametrize(
    ("change", "code"),
    [({"tests": 1}, "another-protocol"), ({"pool": features_only(seed=1)}, "another-pool")],
)
def test_only_studies_that_are_alike_are_merged(
    folder: Path, file_store: Store, change: dict[str, Any], code: str
) -> None:
    study_of(file_store, "other", **change)
    before = rows(file_store)
    with refusal(code):
        import_study(file_store, folder, new_secret(), into="other")
    with refusal("no-study"):
        import_study(file_store, folder, new_secret(), into="nowhere")
    assert rows(file_store) == before


def test_a_prefix_that_makes_a_label_too_long_is_refused_in_every_database(
    folder: Path, store: Store
) -> None:
    with pytest.raises(Refused, match="100"):
        import_study(store, folder, new_secret(), prefix="x" * 100)
    assert store.studies() == []


# --- damaged ----------------------------------------------------------------------------------------------

Damage = Callable[[Path], object]


def replaced(name: str, old: str, new: str) -> Damage:
    def damage(folder: Path) -> None:
        text = (folder / name).read_bytes().decode()
        assert old in text
        (folder / name).write_bytes(text.replace(old, new, 1).encode())

    return damage


def without_line(name: str, number: int) -> Damage:
    def damage(folder: Path) -> None:
        lines = (folder / name).read_bytes().splitlines(keepends=True)
        del lines[number]
        (folder / name).write_bytes(b"".join(lines))

    return damage


def cut(name: str, share: float) -> Damage:
    return lambda folder: (folder / name).write_bytes(
        (folder / name).read_bytes()[: int(share * (folder / name).stat().st_size)]
    )


def assert_refused(store: Store, folder: Path, name: str) -> None:
    """The import fails, names the file, and leaves nothing behind."""
    before = rows(store)
    with pytest.raises((StudyFolderError, PoolFileError)) as refused:
        import_study(store, folder, new_secret())
    assert rows(store) == before
    assert name in str(refused.value)
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", sorted(FILES))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_a_truncated_file_is_named_and_nothing_is_imported(
    folder: Path, file_store: Store, name: str, share: float
) -> None:
    cut(name, share)(folder)
    assert_refused(file_store, folder, name)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_missing_or_random_file_is_named_and_nothing_is_imported(
    folder: Path, file_store: Store, name: str
) -> None:
    (folder / name).write_bytes(b"\xff\xfe\x00\x01" * 100)
    assert_refused(file_store, folder, name)
    (folder / name).unlink()
    assert_refused(file_store, folder, name)


CHANGED: dict[str, Damage] = {
    "an answer less": without_line("events.csv", -1),
    "a question less": without_line("questions.csv", -1),
    "a rating less": without_line("stage_events.csv", -1),
    "somebody less": without_line("participants.csv", 1),
    "said otherwise": replaced("events.csv", ",1,0,left", ",1,0,right"),
    "no such trajectory": replaced("questions.csv", "Random,pair,1 2,", "Random,pair,1 200,"),
    "no JSON": replaced("stage_events.csv", '""rating"": 9', '""rating"": '),
    "no digests": replaced("study.json", '"files"', '"papers"'),
    "no protocol": replaced("study.json", '"protocol"', '"plan"'),
    "no name": replaced("study.json", '"name"', '"title"'),
    "wrong protocol": replaced("study.json", "RandomGP 1 0.1", "Guess"),
    "another format": replaced("study.json", "prefero study", "shopping list"),
    "newer": replaced("study.json", '"version": 1', '"version": 2'),
    "a list": lambda folder: (folder / "study.json").write_text("[]", encoding="utf-8"),
}


@pytest.mark.parametrize("what", CHANGED)
def test_a_changed_file_is_named_and_nothing_is_imported(folder: Path, file_store: Store, what: str) -> None:
    before = files(folder)
    CHANGED[what](folder)
    (name,) = (name for name, content in files(folder).items() if content != before[name])
    assert_refused(file_store, folder, name)


UNFIT: dict[str, Damage] = {
    "no question": without_line("questions.csv", -1),
    "another number": replaced("events.csv", ",1,0,left", ",99,0,left"),
    "said twice": replaced("events.csv", ",2,0,skip", ",1,0,skip"),
    "said nothing": replaced("events.csv", ",1,0,left", ",1,0,perhaps"),
    "no number": replaced("events.csv", ",1,0,left", ",one,0,left"),
    "no column": replaced("events.csv", "kind", "kin"),
    "not closed": replaced("events.csv", "left", '"left'),
    "somebody twice": replaced("participants.csv", "P10,", "P1,"),
}


def sign(folder: Path) -> None:
    """Write the digests of the changed files."""
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in document["files"]}
    (folder / "study.json").write_text(json.dumps(document | {"files": digests}), encoding="utf-8")


@pytest.mark.parametrize("what", UNFIT)
def test_inconsistent_rows_are_refused_and_nothing_is_imported(
    folder: Path, file_store: Store, what: str
) -> None:
    UNFIT[what](folder)
    sign(folder)
    assert_refused(file_store, folder, "")


def test_a_folder_of_something_else_is_refused(file_store: Store, tmp_path: Path) -> None:
    with pytest.raises(StudyFolderError, match=r"is not an exported study: it has no study\.json"):
        import_study(file_store, tmp_path, new_secret())
    with pytest.raises(FileNotFoundError, match="no such file"):
        import_study(file_store, tmp_path / "nowhere", new_secret())


def test_a_damaged_folder_adds_nobody_to_another_study(folder: Path, store: Store, tmp_path: Path) -> None:
    """The first participant's rows are valid and the second's are not: neither is imported."""
    import_study(store, folder, new_secret())
    before = rows(store)
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    replaced("events.csv", '""second""",1,0,left', '""second""",1,0,perhaps')(broken)
    sign(broken)
    with pytest.raises(StudyFolderError):
        import_study(store, broken, new_secret(), into="golf", prefix="B-")
    assert rows(store) == before
