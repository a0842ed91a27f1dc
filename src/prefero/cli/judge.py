"""`prefero judge`: a model, a function or a file says which trajectories are better, without a person."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from prefero import worlds
from prefero._support.commands import prefero_command
from prefero.cli.console import check_apart, check_outputs, check_server, say
from prefero.cli.options import judge_options, with_dataset_flags, with_flags
from prefero.cli.scoring import say_whose_taste
from prefero.datasets import FeatureOptions
from prefero.datasets.registry import describe_formats
from prefero.judges.asking import JudgedPairs
from prefero.judges.judgement_file import check_judgement_file, is_judgement_file, write_judgements
from prefero.judges.named import FORMS, Consultation
from prefero.learner import Learner
from prefero.pools.pool import Pool

OUT = Path("judgements.jsonl")
SHOWN = 3  # pairs of each judge
LONGEST_REASON = 160  # letters of a reason that are printed


@with_dataset_flags()
@with_flags("judges", judge_options)
def judge(
    what: Annotated[
        str,
        typer.Argument(
            help=f"A world ({', '.join(worlds.names())}), a pool file (.npz), or {describe_formats()}."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Write the judgements to this file (.jsonl, .csv).")] = OUT,
    reward: Annotated[
        Path | None, typer.Option(help="Learn a reward from the judgements alone, and save it (.json).")
    ] = None,
    trajectories: Annotated[
        int | None,
        typer.Option(
            help="How many trajectories the pairs are chosen from: simulated, or those that differ most.",
            min=2,
        ),
    ] = None,
    *,
    judges: Consultation,
    features: FeatureOptions,
    opening: Mapping[str, object],
) -> None:
    """Let judges say which of two trajectories is better, without a person, and keep what they say.

    Each pair is judged in both orders. What a judge has answered before is not asked again.

    For example:

        prefero judge driver --judge http://localhost:8000/v1#qwen
        prefero judge pick_and_place --judge mine:smoother --out judgements.csv
        prefero teach pick_and_place --judge judgements.jsonl
    """
    if not judges:
        raise ValueError(f"name a judge: --judge {FORMS}")
    check_judgement_file(out)
    for text in filter(is_judgement_file, judges.judges):
        check_apart(out, text)
    check_outputs(out, reward)
    check_server()
    from prefero.studies.start import opening_options, pool_of

    trust = bool(opening["trust"])
    pool = pool_of(
        what, trajectories, features, opening_options(what, opening), trust=trust, simulate="later"
    )
    check_apart(out, what)
    found = judges.found(pool, say, trust=trust)
    for one in found:
        _say_examples(pool, one)
    write_judgements(out, pool, found)
    again = prefero_command("teach", what, "--judge", str(out))
    say(f"The judgements are in {out}. To teach with them:  {again}")
    if reward is not None:
        _learn(pool, found, reward)


def _say_examples(pool: Pool, found: JudgedPairs) -> None:
    """A few pairs, with the reasons that the judge gave."""
    words = {"left": "A is better", "right": "B is better", "equal": "about equal"}
    for pair in found.pairs[:SHOWN]:
        a, b = (str(index) if pool.ids is None else pool.ids[index] for index in (pair.left, pair.right))
        say(f"  A {a}, B {b}: {words[pair.choice]}. {pair.reason[:LONGEST_REASON]}".rstrip())


def _learn(pool: Pool, found: Sequence[JudgedPairs], path: Path) -> None:
    """Save the reward that judges alone give, and say whose taste it is."""
    pool = pool.knowing(pool.knowledge.judged(*(one.judgements for one in found)))
    Learner(pool).reward().save(path)
    say(f"The reward in {path} is learned from {pool.knowledge.describe()}.")
    say_whose_taste(pool)
