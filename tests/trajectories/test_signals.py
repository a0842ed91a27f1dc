"""Signals keep their peaks when they are thinned."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prefero.trajectories.signals import Signal, peaks_of

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=400)


@given(numbers, st.integers(4, 60))
def test_thinned_values_are_few_in_order_and_reach_as_far(values: list[float], most: int) -> None:
    array = np.array(values)
    kept = peaks_of(array, most)
    assert len(kept) <= most
    assert (np.diff(kept) > 0).all()
    assert (kept[0], kept[-1]) == (0, len(values) - 1)
    assert (array[kept].min(), array[kept].max()) == (min(values), max(values))
    if len(values) <= most:
        np.testing.assert_array_equal(kept, np.arange(len(values)))


def test_every_narrow_peak_remains_at_its_time() -> None:
    times, values = np.arange(5000) / 50, np.zeros(5000)
    values[[700, 2500, 4321]] = 1.0, -1.0, 0.5
    found = Signal("grip", "N", times, values).thinned(200)
    assert len(found.times) <= 200
    peaks = {time: value for time, value in zip(found.times, found.values, strict=True) if value}
    assert peaks == {14.0: 1.0, 50.0: -1.0, 86.42: 0.5}
    assert (found.name, found.unit) == ("grip", "N")
