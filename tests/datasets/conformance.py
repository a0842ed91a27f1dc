"""The conformance kit for dataset formats: one function for each promise that a format makes.

`check_format(case)` checks all of them for one dataset. A dataset of Prefero's formats is one more row in
test_conformance.py; a format of another package passes the same checks.
"""

import hashlib
import json
import os
import shutil
import warnings
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields, is_dataclass, replace
from pathlib import Path
from typing import NamedTuple, get_args, get_type_hints

import av
import numpy as np
import pytest

from prefero import Pool
from prefero.datasets import (
    FORMATS,
    BadEpisode,
    Dataset,
    DatasetFormat,
    DatasetSpec,
    EpisodeDataset,
    FeatureDataset,
    FeatureOptions,
    FeatureTable,
    FormatOptions,
    extract_features,
    open_dataset,
    write_scores,
)
from prefero.datasets.media.clips import cut_planned_clip
from prefero.datasets.media.video_files import plays_in_browsers
from prefero.datasets.registry import formats, open_once, open_spec, options_for
from prefero.datasets.scores.write import writable_formats
from prefero.pools.from_dataset import Clips


class Case(NamedTuple):
    """A dataset of a format: its path or id, the options that it is opened with, and an empty folder."""

    name: str  # of the format
    path: str
    folder: Path
    options: FormatOptions | None = None

    @property
    def format(self) -> type[DatasetFormat]:
        return FORMATS.get(self.name)

    def opened(self) -> Dataset:
        return open_dataset(self.path, self.options)

    def table(self, **options: object) -> FeatureTable:
        dataset = self.opened()
        words = ["mean", "duration"] if isinstance(dataset, EpisodeDataset) else []
        return extract_features(dataset, FeatureOptions(words, **({"jobs": 1} | options)))  # type: ignore[arg-type]


Promise = Callable[[Case], None]
PROMISES: list[Promise] = []


def promise(check: Promise) -> Promise:
    PROMISES.append(check)
    return check


def check_format(case: Case) -> None:
    """Check every promise of a format for one dataset; each gets a folder of its own."""
    for check in PROMISES:
        folder = case.folder / check.__name__
        folder.mkdir(parents=True)
        check(case._replace(folder=folder))


def episodes(dataset: Dataset) -> EpisodeDataset | None:
    return dataset if isinstance(dataset, EpisodeDataset) else None


def assert_same_episodes(found: EpisodeDataset, wanted: EpisodeDataset) -> None:
    assert found.ids == wanted.ids
    for number in range(len(wanted)):
        one, other = found.episode(number), wanted.episode(number)
        np.testing.assert_array_equal(one.states, other.states)
        np.testing.assert_array_equal(one.actions, other.actions)
        assert (one.id, one.state_names, one.step_seconds) == (
            other.id,
            other.state_names,
            other.step_seconds,
        )


def pool_of(dataset: Dataset, clips: Clips = "never", clip_folder: Path | None = None) -> Pool:
    options = FeatureOptions(["mean", "final"] if isinstance(dataset, EpisodeDataset) else (), jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # features of so few trajectories are correlated
        return Pool.from_dataset(dataset, options, clips=clips, clip_folder=clip_folder)


def frame_count(path: Path) -> int:
    with av.open(str(path)) as container:
        return sum(1 for _ in container.decode(video=0))


# --- what a format says of itself -------------------------------------------------------------------------


@promise
def it_is_registered_under_its_name_and_described(case: Case) -> None:
    assert case.format.format_name == case.name
    assert case.format in list(formats())
    assert case.format.description.strip()
    assert not case.format.description.endswith(".")


@promise
def its_options_are_frozen_and_have_defaults(case: Case) -> None:
    kind = case.format.options_type
    assert is_dataclass(kind)
    assert issubclass(kind, FormatOptions)
    with pytest.raises(FrozenInstanceError):
        kind().videos = "check"  # type: ignore[misc]


@promise
def its_flags_have_help_and_a_type_that_can_be_typed(case: Case) -> None:
    types = get_type_hints(case.format.options_type)
    for one in fields(case.format.options_type):
        if "help" in one.metadata:
            known = {types[one.name], *get_args(types[one.name])}
            assert known & {bool, int, float, str, Path}
            assert one.metadata["help"].endswith(".")


@promise
def an_option_that_it_does_not_have_is_refused(case: Case) -> None:
    with pytest.raises(ValueError, match=f"{case.name}.* 'no_such_option'"):
        options_for(case.path, {"no_such_option": 1})


# --- recognizing and opening ------------------------------------------------------------------------------


@promise
def it_alone_recognizes_its_dataset(case: Case) -> None:
    assert [one.format_name for one in formats() if one.recognizes(case.path)] == [case.name]


@promise
def it_recognizes_nothing_else(case: Case) -> None:
    (case.folder / "letter.txt").write_text("dear reader", encoding="utf-8")
    for path in (case.folder, case.folder / "letter.txt", case.folder / "missing", "no such id"):
        assert not case.format.recognizes(str(path))


@promise
def the_format_may_be_given_before_the_path(case: Case) -> None:
    dataset = open_dataset(f"{case.name}:{case.path}", case.options)
    assert (dataset.name, dataset.ids) == (case.opened().name, case.opened().ids)


@promise
def its_trajectories_have_different_ids(case: Case) -> None:
    dataset = case.opened()
    assert len(dataset) == len(set(dataset.ids)) >= 3
    assert all(dataset.ids)
    assert dataset.name


@promise
def its_spec_opens_it_again(case: Case) -> None:
    dataset = case.opened()
    assert dataset.spec is not None
    assert dataset.spec.format == case.name
    again = open_spec(DatasetSpec(**json.loads(json.dumps(dataset.spec.to_json()))))
    assert (again.name, again.ids, again.spec) == (dataset.name, dataset.ids, dataset.spec)
    assert again.version == dataset.version


@promise
def it_stays_open(case: Case) -> None:
    spec = case.opened().spec
    assert spec is not None
    assert open_once(spec) is open_once(spec)


@promise
def its_version_changes_with_its_files(case: Case) -> None:
    if not Path(case.path).exists():
        return  # an id: its files, if there are any, belong to somebody else
    copy = _copied(case)
    before = copy.opened().version
    changed = copy.opened().files
    assert changed
    path = next(path for path in changed if path.is_file())
    os.utime(path, (1, 1))
    assert copy.opened().version != before


def _copied(case: Case) -> Case:
    """The same dataset elsewhere; one that is part of a folder, with the folder."""
    source, target = Path(case.path), case.folder / Path(case.path).name
    if source.is_dir():
        shutil.copytree(source, target)
    else:
        shutil.copyfile(source, target)
    return case._replace(path=str(target))


# --- reading ----------------------------------------------------------------------------------------------


@promise
def there_is_no_trajectory_beyond_the_last(case: Case) -> None:
    dataset = case.opened()
    for number in (-1, len(dataset)):
        with pytest.raises(ValueError, match="has episodes 0 to"):
            dataset.check_number(number)
        if isinstance(dataset, EpisodeDataset):
            with pytest.raises(ValueError, match="has episodes 0 to"):
                dataset.episode(number)


@promise
def an_episode_is_the_same_whenever_and_however_it_is_read(case: Case) -> None:
    if (dataset := episodes(case.opened())) is None:
        return
    assert_same_episodes(dataset, dataset)
    order = [2, 0, 1]
    for number, found in zip(order, dataset.read(order), strict=True):
        assert not isinstance(found, BadEpisode)
        wanted = dataset.episode(number)
        assert found.id == dataset.ids[number]
        np.testing.assert_array_equal(found.states, wanted.states)
        np.testing.assert_array_equal(found.actions, wanted.actions)


@promise
def its_features_are_finite_and_can_be_chosen(case: Case) -> None:
    dataset = case.opened()
    if not isinstance(dataset, FeatureDataset):
        return
    assert dataset.features.shape == (len(dataset), len(dataset.names))
    assert np.isfinite(dataset.features).all()
    last = dataset.select(dataset.names[-1:])
    np.testing.assert_array_equal(last.features[:, 0], dataset.features[:, -1])


@promise
def workers_extract_what_one_process_extracts(case: Case) -> None:
    one, several = case.table(), case.table(jobs=2)
    np.testing.assert_array_equal(one.features, several.features)
    assert (one.names, one.ids) == (several.names, several.ids)


@promise
def its_features_are_cached(case: Case) -> None:
    path = case.folder / "features.parquet"
    first = case.table(cache=path)
    first.save(path)
    saved = open_dataset(path)
    assert isinstance(saved, FeatureDataset)
    assert (saved.names, saved.ids) == (first.names, first.ids)
    np.testing.assert_array_equal(saved.features, first.features)


@promise
def it_becomes_a_pool(case: Case) -> None:
    dataset = case.opened()
    pool = pool_of(dataset)
    assert pool.ids == dataset.ids
    assert pool.clips is None


# --- videos -----------------------------------------------------------------------------------------------


@promise
def its_clips_are_cut_once_and_play_in_browsers(case: Case) -> None:
    dataset = case.opened()
    if not dataset.has_video:
        with pytest.raises(ValueError, match=r"no videos|does not render"):
            dataset.cut_clip(0, case.folder)
        return
    path = dataset.cut_clip(1, case.folder)
    assert path == dataset.clip_path(1, case.folder)
    assert plays_in_browsers(path)
    before = path.stat().st_mtime_ns
    assert dataset.cut_clip(1, case.folder).stat().st_mtime_ns == before
    dataset.check_video(1)


@promise
def a_clip_shows_as_many_frames_as_the_segment_has_steps(case: Case) -> None:
    dataset = episodes(case.opened())
    if dataset is None or not dataset.has_video:
        return
    assert frame_count(dataset.cut_clip(0, case.folder)) == len(dataset.episode(0))
    assert frame_count(dataset.cut_clip(0, case.folder, (1, 4))) == 3


@promise
def planned_clips_are_cut_later(case: Case) -> None:
    dataset = case.opened()
    if not dataset.has_video:
        return
    pool = pool_of(dataset, clips="later", clip_folder=case.folder)
    assert pool.clips is not None
    assert plays_in_browsers(cut_planned_clip(pool.clips[2]))


@promise
def without_its_videos_it_is_the_same_otherwise(case: Case) -> None:
    options = replace(case.options or case.format.options_type(), videos="ignore")
    without = case._replace(options=options)
    assert not without.opened().has_video
    np.testing.assert_array_equal(without.table().features, case.table().features)


# --- scores -----------------------------------------------------------------------------------------------


@promise
def scores_are_written_into_a_copy_or_refused(case: Case) -> None:
    table, target = case.table(), case.folder / "scored"
    mean, std = np.linspace(-1, 1, len(table)), np.full(len(table), 0.25)
    source = table.at_origin().dataset
    if not isinstance(source, EpisodeDataset) or not source.writes_scores():
        with pytest.raises(ValueError, match="cannot be copied with scores"):
            write_scores(table, mean, std, target)
        assert not target.exists()
        return
    before = _digest(source.root)
    write_scores(table, mean, std, target, replace_reward=True, progress=False)
    assert _digest(source.root) == before
    assert source.spec is not None
    assert source.spec.format in writable_formats()
    copy = open_dataset(target)
    assert isinstance(copy, EpisodeDataset)
    assert_same_episodes(copy, source)
    rewards = [copy.episode(number).rewards for number in range(len(copy))]
    assert all(one is not None for one in rewards)
    np.testing.assert_allclose([np.sum(one) for one in rewards], mean, atol=1e-6)  # type: ignore[arg-type]
    np.testing.assert_allclose([one[-1] for one in rewards if one is not None], mean, atol=1e-6)


@promise
def a_copy_with_scores_overwrites_nothing(case: Case) -> None:
    table = case.table()
    source = table.at_origin().dataset
    if not isinstance(source, EpisodeDataset) or not source.writes_scores():
        return
    scores = np.zeros(len(table)), np.ones(len(table))
    with pytest.raises(ValueError, match="exists already"):
        write_scores(table, *scores, case.folder)
    assert source.root is not None
    with pytest.raises(ValueError, match="inside the dataset"):
        write_scores(table, *scores, source.root / "scored")


def _digest(folder: Path | None) -> str:
    assert folder is not None
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        digest.update(str(path).encode() + (path.read_bytes() if path.is_file() else b""))
    return digest.hexdigest()
