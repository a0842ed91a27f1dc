"""Protocols, exports and databases of strangers, and files that are gone: refused in words, or survived."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hostile.samples import protocol_file
from prefero.studies.exports.export_import import StudyFolderError, export_study, import_study
from prefero.studies.protocol.protocol import Protocol
from prefero.studies.start import begin_teaching, continues_alone
from prefero.studies.storage.database import DatabaseUnavailable
from prefero.studies.storage.store import Store
from studies.fake_study import answer, ask, features_only, invited, study_of
from systems import posix_only
from waiting import wait_until

METHOD = {"label": "A", "method": "RandomGP 1 0.1", "questions": 3}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"label": 5}, "must be of type str"),
        ({"method": 5}, "must be of type str"),
        ({"label": "a" * 101}, "a label of 1 to 100 letters"),
        ({"label": "a\x1b[2J"}, "cannot be printed"),
        ({"questions": 10**9}, "must ask 1 to"),
        ({"questions": True}, "must ask 1 to"),
    ],
)
def test_a_method_that_would_ruin_a_study_is_refused(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Protocol.from_json({"title": "T", "methods": [METHOD | changes]})


@pytest.mark.parametrize(
    "changes", [{"tests": 10**9}, {"title": "T" * 10**6}, {"methods": [METHOD] * 99}, {"consent": "a\0b"}]
)
def test_a_protocol_that_is_too_large_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"at most"):
        Protocol.from_json({"title": "T", "methods": [METHOD], **changes})


def test_a_label_that_is_no_text_is_refused_in_a_file(tmp_path: Path) -> None:
    path = protocol_file(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace('label = "A"', "label = 5"), encoding="utf-8")
    with pytest.raises(ValueError, match="must be of type str"):
        Protocol.from_toml(path)


# --- imports ----------------------------------------------------------------------------------------------


@pytest.fixture
def exported(file_store: Store, tmp_path: Path) -> Path:
    study = study_of(file_store, "theirs", consent="Do you agree?")
    person = invited(file_store, "P1", study)
    file_store.add_stage_event(person, "consent", "", {"agreed": True}, "key-of-consent")
    answer(file_store, person)
    export_study(file_store, study, tmp_path / "exported")
    return tmp_path / "exported"


def change(folder: Path, table: str, old: str, new: str) -> None:
    """A change that the digests in study.json agree with."""
    path = folder / table
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    document = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    document["files"][table] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / "study.json").write_text(json.dumps(document), encoding="utf-8")


@pytest.mark.parametrize(
    ("table", "old", "new", "why"),
    [
        ("stage_events.csv", '"{""agreed"": true}"', "{", "its data are no JSON"),
        ("stage_events.csv", '"{""agreed"": true}"', "[]", "no JSON object"),
        ("stage_events.csv", "key-of-consent", "k" * 65, "its key is too long"),
        ("stage_events.csv", ",consent,", ",bribe,", "its stage is 'bribe'"),
        ("questions.csv", ",Random,", f",{'R' * 101},", "its method is too long"),
        ("questions.csv", ",Random,", ",Other,", "no method 'Other'"),
        ("questions.csv", ",1 2,", ",1 99,", "it asks about"),
        ("questions.csv", ",1 2,", ",1 1,", "it asks about"),
        ("questions.csv", ",0.5,", ",inf,", "its value is inf"),
        ("events.csv", ",left,", ",bribe,", "'bribe' is no answer"),
        ("participants.csv", "P1,5,", "P1,-5,", "its seed is -5"),
    ],
)
def test_a_damaged_export_is_refused_before_anything_is_written(
    table: str, old: str, new: str, why: str, exported: Path, file_store: Store
) -> None:
    change(exported, table, old, new)
    with pytest.raises(StudyFolderError, match=why):
        import_study(file_store, exported, "secret", name="mine")
    assert [study.name for study in file_store.studies()] == ["theirs"]


def test_the_display_of_an_export_is_not_believed(exported: Path, file_store: Store) -> None:
    """Studies of the same pool share it."""
    change(exported, "display.json", '"kind": "features"', '"kind": "clips", "folder": "/"')
    again = import_study(file_store, exported, "secret", name="mine")
    assert file_store.display(again)["kind"] == "features"


# --- files that are gone ----------------------------------------------------------------------------------


def test_a_session_continues_when_its_file_is_gone(file_store: Store, tmp_path: Path) -> None:
    path = tmp_path / "walks.npz"
    features_only().save(path)
    study, person, _ = begin_teaching(file_store, str(path), None, 5)
    answer(file_store, person)
    path.unlink()
    assert continues_alone(file_store, str(path), None)
    with pytest.warns(UserWarning, match="that its database holds"):
        again, _, known = begin_teaching(file_store, str(path), None, 5)
    assert (again, known) == (study, True)
    with pytest.raises(FileNotFoundError, match="no such file"):
        begin_teaching(file_store, str(tmp_path / "never.npz"), None, 5)


@posix_only
@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_was_deleted_acknowledges_nothing(
    replaced: bool, file_store: Store, tmp_path: Path
) -> None:
    person = invited(file_store)
    question = ask(file_store, person)
    file = tmp_path / "mine.db"
    file.rename(tmp_path / "moved.db")
    if replaced:
        file.touch()
    with pytest.raises(DatabaseUnavailable, match="deleted or replaced"):
        file_store.add_event(person, question, "left", "a-key-of-mine")
    with pytest.raises(DatabaseUnavailable, match="deleted or replaced"):
        file_store.event_log(person)
    file.unlink(missing_ok=True)
    (tmp_path / "moved.db").rename(file)
    assert len(file_store.add_event(person, question, "left", "a-key-of-mine").answers) == 1


# --- processes --------------------------------------------------------------------------------------------

WORKERS = """
import joblib, os, sys, time
from prefero._support.systems import end_with_parent
def work(n):
    end_with_parent(0.1)
    print(os.getpid(), flush=True)
    time.sleep(60)
joblib.Parallel(n_jobs=2)(joblib.delayed(work)(n) for n in range(2))
"""


@posix_only
def test_worker_processes_end_with_a_command_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "workers.py").write_text(WORKERS, encoding="utf-8")
    command = [sys.executable, str(tmp_path / "workers.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8", env=os.environ) as process:
        assert process.stdout is not None
        workers = [int(process.stdout.readline()) for _ in range(2)]
        process.kill()
        process.wait()
        wait_until(lambda: not any(is_running(worker) for worker in workers), "the end of the workers")


def is_running(process: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{process}/stat").read_text(encoding="utf-8").split()[2]
    except OSError:
        return False


@posix_only
def test_a_command_that_is_asked_to_end_prints_no_traceback() -> None:
    code = "import sys, time\nimport prefero.__main__ as m\nsys.argv = ['prefero', '--version']\n"
    code += (
        "import prefero.cli\nprefero.cli.app = lambda: (print('ready', flush=True), time.sleep(60))\nm.main()"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "")
