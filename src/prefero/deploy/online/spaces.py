"""The numbers in observations and actions of environments."""

from collections.abc import Callable
from functools import partial
from typing import Any

from prefero._support.arrays import Array
from prefero.datasets.formats.observations import leaves, side_by_side, stack


class SpaceNumbers:
    """Takes the numbers out of observations and actions.

    count        how many environments run at once; None for one that is not a vector environment
    of_states    from observations to their numbers, (s,) of one environment, (n, s) of several
    of_actions   from actions to their numbers, (a,) or (n, a)
    """

    def __init__(self, observations: Any, actions: Any, count: int | None) -> None:
        self.count = count
        self.of_states = _numbers_of(observations, "state", count is None)
        self.of_actions = _numbers_of(actions, "action", count is None)


def _numbers_of(space: Any, kind: str, alone: bool) -> Callable[[Any], Any]:
    """For the space of one environment; arrays of one axis are taken as they are."""
    found = list(leaves(space))
    if len(found) == 1 and not found[0][0] and len(space.shape or ()) == 1:
        return _as_it_is
    return partial(_of_one if alone else _of_several, kind)


def _as_it_is(value: Any) -> Any:
    return value


def _of_one(kind: str, value: Any) -> Array:
    numbers: Array = side_by_side(stack([value]), kind)[0][0]
    return numbers


def _of_several(kind: str, values: Any) -> Array:
    return side_by_side(values, kind)[0]
