"""What is known before the first question, as a command line names it, and the pool that knows it.

demonstrations   trajectories that somebody showed: a dataset, a table, a pool, or actions in a world; or ids
                 of the pool's own
corrections      a dataset that marks where a person took over from a policy, or a table of ids: better, worse
directions       more of a feature is better, or less
score            a column of the dataset, a table of ids and scores, or a reward's file
"""

from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.frames import Rows
from prefero._support.names import listed
from prefero.datasets import (
    Dataset,
    EpisodeDataset,
    EpisodeFeatures,
    LabelColumn,
    extract_for_reward,
    open_dataset,
)
from prefero.datasets.columns import matrix_columns
from prefero.datasets.formats.tables import TABLE_SUFFIXES, id_column, read_table
from prefero.datasets.labels import id_places, id_text
from prefero.datasets.registry import options_for
from prefero.datasets.score_column import file_scores, with_column, with_score
from prefero.datasets.takeovers import takeover_features
from prefero.pools import knowing
from prefero.pools.pool import Pool
from prefero.pools.pool_file import is_pool_file
from prefero.questions.prior_knowledge import Direction, PriorKnowledge
from prefero.rewards.reward import load_reward
from prefero.trajectories.trajectory import Trajectory

PAIRS = (
    ("better", "worse"),
    ("chosen", "rejected"),
    ("winner", "loser"),
)  # columns of a table of corrections
IDS = ".txt"  # a file of ids, one a line


@dataclass(frozen=True)
class KnownOptions:
    """What is known, and where it is.

    Args:
        demonstrations: A dataset's path or id, a pool's file, or a file of ids.
        corrections: A dataset's path or id, or a table of ids.
        directions: Of features.
        score: A column; FILE or FILE:COLUMN of ids and scores; or a reward's file.
    """

    demonstrations: str | None = None
    corrections: str | None = None
    directions: tuple[Direction, ...] = ()
    score: str | None = None

    def __bool__(self) -> bool:
        return self != KnownOptions()

    @property
    def without_score(self) -> "KnownOptions":
        """All but the score."""
        return replace(self, score=None)


def knowing_pool(pool: Pool, known: KnownOptions, name: str, *, trust: bool = False) -> Pool:
    """A pool that knows this too, all but the score.

    Args:
        pool: The pool.
        known: What is known.
        name: Of the pool, for messages.
        trust: Run the code that other datasets and the pool's own file name.

    Returns:
        The pool.
    """
    knowledge = reduce(PriorKnowledge.directed, known.directions, pool.knowledge)
    pool = pool.knowing(knowledge)  # an error if there is no such feature
    if known.demonstrations is not None:
        shown = _demonstrations(pool, known.demonstrations, name, trust)
        pool = pool.knowing(knowing.demonstrated(pool, shown))
    if known.corrections is not None:
        better, worse = _corrections(pool, known.corrections, name, trust)
        pool = pool.knowing(knowing.corrected(pool, better, worse))
    return pool


# --- demonstrations ---------------------------------------------------------------------------------------


def _demonstrations(pool: Pool, place: str, name: str, trust: bool) -> Trajectory | Rows:
    """What was shown: trajectories of the pool's world, or features."""
    path = Path(place)
    if is_pool_file(path):
        return _of_pool(pool, Pool.load(path), place)
    if pool.source is not None and path.suffix == ".npz" and path.is_file():
        return _of_actions(pool, path)
    if path.suffix == IDS and path.is_file():
        lines = path.read_text(encoding="utf-8").split("\n")
        return _own(pool, [line.strip() for line in lines if line.strip()], place, name)
    if path.suffix.lower() in TABLE_SUFFIXES and path.is_file():
        columns = read_table(path).columns
        ids = id_column(columns, None)
        if ids is not None and not set(columns) & set(pool.names):
            return _own(pool, [id_text(one) for one in columns[ids].tolist()], place, name)
    if pool.source is not None and path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(
            f"demonstrations in {pool.source.world} are a pool's file, an archive (.npz) with an array "
            f"'actions', or a table of its features ({listed(pool.names)}), but this is {place}"
        )
    return _features_of(pool, place, trust)


def _of_pool(pool: Pool, shown: Pool, place: str) -> Trajectory | Rows:
    """The trajectories of a pool's file: of the same world all of them, otherwise their features."""
    if pool.source is None or shown.source is None:
        return matrix_columns(shown.features, shown.names)
    if shown.source.world != pool.source.world:
        raise ValueError(
            f"{place} has trajectories of {shown.source.world}, but these are of {pool.source.world}"
        )
    whole = shown.simulated().trajectories
    assert whole is not None  # of a world
    return whole


def _of_actions(pool: Pool, path: Path) -> Trajectory:
    """The trajectories of the pool's world that follow from the actions in an archive."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    world = pool.world()
    wanted = len(world.action_space)
    actions = np.atleast_2d(arrays.get("actions", np.empty((0, 0))))
    if actions.ndim != 2 or actions.shape[1] != wanted or not np.isfinite(actions).all():
        raise ValueError(
            f"{path} must have an array 'actions' of shape (demonstrations, {wanted}) of finite numbers, for "
            f"{world.name}, but it has {listed([f'{key} {one.shape}' for key, one in arrays.items()])}"
        )
    return world.rollout(actions)


def _features_of(pool: Pool, place: str, trust: bool) -> Rows:
    """The pool's own features of every episode of a dataset."""
    table = extract_for_reward(
        _opened(place, trust),
        pool.names,
        spec=pool.feature_spec,
        trust=trust,
        categories=pool.scaling.categories,
    )
    return table.features


def _opened(place: str, trust: bool) -> Dataset:
    return open_dataset(place, replace(options_for(place, {"trust": trust}), videos="ignore"))


def _own(pool: Pool, ids: list[str], place: str, name: str) -> Array:
    """The features of the pool's own trajectories with these ids."""
    if not ids:
        raise ValueError(f"{place} has no ids of trajectories")
    known = pool.ids or tuple(map(str, range(len(pool))))
    places = id_places(known)
    unknown = [one for one in ids if one not in places]
    if unknown:
        raise ValueError(
            f"{place} names {listed(unknown, 5)}, but {name} has {listed(known, 5)}: give ids of "
            "trajectories that questions are asked about here"
        )
    return pool.features[[places[one] for one in ids]]


# --- corrections ------------------------------------------------------------------------------------------


def _corrections(pool: Pool, place: str, name: str, trust: bool) -> tuple[Rows, Rows]:
    """What people did, and what a policy did in the same place."""
    path = Path(place)
    if path.suffix.lower() in TABLE_SUFFIXES and path.is_file():
        columns = read_table(path).columns
        pair = next((pair for pair in PAIRS if set(pair) <= set(columns)), None)
        if pair is None:
            raise ValueError(
                f"a table of corrections has the ids of trajectories in columns called better and worse, but "
                f"{place} has {listed(tuple(columns))}"
            )
        better, worse = ([id_text(one) for one in columns[column].tolist()] for column in pair)
        return _own(pool, better, place, name), _own(pool, worse, place, name)
    dataset = _opened(place, trust)
    if not isinstance(dataset, EpisodeDataset) or pool.feature_spec is None:
        raise ValueError(
            f"corrections are read from a table of ids, FILE.csv with the columns better and worse; or from "
            f"a dataset of states and actions, if the features of {name} are computed of such"
        )
    features = EpisodeFeatures.of(pool.feature_spec, pool.scaling, trust=trust)
    return takeover_features(dataset, features)


# --- scores -----------------------------------------------------------------------------------------------


def scored_pool(pool: Pool, score: str, name: str) -> Pool:
    """A pool, perhaps of a world, with a score from a file, by a reward, or that is one of its features."""
    if score in pool.names:
        return pool.scored(pool.features[:, pool.names.index(score)], score)
    if _is_reward(score):
        reward = load_reward(score)
        return pool.scored(reward(matrix_columns(pool.features, pool.names)), _reward_name(score))
    column = LabelColumn(score)
    if column.file is None:
        raise ValueError(
            f"{name} has no column {score!r}, but the features {listed(pool.names)}: give one of these, a "
            "table of ids and scores, FILE.csv, or a reward's file"
        )
    found, values = file_scores(column, pool.ids or tuple(map(str, range(len(pool)))), name)
    return pool.scored(values, found)


def scored_dataset(dataset: Dataset, score: str, *, trust: bool = False) -> tuple[Dataset, str]:
    """A dataset with a score among its columns, and the column's name; see `with_score`."""
    if not _is_reward(score) or dataset.outcome_column(score, max) is not None:
        return with_score(dataset, score)
    reward = load_reward(score)
    table = reward.extract_features(dataset, trust=trust)
    if any(table.segments):
        raise ValueError(f"{score} is a reward of windows, and a score is one of whole episodes")
    values = np.full(len(dataset), np.nan)
    values[list(table.numbers)] = reward(table.features)
    name = _reward_name(score)
    return with_column(dataset, name, values), name


def _is_reward(score: str) -> bool:
    return score.endswith(".json") or score.startswith("hf://") or Path(score).is_dir()


def _reward_name(score: str) -> str:
    """What the score of a reward is called among the features."""
    return Path(score).stem
