"""How figures look."""

import pytest

from plots.read_figures import cut_off, overlapping
from prefero.methods import full_name
from prefero.plots.style import color_of, name_bars, new_figure


def test_a_method_keeps_its_color_whatever_its_numbers_and_labels() -> None:
    for label in ("ActiveGP chosen", "ActiveGP best in hindsight", full_name("ActiveGP", 0.3, 0.1)):
        assert color_of(label) == color_of("ActiveGP")
    families = [
        "Prefero",
        "Prefero, random",
        "Prefero, best",
        "Prefero, good ones",
        "Oracle",
        "ActiveLinear",
        "ActiveGP",
        "RandomGP",
    ]
    assert len({color_of(name) for name in families}) == len(families)


@pytest.mark.parametrize("count", [1, 3, 6, 12])
def test_long_names_of_bars_are_neither_cut_off_nor_written_over_each_other(count: int) -> None:
    names = [f"Prefero, mutual information with a linear kernel ({number})" for number in range(count)]
    figure, axes = new_figure(2, width=4.6, height=3.4)
    for axis in axes:
        axis.bar(range(count), [1.0] * count)
        name_bars(axis, names)
    assert cut_off(figure) == []
    for axis in axes:
        assert overlapping(axis.get_xticklabels()) == []
