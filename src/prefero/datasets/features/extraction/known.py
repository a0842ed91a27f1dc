"""Features that are known already: the columns of a table, which are chosen, checked and encoded."""

import warnings

from prefero._support.names import listed, no_such
from prefero._support.progress_bar import progress
from prefero.datasets.categories import check_declared, expanded, found_line, one_hot
from prefero.datasets.episode import BadEpisode, skipped_reasons
from prefero.datasets.feature_dataset import FeatureDataset
from prefero.datasets.features.extraction.options import FeatureOptions
from prefero.datasets.features.library.library import Feature
from prefero.datasets.features.tables.cache import FeatureRows
from prefero.datasets.features.tables.table import FeatureTable
from prefero.trajectories.categories import Categories


def known_features(dataset: FeatureDataset, options: FeatureOptions) -> FeatureTable:
    """The chosen columns of a dataset that has its features already."""
    if options.windows is not None:
        raise ValueError(
            f"{dataset.name} has features and no steps, so it cannot be cut into windows: omit --window"
        )
    declared = dataset.with_categories(_declared(dataset, options))
    if not options.features:
        for line in column_lines(declared, options):
            warnings.warn(line, stacklevel=4)
    chosen = declared.select([_column(declared, word) for word in options.features or declared.names])
    _check_chosen(chosen, options)
    rows = _usable_rows(chosen, options)
    return FeatureTable(
        chosen,
        chosen.features[rows.numbers],
        chosen.names,
        tuple(rows.numbers),
        (None,) * len(rows.numbers),
        None,
        rows.bad,
        spec=dataset.feature_spec,
        categories=chosen.categories,
    )


def _usable_rows(chosen: FeatureDataset, options: FeatureOptions) -> FeatureRows:
    """The numbers of the rows whose features are all there, and what is wrong with the others."""
    rows = FeatureRows()
    with progress(f"reading {chosen.name}", len(chosen), options.progress) as advance:
        for number in range(len(chosen)):
            try:
                chosen.check(number)
                rows.numbers.append(number)
            except BadEpisode as error:
                rows.bad[error.episode] = error.reason
                rows.stop_at_bad(options.skip_bad)
            advance(1)
    if not rows.numbers:
        reasons = skipped_reasons(rows.bad) or "it has no rows"
        raise ValueError(f"{chosen.name} has no trajectory that can be used: {reasons}")
    return rows


def _declared(dataset: FeatureDataset, options: FeatureOptions) -> list[Categories]:
    """The categories that the options declare; a column of texts that is chosen as a feature is one too."""
    for one in options.ordered_levels:
        check_declared(one, dataset.values_of(one.column))
    known = {one.column for one in (*dataset.categories, *options.ordered_levels)}
    texts = [word for word in options.features if isinstance(word, str) and word in dataset.ignored]
    names = dict.fromkeys([*options.categories, *texts])
    new = [
        one_hot(name, dataset.values_of(name))
        for name in names
        if name not in known or name in options.categories
    ]
    return [*options.ordered_levels, *new]


def _check_chosen(chosen: FeatureDataset, options: FeatureOptions) -> None:
    """An error if a category is declared that is not among the chosen features."""
    declared = [*options.categories, *(one.column for one in options.ordered_levels)]
    for name in declared:
        if not set(expanded([name], chosen.categories)) & set(chosen.names):
            raise ValueError(
                f"{name!r} is declared as a category, but is not among the chosen features: add it to "
                "--features"
            )


def _column(dataset: FeatureDataset, feature: Feature) -> str:
    if callable(feature) or (feature not in dataset.columns and feature not in dataset.names):
        raise ValueError(
            f"the features of {dataset.name} are known already, and chosen by the names of its columns: "
            f"{no_such('column', feature, tuple(dataset.columns))}"
        )
    return feature


def column_lines(
    dataset: FeatureDataset, options: FeatureOptions | None = None, *, python: bool = False
) -> list[str]:
    """A line that says which columns were found to be categories, and one for those that are no features."""
    options = options or FeatureOptions()
    said = {*options.drop, *options.categories, *(one.column for one in options.ordered_levels)}
    found = [one for one in dataset.found if one.column not in said]
    ignored = [f"{name} ({example})" for name, example in dataset.ignored.items() if name not in said]
    lines = [found_line(dataset.name, found, python)] if found else []
    if ignored:
        choice = "names=[...]" if python else "--features A,B,C (features= in Python)"
        lines.append(
            f"{dataset.name}: not features, since they hold neither numbers nor a few categories: "
            f"{listed(ignored)}; {choice} chooses the columns"
        )
    return lines
