"""Features of all episodes of a dataset, computed on all cores and kept.

rows         (M, d)   one for each episode, or for each window of one
batch                 episodes that one worker reads in one go, and that are kept together
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from pathlib import Path

import numpy as np

from prefero._support.optional import need
from prefero._support.progress_bar import progress
from prefero.datasets.base import BadEpisode, Dataset, Episode, EpisodeDataset, FeatureDataset, StepRange
from prefero.datasets.features.cache import FeatureCache, FeatureRows
from prefero.datasets.features.embeddings import Embedding
from prefero.datasets.features.library import DEFAULT, Extractor, FeatureFunction, extractor_for, features_of
from prefero.datasets.features.table import FeatureTable
from prefero.datasets.features.user_functions import described
from prefero.datasets.features.windows import Windows
from prefero.datasets.registry import for_workers, in_worker

BATCH = 32
FEW = 4  # batches that are done before other processes have started
EXAMPLES = 256  # that an embedding looks at before it notes anything
TOLD = 3  # episodes that were left out are named up to this many

Feature = str | FeatureFunction


def extract_features(
    dataset: Dataset,
    features: Sequence[Feature] | None = None,
    *,
    windows: Windows | None = None,
    like: Dataset | None = None,
    skip_bad: bool = False,
    keep: str | Path | None = None,
    jobs: int | None = None,
    show: bool | None = None,
) -> FeatureTable:
    """The features of every episode, or of every window of each; the same call goes on where it stopped.

    Embeddings look at examples of `like`, another dataset, or else of this one. What is done is kept in the
    Parquet file `keep`. A damaged episode is an error that names it, or with
    `skip_bad` is left out. `jobs` are the processes that work, all cores by default; `show` the progress.
    """
    kept = None if keep is None else _parquet(Path(keep))
    if isinstance(dataset, FeatureDataset):
        if windows is not None:
            raise ValueError(f"{dataset.name} has features and no steps, so there are no windows to cut")
        return _checked(dataset, _chosen(dataset, features), skip_bad, show)
    assert isinstance(dataset, EpisodeDataset)
    wanted = list(features or DEFAULT)
    keeper = FeatureCache(kept, "" if kept is None else _key(dataset, wanted, windows, like), dataset.recipe)
    rows = keeper.whole()
    if rows is None or (rows.left_out and not skip_bad):
        notes = _notes(_recordings(like or dataset), wanted, windows)
        rows = FeatureRows.join(_batches(dataset, notes, windows, keeper, skip_bad, jobs, show))
        keeper.finish(rows)
    if not rows.values:
        why = reasons(rows.missing) or "it has none"
        raise ValueError(f"{dataset.name} has no episode that can be used: {why}")
    matrix, steps = np.array(rows.values, dtype=float), np.array(rows.steps, dtype=np.intp)
    return FeatureTable(
        dataset, matrix, rows.names, tuple(rows.numbers), tuple(rows.parts), steps, rows.missing
    )


def _parquet(path: Path) -> Path:
    if path.suffix.lower() != ".parquet":
        raise ValueError(f"features are kept in a .parquet file, but the path is {path}")
    return path


def reasons(left_out: Mapping[str, str]) -> str:
    """Which episodes were left out and why: the first few of them, and how many more."""
    told = [f"{episode}: {why}" for episode, why in left_out.items()]
    return "; ".join(told[:TOLD] + ([f"and {len(told) - TOLD} more"] if len(told) > TOLD else []))


def _recordings(dataset: Dataset) -> EpisodeDataset:
    if not isinstance(dataset, EpisodeDataset):
        raise ValueError(f"{dataset.name} has features and no states, so there is nothing to look at")
    return dataset


def _notes(dataset: EpisodeDataset, wanted: Sequence[Feature], windows: Windows | None) -> list[Extractor]:
    """What is noted of an episode; embeddings look at some examples first."""
    embeddings = [Embedding.of(word) if isinstance(word, str) else None for word in wanted]
    looking = any(embedding is not None and embedding.looks_first for embedding in embeddings)
    examples = _examples(dataset, windows) if looking else []
    return [
        extractor_for(word) if embedding is None else embedding.after(examples)
        for word, embedding in zip(wanted, embeddings, strict=True)
    ]


def _examples(dataset: EpisodeDataset, windows: Windows | None) -> list[Episode]:
    numbers = np.unique(np.linspace(0, len(dataset) - 1, min(len(dataset), EXAMPLES)).round().astype(int))
    whole = (found for found in dataset.read(numbers.tolist()) if isinstance(found, Episode))
    parts = [e if part is None else e.part(part) for e in whole for part in _parts(e, windows)]
    return parts[:: max(len(parts) // EXAMPLES, 1)]


def _parts(episode: Episode, windows: Windows | None) -> list[StepRange | None]:
    return [None] if windows is None else [*windows.parts(episode)]


def _batches(
    dataset: EpisodeDataset,
    notes: Sequence[Extractor],
    windows: Windows | None,
    keeper: FeatureCache,
    skip_bad: bool,
    jobs: int | None,
    show: bool | None,
) -> Iterator[FeatureRows]:
    """Batch after batch in the order of the episodes: those that are kept, and then the others."""
    batches = [range(s, min(s + BATCH, len(dataset))) for s in range(0, len(dataset), BATCH)]
    kept = {b: rows for b in batches if (rows := keeper.part(b.start)) is not None}
    waiting = [batch for batch in batches if batch not in kept]
    joblib = need("joblib", extra="datasets")
    cores = jobs or (joblib.cpu_count() if len(waiting) > FEW else 1)
    parallel = joblib.Parallel(n_jobs=cores, return_as="generator")
    sent = for_workers(dataset, cores)
    work = (joblib.delayed(_batch)(sent, notes, windows, numbers) for numbers in waiting)
    with progress(f"reading {dataset.name}", len(dataset), show) as advance:
        advance(sum(map(len, kept)))
        with keeper.interrupted():
            for batch, rows in zip(waiting, parallel(work), strict=True):
                _refuse(rows, skip_bad)
                keeper.keep(batch.start, rows)
                kept[batch] = rows
                advance(len(batch))
    for batch in batches:
        _refuse(kept[batch], skip_bad)
        yield kept[batch]


def _batch(
    sent: Dataset | str, notes: Sequence[Extractor], windows: Windows | None, numbers: range
) -> FeatureRows:
    """The features of some episodes, in a worker."""
    rows, dataset = FeatureRows(), in_worker(sent)
    assert isinstance(dataset, EpisodeDataset)
    for number, found in zip(numbers, dataset.read(numbers), strict=True):
        try:
            if isinstance(found, BadEpisode):
                raise found
            _note(rows, number, found, notes, windows)
        except BadEpisode as error:
            rows.left_out[dataset.ids[number]] = error.why
    return rows


def _note(
    rows: FeatureRows, number: int, episode: Episode, notes: Sequence[Extractor], windows: Windows | None
) -> None:
    parts = _parts(episode, windows)
    if not parts:
        rows.short[episode.id] = f"its {len(episode)} steps are fewer than a window has"
    pieces = [episode if part is None else episode.part(part) for part in parts]
    found = [features_of(notes, piece) for piece in pieces]  # all of an episode or nothing
    for part, piece, values in zip(parts, pieces, found, strict=True):
        rows.add(episode.id, number, part, len(piece), values)


def _refuse(rows: FeatureRows, skip_bad: bool) -> None:
    if rows.left_out and not skip_bad:
        episode, why = next(iter(rows.left_out.items()))
        raise BadEpisode(episode, why).or_skip()


def _key(dataset: Dataset, wanted: Sequence[Feature], windows: Windows | None, like: Dataset | None) -> str:
    """All that decides the features: the dataset, what is noted, one's own code, windows and examples."""
    about = [dataset.version, [_described(word) for word in wanted], str(windows), BATCH]
    about += [] if like is None else [like.version]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()


def _described(word: Feature) -> str:
    """A feature in words; a function of one's own with what it is written in."""
    if callable(word):
        return described(word)
    embedding = Embedding.of(word)
    place = word if embedding is None else embedding.inside
    return f"{word} {described(place)}" if ":" in place.partition("(")[0] else word


# --- features that were noted before ----------------------------------------------------------------------


def _chosen(dataset: FeatureDataset, features: Sequence[Feature] | None) -> FeatureDataset:
    if not features:
        return dataset
    unknown = [word for word in features if word not in dataset.names]
    if unknown:
        raise ValueError(
            f"the features of {dataset.name} are noted already: choose among {', '.join(dataset.names)}, "
            f"not {unknown[0]!r}"
        )
    columns = [dataset.names.index(str(word)) for word in features]
    fewer = copy(dataset)
    fewer.features, fewer.names = dataset.features[:, columns], tuple(dataset.names[i] for i in columns)
    return fewer


def _checked(
    dataset: FeatureDataset, chosen: FeatureDataset, skip_bad: bool, show: bool | None
) -> FeatureTable:
    rows = FeatureRows()
    with progress(f"reading {dataset.name}", len(dataset), show) as advance:
        for number in range(len(dataset)):
            try:
                chosen.check(number)
                rows.numbers.append(number)
            except BadEpisode as error:
                rows.left_out[error.episode] = error.why
                _refuse(rows, skip_bad)
            advance(1)
    if not rows.numbers:
        why = reasons(rows.left_out) or "it has no rows"
        raise ValueError(f"{dataset.name} has no trajectory that can be used: {why}")
    nothing = (None,) * len(rows.numbers)
    matrix = chosen.features[rows.numbers]
    return FeatureTable(chosen, matrix, chosen.names, tuple(rows.numbers), nothing, None, rows.left_out)
