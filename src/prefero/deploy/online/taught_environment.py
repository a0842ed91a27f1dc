"""Is an environment like the one that a reward was taught in? In another, the reward means nothing.

bounds     (2, s + a)   the smallest and the largest value of each state and action in the taught episodes
far        outside the bounds by more than the distance between them
"""

import warnings
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero._support.names import listed
from prefero.datasets.formats.environment_wrappers import changing_wrappers
from prefero.deploy.online.spaces import SpaceNumbers
from prefero.trajectories.feature_spec import FeatureSpec


def check_wrappers(env: Any, spec: FeatureSpec) -> None:
    """An error unless observations and actions are changed by the same wrappers as when it was taught."""
    found, taught = changing_wrappers(env), spec.wrappers
    if found == taught:
        return
    others = [name for name in found if name not in taught]
    remedy = (
        f"apply {listed(others)} to the environment with the reward, and not before it"
        if others
        else "apply them in the same order before the reward"
    )
    raise ValueError(
        f"the reward was taught in an environment with {_named(taught)} that change observations or actions, "
        f"but this one has {_named(found)}, so that the reward would see other numbers: {remedy}; or give "
        "`features`, a function of your own"
    )


def _named(wrappers: tuple[str, ...]) -> str:
    return f"the wrappers {listed(wrappers)}" if wrappers else "no wrappers"


class TaughtBounds:
    """Warns once if states or actions are far from all that the reward was taught with.

    Without a spec nothing is known, and nothing is checked.
    """

    def __init__(self, spec: FeatureSpec | None, numbers: SpaceNumbers) -> None:
        self._spec = spec if spec is not None and spec.bounds is not None else None
        self._numbers = numbers

    def check(self, observations: Any, actions: Any = None) -> None:
        """Look at these states, and at these actions where there are any."""
        if self._spec is None:
            return
        assert self._spec.bounds is not None
        states = len(self._spec.state_names)
        bounds, names = self._spec.bounds, (*self._spec.state_names, *self._spec.action_names)
        problem = _far("state", self._numbers.of_states(observations), bounds[:, :states], names[:states])
        if problem is None and actions is not None:
            problem = _far("action", self._numbers.of_actions(actions), bounds[:, states:], names[states:])
        if problem is not None:
            self._spec = None
            warnings.warn(problem, stacklevel=4)


def _far(kind: str, values: Any, bounds: Array, names: tuple[str, ...]) -> str | None:
    """What is wrong with values (..., n); None if they are not far outside the bounds (2, n)."""
    rows, (low, high) = np.atleast_2d(np.asarray(values, dtype=float)), bounds
    if rows.shape[1] != len(names):
        return None  # which is an error elsewhere
    width = high - low
    outside = np.maximum(low - rows, rows - high) > width
    found = np.argwhere(outside & (width > 0))  # a constant is in no feature
    if not len(found):
        return None
    row, column = found[0]
    return (
        f"the {kind} {names[column]!r} is {rows[row, column]:g}, but the reward was taught with "
        f"{low[column]:g} to {high[column]:g}, so that it is a guess here: check the units, teach with such "
        "episodes too, or use caution"
    )
