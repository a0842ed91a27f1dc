"""Divides each person's answers by their trials: what is learned from, and what is tested on.

    trial   a ranking, a choice or a group of ratings, whose answers follow from each other
    fold    a fourth of a person's trials; these are tested on, and the others are learned from

Models learn one person at a time, and never from an answer of a trial that is tested on.
"""

from typing import NamedTuple

import numpy as np

from benchmarks.people.judgements import Judgements, preferred_first
from prefero._support.arrays import Array, Indices
from prefero.pools.pool import Pool

FOLDS = 4
FEWEST = 5  # answers that are learned from; people with fewer are left out
MOST_TESTED = 200  # answers


class Split(NamedTuple):
    """Answers of one person about the items of a pool, as pairs (N, 2) with the preferred item first."""

    pool: Pool
    learned: Indices
    tested: Indices

    @property
    def sides(self) -> tuple[Array, Array]:
        """Raw features of the preferred items of the tested answers, and of the others."""
        return self.pool.features[self.tested[:, 0]], self.pool.features[self.tested[:, 1]]


def people_of(judgements: Judgements, most: int) -> list[int]:
    """The people with enough answers to learn from in every fold; of more than `most`, random ones."""
    everybody = np.unique(judgements.answers[:, 0]).tolist()
    enough = [person for person in everybody if _has_enough(judgements, person)]
    chosen = np.random.default_rng(0).permutation(enough)[:most]
    return sorted(int(person) for person in chosen)


def _has_enough(judgements: Judgements, person: int) -> bool:
    divided = (_divided(judgements, person, fold) for fold in range(FOLDS))
    return all(len(learned) >= FEWEST and len(tested) for learned, tested in divided)


def split_of(judgements: Judgements, person: int, fold: int) -> Split:
    """One person's answers, without "about equal"; those that are learned from are in random order."""
    learned, tested = _divided(judgements, person, fold)
    return Split(Pool(judgements.features), preferred_first(learned), preferred_first(tested[:MOST_TESTED]))


def _divided(judgements: Judgements, person: int, fold: int) -> tuple[Indices, Indices]:
    """The rows of answers that are learned from, and those that are tested on."""
    mine = (judgements.answers[:, 0] == person) & (judgements.answers[:, 3] != 2)
    answers, trials = judgements.answers[mine], judgements.trials[mine]
    rng = np.random.default_rng([person, 0])
    trial_order, order = rng.permutation(np.unique(trials)), rng.permutation(len(answers))
    is_tested = np.isin(trials[order], trial_order[fold::FOLDS])
    return answers[order[~is_tested]], answers[order[is_tested]]
