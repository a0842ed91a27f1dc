"""Random questions: what active ones are compared with."""

from collections.abc import Iterable

import numpy as np

from prefero.questions import Question


def random_question(
    count: int, rng: np.random.Generator, exclude: Iterable[tuple[int, int]] = ()
) -> Question:
    """Two different trajectories of a pool of `count`, every pair with the same probability."""
    if count < 2:
        raise ValueError(f"a question needs two trajectories, but the pool has {count}")
    excluded = {(min(p), max(p)) for p in exclude if 0 <= min(p) < max(p) < count}
    if len(excluded) >= count * (count - 1) // 2:
        raise ValueError("every question about this pool is excluded: nothing is left to ask")
    while True:
        left, right = (int(n) for n in rng.choice(count, 2, replace=False))
        if (min(left, right), max(left, right)) not in excluded:
            return Question(left, right)
