"""The rollouts of an arena: from folders or datasets, one for each policy; or from one with a policy column.

    source     a dataset, and the policy whose rollouts it holds; without one, a column says whose each is
    task       what a rollout was to do; rollouts of different tasks are not compared
    start      where it began: its seed, a column, or the name of its file if that is no number
    label      whether it was a success, if a column or a file says so

Rollouts are shown as videos if there are videos of all of them, and otherwise by their features. They are
shuffled, so that the number of a trajectory says nothing about its policy.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.names import listed
from prefero.arena.plan import ArenaPlan
from prefero.datasets import FeatureOptions, FeatureTable, extract_features
from prefero.datasets.base import Dataset
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.formats.videos_alone import VideoEpisodes
from prefero.datasets.labels import LabelColumn, as_labels, column_values, file_labels
from prefero.datasets.media.clips import clip_folder, plan_clips
from prefero.pools.pool import Pool
from prefero.questions.labels import Labels, warn_about

POLICY, TASK, STARTS = "policy", "task", ("start", "seed")  # columns that are looked for
STAND_IN = "rollout"  # the one feature of a pool of videos, which is not shown


@dataclass(frozen=True)
class RolloutSource:
    """A dataset of rollouts.

    Args:
        dataset: The dataset.
        policy: Whose rollouts they are; None if a column says so.
    """

    dataset: Dataset
    policy: str | None = None


@dataclass(frozen=True)
class LabelColumns:
    """The columns that say which policy, task and start a rollout has; None are those of the usual names.

    Args:
        policy: The column of policies; "policy".
        task: The column of tasks; "task".
        start: The column of starts; "start" or "seed".
        success: The column, or the file, that says whether it was a success; None: nothing does.
    """

    policy: str | None = None
    task: str | None = None
    start: str | None = None
    success: LabelColumn | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """All of their names, and the usual ones."""
        success = None if self.success is None else self.success.name
        given = (self.policy, self.task, self.start, success)
        return (POLICY, TASK, *STARTS, *(name for name in given if name is not None))


def read_rollouts(
    sources: Sequence[RolloutSource],
    columns: LabelColumns | None = None,
    features: FeatureOptions | None = None,
    *,
    seed: int | None = None,
    **settings: Any,
) -> tuple[Pool, ArenaPlan]:
    """The pool of all rollouts, and the plan that says whose each is.

    Args:
        sources: The datasets.
        columns: The columns that say which policy, task and start a rollout has.
        features: Which features are extracted, for rollouts without videos.
        seed: Of the order in which they are shuffled; None is one that nobody knows, so that the number of a
            trajectory says nothing about its policy.
        **settings: `goal`, `confidence` and `questions` of the plan.

    Returns:
        The pool and the plan.

    Raises:
        ValueError: If there are fewer than two policies, or nothing says whose a rollout is, or no rollout
            has a label although they should.
    """
    columns = columns or LabelColumns()
    shown = all(source.dataset.has_video for source in sources)
    wanted = features or FeatureOptions()
    outcomes = [] if columns.success is None else _outcomes(sources, columns.success)
    tables = [_table(source.dataset, wanted, shown, columns) for source in sources]
    labelled = list(zip(sources, tables, strict=True))
    policy = list(chain.from_iterable(_policies(*one, columns.policy) for one in labelled))
    tasks = list(chain.from_iterable(_tasks(table, columns.task) for table in tables))
    starts = list(chain.from_iterable(_starts(table, columns.start) for table in tables))
    shuffled = np.random.default_rng(seed).permutation(len(policy))
    names = _names(policy, sources)
    pool = _pool(tables, policy, shuffled, shown)
    labels = None if columns.success is None else _success(tables, policy, columns.success, outcomes)
    plan = ArenaPlan(
        names,
        tuple(names.index(policy[row]) for row in shuffled),
        tuple(tasks[row] for row in shuffled) if len(set(tasks)) > 1 else (),
        tuple(starts[row] for row in shuffled) if any(starts) else (),
        labels=None if labels is None else labels.rows(shuffled),
        **settings,
    )
    return pool, plan


def _table(dataset: Dataset, features: FeatureOptions, shown: bool, columns: LabelColumns) -> FeatureTable:
    """The rollouts that can be used; without features if only their videos are needed.

    Columns of labels are no features: a judge would see the policy.
    """
    if shown and isinstance(dataset, VideoEpisodes | FeatureDataset):
        numbers = tuple(range(len(dataset)))
        nothing = np.zeros((len(dataset), 1))
        return FeatureTable(dataset, nothing, (STAND_IN,), numbers, (None,) * len(dataset), None, {})
    if isinstance(dataset, FeatureDataset) and not features.features:
        hidden = {*columns.all, *_telling_columns(dataset, columns.policy or POLICY)}
        coded = {name for one in dataset.categories if one.column in hidden for name in one.names}
        features = replace(features, features=[n for n in dataset.names if n not in {*hidden, *coded}])
    return extract_features(dataset, replace(features, cache=True))


def _telling_columns(dataset: FeatureDataset, policy: str) -> list[str]:
    """Columns of categories that tell the policy, as checkpoints do: every level belongs to one policy."""
    policies = dataset.label_column(policy)
    if policies is None:
        return []
    levels = {one.column: dataset.columns[one.column].tolist() for one in dataset.categories}
    return [
        column
        for column, values in levels.items()
        if len(set(zip(values, policies, strict=True))) == len(set(values))
    ]


def _pool(tables: Sequence[FeatureTable], policy: Sequence[str], shuffled: Indices, shown: bool) -> Pool:
    ids = _ids(tables, policy)
    if shown:
        clips = [path for table in tables for path in plan_clips(table, clip_folder(table.dataset))]
        numbers = np.arange(len(ids), dtype=float)[:, None]
        return Pool(numbers, [STAND_IN], clips=[clips[i] for i in shuffled], ids=[ids[i] for i in shuffled])
    matrix, names = _common_features(tables)
    return Pool(matrix[shuffled], names, ids=[ids[row] for row in shuffled])


def _ids(tables: Sequence[FeatureTable], policy: Sequence[str]) -> list[str]:
    """POLICY/ID of every rollout."""
    own = chain.from_iterable(table.ids for table in tables)
    return [f"{name}/{one}" for name, one in zip(policy, own, strict=True)]


def _common_features(tables: Sequence[FeatureTable]) -> tuple[Array, list[str]]:
    """The features that all rollouts have, without those that are the same for all."""
    names = [name for name in tables[0].names if all(name in table.names for table in tables)]
    if not names:
        raise ValueError(
            f"the rollouts have no feature in common: {listed(tables[0].names)} and {listed(tables[1].names)}"
        )
    several = [table.features[:, [table.names.index(name) for name in names]] for table in tables]
    matrix: Array = np.concatenate(several)
    varied = np.flatnonzero(np.ptp(matrix, axis=0) > 0)
    if not len(varied):
        raise ValueError(f"every rollout has the same {listed(names)}, so there is nothing to compare")
    return matrix[:, varied], [names[column] for column in varied]


# --- labels -----------------------------------------------------------------------------------------------


def _labels(table: FeatureTable, column: str) -> list[str] | None:
    found = table.dataset.label_column(column)
    return None if found is None else [found[number] for number in table.numbers]


def _needed(table: FeatureTable, column: str, what: str) -> list[str]:
    found = _labels(table, column)
    if found is None:
        raise ValueError(
            f"{table.dataset.name} has no column {column!r} that says the {what} of each rollout: check the "
            f"name with --{what}-column"
        )
    return found


def _policies(source: RolloutSource, table: FeatureTable, column: str | None) -> list[str]:
    if column is None and source.policy is not None:
        return [source.policy] * len(table)
    found = _labels(table, POLICY) if column is None else _needed(table, column, "policy")
    if found is None:
        raise ValueError(
            f"nothing says which policy each rollout of {table.dataset.name} is of: give the rollouts of two "
            "policies or more, one folder each, or name the column with --policy-column"
        )
    missing = [number for number, name in enumerate(found) if not name]
    if missing:
        raise ValueError(f"rollout {table.ids[missing[0]]} of {table.dataset.name} has no policy")
    return found


def _tasks(table: FeatureTable, column: str | None) -> list[str]:
    found = _labels(table, TASK) if column is None else _needed(table, column, "task")
    return found or [""] * len(table)


def _starts(table: FeatureTable, column: str | None) -> list[str]:
    if column is not None:
        return _needed(table, column, "start")
    found = next((labels for name in STARTS if (labels := _labels(table, name)) is not None), None)
    if found is not None:
        return found
    ids = [str(table.dataset.ids[number]) for number in table.numbers]
    # the fifth episode of one dataset and the fifth of another have nothing in common
    return [""] * len(ids) if all(one.isdigit() for one in ids) else [Path(one).stem for one in ids]


def _outcomes(sources: Sequence[RolloutSource], column: LabelColumn) -> list[Sequence[Any]]:
    """What the column says of each rollout of each dataset; an error if none of them has it."""
    found: list[Sequence[Any]] = []
    errors: list[ValueError] = []
    for source in sources:
        nothing = [None] * len(source.dataset)
        try:
            found.append(column_values(source.dataset, column) or nothing)
        except ValueError as error:
            errors.append(error)
            found.append(nothing)
    if len(errors) == len(sources):
        raise errors[0]
    return found


def _success(
    tables: Sequence[FeatureTable],
    policy: Sequence[str],
    column: LabelColumn,
    outcomes: Sequence[Sequence[Any]],
) -> Labels:
    """Which rollouts were successes, by their places in all tables."""
    ids = _ids(tables, policy)
    if column.file is not None:
        own = list(chain.from_iterable(table.ids for table in tables))
        labels = file_labels(column, own if len(set(own)) == len(own) else ids, "the arena")
    else:
        both = zip(tables, outcomes, strict=True)
        labels = as_labels(column, [values[number] for table, values in both for number in table.numbers])
    warn_about(labels, ids)
    return labels


def _names(policy: Sequence[str], sources: Sequence[RolloutSource]) -> tuple[str, ...]:
    """The policies, in the order in which they are given."""
    given = [source.policy for source in sources if source.policy is not None]
    twice = [name for name in given if given.count(name) > 1]
    if twice:
        raise ValueError(f"two policies are called {twice[0]!r}: give each a name of its own, NAME=PATH")
    return tuple(dict.fromkeys(policy))


# --- what the command line names --------------------------------------------------------------------------


def split_names(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """NAME=PATH as a name and a path; a path alone has the name of its folder or file."""
    for argument in arguments:
        name, equals, path = argument.partition("=")
        if equals and name and path and not Path(argument).exists():
            yield name, path
        else:
            place = Path(argument)
            yield place.resolve().name if place.is_dir() else place.stem, argument
