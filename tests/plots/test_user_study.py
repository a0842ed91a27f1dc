"""The outcome of a user study: the table by hand, the paper's numbers beside it."""

from pathlib import Path

import pytest
from PIL import Image

from plots.read_reports import rows_by_method, tables_in
from prefero.plots.user_study import StudyOutcome, draw_study, study_table

# In the paper: accuracy and rating of ActiveGP, ActiveLinear and RandomGP.
PRINTED = {"ActiveGP": ("0.74", "6.9"), "ActiveLinear": ("0.62", "3.4"), "RandomGP": ("0.62", "5.1")}


# --- the table --------------------------------------------------------------------------------------------

ACCURACY = {  # of six participants, in the order of their names
    "ActiveGP": [0.90, 0.80, 0.75, 0.62, 1.00, 0.98],
    "RandomGP": [0.60, 0.81, 0.70, 0.40, 0.55, 0.38],
    "Prefero": [0.90, 0.80, 0.75, 0.62, 1.00, 0.98],
}
RATING = {
    "ActiveGP": [7.0, 9.0, 5.0, 6.5, 8.0, 8.5],
    "RandomGP": [4.0, 5.0, 4.5, 1.0, 9.5, 2.5],
    "Prefero": [8.0, 9.9, 5.8, 7.2, 8.6, 8.6],
}
NAMES = ["ann", "bob", "cid", "dora", "eve", "fay"]
# Signed ranks of the differences to ActiveGP, and in how many of 64 ways their sum is as far out:
# RandomGP's accuracy -4, +1, -2, -3, -5, -6: sums up to 1 are {} and {1}; its rating -3, -4, -1, -5, +2, -6:
# sums up to 2 are {}, {1}, {2}; Prefero's rating all positive: {} alone.
P_ACCURACY = {"RandomGP": 2 * 2 / 64, "Prefero": 1.0}
P_RATING = {"RandomGP": 2 * 3 / 64, "Prefero": 2 * 1 / 64}


def outcomes() -> list[StudyOutcome]:
    """Method by method, and participants in another order each time."""
    found = []
    for turn, method in enumerate(ACCURACY):
        of = list(zip(NAMES, ACCURACY[method], RATING[method], strict=True))
        found += [StudyOutcome(name, method, a, r) for name, a, r in [*of[turn:], *of[:turn]]]
    return found


@pytest.fixture
def study() -> dict[str, list[str]]:
    """Cells by method: accuracy here and printed, p, rating here and printed, p."""
    return rows_by_method(study_table(outcomes()).markdown)


def mean_and_error(values: list[float], digits: int) -> str:
    mean = sum(values) / 6
    error = (sum((v - mean) ** 2 for v in values) / 5 / 6) ** 0.5
    return f"{mean:.{digits}f} ± {error:.{digits}f}"


def test_means_and_standard_errors_are_by_hand(study: dict[str, list[str]]) -> None:
    assert list(study) == list(ACCURACY)
    for method, cells in study.items():
        assert cells[0] == mean_and_error(ACCURACY[method], 2)
        assert cells[3] == mean_and_error(RATING[method], 1)
    assert study["ActiveGP"][0] == "0.84 ± 0.06"


def test_p_values_are_by_hand_and_person_by_person(study: dict[str, list[str]]) -> None:
    assert (study["ActiveGP"][2], study["ActiveGP"][5]) == ("", "")
    for method in ("RandomGP", "Prefero"):
        assert study[method][2] == f"{P_ACCURACY[method]:.3f}"
        assert study[method][5] == f"{P_RATING[method]:.3f}"


def test_the_papers_numbers_are_printed_beside(study: dict[str, list[str]]) -> None:
    for method, (accuracy, rating) in PRINTED.items():
        if method in study:
            assert study[method][1].startswith(f"{accuracy} ± ")
            assert study[method][4].startswith(f"{rating} ± ")
    assert (study["Prefero"][1], study["Prefero"][4]) == ("", "")


def test_without_active_gp_the_first_method_is_tested_against() -> None:
    found = study_table([o for o in outcomes() if o.method != "ActiveGP"])
    table = rows_by_method(found.markdown)
    assert (table["RandomGP"][2], table["RandomGP"][5]) == ("", "")
    assert table["Prefero"][2] == f"{2 * 2 / 64:.3f}"  # as RandomGP against Prefero
    assert found.note.endswith("Wilcoxon's signed-rank test against RandomGP.")


def test_participants_are_never_compared_with_others() -> None:
    """Gus taught only one of the methods, and Hal only the other: both are left out of the tests."""
    both = [o for o in outcomes() if o.method != "Prefero"]
    taught = [
        *both,
        StudyOutcome("gus", "ActiveGP", 0.4, 2.0),
        StudyOutcome("hal", "RandomGP", 0.2, 3.0),
    ]
    found, wanted = (rows_by_method(study_table(some).markdown)["RandomGP"] for some in (taught, both))
    assert (found[2], found[5]) == (wanted[2], wanted[5])


@pytest.mark.parametrize("count", [1, 2, 5])
def test_so_few_participants_that_no_test_could_show_anything_are_not_tested(count: int) -> None:
    found = study_table([o for o in outcomes() if o.participant in NAMES[:count]])
    assert "p" not in found.head
    assert "A test between methods needs 6 or more" in found.note
    assert all(("±" in row[1]) == (count > 1) for row in found.rows)
    who = "1 participant who finished" if count == 1 else f"{count} participants who finished"
    assert who in found.note


def test_without_the_paper_its_numbers_are_left_out() -> None:
    found = study_table(outcomes(), paper=False)
    assert found.head == ("", "accuracy", "p", "rating", "p")
    assert "0.74 ± 0.04" not in found.markdown


def test_what_was_not_measured_has_no_column() -> None:
    found = study_table([StudyOutcome(o.participant, o.method, o.accuracy, float("nan")) for o in outcomes()])
    assert found.head == ("", "accuracy here", "in the paper", "p")


@pytest.mark.parametrize("method", ["a|b", "<b>"])
def test_strange_names_of_methods_do_not_break_the_table(method: str) -> None:
    (table,) = tables_in(study_table([StudyOutcome("ann", method, 0.5, 5.0)]).markdown)
    assert [row[0] for row in table[1:]] == [method]


@pytest.mark.parametrize(("kept", "paper"), [(["ann"], False), (NAMES, True)])
def test_the_study_is_drawn(kept: list[str], paper: bool, tmp_path: Path) -> None:
    draw_study([o for o in outcomes() if o.participant in kept], tmp_path / "study.png", paper)
    with Image.open(tmp_path / "study.png") as picture:
        picture.load()
        assert picture.format == "PNG"
