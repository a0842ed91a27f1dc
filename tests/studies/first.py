"""A database as the first version of Prefero made it. `first.db` is kept: a later Prefero must open it.

From the folder of the tests,  python -m studies.first studies/first.db  makes it anew.
"""

import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from alembic import command
from sqlalchemy import text

from prefero.studies.storage.database import _config, _engine, writing
from studies.pretended import features_only

AT = "2026-11-15T14:00:00.000Z"
KEPT = Path(__file__).parent / "first.db"
# What was said: an answer, one that was taken back and said again, one that was deleted, and a skip.
SAID = [(1, 0, "left"), (2, 0, "left"), (2, 1, "undo"), (2, 2, "right"), (3, 0, "equal"), (3, 1, "delete")]
SAID += [(4, 0, "skip")]


def pool() -> bytes:
    """A pool as it was written then; later versions note more in it."""
    if not KEPT.is_file():
        return features_only().to_bytes()
    with closing(sqlite3.connect(f"file:{KEPT}?mode=ro", uri=True)) as file:
        data: bytes = file.execute("SELECT data FROM pools").fetchone()[0]
    return data


def rows() -> dict[str, list[dict[str, Any]]]:
    """One teacher's session. Plain SQL writes it, since the tables of today may have other columns."""
    protocol = '{"title": "First", "methods": [{"label": "Prefero", "method": "Prefero", "questions": 5}]}'
    bases = (0, 1, 4, 6, 7)  # the place among what was said that a question rests on
    return {
        "pools": [{"digest": "d" * 64, "data": pool(), "display": '{"kind": "features"}'}],
        "studies": [
            {"id": 1, "name": "first", "kind": "teach", "protocol": protocol}
            | {"pool": "d" * 64, "secret": "5" * 64, "at": AT}
        ],
        "people": [{"id": 1, "study": 1, "label": "teacher", "code": "c" * 64, "seed": 0, "at": AT}],
        "questions": [
            {"id": n, "person": 1, "number": n, "basis": basis, "slot": n - 1, "method": "Prefero"}
            | {"left": n, "right": n + 1, "bits": 0.5, "accuracy": None, "at": AT}
            for n, basis in enumerate(bases, 1)
        ],
        "answers": [
            {"id": n, "person": 1, "question": question, "turn": turn, "said": word}
            | {"key": f"key-{n:04}", "seconds": 2.5, "at": AT}
            for n, (question, turn, word) in enumerate(SAID, 1)
        ],
    }


def make(where: str) -> None:
    """A database of the first revision, with those rows."""
    engine = _engine(where)
    with writing(engine) as connection:
        command.upgrade(_config(connection), "0001")
        for table, found in rows().items():
            columns = list(found[0])
            names, values = ", ".join(f'"{c}"' for c in columns), ", ".join(f":{c}" for c in columns)
            connection.execute(text(f"INSERT INTO {table} ({names}) VALUES ({values})"), found)
    engine.dispose()


if __name__ == "__main__":
    Path(sys.argv[1]).unlink(missing_ok=True)
    make(sys.argv[1])
    with closing(sqlite3.connect(sys.argv[1])) as file:
        file.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
        file.execute("PRAGMA page_size = 512")  # and a small one
        file.execute("VACUUM")
