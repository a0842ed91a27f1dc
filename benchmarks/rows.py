"""Rows of results in one Parquet file, which a benchmark continues where it was interrupted.

    job     what identifies a measurement: its label, task, method, seed, ...
    rows    what a job gives: the job's own columns and measured ones, one row per number of answers
    label   of a version of the code: the rows of two versions are compared by it

Every benchmark with rows has the options of `row_parser`.
"""

import argparse
import io
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import write_atomically
from prefero._support.optional import need
from prefero._support.progress_bar import progress

Row = dict[str, Any]
Job = dict[str, Any]
SAVE_EVERY = 10.0  # seconds


class RowFile:
    """The rows of a benchmark. Only one process at a time may write to the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: list[Row] = []
        if path.is_file():
            self.rows = need("pyarrow.parquet", extra="experiments").read_table(path).to_pylist()

    def missing(self, jobs: Iterable[Job]) -> list[Job]:
        """Those that have no rows yet."""
        wanted = list(jobs)
        names = tuple(wanted[0]) if wanted else ()
        done = {tuple(row.get(name) for name in names) for row in self.rows}
        return [job for job in wanted if tuple(job.values()) not in done]

    def of(self, jobs: Iterable[Job]) -> list[Row]:
        """The rows of these jobs."""
        wanted = list(jobs)
        names = tuple(wanted[0]) if wanted else ()
        chosen = {tuple(job.values()) for job in wanted}
        return [row for row in self.rows if tuple(row.get(name) for name in names) in chosen]

    def save(self) -> None:
        pa, parquet = need("pyarrow", extra="experiments"), need("pyarrow.parquet", extra="experiments")
        memory = io.BytesIO()
        parquet.write_table(pa.Table.from_pylist(self.rows), memory, compression="zstd")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(self.path, memory.getvalue())


def measure(
    file: RowFile, wanted: Iterable[Job], work: Callable[[Job], list[Row]], jobs: int, text: str
) -> None:
    """Do the jobs that are missing; rows are saved as they come, also if the work is interrupted."""
    waiting, saved = file.missing(wanted), time.monotonic()
    with progress(text, len(waiting)) as advance:
        try:
            for job, found in _finished(waiting, work, jobs):
                file.rows += [job | row for row in found]
                advance(1)
                if time.monotonic() - saved > SAVE_EVERY:
                    file.save()
                    saved = time.monotonic()
        finally:
            if waiting:
                file.save()


def _finished(
    waiting: Sequence[Job], work: Callable[[Job], list[Row]], jobs: int
) -> Iterator[tuple[Job, list[Row]]]:
    if jobs == 1:
        yield from ((job, work(job)) for job in waiting)
        return
    joblib = need("joblib", extra="experiments")
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    yield from parallel(joblib.delayed(_with_job)(work, job) for job in waiting)


def _with_job(work: Callable[[Job], list[Row]], job: Job) -> tuple[Job, list[Row]]:
    return job, work(job)


def values(rows: Iterable[Row], column: str, **wanted: object) -> dict[int, float]:
    """A column by seed, of the rows that have the wanted values elsewhere."""
    return {
        row["seed"]: row[column] for row in rows if all(row.get(name) == one for name, one in wanted.items())
    }


def mean_and_error(numbers: Iterable[float]) -> tuple[float, float]:
    """The mean and its standard error; of one number alone, no error is known."""
    array: Array = np.array(list(numbers), dtype=float)
    if not len(array):
        return np.nan, np.nan
    error = array.std(ddof=1) / np.sqrt(len(array)) if len(array) > 1 else np.nan
    return float(array.mean()), float(error)


def paired_difference(ours: dict[int, float], theirs: dict[int, float]) -> tuple[float, float]:
    """The mean of ours minus theirs over the seeds that both have, and its standard error."""
    return mean_and_error(ours[seed] - theirs[seed] for seed in sorted(ours.keys() & theirs.keys()))


def row_parser(name: str, doc: str | None, people: int) -> argparse.ArgumentParser:
    """The command line of a benchmark with rows: `name` is that of its files, `doc` of its module."""
    program = f"python -m benchmarks {name.replace('-', '_')}"
    parser = argparse.ArgumentParser(prog=program, description=(doc or "").splitlines()[0])
    add_options(parser, name, people)
    return parser


def seeds_of(options: argparse.Namespace) -> range:
    """The seeds of the simulated users."""
    return range(options.first_seed, options.first_seed + options.people)


def labelled(options: argparse.Namespace, rows: Iterable[Row]) -> list[Row]:
    """The rows of the simulated users and the version of the code that the options name."""
    seeds = seeds_of(options)
    return [row for row in rows if row["seed"] in seeds and row["label"] == options.label]


def measured(options: argparse.Namespace, wanted: Iterable[Job], work: Callable[[Job], list[Row]]) -> RowFile:
    """The file with the rows, after the jobs that are missing were done, unless only a table is wanted."""
    file = RowFile(options.rows)
    if not options.table:
        measure(file, wanted, work, options.jobs, "simulated users")
    return file


def add_options(parser: argparse.ArgumentParser, name: str, people: int) -> None:
    """Options of every benchmark with rows."""
    add = parser.add_argument
    add("--people", type=int, default=people, help=f"simulated users of each row (default: {people})")
    add("--first-seed", type=int, default=0, help="seeds from 1000 on are for choosing a design")
    add("--jobs", type=int, default=1, help="processes that work")
    add("--label", default="now", help="name of this version of the code in the rows (default: now)")
    add("--rows", type=Path, default=Path(f"results/{name}.parquet"), help="file that rows are added to")
    add("--table", action="store_true", help="measure nothing, and show what the file has")
