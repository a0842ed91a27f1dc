"""Exported studies: imported without a difference, and merged."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from prefero import Pool
from prefero.studies.exports.export_import import export_study, import_study
from prefero.studies.reports.study import write_study_report
from prefero.studies.session import Session
from prefero.studies.storage import schema
from prefero.studies.storage.database import open_database, reading
from prefero.studies.storage.store import Refused, Store, new_secret
from studies.exported_study import FILES, LABELS, files, rows, table
from studies.fake_study import (
    WithoutPreparations,
    answer,
    answered,
    features_only,
    invited,
    new_key,
    refusal,
    respond,
    study_of,
)
from systems import posix_only

# --- out --------------------------------------------------------------------------------------------------


def test_the_folder_holds_all_events_and_the_active_answers(exported_copy: Path) -> None:
    assert set(files(exported_copy)) == FILES
    assert [(row["participant"], row["seed"]) for row in table(exported_copy, "participants")] == [
        (LABELS[0], "2"),
        (LABELS[1], "17"),
        (LABELS[2], "3"),
    ]
    events = [(row["question"], row["position"], row["kind"]) for row in table(exported_copy, "events")][:8]
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
    first = [row for row in table(exported_copy, "answers") if row["participant"] == "P1"]
    assert [(row["items"], row["choice"]) for row in first][:2] == [
        ("1 2", "left"),
        ("3 4", "equal"),
    ]
    assert json.loads(first[1]["ids"]) == ['run 3, "fast"', 'run 4, "fast"']
    assert first[1]["method"] == "Random"
    assert first[1]["seconds"] == ""
    assert table(exported_copy, "ratings") == [
        {"participant": "P1", "method": "Random", "rating": "9", "trajectory": "4", "id": 'run 4, "fast"'}
    ]
    assert table(exported_copy, "questions")[0]["value"] == repr(0.1 + 0.2)
    document = json.loads((exported_copy / "study.json").read_text(encoding="utf-8"))
    assert (document["format"], document["version"], document["name"]) == ("prefero study", 1, "golf")
    np.testing.assert_array_equal(Pool.load(exported_copy / "pool.npz").features, features_only().features)


def test_no_digest_of_a_secret_is_exported(exported_copy: Path, original: Store) -> None:
    with reading(original.engine) as connection:
        codes = connection.execute(
            select(schema.participants.c.code).union(select(schema.studies.c.secret))
        ).scalars()
        digests = list(codes)
    assert len(digests) == 4
    written = b"".join(files(exported_copy).values())
    assert [digest for digest in digests if digest.encode() in written] == []


def test_an_export_overwrites_another_only_if_told_to(exported_copy: Path, store: Store) -> None:
    study, before = import_study(store, exported_copy, new_secret()), files(exported_copy)
    invited(store, "P4", study)
    with pytest.raises(ValueError, match=r"golf exists already: .*--out, .* --overwrite"):
        export_study(store, study, exported_copy)
    assert files(exported_copy) == before
    export_study(store, study, exported_copy, overwrite=True)
    assert set(files(exported_copy)) == FILES
    assert table(exported_copy, "participants")[-1]["participant"] == "P4"


def test_a_folder_with_other_files_is_never_overwritten(exported_copy: Path, file_store: Store) -> None:
    study = import_study(file_store, exported_copy, new_secret())
    (exported_copy / "notes.txt").write_text("mine", encoding="utf-8")
    before = files(exported_copy)
    with pytest.raises(ValueError, match=r"notes\.txt: .*another --out"):
        export_study(file_store, study, exported_copy, overwrite=True)
    assert files(exported_copy) == before


def test_an_export_that_fails_leaves_the_old_one_and_nothing_else(
    exported_copy: Path, file_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, before = import_study(file_store, exported_copy, new_secret()), files(exported_copy)
    monkeypatch.setattr("prefero.studies.exports.export_import.csv_text", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        export_study(file_store, study, exported_copy, overwrite=True)
    assert files(exported_copy) == before
    assert [path.name for path in exported_copy.parent.iterdir() if path.name.startswith(".")] == []


# --- in ---------------------------------------------------------------------------------------------------


def test_export_import_export_gives_the_same_files(exported_copy: Path, store: Store, tmp_path: Path) -> None:
    study_of(store, "other")  # so that no id is what it was
    answer(store, invited(store, study=store.study("other")))
    study = import_study(store, exported_copy, "the-new-secret")
    export_study(store, study, tmp_path / "again")
    assert files(tmp_path / "again") == files(exported_copy)
    assert store.owner_of("the-new-secret") == (study, None)


def test_an_imported_log_means_the_same(exported_copy: Path, store: Store, original: Store) -> None:
    study = import_study(store, exported_copy, new_secret())
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


def test_imported_participants_can_go_on(exported_copy: Path, file_store: Store) -> None:
    study = import_study(file_store, exported_copy, new_secret())
    second = file_store.participants(study)[1]
    slots = WithoutPreparations()
    session = Session(file_store, study, second, slots)
    assert respond(session, session.state()).answered == 2
    assert answered(file_store.undo(second, new_key())) == answered(file_store.event_log(second))
    slots.close()


def test_a_study_can_be_imported_under_another_name_but_not_twice(
    exported_copy: Path, file_store: Store
) -> None:
    assert import_study(file_store, exported_copy, new_secret()).name == "golf"
    before = rows(file_store)
    with refusal("study-exists"):
        import_study(file_store, exported_copy, new_secret())
    assert rows(file_store) == before
    assert import_study(file_store, exported_copy, new_secret(), name="mini").name == "mini"
    assert len(file_store.participants(file_store.study("mini"))) == 3


def test_two_studies_are_merged_under_a_prefix(exported_copy: Path, store: Store, tmp_path: Path) -> None:
    into = import_study(store, exported_copy, "secret-of-golf")
    before = rows(store)
    with refusal("participant-exists", "'golf' already has a participant 'P1': give the new ones a --prefix"):
        import_study(store, exported_copy, new_secret(), into="golf")
    assert rows(store) == before
    merged = import_study(store, exported_copy, new_secret(), into="golf", prefix="B-")
    assert merged == into
    assert [person.label for person in store.participants(into)] == [
        *LABELS,
        *(f"B-{label}" for label in LABELS),
    ]
    twice = {name: 2 * count for name, count in before.items()} | {"pools": 1, "studies": 1}
    assert rows(store) == twice
    export_study(store, merged, tmp_path / "both")
    assert len(table(tmp_path / "both", "answers")) == 2 * len(table(exported_copy, "answers"))


@pytest.mark.parametrize(
    ("change", "code"),
    [({"tests": 1}, "another-protocol"), ({"pool": features_only(seed=1)}, "another-pool")],
)
def test_only_studies_that_are_alike_are_merged(
    exported_copy: Path, file_store: Store, change: dict[str, Any], code: str
) -> None:
    study_of(file_store, "other", **change)
    before = rows(file_store)
    with refusal(code):
        import_study(file_store, exported_copy, new_secret(), into="other")
    with refusal("no-study"):
        import_study(file_store, exported_copy, new_secret(), into="nowhere")
    assert rows(file_store) == before


def test_a_prefix_that_makes_a_label_too_long_is_refused_in_every_database(
    exported_copy: Path, store: Store
) -> None:
    with pytest.raises(Refused, match="100"):
        import_study(store, exported_copy, new_secret(), prefix="x" * 100)
    assert store.studies() == []


@posix_only
def test_what_people_answered_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    """Whatever the account gives to new files; also the files that SQLite makes beside the database."""
    before = os.umask(0o000)
    try:
        store = Store(open_database(tmp_path / "lab" / "studies.db"))
        person = invited(store)
        answer(store, person)
        export_study(store, store.studies()[0], tmp_path / "export")
        write_study_report(store, store.studies()[0], tmp_path / "report")
    finally:
        os.umask(before)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert {path.name for path in modes if path.parent.name == "lab"} >= {"studies.db", "studies.db-wal"}
    assert {
        path.name: mode for path, mode in modes.items() if mode != (0o700 if path.is_dir() else 0o600)
    } == {}
    store.engine.dispose()
