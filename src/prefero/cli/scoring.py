"""What `prefero score` and `prefero rank` both do: find the reward and the trajectories, and show scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from prefero import worlds
from prefero._support.arrays import Array
from prefero._support.commands import prefero_command
from prefero._support.sentences import percent
from prefero.cli.console import check_server, say, say_skipped
from prefero.cli.databases import open_known_store
from prefero.datasets import Dataset, FeatureDataset, FeatureOptions, FeatureTable, open_dataset
from prefero.datasets.columns import matrix_columns
from prefero.datasets.features.extraction.match_reward import scoring_warnings
from prefero.datasets.registry import describe_formats, format_at, options_for
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file
from prefero.rewards.reward import Reward, load_reward

UNIT = "The reward is in standard deviations above the average of these trajectories, as on the page."

RewardAndTrajectories = Annotated[
    list[str],
    typer.Argument(
        metavar="[REWARD] TRAJECTORIES",
        help="The reward: a file (.json), a folder with a reward.json, or hf://OWNER/NAME; without it, "
        f"that of your answers to prefero teach. Then a pool (.npz), or a dataset: {describe_formats()}.",
        show_default=False,
    ),
]
SessionName = Annotated[
    str | None, typer.Option(help="Without a reward, the name of the session whose answers count.")
]
SessionDatabase = Annotated[
    str | None, typer.Option(help="The file of the session's database, or postgresql://...")
]


def reward_and_trajectories(
    command: str, words: Sequence[str], name: str | None, database: str | None
) -> tuple[Reward, str]:
    """The reward that was named, or that a session's answers give; and which trajectories it is for."""
    *rewards, trajectories = words
    if len(rewards) > 1:
        raise ValueError(f"give one reward and one dataset, but these are {len(words)}: {', '.join(words)}")
    if Path(trajectories).suffix.lower() == ".json":
        right = prefero_command(command, trajectories, *(rewards or ["DATASET"]))
        raise ValueError(f"{trajectories} is no dataset. The reward comes first, then the dataset:  {right}")
    if trajectories in worlds.names() and not Path(trajectories).exists():
        saved = f"prefero.Pool.simulate({trajectories!r}, 100).save('{trajectories}.npz')"
        raise ValueError(f"{trajectories} is a world, without trajectories: give a pool of it, from  {saved}")
    if rewards:
        return load_reward(rewards[0]), trajectories
    return _taught(trajectories, name, database), trajectories


def _taught(dataset: str, name: str | None, database: str | None) -> Reward:
    """The reward that the answers of a session give."""
    if not is_pool_file(Path(dataset)):
        format_at(dataset)  # or an error about what is no dataset
    check_server()
    from prefero.studies.start import taught_reward

    store = open_known_store(database, "teach.db")
    return taught_reward(store, name or Path(dataset).stem, prefero_command("teach", dataset))


def open_trajectories(what: str, opening: Mapping[str, object], *, videos: bool = False) -> Dataset:
    """A pool's features, or a dataset; its videos only if they are wanted, since scores do not need them."""
    if not is_pool_file(Path(what)):
        options = options_for(what, opening)
        return open_dataset(what, options if videos else replace(options, videos="ignore"))
    pool = Pool.load(what)
    ids = pool.ids or tuple(map(str, range(len(pool))))
    columns = matrix_columns(pool.features, pool.names)
    return FeatureDataset(Path(what).stem, columns, ids, categories=pool.scaling.categories)


def shown_reward(standardized: float, standardized_std: float) -> str:
    """A reward as people see it, with its uncertainty."""
    return f"{standardized:.2f} ± {standardized_std:.2f}"


def shown_probability(probability: Array | None, row: int) -> list[str]:
    """The cell of a trajectory that is acceptable with this probability; none where nobody said what is."""
    return [] if probability is None else [percent(float(probability[row]))]


def say_scored(learned: Reward, scored: str, skipped: Mapping[str, str]) -> None:
    """The unit, what was done, and what was left out."""
    say(UNIT)
    say(f"{scored}; {learned.describe()}.")
    say_skipped(skipped)


def say_warnings(table: FeatureTable, learned: Reward, features: FeatureOptions) -> None:
    """What may be wrong with the features."""
    for warning in scoring_warnings(table, learned.scaling, features, learned.feature_spec):
        say(warning if warning.endswith("?") else f"{warning}.")
