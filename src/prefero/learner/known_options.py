"""What is known before the first question, as a command line names it, and the pool that knows it.

demonstrations   trajectories that somebody showed: a dataset, a table, a pool, or actions in a world; or ids
                 of the pool's own
corrections      a dataset that marks where a person took over from a policy, or a table of ids: better, worse
directions       more of a feature is better, or less
score            a column of the dataset, a table of ids and scores, or a reward's file
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.files import missing_file
from prefero._support.names import listed
from prefero.datasets import Dataset, LabelColumn, open_dataset
from prefero.datasets.columns import matrix_columns
from prefero.datasets.formats.tables import TABLE_SUFFIXES, id_column, read_table
from prefero.datasets.labels import id_places, id_text
from prefero.datasets.registry import options_for
from prefero.datasets.score_column import file_scores, with_column, with_score
from prefero.pools import knowing
from prefero.pools.knowing import Shown
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


def knowing_pool(
    pool: Pool, known: KnownOptions, name: str, *, trust: bool = False, skip_bad: bool = False
) -> Pool:
    """A pool that knows this too, all but the score.

    Args:
        pool: The pool.
        known: What is known.
        name: Of the pool, for messages.
        trust: Run the code that other datasets and the pool's own file name.
        skip_bad: Leave out bad episodes of other datasets instead of stopping.

    Returns:
        The pool.
    """
    _check_directions(pool, known.directions)
    knowledge = reduce(PriorKnowledge.directed, known.directions, pool.knowledge)
    pool = pool.knowing(knowledge)  # an error if there is no such feature
    if known.demonstrations is not None:
        pool = pool.knowing(_demonstrated(pool, known, name, trust, skip_bad))
    if known.corrections is not None:
        better, worse = _corrections(pool, known.corrections, name, trust, skip_bad)
        pool = pool.knowing(knowing.corrected(pool, better, worse))
    return pool


def _check_directions(pool: Pool, directions: Sequence[Direction]) -> None:
    """An error if two are about the same feature, or one is about a score, of which more is better."""
    names = [one.feature for one in directions]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"--prefer names {name!r} more than once: give one direction of each feature")
        if name in pool.knowledge.scores:
            raise ValueError(f"more of the score {name!r} is better already: leave out --prefer of it")


# --- demonstrations ---------------------------------------------------------------------------------------


def _demonstrations(pool: Pool, known: KnownOptions, name: str, trust: bool, skip_bad: bool) -> Shown:
    """What was shown: trajectories of the pool's world, or features."""
    place = known.demonstrations or ""
    path = Path(place)
    if is_pool_file(path):
        return Pool.load(path)
    if pool.source is not None and path.suffix == ".npz" and path.is_file():
        return _of_actions(pool, path)
    ids = _ids_in(path, pool.names)
    if ids is not None:
        return _own(pool, ids, place, name)
    if pool.source is not None and not path.exists():
        raise missing_file(path)
    if pool.source is not None and path.suffix.lower() not in TABLE_SUFFIXES:
        raise ValueError(
            f"demonstrations in {pool.source.world} are a pool's file, an archive (.npz) with an array "
            f"'actions', or a table of its features ({listed(pool.names)}), but this is {place}"
        )
    dataset = _opened(place, trust)
    if known.score is not None and LabelColumn(known.score).file is None:  # a column, or made by a reward
        dataset, _ = scored_dataset(dataset, known.score, trust=trust)
    return knowing.dataset_features(pool, dataset, trust=trust, skip_bad=skip_bad)


def _demonstrated(pool: Pool, known: KnownOptions, name: str, trust: bool, skip_bad: bool) -> PriorKnowledge:
    try:
        return knowing.demonstrated(pool, _demonstrations(pool, known, name, trust, skip_bad))
    except ValueError as error:
        place = known.demonstrations
        raise ValueError(f"nothing can be learned from the demonstrations in {place}: {error}") from error


def _ids_in(path: Path, names: Sequence[str]) -> list[str] | None:
    """The ids in a file of nothing else; None if it is something else, such as a table of these features."""
    if not path.is_file():
        return None
    if path.suffix == IDS:
        lines = path.read_text(encoding="utf-8").split("\n")
        return [line.strip() for line in lines if line.strip()]
    if path.suffix.lower() not in TABLE_SUFFIXES:
        return None
    columns = read_table(path).columns
    ids = id_column(columns, None)
    if ids is None or set(columns) != {ids} or ids in names:
        return None
    return [id_text(one) for one in columns[ids].tolist()]


def _of_actions(pool: Pool, path: Path) -> Trajectory:
    """The trajectories of the pool's world that follow from the actions in an archive."""
    with np.load(path, allow_pickle=False) as archive:
        arrays = {key: archive[key] for key in archive.files}
    world = pool.world()
    wanted = len(world.action_space)
    actions = np.atleast_2d(arrays.get("actions", np.empty((0, 0))))
    fits = actions.ndim == 2 and actions.shape[1] == wanted and actions.dtype.kind in "fiu"
    if not fits or not np.isfinite(actions).all():
        raise ValueError(
            f"{path} must have an array 'actions' of shape (demonstrations, {wanted}) of finite numbers, for "
            f"{world.name}, but it has {listed([f'{key} {one.shape}' for key, one in arrays.items()])}"
        )
    return world.rollout(actions)


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


def _corrections(pool: Pool, place: str, name: str, trust: bool, skip_bad: bool) -> tuple[Array, Array]:
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
    return knowing.takeovers_in(pool, _opened(place, trust), trust=trust, skip_bad=skip_bad)


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
