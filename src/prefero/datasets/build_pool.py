"""A dataset made into what a pool is made of: features, their names, clips, and who is who."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from prefero._support.arrays import Array
from prefero.datasets.base import Dataset
from prefero.datasets.features.extract import Feature, extract_features, reasons
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.media.clips import clip_folder, cut_clips, plan


class Brought(NamedTuple):
    """Everything that a pool needs of a dataset."""

    features: Array
    names: tuple[str, ...]
    clips: tuple[str, ...] | None
    ids: tuple[str, ...]


def bring(
    dataset: Dataset,
    features: Sequence[Feature] | None = None,
    *,
    window: Any = None,
    stride: Any = None,
    like: Dataset | None = None,
    drop: Sequence[str] = (),
    log: Sequence[str] = (),
    count: int | None = None,
    seed: int = 0,
    clips: bool | str | Path = True,
    later: bool = False,
    skip_bad: bool = False,
    keep: bool | str | Path = False,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Brought:
    """Features of a dataset's episodes or of windows of them, with a clip of each where there are films.

    features        words of the library, functions of your own, or module:function; see `prefero features`
    window, stride  cut episodes into windows, "2s" or 50 (steps)
    like            another dataset, whose episodes an embedding looks at first
    drop, log       features to leave out, and to take the logarithm of
    count, seed     only so many trajectories, as different from each other as can be
    clips           False for none, or the folder to cut them into; `later` cuts each when it is first wanted
    skip_bad        leave out what is damaged instead of stopping there
    keep            a Parquet file for the features, or True for one in the cache: the same call finds them
    """
    kept = feature_file(dataset) if keep is True else keep or None
    found = extract_features(
        dataset,
        features,
        windows=Windows.maybe(window, stride),
        like=like,
        skip_bad=skip_bad,
        keep=kept,
        jobs=jobs,
        show=progress,
    )
    found = prepared(found, drop, log)
    if count is not None:
        found = found.diverse(count, seed)
    made = None
    if clips is not False and dataset.has_video:
        folder = clip_folder(dataset) if clips is True else Path(clips)
        if later:
            made = plan(found, folder)
        else:
            found, made = cut_clips(found, folder, skip_bad=skip_bad, jobs=jobs, show=progress)
    if found.left_out:
        told = f"{len(found.left_out)} of {len(dataset)} were left out: {reasons(found.left_out)}"
        warnings.warn(told, stacklevel=2)
    return Brought(found.features, found.names, None if made is None else tuple(map(str, made)), found.ids)


def feature_file(dataset: Dataset) -> Path:
    """Where the features of a dataset are kept when nobody says otherwise: in the cache."""
    folder = clip_folder(dataset)
    return folder.parent.with_name("features") / f"{folder.name}.parquet"


def prepared(gathered: FeatureTable, drop: Sequence[str] = (), log: Sequence[str] = ()) -> FeatureTable:
    """Without what was dropped, with logarithms where wanted, and with features that differ only."""
    found = gathered.without(drop) if drop else gathered
    found = found.logarithms(log) if log else found
    for advice in found.advice():
        warnings.warn(advice.words, stacklevel=3)
    return found.useful()
