"""Extraction: features of all episodes of a dataset, computed on all cores and cached.

rows         (M, d)   one for each episode, or for each window of one
batch                 episodes that one worker reads in one go, and that are cached together
extractors            functions of an episode; those of embeddings are fitted on examples first
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from prefero._support.engine import Engine
from prefero._support.progress_bar import Advance, progress
from prefero._support.systems import usable_cores
from prefero.datasets.base import Dataset, EpisodeDataset, array_digest
from prefero.datasets.categories import expanded
from prefero.datasets.episode import BadEpisode, Episode, StepRange, skipped_reasons
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.embeddings.embedding import Embedding, extractor_of
from prefero.datasets.features.embeddings.image_encoders import load_encoder
from prefero.datasets.features.extraction.from_spec import describe_features, seen_in, with_functions
from prefero.datasets.features.extraction.known import known_features
from prefero.datasets.features.extraction.options import FeatureOptions, Features
from prefero.datasets.features.extraction.windows import Windows
from prefero.datasets.features.library.library import (
    DEFAULT,
    Extractor,
    Feature,
    duration,
    extractor_for,
    features_of,
)
from prefero.datasets.features.library.user_functions import function_digest
from prefero.datasets.features.tables.cache import FeatureCache, FeatureRows, cache_path
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.format_options import DatasetSpec
from prefero.datasets.registry import for_workers, in_worker, open_dataset
from prefero.trajectories.feature_spec import Fitted, of_both

SERIAL_BATCHES = 4  # so many are done before worker processes have started
EXAMPLES = 512  # that an embedding is fitted on

B = TypeVar("B")  # a batch of episodes
R = TypeVar("R")  # what is made of it


def extract_features(
    dataset: Dataset, features: Features = None, fitted: Fitted | None = None
) -> FeatureTable:
    """Extract features of every episode of a dataset, or of every window of each.

    With a cache, the same call resumes an earlier one. Of a dataset that has its features already, columns
    are chosen.

    Args:
        dataset: The dataset.
        features: Words of the library or functions of your own; `FeatureOptions` says more.
        fitted: Embeddings that were fitted before, by word: `FeatureSpec.fitted`. They are not fitted again.

    Returns:
        The features, with the episodes that were left out.

    Raises:
        BadEpisode: If an episode is damaged and `skip_bad` is not set.
    """
    options = FeatureOptions.of(features)
    if isinstance(dataset, FeatureDataset):
        table = known_features(dataset, options)
    else:
        assert isinstance(dataset, EpisodeDataset)
        table = _extracted(dataset, options, fitted or {})
    drop = expanded(options.drop, table.categories)
    dropped = [name for name in drop if not _is_ignored(dataset, table, name)]
    table = table.without(dropped) if dropped else table
    return table.log_transformed(options.log_transform) if options.log_transform else table


def _is_ignored(dataset: Dataset, table: FeatureTable, name: str) -> bool:
    """Is it a column that is no feature anyway, so that dropping it is done already?"""
    return isinstance(dataset, FeatureDataset) and name in dataset.columns and name not in table.names


def check_features(features: Sequence[Feature]) -> None:
    """An error, before any episode is read, if there is no such feature."""
    for feature in features:
        if not isinstance(feature, str) or Embedding.of(feature) is None:
            extractor_for(feature)


# --- features of episodes ---------------------------------------------------------------------------------


def _extracted(dataset: EpisodeDataset, options: FeatureOptions, fitted: Fitted) -> FeatureTable:
    options = replace(options, features=options.features or dataset.default_features or DEFAULT)
    _ = dataset.has_video  # so that a missing renderer is named before anything is simulated
    fitted_on = _dataset_to_fit_on(dataset, options)
    path = _cache_path(dataset, options)
    key = "" if path is None else _key(dataset, options, None if fitted_on is dataset else fitted_on, fitted)
    cache = FeatureCache(path, key, dataset.spec)
    rows = cache.finished()
    if rows is None or (rows.bad and not options.skip_bad):
        extractors = _extractors(fitted_on, options, fitted)
        rows = FeatureRows.join(_batches(dataset, extractors, options, cache))
        seen = rows.spec and replace(rows.spec, wrappers=dataset.wrappers)
        rows.spec = seen and describe_features(seen, options, extractors)
        cache.finish(rows)
    if not rows.values:
        raise ValueError(_no_episode(dataset, rows))
    table = FeatureTable(
        dataset,
        np.array(rows.values, dtype=float),
        rows.names,
        tuple(rows.numbers),
        tuple(rows.segments),
        np.array(rows.steps, dtype=np.intp),
        rows.skipped,
        path,
        rows.spec and with_functions(rows.spec, options.features),
    )
    return _with_declared(table, options)


def _with_declared(table: FeatureTable, options: FeatureOptions) -> FeatureTable:
    """Features of episodes are numbers, and some may stand for categories."""
    if options.ordered:
        raise ValueError(
            f"{options.ordered_levels[0].column!r} is a number, computed of episodes, and has an order "
            "already: --ordered is for columns of a table"
        )
    return table.with_categories([table.one_hot(name) for name in options.categories])


def _cache_path(dataset: Dataset, options: FeatureOptions) -> Path | None:
    if isinstance(options.cache, bool):
        return cache_path(dataset) if options.cache else None
    return Path(options.cache)


def _key(dataset: EpisodeDataset, options: FeatureOptions, fitted_on: Dataset | None, fitted: Fitted) -> str:
    """A digest of all that determines the features: dataset, words, the user's code and windows."""
    about = [dataset.version, [_digest(word) for word in options.features], str(options.windows)]
    about += [str(dataset.batch_size)]
    about += [] if fitted_on is None else [fitted_on.version]
    about += [array_digest(array) for arrays in fitted.values() for array in arrays.values()]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _digest(feature: Feature) -> str:
    """A feature as a text; for a function of the user's own, with a digest of its code."""
    if callable(feature):
        return function_digest(feature)
    embedding = Embedding.of(feature)
    if embedding is not None and embedding.kind == "image-encoder":
        return f"{feature} {load_encoder(embedding.source).digest.hex()}"
    place = feature if embedding is None else embedding.inside
    return f"{feature} {function_digest(place)}" if ":" in place.partition("(")[0] else feature


# --- extractors -------------------------------------------------------------------------------------------


def _dataset_to_fit_on(dataset: EpisodeDataset, options: FeatureOptions) -> EpisodeDataset:
    given = options.fit_embeddings_on
    if given is None:
        return dataset
    found = open_dataset(given) if isinstance(given, str | Path) else given
    if not isinstance(found, EpisodeDataset):
        raise ValueError(
            f"{found.name} has features and no states, so embeddings cannot be fitted on it: give a dataset "
            "of episodes"
        )
    return found


def _extractors(dataset: EpisodeDataset, options: FeatureOptions, fitted: Fitted) -> list[Extractor]:
    """What extracts each feature; embeddings are fitted on examples of the dataset, unless they are known."""
    embeddings = [Embedding.of(word) if isinstance(word, str) else None for word in options.features]
    if len(embeddings) > 1 and any(one and one.kind == "steps" for one in embeddings):
        raise ValueError(
            "a reward of steps is a function of nothing else: give 'steps' as the only feature, or omit it"
        )
    pairs = zip(options.features, embeddings, strict=True)
    fitting = any(found and found.needs_examples and word not in fitted for word, found in pairs)
    examples = _examples(dataset, options) if fitting else []
    if fitting and len(examples) < 2:
        _check_usable(dataset, options)
    return [extractor_of(feature, fitted, examples) for feature in options.features]


def _check_usable(dataset: EpisodeDataset, options: FeatureOptions) -> None:
    """An error that says why there are no examples, where all episodes are bad."""
    rows = FeatureRows.join(_batches(dataset, [duration], options, FeatureCache(None, "", dataset.spec)))
    if not rows.values:
        raise ValueError(_no_episode(dataset, rows))


def _no_episode(dataset: EpisodeDataset, rows: FeatureRows) -> str:
    reasons = skipped_reasons(rows.skipped) or "it has none"
    return f"{dataset.name} has no episode that can be used: {reasons}"


def _examples(dataset: EpisodeDataset, options: FeatureOptions) -> list[Episode]:
    count = min(len(dataset), EXAMPLES)
    numbers = np.unique(np.linspace(0, len(dataset) - 1, count).round().astype(int)).tolist()
    batches = [numbers[s : s + dataset.batch_size] for s in range(0, len(numbers), dataset.batch_size)]
    examples: list[Episode] = []
    with progress(f"fitting embeddings to {dataset.name}", len(numbers), options.progress) as advance:
        for batch, found in zip(batches, _in_parallel(_read, dataset, batches, options), strict=True):
            examples += [piece for one in found for _, piece in _pieces(one, options.windows)]
            advance(len(batch))
    return examples[:: max(len(examples) // EXAMPLES, 1)]


def _read(sent: Dataset | DatasetSpec, numbers: Sequence[int]) -> list[Episode]:
    """Those of these episodes that can be used, perhaps in a worker process."""
    dataset = in_worker(sent)
    assert isinstance(dataset, EpisodeDataset)
    return [found for found in dataset.read(numbers) if isinstance(found, Episode)]


def _pieces(episode: Episode, windows: Windows | None) -> list[tuple[StepRange | None, Episode]]:
    """The windows of an episode, each with its steps; without windows the whole of it."""
    if windows is None:
        return [(None, episode)]
    return [(segment, episode.segment(segment)) for segment in windows.segments(episode)]


# --- batches ----------------------------------------------------------------------------------------------


def _batches(
    dataset: EpisodeDataset, extractors: Sequence[Extractor], options: FeatureOptions, cache: FeatureCache
) -> Iterator[FeatureRows]:
    """Batch after batch in the order of the episodes; those in the cache are not extracted again."""
    size = dataset.batch_size
    batches = [range(s, min(s + size, len(dataset))) for s in range(0, len(dataset), size)]
    done = {b: rows for b in batches if (rows := cache.batch(b.start)) is not None}
    waiting = [batch for batch in batches if batch not in done]
    alone = _engine(len(waiting), options).is_here
    with progress(f"{dataset.reading} {dataset.name}", len(dataset), options.progress) as advance:
        advance(sum(map(len, done)))
        each = advance if alone else None  # other processes cannot move the bar
        work = partial(_batch, extractors=extractors, windows=options.windows, advance=each)
        with cache.interrupted():
            for batch, rows in zip(waiting, _in_parallel(work, dataset, waiting, options), strict=True):
                rows.stop_at_bad(options.skip_bad)
                cache.keep_batch(batch.start, rows)
                done[batch] = rows
                advance(0 if alone else len(batch))
    for batch in batches:
        done[batch].stop_at_bad(options.skip_bad)
        yield done[batch]


def _engine(batches: int, options: FeatureOptions) -> Engine:
    """A cluster, or as many processes as are worth it."""
    return options.engine(options.jobs or (usable_cores() if batches > SERIAL_BATCHES else 1))


def _in_parallel(
    work: Callable[[Dataset | DatasetSpec, B], R],
    dataset: Dataset,
    batches: Sequence[B],
    options: FeatureOptions,
) -> Iterator[R]:
    """What `work` makes of each batch of episodes, in their order."""
    engine = _engine(len(batches), options)
    return engine.map(partial(work, for_workers(dataset, here=engine.is_here)), batches)


def _batch(
    sent: Dataset | DatasetSpec,
    numbers: range,
    *,
    extractors: Sequence[Extractor],
    windows: Windows | None,
    advance: Advance | None,
) -> FeatureRows:
    """The features of some episodes, perhaps in a worker process."""
    rows, dataset = FeatureRows(), in_worker(sent)
    assert isinstance(dataset, EpisodeDataset)
    for number, found in zip(numbers, dataset.read(numbers), strict=True):
        try:
            if isinstance(found, BadEpisode):
                raise found
            _add_episode(rows, number, found, extractors, windows)
        except BadEpisode as error:
            rows.bad[dataset.ids[number]] = error.reason
        if advance is not None:
            advance(1)
    return rows


def _add_episode(
    rows: FeatureRows,
    number: int,
    episode: Episode,
    extractors: Sequence[Extractor],
    windows: Windows | None,
) -> None:
    pieces = _pieces(episode, windows)
    if not pieces:
        rows.short[episode.id] = f"its {len(episode)} steps are fewer than a window has"
    found = [features_of(extractors, piece) for _, piece in pieces]  # of all of them, or of none
    rows.spec = of_both(rows.spec, seen_in(episode))
    for (segment, piece), values in zip(pieces, found, strict=True):
        rows.add(episode.id, number, segment, len(piece), values)
