"""What `prefero score` and `prefero rank` both do: find the reward and the trajectories, and show scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from prefero import worlds
from prefero._support.arrays import Array
from prefero._support.commands import prefero_command
from prefero._support.names import listed
from prefero._support.optional import MissingExtra
from prefero._support.sentences import percent
from prefero.cli.console import check_server, say, say_skipped
from prefero.cli.databases import open_known_store
from prefero.datasets import (
    Dataset,
    FeatureDataset,
    FeatureOptions,
    FeatureTable,
    LabelColumn,
    open_dataset,
)
from prefero.datasets.columns import matrix_columns
from prefero.datasets.features.extraction.match_reward import scoring_warnings
from prefero.datasets.registry import describe_formats, format_at, options_for
from prefero.judges.named import Consultation
from prefero.learner import Learner
from prefero.learner.known_options import KnownOptions, knowing_pool, scored_dataset, scored_pool
from prefero.pools.from_dataset import label_pool
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file
from prefero.rewards.reward import Reward, load_reward

UNIT = "The reward is in standard deviations above the average of these trajectories, as on the page."

RewardAndTrajectories = Annotated[
    list[str],
    typer.Argument(
        metavar="[REWARD] TRAJECTORIES",
        help="The reward: a file (.json), a folder with a reward.json, or hf://OWNER/NAME; without it, "
        "that of your answers to prefero teach, or with --labels, --demonstrations, --corrections, "
        "--prefer, --score or --judge that of what is known. Then a pool (.npz) or a dataset: "
        f" {describe_formats()}.",
        show_default=False,
    ),
]
SessionName = Annotated[
    str | None, typer.Option(help="Without a reward, the name of the session whose answers count.")
]
SessionDatabase = Annotated[
    str | None, typer.Option(help="The file of the session's database, or postgresql://...")
]


class Learning(NamedTuple):
    """What a reward is learned from if none is named: a session's answers, or what is known."""

    name: str | None
    database: str | None
    labels: LabelColumn | None
    features: FeatureOptions
    opening: Mapping[str, object]
    known: KnownOptions = KnownOptions()
    judges: Consultation = Consultation(())

    @property
    def evidence(self) -> str:
        """The option that says what is known; "" if none does."""
        known = self.known
        given = {"--labels": self.labels and self.labels.name, "--demonstrations": known.demonstrations}
        given |= {"--corrections": known.corrections, "--score": known.score}
        given |= {"--judge": next(iter(self.judges.judges), None)}
        named = [f"{flag} {what}" for flag, what in given.items() if what is not None]
        return (named or ["--prefer"] * bool(known.directions) or [""])[0]

    @property
    def is_for_learning(self) -> bool:
        """Whether a reward can only be learned from what is known; a score may be a column that one needs."""
        return self.labels is not None or bool(self.known.without_score or self.judges)

    @property
    def is_alone(self) -> bool:
        """Whether a reward is learned from what is known alone; beside a session, a score is a column."""
        in_session = self.name is not None or self.database is not None
        return self.is_for_learning or (self.known.score is not None and not in_session)


def reward_and_trajectories(command: str, words: Sequence[str], learning: Learning) -> tuple[Reward, str]:
    """The reward that was named, or that is learned now; and which trajectories it is for."""
    rewards, trajectories = _checked_words(command, words)
    if rewards and learning.is_for_learning:
        raise ValueError(
            f"give a reward, {rewards[0]}, or what one is learned from, {learning.evidence}, but not both"
        )
    if not rewards and learning.is_alone:
        return _from_what_is_known(trajectories, learning), trajectories
    if rewards:
        return load_reward(rewards[0]), trajectories
    return _taught(trajectories, learning.name, learning.database), trajectories


def reward_if_taught(command: str, words: Sequence[str], learning: Learning) -> tuple[Reward | None, str]:
    """The same; None where no reward is named, and nobody has answered questions about the trajectories."""
    rewards, trajectories = _checked_words(command, words)
    if rewards or learning.evidence or learning.name is not None or learning.database is not None:
        return reward_and_trajectories(command, words, learning)
    try:
        check_server()
    except MissingExtra:  # which is needed to ask questions
        return None, trajectories
    from prefero.studies.start import NotTaughtError

    try:
        return reward_and_trajectories(command, words, learning)
    except NotTaughtError:
        return None, trajectories


def _checked_words(command: str, words: Sequence[str]) -> tuple[list[str], str]:
    """The reward, if one is named, and the trajectories."""
    *rewards, trajectories = words
    if len(rewards) > 1:
        raise ValueError(f"give one reward and one dataset, but these are {len(words)}: {', '.join(words)}")
    if Path(trajectories).suffix.lower() == ".json":
        right = prefero_command(command, trajectories, *(rewards or ["DATASET"]))
        raise ValueError(f"{trajectories} is no dataset. The reward comes first, then the dataset:  {right}")
    if trajectories in worlds.names() and not Path(trajectories).exists():
        saved = f"prefero.Pool.simulate({trajectories!r}, 100).save('{trajectories}.npz')"
        raise ValueError(f"{trajectories} is a world, without trajectories: give a pool of it, from  {saved}")
    return rewards, trajectories


def _from_what_is_known(dataset: str, learning: Learning) -> Reward:
    """The reward that labels, or what else is known, give without answers; says what was used."""
    pool = (_judged_pool if learning.judges else _known_pool)(dataset, learning)
    given = [pool.labels.describe()] if pool.labels is not None else []
    given += [pool.knowledge.describe()] if pool.knowledge else []
    say(f"The reward is learned from {' and '.join(given)}.")
    say_whose_taste(pool)
    return Learner(pool).reward()


def _judged_pool(dataset: str, learning: Learning) -> Pool:
    """The trajectories with what is known of them and what judges say, who are asked now."""
    check_server()
    from prefero.studies.start import opening_options, pool_of

    features, trust = learning.features, bool(learning.opening["trust"])
    options = opening_options(dataset, learning.opening)
    pool = pool_of(
        dataset, None, features, options, trust=trust, labels=learning.labels, known=learning.known
    )
    found = learning.judges.found(pool, say, trust=trust)
    return pool.knowing(pool.knowledge.judged(*(one.judgements for one in found)))


def say_whose_taste(pool: Pool) -> None:
    """That what judges say is their taste, if there are any."""
    if judges := [one.judge for one in pool.knowledge.judgements]:
        taste = f"the taste of {listed(judges)}"
        say(f"No person has said whether {taste} is yours: answer some questions to find out.")


def _known_pool(dataset: str, learning: Learning) -> Pool:
    """The trajectories with what is known of them."""
    labels, known, trust = learning.labels, learning.known, bool(learning.opening["trust"])
    if is_pool_file(Path(dataset)):
        pool = Pool.load(dataset)
        pool = pool if labels is None else label_pool(pool, labels, dataset)
        pool = pool if known.score is None else scored_pool(pool, known.score, dataset)
    else:
        opened, score = open_scored(dataset, learning.opening, known)
        features = replace(learning.features, cache=True)
        pool = Pool.from_dataset(opened, features, clips="never", labels=labels, score=score)
    return knowing_pool(pool, known, dataset, trust=trust, skip_bad=learning.features.skip_bad)


def _taught(dataset: str, name: str | None, database: str | None) -> Reward:
    """The reward that the answers of a session give."""
    if not is_pool_file(Path(dataset)):
        format_at(dataset)  # or an error about what is no dataset
    check_server()
    from prefero.studies.start import taught_reward

    store = open_known_store(database, "teach.db")
    session = name or Path(dataset).stem
    reward = taught_reward(store, session, prefero_command("teach", dataset))
    if reward.diagnostics.get("answers") == 0:
        say_whose_taste(store.pool(store.study(session)))
    return reward


def open_scored(
    what: str, opening: Mapping[str, object], known: KnownOptions, *, videos: bool = False
) -> tuple[Dataset, str | None]:
    """A dataset with the score that the command line gives among its columns, and the column's name.

    Its videos are opened only if they are wanted, since scores do not need them.
    """
    options = options_for(what, opening)
    opened = open_dataset(what, options if videos else replace(options, videos="ignore"))
    if known.score is None:
        return opened, None
    return scored_dataset(opened, known.score, trust=bool(opening["trust"]))


def open_trajectories(
    what: str, opening: Mapping[str, object], known: KnownOptions, *, videos: bool = False
) -> Dataset:
    """A pool's features, or a dataset, with the score that the command line gives."""
    if not is_pool_file(Path(what)):
        return open_scored(what, opening, known, videos=videos)[0]
    pool = Pool.load(what)
    pool = pool if known.score is None else scored_pool(pool, known.score, what)
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
