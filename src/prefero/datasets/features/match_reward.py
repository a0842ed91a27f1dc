"""The features that a reward is about, found in a dataset by their names.

    names     what the reward calls its features, in its order
    words     what notes them: of the library, or functions of one's own
    raw       the names before any logarithm was taken

Whoever taught the reward left out features that said nothing, so a dataset may have more than the reward
wants, and in another order; none may be missing.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from prefero.datasets.base import BadEpisode, Dataset, Episode, EpisodeDataset, FeatureDataset
from prefero.datasets.features.embeddings import Embedding
from prefero.datasets.features.extract import Feature, extract_features
from prefero.datasets.features.library import LIBRARY, extractor_for, features_of
from prefero.datasets.features.table import LOG, FeatureTable
from prefero.datasets.features.windows import Windows
from prefero.datasets.formats.tables import read_table
from prefero.datasets.formats.video_folder import find_table
from prefero.datasets.media.images import NO_VIDEO
from prefero.datasets.registry import kind_and_place, open_dataset


def library_words_for(names: Sequence[str]) -> list[str]:
    """Words of the library that note features of these names; an error where there is none.

    A word notes its feature of all states. Whoever taught with some of them only has to say so.
    """
    found = {name: next((word for word in LIBRARY if _notes(word, name)), None) for name in names}
    unknown = [name for name, word in found.items() if word is None]
    if unknown:
        raise ValueError(
            f"the reward is about {', '.join(names)}, and no word of the library notes {unknown[0]!r}: say "
            "what notes each of them, as in --feature smoothness --feature module:function"
        )
    return list(dict.fromkeys(word for word in found.values() if word is not None))


def _notes(word: str, name: str) -> bool:
    return name == word.replace("-", " ") or name.startswith(f"{word} ")


def names_before_log(names: Sequence[str], log: Sequence[str]) -> list[str]:
    """The same features before the logarithms of some were taken."""
    return [n.removeprefix(LOG) if n.startswith(LOG) and n.removeprefix(LOG) in log else n for n in names]


def implied_log_transforms(names: Sequence[str], there: Sequence[str] | None) -> list[str]:
    """The features whose logarithms a reward is about; `there` are those that need not be taken or can."""
    logs = [name.removeprefix(LOG) for name in names if name.startswith(LOG)]
    return [raw for raw in logs if there is None or (raw in there and f"{LOG}{raw}" not in there)]


# --- opening ----------------------------------------------------------------------------------------------


def open_named(
    what: str | Path,
    names: Sequence[str],
    features: Sequence[str] | None = None,
    log: Sequence[str] = (),
    **options: Any,
) -> Dataset:
    """A dataset that is to have these features; of a table, no other columns need to be numbers."""
    kind, place = kind_and_place(what)
    if kind in ("table", "clips"):
        table = place if kind == "table" else options.get("table") or find_table(Path(place))
        columns = list(read_table(Path(table))[0])
        options["features"] = list(
            features or names_before_log(names, log or implied_log_transforms(names, columns))
        )
        _check_columns(str(table), columns, options["features"], names)
    elif kind == "lerobot":
        options["camera"] = NO_VIDEO
    return open_dataset(what, **options)


def _check_columns(place: str, columns: Sequence[str], wanted: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in wanted if name not in columns]
    if missing:
        raise ValueError(
            f"{place} has no column {missing[0]!r}: the reward is about {', '.join(names)}, and the columns "
            f"are {', '.join(columns)}"
        )


# --- gathering --------------------------------------------------------------------------------------------


def extract_for_reward(
    dataset: Dataset,
    names: Sequence[str],
    features: Sequence[Feature] | None = None,
    *,
    windows: Windows | None = None,
    like: Dataset | None = None,
    log: Sequence[str] = (),
    skip_bad: bool = False,
    jobs: int | None = None,
    show: bool | None = None,
) -> FeatureTable:
    """The features of these names, in this order, of every episode or window; see `extract_features`.

    Without `features`, the words of the library that note them are taken; functions of one's own must be
    given. `log` are those whose logarithm is wanted; without it, those that are called log NAME.
    """
    if isinstance(dataset, EpisodeDataset):
        log = log or ([] if features else implied_log_transforms(names, None))
        wanted = features or library_words_for(names_before_log(names, log))
        _check_first(dataset, wanted, names, log)
        found = extract_features(
            dataset, wanted, windows=windows, like=like, skip_bad=skip_bad, jobs=jobs, show=show
        )
    else:
        assert isinstance(dataset, FeatureDataset)
        noted_already = _without_films(dataset, names)
        log = log or implied_log_transforms(names, noted_already.names)
        wanted = features or names_before_log(names, log)
        _check_names(dataset, noted_already.names, [str(word) for word in wanted])
        found = extract_features(noted_already, wanted, windows=windows, skip_bad=skip_bad, show=show)
    found = found.logarithms(log) if log else found
    _check_names(dataset, found.names, names)
    columns = [found.names.index(name) for name in names]
    return replace(found, dataset=dataset, features=found.features[:, columns], names=tuple(names))


def _without_films(dataset: FeatureDataset, names: Sequence[str]) -> FeatureDataset:
    """Nobody looks at films here, so they may be damaged.

    An archive that does not say what its features are called has them in the reward's order.
    """
    numbered = tuple(f"feature {i + 1}" for i in range(len(names)))
    unnamed = dataset.names == numbered and (dataset.recipe or {}).get("kind") == "archive"
    return FeatureDataset(
        dataset.name, dataset.features, tuple(names) if unnamed else dataset.names, dataset.ids
    )


def _check_first(
    dataset: EpisodeDataset, wanted: Sequence[Feature], names: Sequence[str], log: Sequence[str]
) -> None:
    """Before all episodes are read: does the first that can be used have these features?"""
    if any(isinstance(word, str) and Embedding.of(word) is not None for word in wanted):
        return  # which have to see examples before they note anything
    notes = [extractor_for(word) for word in wanted]
    whole = (found for found in dataset.read(range(len(dataset))) if isinstance(found, Episode))
    first = next(whole, None)
    try:
        seen = {} if first is None else features_of(notes, first)
    except BadEpisode:
        return  # gathering says which and why
    if seen:
        _check_names(dataset, [f"{LOG}{name}" if name in log else name for name in seen], names)


def _check_names(dataset: Dataset, there: Sequence[str], names: Sequence[str]) -> None:
    missing = [name for name in names if name not in there]
    if missing:
        raise ValueError(
            f"the reward is about {', '.join(names)}, but of {dataset.name} there are {', '.join(there)}: "
            f"{_way_out(dataset, there, missing[0])}"
        )


def _way_out(dataset: Dataset, there: Sequence[str], missing: str) -> str:
    if missing.startswith(LOG) and missing.removeprefix(LOG) in there:
        return f"take the logarithm, --log {missing.removeprefix(LOG)!r}"
    if missing in [name.removeprefix(LOG) for name in there]:
        return f"leave out --log {missing!r}"
    if isinstance(dataset, FeatureDataset):
        return f"bring {missing!r}, too"
    return f"say what notes {missing!r}, with --feature, once for each that the reward is about"
