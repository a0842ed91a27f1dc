"""How well real people's answers are predicted, in public sets of comparisons, rankings, choices and ratings.

The sets are public repositories, which nothing here downloads or redistributes: `--list` says what there is,
under which licence, and the commands that clone it. For every person of a set, models learn from some answers
and predict others, of other trials (`benchmarks.people.splits`, `benchmarks.people.methods`).
"""

import argparse
import sys
from collections.abc import Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.people.judgements import Judgements
from benchmarks.people.methods import METHODS, NEEDS
from benchmarks.people.sets import CROWDS, SETS, PublicSet, SetNotFoundError, clone_commands, read_set
from benchmarks.people.splits import FOLDS, people_of, split_of
from benchmarks.people.tables import all_tables, save_curves, score, table_of_sets
from benchmarks.rows import Job, Row, RowFile, measure

CHECKPOINTS = (5, 10, 20, 40)
PEOPLE = 10  # of a set
PROGRAM = "python -m benchmarks.people"


@cache
def judgements_of(name: str, folder: Path) -> Judgements:
    return read_set(name, folder)


def work(job: Job, folder: Path) -> list[Row]:
    """The learning curve of one method for one person and fold."""
    split = split_of(judgements_of(job["set"], folder), job["person"], job["fold"])
    checkpoints = [count for count in CHECKPOINTS if count <= len(split.learned)]
    curve = METHODS[job["method"]](split, checkpoints)
    return [{"answers": answers, **score(probability)} for answers, probability in curve]


def jobs_of(options: argparse.Namespace, people: dict[str, list[int]]) -> list[Job]:
    """Person by person, so that a comparison that is interrupted has whole pairs."""
    return [
        {"label": options.label, "set": name, "person": person, "fold": fold, "method": method}
        for name in options.sets
        for person in people[name]
        for fold in range(FOLDS)
        for method in options.methods
    ]


def description(one: PublicSet) -> str:
    """What `--list` says of a set."""
    lines = (one.about, one.citation, f"licence: {one.licence}", *clone_commands(one))
    return "\n".join((one.name, *(f"    {line}" for line in lines)))


def main(argv: Sequence[str] | None = None) -> None:
    parser = _parser()
    options = parser.parse_args(argv)
    if options.list:
        print(*(description(one) for one in (SETS | CROWDS).values()), sep="\n\n")
        return
    if options.folder is None:
        parser.error("give the folder with the clones; --list says how to make it")
    try:
        judgements = {name: judgements_of(name, options.folder) for name in options.sets}
    except SetNotFoundError as error:
        parser.error(f"{error}\nor leave the set out with --sets")
    people = {name: people_of(one, options.people) for name, one in judgements.items()}
    wanted, file = jobs_of(options, people), RowFile(options.rows)
    measure(file, wanted, partial(work, folder=options.folder), options.jobs, "people")
    rows = file.of(wanted)
    print(table_of_sets(judgements, options.people), *all_tables(rows, CHECKPOINTS), sep="\n")
    if options.figure:
        save_curves(rows, options.figure)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=PROGRAM, description=(__doc__ or "").splitlines()[0])
    add: Any = parser.add_argument
    add("folder", type=Path, nargs="?", help="with a clone of each repository; see --list")
    add("--list", action="store_true", help="the sets, their licences, and how to clone them")
    add("--sets", nargs="+", choices=SETS, default=list(SETS), metavar="SET", help=f"of {', '.join(SETS)}")
    add("--methods", nargs="+", choices=METHODS, default=_installed(), help="what to compare")
    add("--people", type=int, default=PEOPLE, help=f"of each set, at most (default: {PEOPLE})")
    add("--jobs", type=int, default=1, help="processes that work")
    add("--label", default="now", help="name of this version of the code in the rows")
    add("--rows", type=Path, default=Path("results/people.parquet"), help="file that rows are added to")
    add("--figure", type=Path, help="save learning curves in this file (.png, .pdf, .svg)")
    return parser


def _installed() -> list[str]:
    """The methods whose packages are there; `pip install --group bench` brings all."""
    missing = [name for name, package in NEEDS.items() if find_spec(package) is None]
    if missing:
        print(f"left out, for want of a package: {', '.join(missing)}", file=sys.stderr)
    return [name for name in METHODS if name not in missing]


if __name__ == "__main__":
    main()
