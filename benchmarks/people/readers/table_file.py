"""Tables in text files, as several sets have them."""

import csv
import gzip
from pathlib import Path

Row = dict[str, str]


def table_rows(path: Path) -> list[Row]:
    """The rows of a table with a head: CSV, perhaps compressed by gzip."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
