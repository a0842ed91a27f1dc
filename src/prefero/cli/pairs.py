"""`prefero pairs`: the answered questions with both trajectories, for direct preference optimization."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from prefero._support.commands import prefero_command
from prefero.cli.console import check_apart, check_outputs, check_server, say
from prefero.cli.databases import open_known_store
from prefero.cli.options import with_format_flags
from prefero.datasets import open_dataset
from prefero.datasets.registry import describe_formats, options_for
from prefero.deploy.training.preference_pairs import check_pairs_file, write_pairs

OUT = Path("pairs.jsonl")


@with_format_flags
def pairs(
    dataset: Annotated[str, typer.Argument(help=f"The dataset: {describe_formats()}.")],
    out: Annotated[Path, typer.Option(help="Write the pairs to this file (.jsonl, .parquet).")] = OUT,
    name: Annotated[
        str | None, typer.Option(help="The name of the session or study, if it is not the dataset's.")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="The file of the database, or postgresql://...")
    ] = None,
    *,
    opening: Mapping[str, object],
) -> None:
    """Write every answered question about a dataset: both trajectories, the choice, its strength, and who.

    For example:

        prefero pairs pick_and_place --out pairs.jsonl
    """
    check_server()
    check_pairs_file(out)
    check_outputs(out)
    from prefero.studies.exports.answered_pairs import answered_pairs
    from prefero.studies.start import known_study

    options = replace(options_for(dataset, opening), videos="ignore")
    store = open_known_store(database, "teach.db")
    study = known_study(store, name or Path(dataset).stem, prefero_command("teach", dataset))
    opened = open_dataset(dataset, options)
    check_apart(out, dataset, opened.files)
    found = answered_pairs(store, study, opened)
    write_pairs(out, found)
    people = len({pair.who for pair in found})
    say(f"{len(found)} pairs, of {people} {'person' if people == 1 else 'people'}, are in {out}.")
