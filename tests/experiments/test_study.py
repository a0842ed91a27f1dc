"""The paper's table from real people's answers: the folder of an exported study in, outcomes out."""

from pathlib import Path

import pytest

from prefero.experiments.study import read_study
from prefero.studies.exports.export_import import StudyFolderError, export_study
from prefero.studies.protocol.protocol import StudyMethod
from prefero.studies.reports.study import outcomes_of
from prefero.studies.session import Session
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store
from studies.fake_study import WithoutPreparations, complete_stages, invited, study_of

METHODS = (StudyMethod("active", "ActiveGP", 2), StudyMethod("random", "RandomGP 1 0.1", 2))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A study with labels of its own; two participants are done, and one was only invited."""
    store = Store(open_database(tmp_path / "studies.db"))
    study = study_of(store, methods=METHODS, tests=3, retests=1, rate=True)
    slots = WithoutPreparations()
    for number in range(2):
        participant = invited(store, f"P{number}", study, seed=number)
        complete_stages(Session(store, study, participant, slots))
    invited(store, "late", study, seed=9)
    return store


def test_an_exported_study_gives_the_outcomes_of_its_report(store: Store, tmp_path: Path) -> None:
    (study,) = store.studies()
    export_study(store, study, tmp_path / "exported")
    wanted = outcomes_of(store, study)
    store.engine.dispose()
    assert {(one.participant, one.method) for one in wanted} == {
        (person, method.label) for person in ("P0", "P1") for method in METHODS
    }
    assert read_study(tmp_path / "exported") == wanted


def test_a_study_that_nobody_has_finished_has_no_table(tmp_path: Path) -> None:
    store = Store(open_database(tmp_path / "studies.db"))
    study = study_of(store, methods=METHODS, tests=3, rate=True)
    invited(store, "P0", study)
    export_study(store, study, tmp_path / "exported")
    store.engine.dispose()
    with pytest.raises(ValueError, match=r"nobody .* finished"):
        read_study(tmp_path / "exported")


def test_a_damaged_table_is_named(store: Store, tmp_path: Path) -> None:
    (study,) = store.studies()
    export_study(store, study, tmp_path / "exported")
    store.engine.dispose()
    (tmp_path / "exported" / "ratings.csv").write_text("participant,score\nann,3\n", encoding="utf-8")
    with pytest.raises(StudyFolderError, match=r"ratings\.csv is damaged"):
        read_study(tmp_path / "exported")
