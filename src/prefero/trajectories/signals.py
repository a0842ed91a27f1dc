"""Signals: numbers of one trajectory over time, such as a joint's angle or a car's speed."""

from dataclasses import dataclass

import numpy as np

from prefero._support.arrays import Array, Indices


@dataclass(frozen=True, eq=False)
class Signal:
    """One number over time.

    Args:
        name: Its name.
        unit: Its unit; "" if it has none, or none is known.
        times: In seconds from the start of the trajectory, increasing, (T,).
        values: At these times, (T,).
    """

    name: str
    unit: str
    times: Array
    values: Array

    def thinned(self, most: int) -> "Signal":
        """The same signal at no more than this many of its times; peaks remain."""
        kept = peaks_of(self.values, most)
        return Signal(self.name, self.unit, self.times[kept], self.values[kept])


def peaks_of(values: Array, most: int) -> Indices:
    """The indices of at most `most` values: the first, the last, and the extremes of equal stretches."""
    if len(values) <= most:
        return np.arange(len(values))
    stretches = np.array_split(np.arange(len(values)), max((most - 2) // 2, 1))
    extremes = [stretch[pick(values[stretch])] for stretch in stretches for pick in (np.argmin, np.argmax)]
    return np.unique([0, *extremes, len(values) - 1])
