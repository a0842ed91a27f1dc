"""The best of all pairs of a pool, each of them scored; of a large pool, the best of random pairs."""

import numpy as np

from prefero._support.ordering import first_largest
from prefero._support.pairs import random_pairs
from prefero.acquisition.base import Scorer
from prefero.acquisition.excluded import Excluded
from prefero.questions import Question

MOST_PAIRS = 20_000  # that are scored


def best_of_pairs(scorer: Scorer, size: int, excluded: Excluded) -> Question:
    """The best pair of a pool of this size."""
    if size * (size - 1) // 2 <= MOST_PAIRS:
        pairs = np.column_stack(np.triu_indices(size, 1))
    else:
        pairs = random_pairs(size, MOST_PAIRS, np.random.default_rng(size))
    pairs = pairs[excluded.free(pairs)]
    if not len(pairs):
        raise ValueError("every pair of the pool is open or was skipped: answer some, or add trajectories")
    scores = scorer.scores(pairs)
    best = first_largest(scores)
    return Question(*pairs[best].tolist(), value=float(scores[best]), unit=scorer.unit)
