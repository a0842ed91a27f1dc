"""Exports that are damaged or inconsistent are refused, and nothing of them is imported."""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from prefero.pools.pool_file import PoolFileError
from prefero.studies.exports.export_import import StudyFolderError, import_study
from prefero.studies.storage.store import Store, new_secret
from studies.exported_study import FILES, files, rows

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
    exported_copy: Path, file_store: Store, name: str, share: float
) -> None:
    cut(name, share)(exported_copy)
    assert_refused(file_store, exported_copy, name)


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_missing_or_random_file_is_named_and_nothing_is_imported(
    exported_copy: Path, file_store: Store, name: str
) -> None:
    (exported_copy / name).write_bytes(b"\xff\xfe\x00\x01" * 100)
    assert_refused(file_store, exported_copy, name)
    (exported_copy / name).unlink()
    assert_refused(file_store, exported_copy, name)


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
def test_a_changed_file_is_named_and_nothing_is_imported(
    exported_copy: Path, file_store: Store, what: str
) -> None:
    before = files(exported_copy)
    CHANGED[what](exported_copy)
    (name,) = (name for name, content in files(exported_copy).items() if content != before[name])
    assert_refused(file_store, exported_copy, name)


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
IMPOSSIBLE: dict[str, tuple[Damage, str]] = {
    "restored first": (
        replaced("events.csv", ",1,0,left", ",1,0,restore"),
        "row 1 of events.csv: there is no",
    ),
    "undone first": (replaced("events.csv", ",1,0,left", ",1,0,undo"), "row 1 of events.csv"),
    "skipped places": (
        replaced("events.csv", ",1,0,left", ",1,3,left"),
        "row 1 of events.csv: its position is 3",
    ),
    "asked before": (
        replaced("questions.csv", ",1,0,0,", ",1,77,0,"),
        "row 1 of events.csv: this participant was never",
    ),
    "less than no time": (
        replaced("events.csv", ",1.5,", ",-1e308,"),
        r"of events.csv: its seconds are -1e\+308, and not from 0 to 86400",
    ),
    "ages": (replaced("events.csv", ",1.5,", ",1e300,"), "its seconds are 1e\\+300"),
    "a word as a time": (replaced("events.csv", "Z", "Zzz"), "row 1 of events.csv: its time is"),
    "a local time": (replaced("participants.csv", "Z", "+02:00"), "row 1 of participants.csv: its time is"),
}


def sign(folder: Path) -> None:
    """Write the digests of the changed files."""
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in document["files"]}
    (folder / "study.json").write_text(json.dumps(document | {"files": digests}), encoding="utf-8")


@pytest.mark.parametrize("what", UNFIT)
def test_inconsistent_rows_are_refused_and_nothing_is_imported(
    exported_copy: Path, file_store: Store, what: str
) -> None:
    UNFIT[what](exported_copy)
    sign(exported_copy)
    assert_refused(file_store, exported_copy, "")


@pytest.mark.parametrize("what", IMPOSSIBLE)
def test_rows_that_no_server_records_are_refused_by_their_number(
    exported_copy: Path, file_store: Store, what: str
) -> None:
    damage, message = IMPOSSIBLE[what]
    damage(exported_copy)
    sign(exported_copy)
    before = rows(file_store)
    with pytest.raises(StudyFolderError, match=message):
        import_study(file_store, exported_copy, new_secret())
    assert rows(file_store) == before


def test_a_folder_of_something_else_is_refused(file_store: Store, tmp_path: Path) -> None:
    with pytest.raises(StudyFolderError, match=r"not an exported study, .*study\.json"):
        import_study(file_store, tmp_path, new_secret())
    with pytest.raises(FileNotFoundError, match="no such folder"):
        import_study(file_store, tmp_path / "nowhere", new_secret())


def test_a_damaged_folder_adds_nobody_to_another_study(
    exported_copy: Path, store: Store, tmp_path: Path
) -> None:
    """The first participant's rows are valid and the second's are not: neither is imported."""
    import_study(store, exported_copy, new_secret())
    before = rows(store)
    broken = tmp_path / "broken"
    shutil.copytree(exported_copy, broken)
    replaced("events.csv", '""second""",1,0,left', '""second""",1,0,perhaps')(broken)
    sign(broken)
    with pytest.raises(StudyFolderError):
        import_study(store, broken, new_secret(), into="golf", prefix="B-")
    assert rows(store) == before
