"""A question about one trajectory: those that promise most are estimated, and the best of them are scored."""

import numpy as np

from prefero._support.arrays import Indices
from prefero._support.ordering import first_largest, largest_first
from prefero.acquisition.base import Scorer
from prefero.acquisition.excluded import Excluded
from prefero.acquisition.searches.incumbent import NothingLeftError
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind

SCORED = 12  # trajectories that are scored after an estimate of many


def best_item(
    scorer: Scorer, size: int, excluded: Excluded, answered: Excluded, rng: np.random.Generator, kind: Kind
) -> Question:
    """The best trajectory to ask about.

    Args:
        scorer: Of single trajectories.
        size: Of the pool.
        excluded: Trajectories that are not asked about.
        answered: These, and those that were answered about, which are avoided while there are others.
        rng: Chooses the trajectories that are considered, of a large pool.
        kind: Of the answer.
    """
    considered = scorer.considered(size, rng)
    items = _allowed(considered, answered)
    if not len(items):
        items = _allowed(considered if len(considered) < size else np.arange(size), excluded)
    if not len(items):
        raise NothingLeftError
    prepared = scorer.about(considered)
    promising = items[largest_first(prepared.estimates(items), SCORED)]
    best = promising[first_largest(prepared.scores(promising))].tolist()
    return Question(*best, value=prepared.value(best), unit=scorer.unit, kind=kind)


def _allowed(considered: Indices, excluded: Excluded) -> Indices:
    """Questions about one of these, (n, 1)."""
    items = considered[:, None]
    return items[excluded.free(items)]
