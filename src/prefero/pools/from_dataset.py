"""Pools of the trajectories of a dataset: one function for each format, and one for any.

`Pool` has all of them as its own, so that users write `Pool.from_lerobot(...)`.

features      which features are extracted: words and functions, or `FeatureOptions`; see `extract_features`
count         at most so many trajectories, as different as can be; chosen with `sampling_seed`
clips         when videos are cut: "now", "later" (each when it is first shown) or "never"
clip_folder   where they are cut to; None: into Prefero's cache
labels        what the dataset says already: a column such as next.success, or a file of ids and labels
score         a column, or a file of ids and scores, that says how good trajectories are
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, Unpack

import numpy as np

if TYPE_CHECKING:
    from prefero._support.arrays import Array
    from prefero.datasets import Dataset, FeatureOptions, FeatureTable
    from prefero.datasets.features.extraction.options import Features
    from prefero.datasets.labels import LabelColumn
    from prefero.pools.pool import Pool
    from prefero.trajectories.categories import Categories

Clips = Literal["now", "later", "never"]


class PoolOptions(TypedDict, total=False):
    """Which trajectories of a dataset are in the pool, and when their clips are cut; see the module."""

    count: int | None
    sampling_seed: int
    clips: Clips
    clip_folder: str | Path | None
    labels: LabelColumn | str | None
    score: str | None


def from_dataset(
    dataset: Dataset | str | Path,
    features: Features = None,
    *,
    count: int | None = None,
    sampling_seed: int = 0,
    clips: Clips = "now",
    clip_folder: str | Path | None = None,
    labels: LabelColumn | str | None = None,
    score: str | None = None,
) -> Pool:
    """A pool of a dataset of any format.

    Args:
        dataset: A dataset, or a path or id that `prefero.datasets.open_dataset` recognizes.
        features: Words of the library, functions of your own, or columns of a table; or `FeatureOptions`.
        count: Take so many trajectories, those that differ most. None takes all.
        sampling_seed: Of the selection.
        clips: When videos are cut: "now", "later" (when they are first shown) or "never".
        clip_folder: The folder for the clips; None is one in Prefero's cache.
        labels: What the dataset says already about its trajectories: a column such as "next.success", a
            .csv or .parquet file of ids and labels, or `LabelColumn`. It is no feature.
        score: A column that says how good trajectories are, such as "sum(next.reward)", or a .csv or .parquet
            file of ids and scores; see `Pool.scored`.

    Returns:
        The pool, with the ids of the trajectories.

    Raises:
        BadEpisode: If an episode is damaged and `skip_bad` is not set.
        ValueError: If there are no such labels, or they have no order; or there is no such score.
    """
    from prefero import datasets
    from prefero.datasets.labels import LabelColumn, column_labels, table_labels, without_label
    from prefero.datasets.score_column import score_values, with_score
    from prefero.pools.pool import Pool

    options = datasets.FeatureOptions.of(features)
    opened = datasets.open_dataset(dataset) if isinstance(dataset, str | Path) else dataset
    column = None if labels is None else LabelColumn.of(labels)
    # before features are extracted: an environment is played now, and what was recorded is read then
    known = None if column is None else column_labels(opened, column)
    opened, name = (opened, "") if score is None else with_score(opened, score)
    scores = None if score is None else score_values(opened, name)
    opened = opened if column is None else without_label(opened, column)
    table = _prepared(datasets.extract_features(opened, options))
    if count is not None:
        table = table.diverse(count, sampling_seed)
    table, paths = _with_clips(table, options, clips, clip_folder)
    if table.skipped:
        from prefero.datasets.episode import skipped_reasons

        reasons = skipped_reasons(table.skipped)
        warnings.warn(f"{len(table.skipped)} of {len(opened)} were left out: {reasons}", stacklevel=2)
    pool = Pool(
        table.features,
        table.names,
        clips=paths,
        ids=table.ids,
        categories=table.categories,
        feature_spec=table.spec,
        no_video=table.dataset.no_video if paths is None and clips != "never" else "",
        labels=None if column is None else table_labels(table, known, column),
    )
    if scores is None:
        return pool
    if any(table.segments):
        raise ValueError(
            f"{name!r} is about whole episodes, and these are windows of them: leave out --window"
        )
    return pool.scored(scores[list(table.numbers)], name)


def label_pool(pool: Pool, column: LabelColumn, name: str) -> Pool:
    """A pool with labels from a file of its trajectories' ids; or with its own, if they are named.

    Args:
        pool: The pool.
        column: Where the labels are.
        name: Of the pool, for messages.

    Returns:
        The pool with the labels.
    """
    from prefero.datasets.labels import file_labels
    from prefero.questions.labels import warn_about

    if column.file is None:
        if pool.labels is not None and pool.labels.name == column.name:
            return pool
        own = "it has no labels" if pool.labels is None else f"its labels are of {pool.labels.name!r}"
        raise ValueError(
            f"{name} is a pool, which has no columns, and {own}: give a file of ids and labels, FILE.csv"
        )
    ids = pool.ids or tuple(map(str, range(len(pool))))
    labels = file_labels(column, ids, name)
    warn_about(labels, ids)
    return pool.labelled(labels)


def _prepared(table: FeatureTable) -> FeatureTable:
    """Without constants and duplicates; a warning for each problem of the features.

    Nobody chose the default features or those of moving objects one by one, so nobody has to mend their
    tails and correlations.
    """
    from prefero.datasets.features.library.library import MANY, WORD
    from prefero.datasets.features.tables.diagnostics import messages

    if len(table) < 2:
        raise ValueError(f"{table.dataset.name} has only one trajectory, and questions compare two or more")
    words = [] if table.spec is None else [WORD.fullmatch(word) for word in table.spec.words]
    chosen = not words or any(word is None or word[1] not in MANY for word in words)
    for kind, message in messages(table.diagnostics()):
        if chosen or kind not in ("heavy-tailed", "correlated"):
            warnings.warn(message, stacklevel=3)
    return table.without_redundant()


def _with_clips(
    table: FeatureTable, options: FeatureOptions, clips: Clips, folder: str | Path | None
) -> tuple[FeatureTable, tuple[Path, ...] | None]:
    from prefero.datasets.media.clips import clip_folder, cut_clips, plan_clips

    if clips == "never" or not table.dataset.has_video:
        return table, None
    place = clip_folder(table.dataset) if folder is None else Path(folder)
    if clips == "later":
        return table, plan_clips(table, place)
    return cut_clips(table, place, skip_bad=options.skip_bad, jobs=options.jobs, progress=options.progress)


def from_lerobot(
    folder: str | Path,
    features: Features = None,
    *,
    camera: str | None = None,
    task: str | None = None,
    **pool: Unpack[PoolOptions],
) -> Pool:
    """A pool of a LeRobot dataset, version 2.0, 2.1 or 3.0, on disk or on the Hugging Face Hub.

    Args:
        folder: The folder that contains `meta/info.json`, or `hf://OWNER/NAME`.
        features: As in `from_dataset`.
        camera: The cameras whose videos are shown side by side, by their names or the ends of them, separated
            by commas; "all", or "none"; without a name the first.
        task: Only the episodes of this task.
        **pool: Further arguments of `from_dataset`: `count`, `sampling_seed`, `clips`, `clip_folder`,
            `labels`.

    Returns:
        The pool.
    """
    from prefero.datasets import LeRobotOptions, open_dataset

    place = str(folder) if str(folder).startswith("hf://") else f"lerobot:{folder}"
    opened = open_dataset(place, LeRobotOptions(camera=camera, task=task))
    return from_dataset(opened, features, **pool)


def from_minari(
    place: str | Path,
    features: Features = None,
    *,
    step_seconds: float | None = None,
    render: bool = False,
    camera: str | None = None,
    **pool: Unpack[PoolOptions],
) -> Pool:
    """A pool of a Minari dataset.

    Args:
        place: The id of a dataset on this machine, or a folder.
        features: As in `from_dataset`.
        step_seconds: How long a step lasts, which the dataset does not say.
        render: Render videos with the environment of the dataset, whose code then runs.
        camera: The image observations that are shown side by side, separated by commas; "all", or "none".
        **pool: Further arguments of `from_dataset`: `count`, `sampling_seed`, `clips`, `clip_folder`,
            `labels`.

    Returns:
        The pool.
    """
    from prefero.datasets import MinariOptions, open_dataset

    options = MinariOptions(step_seconds=step_seconds, render=render, camera=camera)
    return from_dataset(open_dataset(f"minari:{place}", options), features, **pool)


def from_video_folder(
    folder: str | Path,
    features: Features = None,
    *,
    table: Any = None,
    frame_states: str | None = None,
    **pool: Unpack[PoolOptions],
) -> Pool:
    """A pool of a folder of videos, with a table of their features or without.

    Args:
        folder: The folder.
        features: Columns of the table; None takes all that hold numbers. Without a table, words of the
            library and functions of your own, which are computed of the frames.
        table: The table, if it is not the one in the folder: a file, a pandas frame or a mapping of columns.
            "none" ignores the one in the folder.
        frame_states: Without a table, what is measured in every frame: "statistics", such as colors and
            motion, or "pixels".
        **pool: Further arguments of `from_dataset`: `count`, `sampling_seed`, `clips`, `clip_folder`,
            `labels`.

    Returns:
        The pool.
    """
    from prefero.datasets.formats.video_folder import VideoFolder, VideoFolderOptions

    if table is not None and not isinstance(table, str | Path):
        return from_dataset(VideoFolder(folder, table=table), features, **pool)
    options = VideoFolderOptions(table=None if table is None else str(table), frame_states=frame_states)
    return from_dataset(VideoFolder.open(str(folder), options), features, **pool)


def from_table(
    table: Any, features: Features = None, *, ids: str | None = None, **pool: Unpack[PoolOptions]
) -> Pool:
    """A pool of a table of features, or of an archive of states and actions.

    Args:
        table: A pandas frame, a mapping of columns or arrays, or a .csv, .parquet or .npz file.
        features: Columns, or for an archive of states what `from_dataset` takes; None takes all that hold
            numbers or categories.
        ids: The column of the trajectories' ids.
        **pool: Further arguments of `from_dataset`: `count`, `sampling_seed`, `clips`, `clip_folder`,
            `labels`.

    Returns:
        The pool.
    """
    from prefero.datasets import TableOptions, open_dataset
    from prefero.datasets.formats.archives import in_memory

    if not isinstance(table, str | Path):
        return from_dataset(in_memory(table, ids), features, **pool)
    return from_dataset(open_dataset(table, None if ids is None else TableOptions(ids=ids)), features, **pool)


class FrameContent(NamedTuple):
    """What a pool takes from a frame or mapping."""

    features: Array
    names: tuple[str, ...]
    ids: tuple[str, ...] | None  # None where they are only the rows' numbers
    categories: tuple[Categories, ...]


def from_frame(frame: Any, names: Sequence[str] | None = None) -> FrameContent:
    """The content of a frame or mapping for `Pool(frame)`; `names` choose its columns."""
    from prefero.datasets.features.extraction.known import column_lines
    from prefero.datasets.formats.tables import table_in_memory

    dataset = table_in_memory(frame)
    if names is not None:
        dataset = dataset.select(names)
    else:
        for line in column_lines(dataset, python=True):
            warnings.warn(line, stacklevel=3)
    for number in np.flatnonzero(~np.isfinite(dataset.features).all(axis=1)).tolist():
        dataset.check(number)
    numbered = dataset.ids == tuple(map(str, range(len(dataset))))
    return FrameContent(
        dataset.features, dataset.names, None if numbered else dataset.ids, dataset.categories
    )


def from_gymnasium(
    environment: str | Callable[..., Any],
    features: Features = None,
    *,
    episodes: int = 100,
    policy: str | Callable[[Any], Any] | None = None,
    max_steps: int | None = None,
    seed: int = 0,
    record_video: bool = False,
    **pool: Unpack[PoolOptions],
) -> Pool:
    """A pool of episodes of a Gymnasium environment.

    Videos of episodes that can be repeated are rendered from the recorded actions; those of
    others are recorded while they are played, and so are all with `record_video`.

    Args:
        environment: The id of a registered environment, or a function that makes one.
        features: As in `from_dataset`.
        episodes: How many are played.
        policy: A function of an observation, or its `module:function`; None plays at random.
        max_steps: The largest number of steps of an episode; None leaves it to the environment.
        seed: Of the environment, and of random actions; episode n has this seed plus n.
        record_video: Record a video of every episode while it is played.
        **pool: Further arguments of `from_dataset`: `count`, `sampling_seed`, `clips`, `clip_folder`,
            `labels`.

    Returns:
        The pool.
    """
    from prefero.datasets.formats.gymnasium import GymnasiumDataset, GymnasiumOptions

    options = GymnasiumOptions(
        episodes=episodes,
        policy=policy if isinstance(policy, str) else None,
        max_steps=max_steps,
        seed=seed,
        record_video=record_video,
        videos="ignore" if pool.get("clips") == "never" else "use",
    )
    played = GymnasiumDataset(environment, options, policy=None if isinstance(policy, str) else policy)
    return from_dataset(played, features, **pool)
