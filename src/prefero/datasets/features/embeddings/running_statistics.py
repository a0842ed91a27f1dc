"""Statistics of episodes that still run: updated with every step, instead of computed anew.

    n                     episodes that run at once, each with as many steps as it has so far; arrays of one
                          episode alone lack this axis
    k = s + a             the states and the actions of a step
    memory   (n, K)       all that is kept of the steps so far and of the last one, in fields. Sums over time:
        sums              of each number of a step; and `sums of sums`, the sum of these after every step
        squares           of each number's distance from the center, and of each state's change
        changes           of each state: the absolute changes
        effort, path, jerk     squared actions, lengths of changes, squared third differences of states
                          The largest so far:
        peak              squared change
        least, largest    of each number of a step, the least one with a minus
                          And `first`, the first states, and `one`, which is 1. What a step adds has the
                          same names with `new`.
    factors  (T, F)       what the columns are multiplied with after so many steps

After every step the rows are those that `statistics.candidates` has for the steps so far, to rounding. All
of them but the jerk are sums of one or two columns of the memory, times factors. Fields that a step changes
in the same way are neighbours: for one environment, the number of array operations is what takes the time.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from prefero._support.arrays import Array
from prefero.datasets.features.embeddings.statistics import step_labels

JERK = "log dimensionless jerk"
FIXED, STEPS, PER_STEP, TREND_SUMS, TREND_SUMS_OF_SUMS, OF_JERK = range(6)  # how factors depend on the steps
MOST_TABULATED = 4096  # steps, for which factors are kept

Source = tuple[str, int, int, float]  # the field and the place in it, the kind of the factor, and its scale


class RunningStatistics:
    """Statistics of n episodes, step by step.

    Args:
        state_names: Of the s states.
        action_names: Of the a actions.
        center: What mean squares are about, (s + a,).
        step_seconds: How long a step lasts.
        count: n, the number of episodes; None for one alone, whose arrays have no axis for it.
        wanted: The names of the statistics, in their order.
    """

    def __init__(
        self,
        state_names: Sequence[str],
        action_names: Sequence[str],
        center: Array,
        step_seconds: float,
        count: int | None,
        wanted: Sequence[str],
    ) -> None:
        self._made_of = state_names, action_names, center, step_seconds, count, wanted
        self.names = list(wanted)
        self.shape = () if count is None else (count,)
        self.steps: Any = 0 if count is None else np.zeros(count, dtype=int)
        self._center, self._longest = center, 0
        self._has_extremes = JERK in self.names or any(name[:4] in ("min ", "max ") for name in self.names)
        self._follows_path = JERK in self.names or "path length" in self.names
        self._dot: Any = np.ndarray.dot if count is None else np.vecdot  # the first is faster
        self._lay_out(len(state_names), len(center))
        self._plan(state_names, action_names, step_seconds)
        self._factors = self._factors_after(np.arange(64))

    def _lay_out(self, s: int, k: int) -> None:
        """The fields of the memory: views of one array, and where each of them begins."""
        added = {"sums": k, "squares": k + s, "changes": s, "effort": 1, "path": 1, "jerk": 1}
        compared = {"peak": 1, "least": k, "largest": k}
        new = {f"new {field}": size for field, size in {**compared, **added}.items() if field != "largest"}
        # a new number of a step is also what the largest one is compared with
        sizes = {"sums of sums": k, **added, **compared, "first": s, "one": 1, **new}
        ends = np.cumsum(list(sizes.values())).tolist()
        self._begins = dict(zip(sizes, [0, *ends[:-1]], strict=True))
        self._memory = np.zeros((*self.shape, ends[-1]))

        def view(first: str, last: str) -> Array:
            return self._memory[..., self._begins[first] : self._begins[last] + sizes[last]]

        self._x, self._first, self._sums = (view(one, one) for one in ("new sums", "first", "sums"))
        self._state, self._action = self._x[..., :s], self._x[..., s:]
        self._sums_of_sums = view("sums of sums", "sums of sums")
        self._totals, self._added = view("sums", "jerk"), view("new sums", "new jerk")
        self._largest, self._compared = view("peak", "largest"), view("new peak", "new sums")
        self._squares, self._moved = view("new squares", "new squares"), view("new changes", "new changes")
        self._negative = view("new least", "new least")
        numbers = ("one", "new peak", "new effort", "new path", "new jerk")
        self._one, self._peak, self._effort, self._path, self._new_jerk = (
            view(one, one)[..., 0] for one in numbers
        )
        self._next, self._apart = np.zeros((*self.shape, s)), np.zeros((*self.shape, k + s))
        self._away, self._change = self._apart[..., :k], self._apart[..., k:]
        self._last_change, self._last_second = np.zeros((2, *self.shape, s))

    def __getstate__(self) -> tuple[Any, ...]:
        """What it was made of, and what it remembers: views of one array would become arrays of their own."""
        last = self._last_change, self._last_second
        return self._made_of, self._memory, self._next, self._apart, last, self.steps, self._longest

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        made_of, memory, following, apart, last, steps, longest = state
        self.__init__(*made_of)  # type: ignore[misc]
        self._memory[...], self._next[...], self._apart[...] = memory, following, apart
        (self._last_change, self._last_second), self.steps, self._longest = last, steps, longest

    @property
    def state(self) -> Array:
        """The present states, (n, s)."""
        return self._state

    def _plan(self, state_names: Sequence[str], action_names: Sequence[str], dt: float) -> None:
        """From which columns of the memory each statistic comes, and how its factors depend on the steps."""
        labels = step_labels(state_names, action_names)
        known: dict[str, Source] = {
            "control effort": ("effort", 0, FIXED, dt),
            "duration": ("one", 0, STEPS, dt),
        }
        known |= {"path length": ("path", 0, FIXED, 1.0), JERK: ("jerk", 0, OF_JERK, 1.0)}
        for place, label in enumerate(labels):
            known[f"mean {label}"] = ("sums", place, PER_STEP, 1.0)
            known[f"mean square {label}"] = ("squares", place, PER_STEP, 1.0)
            known[f"trend {label}"] = ("sums", place, TREND_SUMS, 1.0 / dt)
            known[f"min {label}"] = ("least", place, FIXED, -1.0)
            known[f"max {label}"] = ("largest", place, FIXED, 1.0)
        for place, name in enumerate(state_names):
            known[f"final {name}"] = ("new sums", place, FIXED, 1.0)
            known[f"first {name}"] = ("first", place, FIXED, 1.0)
            known[f"mean rate {name}"] = ("changes", place, PER_STEP, 1.0 / dt)
        chosen = [known[name] for name in self.names]
        trends = [at for at, source in enumerate(chosen) if source[2] == TREND_SUMS]
        chosen += [("sums of sums", chosen[at][1], TREND_SUMS_OF_SUMS, 1.0 / dt) for at in trends]
        chosen += [("peak", 0, FIXED, 1.0)] * (JERK in self.names)
        self._columns = np.array([self._begins[field] + place for field, place, _, _ in chosen])
        self._kinds, self._scales = np.array([c[2] for c in chosen]), np.array([c[3] for c in chosen])
        self._found = np.zeros((*self.shape, len(chosen)))  # the statistics, and what they need besides
        wanted = len(self.names)
        self._rows, self._besides = self._found[..., :wanted], self._found[..., wanted : wanted + len(trends)]
        self._trends = self._rows[..., trends[0] : trends[-1] + 1] if trends else None
        self._jerk = self.names.index(JERK) if JERK in self.names else None

    def _factors_after(self, steps: Any) -> Array:
        """The factors of all columns after these numbers of steps, (..., F)."""
        t = np.maximum(np.asarray(steps, dtype=float), 1.0)
        trend = 6.0 / t / np.maximum(t**2 - 1.0, 1.0)  # least squares: see `statistics.trend`
        kinds = [
            np.ones_like(t),
            t,
            1.0 / t,
            trend * (t + 1.0),
            -2.0 * trend,
            t**4 / np.maximum(t - 2.0, 1.0),
        ]
        factors: Array = np.stack(kinds, axis=-1)[..., self._kinds] * self._scales
        return factors

    def begin(self, states: Array, which: Any = ...) -> None:
        """New episodes, all of them or some, that begin in these states."""
        self._memory[which] = 0.0
        self._largest[which] = -np.inf
        self._first[which] = self._state[which] = states
        self._one[which] = 1.0
        if which is ...:
            self.steps, self._longest = 0 * self.steps, 0
        else:
            self.steps[which] = 0
            self._longest = int(self.steps.max())

    def step(self, actions: Array, states: Array) -> None:
        """One more step of every episode: its actions (n, a), and the states (n, s) after it."""
        x, change, action, dot = self._x, self._change, self._action, self._dot
        action[...], self._next[...] = actions, states
        np.subtract(x, self._center, out=self._away)
        np.subtract(self._next, self._state, out=change)
        np.multiply(self._apart, self._apart, out=self._squares)
        np.absolute(change, out=self._moved)
        self._effort[...] = dot(action, action)
        if self._follows_path:
            squared = dot(change, change)
            self._peak[...], self._path[...] = squared, np.sqrt(squared)
        if self._jerk is not None:
            self._new_jerk[...] = self._squared_jerk(change)
        self._totals += self._added
        if self._trends is not None:
            self._sums_of_sums += self._sums
        if self._has_extremes:
            np.negative(x, out=self._negative)
            np.maximum(self._largest, self._compared, out=self._largest)
        self._state[...] = self._next
        self.steps += 1
        self._longest += 1

    def _squared_jerk(self, change: Array) -> Any:
        """The squared third difference; while there are fewer than three changes of an episode, 0."""
        second = change - self._last_change
        third = second - self._last_second
        self._last_change[...], self._last_second = change, second
        return self._dot(third, third) * (self.steps >= 2)

    def rows(self) -> Array:
        """The statistics of every episode so far, (n, C), by `names`; the array is used again."""
        found = self._found
        self._memory.take(self._columns, -1, found, "clip")  # with "raise" it would use another buffer
        np.multiply(found, self._factors_now(), out=found)
        if self._trends is not None:
            np.add(self._trends, self._besides, out=self._trends)
        if self._jerk is not None:
            columns = found.T  # a column of one episode alone is a plain number
            jerk, peak = columns[self._jerk], columns[-1]
            columns[self._jerk] = -np.log1p(jerk / (peak + (peak == 0.0)))
        return self._rows

    def _factors_now(self) -> Array:
        """From the table, which grows with the longest episode up to a limit."""
        if self._longest >= len(self._factors):
            if self._longest >= MOST_TABULATED:
                return self._factors_after(self.steps)
            self._factors = self._factors_after(np.arange(2 * self._longest))
        return self._factors[self.steps]  # type: ignore[no-any-return]
