"""The features that a reward is a function of, found in a dataset by their names.

    names     the reward's names of its features, in its order
    words     what extracts them: words of the library, or functions of the user's own

Features that said nothing were left out when the reward was taught, so a dataset may have more features than
the reward needs, and in another order; none may be missing.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import listed
from prefero.datasets.base import Dataset, EpisodeDataset
from prefero.datasets.categories import expanded
from prefero.datasets.columns import numbers_of
from prefero.datasets.episode import BadEpisode, Episode
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.embeddings.embedding import Embedding
from prefero.datasets.features.extraction.extract import extract_features
from prefero.datasets.features.extraction.from_spec import features_in
from prefero.datasets.features.extraction.options import FeatureOptions, Features
from prefero.datasets.features.extraction.windows import Windows
from prefero.datasets.features.library.library import LIBRARY, extractor_for, features_of
from prefero.datasets.features.tables.table import FeatureTable
from prefero.datasets.score_column import score_values
from prefero.trajectories.categories import Categories
from prefero.trajectories.feature_spec import FeatureSpec, Fitted
from prefero.trajectories.features import Scaling, log_name, name_in_log

PCA = "pca "  # the beginning of the names of principal components
FAR = 6.0  # standard deviations of the features that the reward was taught with


def extract_for_reward(
    dataset: Dataset,
    names: Sequence[str],
    features: Features = None,
    *,
    spec: FeatureSpec | None = None,
    trust: bool = False,
    categories: Sequence[Categories] = (),
) -> FeatureTable:
    """Extract the features that a reward needs; see `extract_features`.

    Args:
        dataset: The dataset.
        names: The reward's features, in its order: `reward.scaling.names`.
        features: Without features in the options, those of the spec are taken, or else the words of the
            library that give these names. Without `log_transform`, the logarithms are those of the spec, or
            those that are called log(NAME).
        spec: How the reward's features are computed, `Reward.feature_spec`: its features, windows, logarithms
            and fitted embeddings are taken where the options do not say otherwise.
        trust: Import the functions that the spec names.
        categories: The columns of categories that the reward was taught with: `reward.scaling.categories`. A
            level that it does not know is an error, or with `skip_bad` its trajectory is left out.

    Returns:
        The features, in the order of `names`.
    """
    options = FeatureOptions.of(features)
    if options.drop:
        raise ValueError("the reward decides which features it needs: drop none of them")
    _check_declared(options, categories)
    options = replace(options, categories=(), ordered=())
    if isinstance(dataset, EpisodeDataset):
        columns = () if spec is None else spec.columns
        own = [name for name in names if name not in columns]
        found = _extracted(dataset, own, _as_taught(options, spec, trust), spec, categories)
        found = _with_columns(found, [name for name in names if name in columns], options.skip_bad)
    else:
        assert isinstance(dataset, FeatureDataset)
        found = _chosen(dataset, names, options, categories)
    _check_names(dataset, found.names, names)
    places = [found.names.index(name) for name in names]
    return replace(found, dataset=dataset, features=found.features[:, places], names=tuple(names))


def _with_columns(table: FeatureTable, columns: Sequence[str], skip_bad: bool) -> FeatureTable:
    """The features with columns of their dataset, such as a score."""
    if not columns:
        return table
    if any(table.segments):
        raise ValueError(f"{columns[0]!r} is about whole episodes, and these are windows of them")
    values = np.column_stack([_score(table.dataset, name)[list(table.numbers)] for name in columns])
    missing = [table.ids[row] for row in np.flatnonzero(~np.isfinite(values).all(axis=1))]
    reasons = dict.fromkeys(missing, f"it has no number as its {' or '.join(map(repr, columns))}")
    for episode, reason in {} if skip_bad else reasons.items():
        raise BadEpisode(episode, reason).with_skip_hint()
    kept = np.flatnonzero([one not in reasons for one in table.ids])
    return replace(
        table.rows(kept),
        features=np.column_stack([table.features, values])[kept],
        names=(*table.names, *columns),
        skipped=table.skipped | reasons,
        spec=table.spec and replace(table.spec, columns=tuple(columns)),
    )


def _score(dataset: Dataset, name: str) -> Array:
    """A column that the reward was taught with, of each episode, (M,)."""
    try:
        return score_values(dataset, name)
    except ValueError as error:
        raise ValueError(f"the reward needs the score {name!r} of each episode, but {error}") from error


def _as_taught(options: FeatureOptions, spec: FeatureSpec | None, trust: bool) -> FeatureOptions:
    """The options with what the reward was taught with, where the user does not say otherwise."""
    if spec is None or options.features:
        return options
    logs = options.log_transform or spec.log_transform
    taught = replace(options, features=features_in(spec, trust=trust), log_transform=logs)
    if options.window is not None:
        return taught
    return replace(taught, window=spec.window, stride=spec.stride)


def _check_declared(options: FeatureOptions, categories: Sequence[Categories]) -> None:
    """An error if categories are declared on the command line that are not those of the reward."""
    known = {one.column: one for one in categories}
    for column in (*options.categories, *(one.column for one in options.ordered_levels)):
        if column not in known or (known[column].ordered and column in options.categories):
            raise ValueError(_other_categories(column, categories))
    if any(known[one.column] != one for one in options.ordered_levels):
        raise ValueError(_other_categories(options.ordered_levels[0].column, categories))


def _other_categories(column: str, categories: Sequence[Categories]) -> str:
    own = "; ".join(f"{one.column} ({listed(one.levels)})" for one in categories) or "none"
    return (
        f"the reward decides how {column!r} is encoded, and its categories are: {own}. Omit --categories and "
        "--ordered: the reward's file has them"
    )


def _extracted(
    dataset: EpisodeDataset,
    names: Sequence[str],
    options: FeatureOptions,
    spec: FeatureSpec | None,
    categories: Sequence[Categories],
) -> FeatureTable:
    names = names_before_encoding(names, categories)
    logs = options.log_transform or ([] if options.features else log_transforms_in(names))
    words = options.features or library_words_for(names_before_log(names, logs))
    options = replace(options, features=words, log_transform=logs)
    _check_first_episode(dataset, names, options)
    table = extract_features(dataset, options, fitted_for(options, spec))
    return table.with_categories([one for one in categories if one.column in table.names])


def windows_for(options: FeatureOptions, spec: FeatureSpec | None) -> Windows | None:
    """How episodes are cut into windows: as the options say, or else as the reward was taught."""
    return options.windows or (None if spec is None else Windows.maybe(spec.window, spec.stride))


def fitted_for(options: FeatureOptions, spec: FeatureSpec | None) -> Fitted:
    """The embeddings of a spec, unless the user says what they are to be fitted on."""
    return {} if spec is None or options.fit_embeddings_on is not None else spec.fitted


def _chosen(
    dataset: FeatureDataset, names: Sequence[str], options: FeatureOptions, categories: Sequence[Categories]
) -> FeatureTable:
    """No video is shown, so none is checked. Features without names are taken to be in the reward's order."""
    known = dataset.without_videos()
    if not known.names_given and len(known.names) == len(names):
        known = known.renamed(names)
    known = _encoded_for_reward(known, categories)
    logs = options.log_transform or [
        raw for raw in log_transforms_in(names) if raw in known.columns and log_name(raw) not in known.columns
    ]
    words = options.features or names_before_log(names, logs)
    if options.features:  # and what the reward needs beside them, such as a score
        chosen = expanded([str(word) for word in words], known.categories)
        words = [*words, *(name for name in names if name in known.columns and name not in chosen)]
    wanted = expanded([str(word) for word in words], known.categories)
    _check_names(dataset, list(dict.fromkeys([*known.columns, *known.names])), wanted, names, categories)
    for name in set(wanted) & set(known.ignored):
        numbers_of(name, known.columns[name])  # which is an error: the reward was taught with numbers
    return extract_features(known, replace(options, features=words, log_transform=logs))


def _encoded_for_reward(dataset: FeatureDataset, categories: Sequence[Categories]) -> FeatureDataset:
    """The dataset with the reward's categories in place of those that were found in it."""
    missing = [one for one in categories if one not in dataset.encoded_categories]
    return dataset.with_categories([one for one in missing if one.column in dataset.columns])


# --- names ------------------------------------------------------------------------------------------------


def library_words_for(names: Sequence[str]) -> list[str]:
    """Words of the library that extract features of these names; an error where there is none.

    A word extracts its feature of all states. If the reward was taught with some of them only, the words have
    to be given. Principal components are the same however many of them are extracted.
    """
    components = [int(name.removeprefix(PCA)) for name in names if _is_component(name)]
    found = {
        name: f"pca({max(components)})" if _is_component(name) else _library_word(name) for name in names
    }
    unknown = [name for name, word in found.items() if word is None]
    if unknown:
        raise ValueError(
            f"the reward is a function of {', '.join(names)}, and no word of the library extracts "
            f"{unknown[0]!r}: give what extracts each of them, as in --features jerk,module:function"
        )
    return list(dict.fromkeys(word for word in found.values() if word is not None))


def _library_word(name: str) -> str | None:
    fitting = (w for w in LIBRARY if name == w.replace("-", " ") or name.startswith(f"{w} "))
    return next(fitting, None)


def _is_component(name: str) -> bool:
    return name.startswith(PCA) and name.removeprefix(PCA).isdecimal()


def log_transforms_in(names: Sequence[str]) -> list[str]:
    """The features whose logarithms are among these names."""
    return [raw for name in names if (raw := name_in_log(name)) is not None]


def names_before_encoding(names: Sequence[str], categories: Sequence[Categories]) -> list[str]:
    """The same features with the columns of categories in place of the features that encode them."""
    columns = {name: one.column for one in categories for name in one.names}
    return list(dict.fromkeys(columns.get(name, name) for name in names))


def names_before_log(names: Sequence[str], logs: Sequence[str]) -> list[str]:
    """The same features before the logarithms of some were taken."""
    return [raw if (raw := name_in_log(name)) is not None and raw in logs else name for name in names]


# --- checks -----------------------------------------------------------------------------------------------


def _check_first_episode(dataset: EpisodeDataset, names: Sequence[str], options: FeatureOptions) -> None:
    """Before all episodes are read: does the first that can be used have these features?"""
    if any(isinstance(word, str) and Embedding.of(word) is not None for word in options.features):
        return  # embeddings have to be fitted before they extract anything
    extractors = [extractor_for(word) for word in options.features]
    whole = (found for found in dataset.read(range(len(dataset))) if isinstance(found, Episode))
    first = next(whole, None)
    try:
        seen = {} if first is None else features_of(extractors, first)
    except BadEpisode:
        return  # extraction says which and why
    if seen:
        logs = options.log_transform
        _check_names(dataset, [log_name(name) if name in logs else name for name in seen], names)


def _check_names(
    dataset: Dataset,
    known: Sequence[str],
    wanted: Sequence[str],
    names: Sequence[str] | None = None,
    categories: Sequence[Categories] = (),
) -> None:
    missing = [name for name in wanted if name not in known]
    if missing:
        levels = next((one for one in categories if missing[0] in one.names), None)
        remedy = (
            _remedy(dataset, known, missing[0])
            if levels is None
            else f"add a column {levels.column!r} with one of {listed(levels.levels)} in each row"
        )
        raise ValueError(
            f"the reward is a function of {', '.join(names or wanted)}, but {dataset.name} has "
            f"{', '.join(known)}: {remedy}"
        )


def _remedy(dataset: Dataset, known: Sequence[str], missing: str) -> str:
    raw = name_in_log(missing)
    if raw is not None and raw in known:
        return f"take the logarithm, --log-transform {raw!r}"
    if log_name(missing) in known:
        return f"omit --log-transform {missing!r}"
    if isinstance(dataset, FeatureDataset):
        return f"add a column {missing!r}"
    return f"give what extracts {missing!r} with --features, and the same for all features of the reward"


# --- warnings ---------------------------------------------------------------------------------------------


def scoring_warnings(
    table: FeatureTable, taught: Scaling, features: Features = None, spec: FeatureSpec | None = None
) -> list[str]:
    """Warnings about what may differ from when the reward was learned.

    `table` is what `extract_for_reward` gave for these options, and `taught` the scaling of the reward.
    """
    options, found = FeatureOptions.of(features), []
    words = list(options.features)
    if isinstance(table.dataset, EpisodeDataset) and not words and spec is None:
        raw = names_before_log(table.names, log_transforms_in(table.names))
        words += library_words_for(raw)
        extracted = ", ".join(map(str, words))
        found.append(
            f"extracted of all states: {extracted}. Give --features if the reward was taught otherwise"
        )
    for word in words:
        embedding = Embedding.of(word) if isinstance(word, str) else None
        known = options.fit_embeddings_on is not None or word in fitted_for(options, spec)
        if embedding is not None and embedding.needs_examples and not known:
            found.append(
                f"{word} is fitted on the trajectories that are scored, so it is the reward's feature only "
                "if the reward was taught with the same ones. Name those with --fit-embeddings-on"
            )
    return found + [
        f"{name}: half of the trajectories are more than {FAR:g} standard deviations away from the mean of "
        "those that the reward was taught with. Is it extracted in the same way and in the same units?"
        for name in far_features(table.features, taught)
    ]


def far_features(features: Array, taught: Scaling) -> list[str]:
    """The features that are far from those that a reward was taught with."""
    away = np.median(np.abs(taught(features)), axis=0)
    return [name for name, distance in zip(taught.names, away.tolist(), strict=True) if distance > FAR]
