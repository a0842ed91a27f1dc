"""A store in a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from prefero.studies.storage.database import open_database
from prefero.studies.storage.store import Store


@pytest.fixture
def file_store(tmp_path: Path) -> Iterator[Store]:
    store = Store(open_database(tmp_path / "mine.db"))
    yield store
    store.engine.dispose()
