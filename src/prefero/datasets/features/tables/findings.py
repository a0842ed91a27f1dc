"""Findings: what is remarkable about features, in plain words, and what the model does about it.

heavy tails   a few values are many standard deviations from the mean
skewed        most values are close together at one end
clusters      values lie in clusters with wide gaps between them
few values    whole numbers, of which there are only a few: perhaps the names of kinds
categories    a column of kinds, and the features that encode it

    z           a value's distance from the mean, in standard deviations
    skewness    the mean of z^3: 0 if the distribution is symmetric
    kurtosis    the mean of z^4: 3 for a normal distribution, 1.8 for a uniform one

Unlike a problem (see `diagnostics`), a finding asks for nothing.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import listed
from prefero.datasets.features.tables.diagnostics import COMPRESSED, MOST_CATEGORIES, Diagnostic, heavy_tailed
from prefero.trajectories.categories import Categories, Variable, variables_of
from prefero.trajectories.features import location_and_scale

FAR = 5.0  # |z| of the largest value of a feature with heavy tails
PEAKED = 6.0  # kurtosis of one
SKEWED = 1.5  # |skewness|; an exponential distribution has 2
ENOUGH = 20  # values of which these are estimated at least
APART = 4.0  # the gap between clusters, in standard deviations within them
WIDE = 0.5  # the same in standard deviations of all values
CLUSTER = 0.05  # of the values are in a cluster, at least
RARE = 3  # fewer trajectories have a rare level


def find(features: Array, names: Sequence[str], categories: Sequence[Categories] = ()) -> list[Diagnostic]:
    """All findings about features (M, d), in the order of the features."""
    varies = location_and_scale(features)[2]
    found: list[Diagnostic] = []
    for variable in variables_of(names, categories):
        if variable.categories is not None:
            found.append(_categories(variable, features))
        elif varies[variable.features[0]]:
            found += _of_numbers(variable.name, features[:, variable.features[0]])
    return found


def _of_numbers(name: str, values: Array) -> list[Diagnostic]:
    if len(np.unique(values)) <= MOST_CATEGORIES:
        return _few_values(name, values)
    if heavy_tailed(values):
        return []
    return (_tails(name, values) or _skewed(name, values)) + _clusters(name, values)


# --- tails ------------------------------------------------------------------------------------------------


def moments(values: Array) -> tuple[float, float, float]:
    """The largest |z|, the skewness and the kurtosis."""
    z = (values - values.mean()) / values.std()
    return float(np.abs(z).max()), float(np.mean(z**3)), float(np.mean(z**4))


def _tails(name: str, values: Array) -> list[Diagnostic]:
    """Where all other values look the same, it is a problem, and `diagnostics` says so."""
    largest, _, kurtosis = moments(values)
    if len(values) < ENOUGH or largest < FAR or kurtosis < PEAKED:
        return []
    return [
        Diagnostic(
            "heavy tails",
            (name,),
            f"{name} has heavy tails: the largest value is {largest:.1f} standard deviations from the mean "
            f"(kurtosis {kurtosis:.0f}; 3 for a normal distribution). {COMPRESSED}",
        )
    ]


def _skewed(name: str, values: Array) -> list[Diagnostic]:
    _, skewness, _ = moments(values)
    if len(values) < ENOUGH or abs(skewness) < SKEWED:
        return []
    where = "small, and a few are large" if skewness > 0 else "large, and a few are small"
    return [
        Diagnostic(
            "skewed", (name,), f"{name} is skewed ({skewness:.1f}): most values are {where}. {COMPRESSED}"
        )
    ]


# --- gaps -------------------------------------------------------------------------------------------------


def clusters(values: Array) -> list[Array]:
    """Clusters of values with wide gaps between them, each sorted; one if there are no such gaps."""
    ordered = np.sort(values)
    cuts = np.flatnonzero(np.diff(ordered) >= WIDE * values.std()) + 1
    found = np.split(ordered, cuts)
    if len(found) < 2 or min(map(len, found)) < max(RARE, CLUSTER * len(values)):
        return [ordered]
    within = np.sqrt(sum(len(cluster) * cluster.var() for cluster in found) / len(values))
    narrowest = min(float(b[0] - a[-1]) for a, b in pairwise(found))
    return found if narrowest >= APART * within else [ordered]


def _clusters(name: str, values: Array) -> list[Diagnostic]:
    found = clusters(values)
    if len(found) < 2:
        return []
    ranges = [f"{cluster[0]:.3g} to {cluster[-1]:.3g}" for cluster in found]
    return [
        Diagnostic(
            "clusters",
            (name,),
            f"{name} has {len(found)} clusters ({listed(ranges, 4)}) and nothing between them: answers "
            "cannot say what the reward is in the gaps, and differences within a cluster count little beside "
            "those between clusters. If the clusters are kinds of trajectories, add a column that names the "
            "kind: it becomes a category",
        )
    ]


# --- categories -------------------------------------------------------------------------------------------


def _few_values(name: str, values: Array) -> list[Diagnostic]:
    """Of whole numbers only, and more than two: for yes and no, both readings are the same."""
    levels = np.unique(values)
    if len(levels) < 3 or not np.array_equal(levels, np.round(levels)):
        return []
    return [
        Diagnostic(
            "few values",
            (name,),
            f"{name} has only the values {listed([f'{level:g}' for level in levels])}, and is taken as a "
            f"number: {levels[1]:g} lies between {levels[0]:g} and {levels[2]:g}. If they are names of "
            f"kinds, use --categories {name!r}",
        )
    ]


def _categories(variable: Variable, features: Array) -> Diagnostic:
    assert variable.categories is not None
    levels, counts = variable.categories.levels, variable.counts(features).tolist()
    shown = listed([f"{level} ({count})" for level, count in zip(levels, counts, strict=True)])
    how = (
        f"ordered categories: {shown}. They are the numbers 0 to {len(levels) - 1}"
        if variable.categories.ordered
        else f"categories: {shown}. Each is a feature, and any two are equally far from each other"
    )
    rare = [level for level, count in zip(levels, counts, strict=True) if count < RARE]
    late = f". Few trajectories have {listed(rare)}, so answers say little about it" if rare else ""
    return Diagnostic("categories", (variable.name,), f"{variable.name} holds {how}{late}")
