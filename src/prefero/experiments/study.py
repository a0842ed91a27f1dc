"""The paper's table from the answers of real people, in the folder of an exported study."""

from pathlib import Path
from tempfile import TemporaryDirectory

from prefero.plots.user_study import StudyOutcome
from prefero.studies.exports.export_import import import_study
from prefero.studies.reports.study import outcomes_of
from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store, new_secret


def read_study(folder: Path) -> list[StudyOutcome]:
    """What every method learned from every participant who is done, as the study's own report has it."""
    with TemporaryDirectory() as temporary:
        store = Store(open_database(Path(temporary) / "study.db"))
        try:
            outcomes = outcomes_of(store, import_study(store, folder, new_secret()))
        finally:
            store.engine.dispose()
    if not outcomes:
        raise ValueError(
            f"nobody in {folder} has finished a study with tests or ratings, so methods cannot be compared"
        )
    return outcomes
