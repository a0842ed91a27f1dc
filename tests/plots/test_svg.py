"""Charts as SVG: where their marks are, worked out by hand, and that names cannot become markup."""

import re
from xml.etree import ElementTree

import pytest

from prefero.plots.svg import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    accuracy_chart,
    bar_chart,
    curve_chart,
    level_chart,
    nice_ticks,
)

ROUND = [
    (0, 10, [0, 2, 4, 6, 8, 10]),
    (0.5, 1, [0.5, 0.6, 0.7, 0.8, 0.9, 1.0]),
    (-3, 12, [0, 5, 10]),
    (7, 7, [7]),
]


@pytest.mark.parametrize(("low", "high", "ticks"), ROUND)
def test_ticks_are_round_numbers(low: float, high: float, ticks: list[float]) -> None:
    assert nice_ticks(low, high) == pytest.approx(ticks)


def test_a_curve_goes_from_edge_to_edge_of_its_axes() -> None:
    found = ElementTree.fromstring(curve_chart([(1, 0, -1, 1), (3, 2, 1, 3)], "a", "x", "y"))
    line = next(one for one in found.iter() if one.get("class") == "line")
    (x1, y1), (x2, y2) = (tuple(map(float, point.split(","))) for point in str(line.get("points")).split())
    assert (x1, x2) == pytest.approx((LEFT, WIDTH - RIGHT))
    bottom, tall = HEIGHT - BOTTOM, HEIGHT - BOTTOM - TOP  # from -1 to 3
    assert (y1, y2) == pytest.approx((bottom - tall / 4, bottom - 3 * tall / 4), abs=0.1)


def test_names_are_text_and_no_markup() -> None:
    name = '<script>alert("1")</script>&'
    charts = [
        curve_chart([(0, 0, 0, 0), (1, 1, 1, 1)], name, name, name),
        level_chart([(0, 0, 0, 0), (1, 1, 1, 1)], [name, name], name, name, name),
        bar_chart([(name, 0.5, 0.2, 0.7)], name),
    ]
    for chart in charts:
        ElementTree.fromstring(chart)
        assert not re.search("<script", chart)


def test_the_accuracy_has_the_interval_of_its_last_point() -> None:
    found = ElementTree.fromstring(accuracy_chart([(5, 0.6), (9, 0.75)], 0.5, 1.0, "accuracy"))
    dot = next(one for one in found.iter() if one.get("class") == "dot")
    assert float(dot.get("cx", "0")) == pytest.approx(WIDTH - RIGHT)
    assert float(dot.get("cy", "0")) == pytest.approx((HEIGHT - BOTTOM + TOP) / 2, abs=0.1)
