"""What people answered about items with features: the form that all public sets are read into.

    features   (M, d)  of the items
    answers    (N, 4)  person, left, right, and 0 left preferred, 1 right, 2 about equal
    trials     (N,)    the ranking, choice or group of ratings that an answer comes from
    pairs      (P, 3)  of one trial: two items, and 0 the first preferred, 1 the second, 2 about equal

The answers of one trial follow from each other, so they go together to one side of a split. A reader of a set
turns what is published into trials (`compared`, `ranked`, `choice_pairs`, `rated`), and `joined` makes one
`Judgements` of them.
"""

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from prefero._support.arrays import Array, Indices

SEED = 0
RATINGS = 8  # in a group: 28 answers


class Judgements(NamedTuple):
    """What people answered about items with features."""

    features: Array
    names: tuple[str, ...]
    answers: Indices
    trials: Indices


class Trial(NamedTuple):
    """What a person did at once, as comparisons of two items."""

    person: Hashable
    pairs: Indices


def compared(people: Iterable[Hashable], choices: Iterable[int]) -> list[Trial]:
    """Comparisons of two items, of which each is a trial: of items 0 and 1, then of 2 and 3, and so on."""
    return [
        Trial(person, np.array([[2 * number, 2 * number + 1, choice]], dtype=np.intp))
        for number, (person, choice) in enumerate(zip(people, choices, strict=True))
    ]


def ranked(items: Indices, scores: Array) -> Indices:
    """All pairs of items with scores: the higher one is preferred, and the same score is about equal."""
    first, second = np.triu_indices(len(items), k=1)
    choice = np.select([scores[first] > scores[second], scores[first] < scores[second]], [0, 1], 2)
    return np.column_stack([items[first], items[second], choice]).astype(np.intp)


def choice_pairs(items: Indices, best: int) -> Indices:
    """The pairs of a choice among several items: that at place `best` is preferred to each of the others."""
    others = np.delete(items, best)
    return np.column_stack([np.full_like(others, items[best]), others, np.zeros_like(others)])


def rated(items: Indices, ratings: Array, rng: np.random.Generator) -> list[Indices]:
    """The pairs of one person's ratings, in random groups of up to eight: a group is a trial."""
    groups = np.array_split(rng.permutation(len(items)), max(1, -(-len(items) // RATINGS)))
    return [ranked(items[group], ratings[group]) for group in groups]


def joined(features: Array, names: Sequence[str], trials: Iterable[Trial]) -> Judgements:
    """All trials of a set.

    Items with the same features become one item, pairs of such items go, and so do features that never vary.
    People and trials are numbered in the order in which they come, and what one person was asked twice is one
    trial. Which item is left is random, with a fixed seed.
    """
    found = [trial for trial in trials if len(trial.pairs)]
    pairs, sizes = np.concatenate([trial.pairs for trial in found]), [len(trial.pairs) for trial in found]
    items, places = np.unique(features[pairs[:, :2].ravel()], axis=0, return_inverse=True)
    sides, owner = places.reshape(-1, 2), np.repeat(np.arange(len(found)), sizes)
    seen = [frozenset(one.ravel().tolist()) for one in np.split(sides, np.cumsum(sizes)[:-1])]
    people = _numbered([trial.person for trial in found])
    asked = _numbered([(trial.person, one) for trial, one in zip(found, seen, strict=True)])
    rows = np.column_stack([people[owner], sides, pairs[:, 2]])
    different, varied = sides[:, 0] != sides[:, 1], np.ptp(items, axis=0) > 0
    return Judgements(
        items[:, varied],
        tuple(name for name, varies in zip(names, varied, strict=True) if varies),
        shuffled_sides(rows[different], np.random.default_rng(SEED)),
        asked[owner][different],
    )


def _numbered(keys: Sequence[Hashable]) -> Indices:
    """Numbers from 0 on, in the order in which the keys come; equal keys have the same."""
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys], dtype=np.intp)


def shuffled_sides(answers: Indices, rng: np.random.Generator) -> Indices:
    """The same answers, with left and right exchanged in a random half of them."""
    person, left, right, choice = answers.T
    swap = rng.random(len(answers)) < 0.5
    turned = np.where(choice == 2, 2, 1 - choice)
    return np.column_stack(
        [person, np.where(swap, right, left), np.where(swap, left, right), np.where(swap, turned, choice)]
    )


def preferred_first(answers: Indices) -> Indices:
    """The items of answers, (N, 2), with the preferred one first."""
    return np.where((answers[:, 3] == 1)[:, None], answers[:, [2, 1]], answers[:, [1, 2]])
