"""Good questions that a search found beside the best one, for when there is no time for another search.

A search offers the questions that it has scored, and whoever wants them collects them:

    with collected_runners_up(4) as found:
        question = learner.ask()

Runners-up have no trajectory in common with each other or with the best question, so that they do not ask
the same.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

import numpy as np

from prefero._support.arrays import Array, Indices
from prefero._support.ordering import largest_first
from prefero.questions import Question


@dataclass
class RunnersUp:
    """What is collected: at most `count` questions, the best first."""

    count: int
    questions: list[Question] = field(default_factory=list)


_COLLECTED: ContextVar[RunnersUp | None] = ContextVar("runners_up", default=None)


@contextmanager
def collected_runners_up(count: int) -> Iterator[list[Question]]:
    """A list that the searches inside fill; empty if they score no single questions."""
    collected = RunnersUp(count)
    token = _COLLECTED.set(collected)
    try:
        yield collected.questions
    finally:
        _COLLECTED.reset(token)


def offer_runners_up(best: Question, scored: Sequence[tuple[Indices, Array]]) -> None:
    """Give the best questions of a search to whoever collects them.

    Args:
        best: The question that the search found.
        scored: Pairs of trajectories, (Q, 2), with their values, (Q,).
    """
    collected = _COLLECTED.get()
    if collected is None or not scored:
        return
    pairs, values = (np.concatenate(each) for each in zip(*scored, strict=True))
    taken, found = set(best.items), list[Question]()
    for place in largest_first(values):
        pair = tuple(sorted(int(item) for item in pairs[place]))
        if len(found) < collected.count and taken.isdisjoint(pair):
            found.append(Question(*pair, value=float(values[place]), unit=best.unit))
            taken.update(pair)
    collected.questions[:] = found
