"""How figures look."""

from prefero.methods import full_name
from prefero.plots.style import color_of


def test_a_method_keeps_its_color_whatever_its_numbers_and_labels() -> None:
    for label in ("ActiveGP chosen", "ActiveGP best in hindsight", full_name("ActiveGP", 0.3, 0.1)):
        assert color_of(label) == color_of("ActiveGP")
    families = [
        "Prefero",
        "Prefero, random",
        "Prefero, best",
        "Oracle",
        "ActiveLinear",
        "ActiveGP",
        "RandomGP",
    ]
    assert len({color_of(name) for name in families}) == len(families)
