"""What is wrong with features before anything is asked, and what to do about it.

constant      the same for all: no answer can tell anything about it, and it is left out
duplicated    another feature in other units: one of the two is left out
correlated    nearly another feature: the answers cannot tell which of the two matters
tails         a few trajectories lie so far out that all others look alike
lengths       episodes of different lengths, and features that grow with the length
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero.datasets.features.library import GROWS_WITH_LENGTH
from prefero.trajectories.features import location_and_scale

Kind = Literal["constant", "duplicated", "correlated", "tails", "lengths"]

SAME = 1e-9  # correlations closer to 1 than this are rounding
ALIKE = 0.98
NARROW = 0.4  # the middle four fifths, beside those of a normal distribution with the same deviation
MIDDLE = 2.5631  # how many deviations the middle four fifths of a normal distribution span
FEW = 10  # a feature of so few different values is a kind, and has no tails
UNEQUAL = 1.05  # the longest beside the shortest
TOGETHER, MANY = 0.9, 20  # a correlation with the length that is no chance, and among how many episodes


@dataclass(frozen=True)
class Diagnostic:
    """One thing to mend: what it is, which features it is about, and what to do."""

    kind: Kind
    names: tuple[str, ...]
    words: str


def diagnose(features: Array, names: Sequence[str], lengths: Indices | None = None) -> list[Diagnostic]:
    """All that should be mended, the gravest first; `lengths` are the episodes' steps, (M,)."""
    varies = location_and_scale(features)[2]
    flat = [name for name, does in zip(names, varies, strict=True) if not does]
    found = [_constant(name) for name in flat]
    moving = np.flatnonzero(varies).tolist()
    if len(features) > 2:  # two trajectories differ in one direction only
        found += _pairs(features[:, moving], [names[i] for i in moving])
    found += [_tails(names[i], features[:, i].min()) for i in moving if heavy_tailed(features[:, i])]
    return found + ([] if lengths is None else _lengths(lengths, features, names))


def left_out(advice: Sequence[Diagnostic]) -> set[str]:
    """The features that nothing is lost without: constants, and the later of two duplicates."""
    return {a.names[-1] for a in advice if a.kind in ("constant", "duplicated")}


def _constant(name: str) -> Diagnostic:
    return Diagnostic(
        "constant",
        (name,),
        f"{name} is the same for all, so no answer can tell anything about it: it is left out",
    )


def _pairs(features: Array, names: Sequence[str]) -> list[Diagnostic]:
    """Every pair that is nearly one feature; a copy is spoken of once, beside its first original."""
    size = np.abs(np.corrcoef(features, rowvar=False).reshape(len(names), len(names)))
    found, copies = [], set[int]()
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            if i in copies or j in copies or size[i, j] <= ALIKE:
                continue
            if size[i, j] > 1 - SAME:
                copies.add(j)
                found.append(_copy(names[i], names[j]))
            else:
                found.append(_alike(names[i], names[j], float(size[i, j])))
    return sorted(found, key=lambda advice: advice.kind == "correlated")


def _copy(first: str, second: str) -> Diagnostic:
    return Diagnostic(
        "duplicated",
        (first, second),
        f"{second} is {first} in other units: {second} is left out",
    )


def _alike(first: str, second: str, size: float) -> Diagnostic:
    return Diagnostic(
        "correlated",
        (first, second),
        f"{first} and {second} are nearly one (correlation {size:.3f}), so answers hardly tell which of them "
        f"matters: leave out one, say --drop {second!r}, or bring trajectories in which they differ",
    )


def heavy_tailed(values: Array) -> bool:
    """Do a few far values make all the others look alike?"""
    if len(np.unique(values)) <= FEW:
        return False
    low, high = np.quantile(values, [0.1, 0.9])
    return bool(high - low < NARROW * MIDDLE * values.std())


def _tails(name: str, least: float) -> Diagnostic:
    """There are logarithms of what is above 0 only."""
    way_out = (
        f"take its logarithm, --log {name!r}, or leave the outliers out"
        if least > 0
        else f"leave the outliers out, or note it otherwise (down to {least:g}, it has no logarithm)"
    )
    return Diagnostic(
        "tails", (name,), f"{name} has far outliers, beside which all others look alike: {way_out}"
    )


def _lengths(lengths: Indices, features: Array, names: Sequence[str]) -> list[Diagnostic]:
    shortest, longest = int(lengths.min()), int(lengths.max())
    if longest <= UNEQUAL * shortest:
        return []
    growing = tuple(
        name
        for name, values in zip(names, features.T, strict=True)
        if name in GROWS_WITH_LENGTH or grows(values, lengths)
    )
    if not growing:
        return []
    return [
        Diagnostic(
            "lengths",
            growing,
            f"episodes have {shortest} to {longest} steps, which shows in {', '.join(growing)}. Should "
            "people judge how long it takes too, keep it so; should they judge only how it is done, cut "
            "windows of one length (--window), or take features that do not grow: mean, lowest, highest, "
            "jerk, smoothness",
        )
    ]


def grows(values: Array, lengths: Indices) -> bool:
    """Is a feature large where episodes are long? Among few of them that may be chance."""
    if len(values) < MANY or not location_and_scale(values[:, None])[2][0]:
        return False
    return bool(abs(np.corrcoef(values, lengths)[0, 1]) > TOGETHER)
