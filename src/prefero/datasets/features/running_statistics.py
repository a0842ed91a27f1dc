"""Statistics of episodes that still run: updated with every step, instead of computed anew.

    n                     episodes that run at once, each with as many steps as it has so far
    k = s + a             the states and the actions of a step
    kept     (n, K)       all that is kept of the steps so far, in parts:
        steps             how many there are
        sum, squares, moment   of each number of a step: the sum over the steps of itself, of its squared
                          distance from the center, and of its product with the time in steps
        changes           of each state: the sum of the absolute changes
        least, largest    of each number of a step
        last, first       states
        path, effort, peak, jerk     sums of lengths of changes, of squared actions, and of squared third
                          differences of states; the largest squared change

After every step the rows are those that `statistics.candidates` has for the steps so far, to rounding. Most
of them are a part of what is kept, times a number, divided by the steps or not.
"""

from collections.abc import Sequence

import numpy as np

from prefero._support.arrays import Array, Flags
from prefero.datasets.features.statistics import candidate_names, step_labels

JERK = "log dimensionless jerk"
NUMBERS = ("steps", "path", "effort", "peak", "jerk")


class RunningStatistics:
    """Statistics of n episodes, step by step.

    Args:
        state_names: Of the s states.
        action_names: Of the a actions.
        center: What mean squares are about, (s + a,).
        step_seconds: How long a step lasts.
        count: n, the number of episodes.
        wanted: The names of the statistics; None is all of them.
    """

    def __init__(
        self,
        state_names: Sequence[str],
        action_names: Sequence[str],
        center: Array,
        step_seconds: float,
        count: int,
        wanted: Sequence[str] | None = None,
    ) -> None:
        self.names = list(candidate_names(state_names, action_names) if wanted is None else wanted)
        self._center, self._seconds, s = center, step_seconds, len(state_names)
        self._lay_out(count, s, len(center))
        self._x = np.zeros((count, len(center)))
        self._of_state, self._of_action = self._x[:, :s], self._x[:, s:]
        self._change, self._second = np.zeros((count, s)), np.zeros((count, s))
        self._plan(state_names, action_names)

    def _lay_out(self, count: int, s: int, k: int) -> None:
        """The parts of what is kept: views of one array, and where each of them begins."""
        sizes = {"sum": k, "squares": k, "moment": k, "changes": s}  # what a step adds to
        sizes |= {"least": k, "largest": k, "last": s, "first": s} | dict.fromkeys(NUMBERS, 1)
        ends = np.cumsum(list(sizes.values())).tolist()
        self._begins = dict(zip(sizes, [0, *ends[:-1]], strict=True))
        self._kept = np.zeros((count, ends[-1]))
        parts = {part: self._kept[:, self._begins[part] :][:, : sizes[part]] for part in sizes}
        self.last, self._first, self._least, self._largest = (
            parts[name] for name in ("last", "first", "least", "largest")
        )
        self.steps, self._path, self._effort, self._peak, self._jerk = (parts[name][:, 0] for name in NUMBERS)
        self._totals, self._added = self._kept[:, : 3 * k + s], np.zeros((count, 3 * k + s))
        self._sum, self._moment = parts["sum"], parts["moment"]
        self._plain, self._away, self._timed = (self._added[:, i * k : (i + 1) * k] for i in range(3))
        self._moved = self._added[:, 3 * k :]

    def _plan(self, state_names: Sequence[str], action_names: Sequence[str]) -> None:
        """From which column of what is kept each statistic comes, and its factors."""
        labels, dt = step_labels(state_names, action_names), self._seconds
        known = {"duration": ("steps", 0, dt, 0.0), "control effort": ("effort", 0, dt, 0.0)}
        known |= {"path length": ("path", 0, 1.0, 0.0), JERK: ("jerk", 0, 0.0, 0.0)}
        for place, label in enumerate(labels):
            known[f"mean {label}"] = ("sum", place, 0.0, 1.0)
            known[f"mean square {label}"] = ("squares", place, 0.0, 1.0)
            known[f"trend {label}"] = ("moment", place, 0.0, 1.0)  # its numerator: see `_trends`
            known[f"min {label}"] = ("least", place, 1.0, 0.0)
            known[f"max {label}"] = ("largest", place, 1.0, 0.0)
        for place, name in enumerate(state_names):
            known[f"final {name}"] = ("last", place, 1.0, 0.0)
            known[f"first {name}"] = ("first", place, 1.0, 0.0)
            known[f"mean rate {name}"] = ("changes", place, 0.0, 1.0 / dt)
        chosen = [known[name] for name in self.names]
        self._columns = np.array([self._begins[part] + place for part, place, _, _ in chosen])
        self._fixed = np.array([fixed for _, _, fixed, _ in chosen])
        self._per_step = np.array([per_step for *_, per_step in chosen])
        trends = [at for at, (part, *_) in enumerate(chosen) if part == "moment"]
        self._trends = np.array(trends, dtype=int), np.array([chosen[at][1] for at in trends], dtype=int)
        self._smoothness = self.names.index(JERK) if JERK in self.names else None

    def begin(self, states: Array, which: Flags | slice = slice(None)) -> None:
        """New episodes, all of them or some, that begin in these states."""
        self._kept[which] = 0.0
        self._least[which], self._largest[which] = np.inf, -np.inf
        self._first[which] = states
        self.last[which] = states

    def step(self, actions: Array, states: Array) -> None:
        """One more step of every episode: its actions (n, a), and the states (n, s) after it."""
        self._of_state[:], self._of_action[:] = self.last, actions
        x, away = self._x, self._away
        self._plain[:] = x
        np.subtract(x, self._center, out=away)
        np.multiply(away, away, out=away)
        np.multiply(x, self.steps[:, None], out=self._timed)
        change = states - self.last
        np.abs(change, out=self._moved)
        self._totals += self._added
        np.minimum(self._least, x, out=self._least)
        np.maximum(self._largest, x, out=self._largest)
        self._follow(change)
        self._effort += np.einsum("na,na->n", actions, actions)
        self.last[:] = states
        self.steps += 1.0

    def _follow(self, change: Array) -> None:
        """The path of the states."""
        squared = np.einsum("ns,ns->n", change, change)
        self._path += np.sqrt(squared)
        if self._smoothness is None:
            return
        np.maximum(self._peak, squared, out=self._peak)
        second = change - self._change
        third = second - self._second
        # it needs three changes of this episode: before that there are old ones among them
        self._jerk += np.einsum("ns,ns->n", third, third) * (self.steps >= 2)
        self._change, self._second = change, second

    def rows(self) -> Array:
        """The statistics of every episode so far, (n, C), in the order of `names`."""
        steps = self.steps[:, None]
        rows: Array = self._kept[:, self._columns] * (self._fixed + self._per_step / steps)
        trends, numbers = self._trends
        if len(trends):
            along = rows[:, trends] - (steps - 1) / 2 * (self._sum[:, numbers] / steps)
            rows[:, trends] = along * (12 / self._seconds / np.maximum(steps**2 - 1, 1))
        if self._smoothness is not None:  # the steps' duration cancels out of the dimensionless jerk
            peak = np.where(self._peak > 0, self._peak, 1.0)
            jerk = self.steps**4 * self._jerk / np.maximum(self.steps - 2, 1) / peak
            rows[:, self._smoothness] = -np.log1p(jerk)
        return rows
