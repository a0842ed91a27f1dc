"""Results: every finished run in a Parquet file of its own, at once, and all of them as one table.

A run's file has its key for a name, which is made of the whole configuration. So a command that was
interrupted finds what is done, and a changed configuration is never mixed with old rows.
"""

import io
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import prefero
from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero.experiments.runs import Rows, Run

METADATA = b"prefero run"


@dataclass(frozen=True)
class Results:
    """The folder of a reproduction's runs."""

    folder: Path

    def path(self, run: Run) -> Path:
        """Where a run is kept."""
        return self.folder / "runs" / f"{run.key}.parquet"

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        """Those that are not done, each once."""
        return [run for run in dict.fromkeys(runs) if not self._whole(run)]

    def _whole(self, run: Run) -> bool:
        """Is there a file, and can it be read? A damaged one is as good as none."""
        try:
            need("pyarrow.parquet", extra="experiments").read_table(self.path(run))
        except (OSError, ValueError):  # pyarrow's own errors are both
            return False
        return True

    def save(self, run: Run, rows: Rows) -> None:
        """Keep a finished run."""
        pa, parquet = need("pyarrow", extra="experiments"), need("pyarrow.parquet", extra="experiments")
        about = json.dumps({**run.to_json(), "prefero": prefero.__version__})
        table = pa.table(rows).replace_schema_metadata({METADATA: about.encode()})
        memory = io.BytesIO()
        parquet.write_table(table, memory, compression="zstd")
        self.path(run).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path(run), memory.getvalue())

    def rows(self, run: Run) -> Rows:
        """What a run gave."""
        path = self.path(run)
        if not path.is_file():
            raise FileNotFoundError(
                f"{run.method} in {run.setting.world} with seed {run.seed} was not run: {path} is missing"
            )
        rows: Rows = need("pyarrow.parquet", extra="experiments").read_table(path).to_pydict()
        return rows

    def curves(self, runs: Sequence[Run], column: str) -> Array:
        """One row a run, one column a question."""
        return np.array([self.rows(run)[column] for run in runs], dtype=float)

    def export(self, runs: Iterable[Run], path: Path) -> None:
        """All rows of these runs in one Parquet file, with the configuration in columns."""
        pa, parquet = need("pyarrow", extra="experiments"), need("pyarrow.parquet", extra="experiments")
        tables = []
        for run in dict.fromkeys(runs):
            table = parquet.read_table(self.path(run)).replace_schema_metadata(None)
            for name, value in reversed(run.to_json().items()):
                column = pa.array([value] * len(table))
                table = table.add_column(
                    0, name, column.dictionary_encode() if isinstance(value, str) else column
                )
            tables.append(table)
        memory = io.BytesIO()
        unified: Any = pa.concat_tables(tables, promote_options="permissive")
        parquet.write_table(unified.unify_dictionaries(), memory, compression="zstd")
        write_atomically(path, memory.getvalue())
