"""A function of the user's as a judge: `module:function`, which is imported because the user names it.

It gets two trajectories and returns "left", "right" or "equal"; a number, by how much the left one is better;
or None if it cannot say.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from prefero.datasets.features.library.user_functions import import_function
from prefero.judges.judge import Judge, JudgeError, MalformedAnswer, Verdict
from prefero.judges.sheets import FRAMES, Frame, TrajectoryViews
from prefero.pools.displays import variable_values
from prefero.pools.pool import Pool
from prefero.questions import CHOICES


@dataclass(frozen=True, eq=False)
class ShownTrajectory:
    """What a function sees of a trajectory.

    Args:
        number: Its number in the pool.
        id: Its id in its dataset; its number where it has none.
        features: Its features by name, in the pool's units; of a category the place of its level.
        task: What makes a trajectory better, as `--task-description` says.
    """

    number: int
    id: str
    features: dict[str, float]
    task: str
    views: TrajectoryViews

    def frames(self, count: int = FRAMES) -> list[Frame]:
        """Images at evenly spaced times, each with the seconds since the beginning."""
        return self.views.frames(self.number, count)


@dataclass(eq=False)
class FunctionJudge(Judge):
    """A function that compares two trajectories.

    Args:
        function: Of two trajectories, or its `module:function`.
        task: What makes a trajectory better, if that matters.
        trust: Cutting a clip may run the code that its plan names.
    """

    function: str | Callable[[ShownTrajectory, ShownTrajectory], Any]
    task: str = ""
    trust: bool = False

    def __post_init__(self) -> None:
        one = self.function
        self.name = one if isinstance(one, str) else getattr(one, "__name__", "function")
        self._function = import_function(one) if isinstance(one, str) else one
        self._views: TrajectoryViews | None = None

    def judge(self, pool: Pool, left: int, right: int) -> Verdict:
        """One call."""
        if self._views is None or self._views.pool is not pool:
            self._views = TrajectoryViews(pool, trust=self.trust)
        said = self._said(self._shown(pool, left), self._shown(pool, right))
        if said is None or (isinstance(said, str) and said in CHOICES):
            return Verdict(said)
        if isinstance(said, int | float | np.number) and not isnan(said):
            return Verdict("equal" if said == 0 else "left" if said > 0 else "right")
        raise MalformedAnswer(f'it returned {said!r}, and not "left", "right", "equal" or a number')

    def _said(self, left: ShownTrajectory, right: ShownTrajectory) -> Any:
        try:
            return self._function(left, right)
        except Exception as error:  # the user's function may fail in any way
            raise JudgeError(f"{self.name} fails about {left.id} and {right.id}: {error!r}") from error

    def _shown(self, pool: Pool, index: int) -> ShownTrajectory:
        assert self._views is not None
        name = str(index) if pool.ids is None else pool.ids[index]
        return ShownTrajectory(index, name, variable_values(pool, index), self.task, self._views)
