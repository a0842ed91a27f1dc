"""Diagnostics: what is wrong with features before questions are asked, and what to do about it.

constant        the same for all trajectories: no answer can tell anything about it, and it is left out
duplicate       a linear function of another feature: one of the two is left out
correlated      nearly a linear function of another feature: answers hardly tell which of the two matters
heavy-tailed    a few outliers so large that all other trajectories have nearly the same scaled value
unequal-length  episodes differ in length, and the feature grows with the length
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.names import listed
from prefero.datasets.features.library.library import GROWS_WITH_LENGTH
from prefero.trajectories.categories import Categories
from prefero.trajectories.features import location_and_scale, name_in_log
from prefero.trajectories.step_features import block_of

FEW = 5  # messages of one kind; of more, one message for all

Problem = Literal["constant", "duplicate", "correlated", "heavy-tailed", "unequal-length"]
Finding = Literal["heavy tails", "skewed", "clusters", "few values", "categories"]  # see `findings`

ROUNDING = 1e-9  # correlations closer to 1 than this differ from 1 by rounding
CORRELATED = 0.98
NORMAL_DECILES = 2.5631  # from the first to the ninth decile of a normal distribution, in standard deviations
NARROW = 0.4  # the same of a heavy-tailed feature is at most this fraction of a normal one's
MOST_CATEGORIES = 10  # a feature with so few different values is categorical, and has no tails
UNEQUAL = 1.05  # the longest episode's length, divided by the shortest one's
COMPRESSED = (
    "The model also looks at it on a compressed scale, on which large values are less far away; the answers "
    "decide which of the two holds"
)
LENGTHLESS = ("mean", "min", "max", "final", "jerk")  # words whose features need not grow with the length
GROWS_CORRELATION, GROWS_EPISODES = 0.9, 20  # with the length, among how many episodes at least


@dataclass(frozen=True)
class Diagnostic:
    """A problem or a finding: its kind, the features that it is about, and a message in plain words."""

    kind: Problem | Finding
    names: tuple[str, ...]
    message: str


def messages(found: Sequence[Diagnostic]) -> list[tuple[str, str]]:
    """The kind and the message of each; of more than a few of one kind, the first stands for all."""
    lines: list[tuple[str, str]] = []
    for kind in dict.fromkeys(one.kind for one in found):
        mine = [one for one in found if one.kind == kind]
        if len(mine) <= FEW:
            lines += [(kind, one.message) for one in mine]
        else:
            names = list(dict.fromkeys(name for one in mine for name in one.names))
            example = f"{len(names)} features: {listed(names, 2 * FEW)}. For example, {mine[0].message}"
            lines.append((kind, example))
    return lines


def diagnose(
    features: Array,
    names: Sequence[str],
    lengths: Indices | None = None,
    categories: Sequence[Categories] = (),
) -> list[Diagnostic]:
    """All problems of the features (M, d), the gravest first; `lengths` are the episodes' steps, (M,)."""
    alone = [place for place, name in enumerate(names) if block_of(name) is None]  # others count as blocks
    features, names = features[:, alone], [names[place] for place in alone]
    varies = location_and_scale(features)[2]
    found = [_constant(name) for name, does in zip(names, varies, strict=True) if not does]
    varying = np.flatnonzero(varies).tolist()
    if len(features) > 2:  # any two features of two trajectories are perfectly correlated
        found += _pairs(features[:, varying], [names[i] for i in varying], categories)
    found += [_tails(names[i], features[:, i]) for i in varying if heavy_tailed(features[:, i])]
    return found + ([] if lengths is None else _lengths(lengths, features, names))


def redundant(diagnostics: Sequence[Diagnostic]) -> set[str]:
    """The features that can be left out without loss: constants, and the second of two duplicates."""
    return {one.names[-1] for one in diagnostics if one.kind in ("constant", "duplicate")}


def _constant(name: str) -> Diagnostic:
    return Diagnostic(
        "constant",
        (name,),
        f"{name} is the same for all trajectories, so no answer can tell anything about it: it is left out",
    )


def _pairs(features: Array, names: Sequence[str], categories: Sequence[Categories]) -> list[Diagnostic]:
    """Every pair that is nearly one feature; a duplicate is reported once, with its first original.

    The levels of one category exclude each other, so that they are correlated by what they are.
    """
    column = {name: one.column for one in categories for name in one.names}
    size = np.abs(np.corrcoef(features, rowvar=False).reshape(len(names), len(names)))
    found, duplicates = [], set[int]()
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            if i in duplicates or j in duplicates or size[i, j] <= CORRELATED:
                continue
            if column.get(names[i], i) == column.get(names[j], j):
                continue
            if size[i, j] > 1 - ROUNDING:
                duplicates.add(j)
                found.append(_duplicate(names[i], names[j]))
            else:
                found.append(_correlated(names[i], names[j], float(size[i, j])))
    return sorted(found, key=lambda one: one.kind == "correlated")


def _duplicate(first: str, second: str) -> Diagnostic:
    return Diagnostic(
        "duplicate",
        (first, second),
        f"{second} is {first} in other units: {second} is left out",
    )


def _correlated(first: str, second: str, size: float) -> Diagnostic:
    return Diagnostic(
        "correlated",
        (first, second),
        f"{first} and {second} are strongly correlated ({size:.3f}), so answers hardly tell which of them "
        f"matters: drop one of them (--drop {second!r}), or add trajectories in which they differ",
    )


def heavy_tailed(values: Array) -> bool:
    """Are a few outliers so far away that all other values are nearly the same?"""
    if len(np.unique(values)) <= MOST_CATEGORIES:
        return False
    low, high = np.quantile(values, [0.1, 0.9])
    return bool(high - low < NARROW * NORMAL_DECILES * values.std())


def _tails(name: str, values: Array) -> Diagnostic:
    """Only positive values have logarithms."""
    least, far = values.min(), np.abs(values - values.mean()).max() / values.std()
    remedy = (
        f"Better, take its logarithm (--log-transform {name!r}), or remove the outliers"
        if least > 0
        else f"Better, remove the outliers, or define it differently (it goes down to {least:g}: it has no "
        "logarithm)"
    )
    return Diagnostic(
        "heavy-tailed",
        (name,),
        f"{name} has outliers so large, up to {far:.0f} standard deviations from the mean, that all other "
        f"trajectories look the same. {COMPRESSED}. {remedy}",
    )


def _lengths(lengths: Indices, features: Array, names: Sequence[str]) -> list[Diagnostic]:
    shortest, longest = int(lengths.min()), int(lengths.max())
    if longest <= UNEQUAL * shortest:
        return []
    growing = tuple(
        name
        for name, values in zip(names, features.T, strict=True)
        if name in GROWS_WITH_LENGTH or grows_with(values, lengths)
    )
    if not growing:
        return []
    others = [word for word in LENGTHLESS if not any(_is_of(name, word) for name in growing)]
    use = f", or use features that do not: {', '.join(others)}" if others else ""
    return [
        Diagnostic(
            "unequal-length",
            growing,
            f"episodes have {shortest} to {longest} steps, and these features grow with the length: "
            f"{', '.join(growing)}. If people should also judge how long it takes, keep them; if they should "
            f"judge only how it is done, cut windows of one length (--window){use}",
        )
    ]


def _is_of(name: str, word: str) -> bool:
    """Is a feature of this name one that the library has by this word?"""
    plain = name_in_log(name) or name
    return plain == word or plain.startswith(f"{word} ")


def grows_with(values: Array, lengths: Indices) -> bool:
    """Is a feature large where episodes are long? Among a few episodes that may be chance."""
    if len(values) < GROWS_EPISODES or not location_and_scale(values[:, None])[2][0]:
        return False
    return bool(abs(np.corrcoef(values, lengths)[0, 1]) > GROWS_CORRELATION)
