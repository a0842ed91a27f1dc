"""Random questions: what active ones are compared with."""

from collections.abc import Iterable
from math import comb

import numpy as np

from prefero.acquisition.excluded import Excluded
from prefero.acquisition.searches.incumbent import NothingLeftError
from prefero.questions import Question
from prefero.questions.answer_kinds import Kind, items_of


def random_question(
    count: int, rng: np.random.Generator, exclude: Iterable[tuple[int, ...]] = (), kind: Kind = "pair"
) -> Question:
    """Different trajectories of a pool of `count`, every set of them with the same probability."""
    items = items_of(kind)
    if count < items:
        wanted = "two" if items == 2 else str(items)
        raise ValueError(f"a question needs {wanted} trajectories, but the pool has {count}")
    excluded = Excluded(some for some in exclude if min(some) >= 0 and max(some) < count)
    if len(excluded.of_size(items)) >= comb(count, items):
        raise NothingLeftError
    while True:
        drawn = tuple(int(n) for n in rng.choice(count, items, replace=False))
        if drawn not in excluded:
            return Question(*drawn, kind=kind)
