"""The outcome of a user study as a table and a figure, in golf beside the paper's numbers.

accuracy   on the test questions that a participant answered, from 0 to 1
rating     of the trajectory that a method thought best, from 1 to 9
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from prefero._support.arrays import Array
from prefero._support.statistics import paired_test, standard_error
from prefero.plots.style import color_of, name_bars, new_figure, save_figure, style_axis
from prefero.plots.tables import markdown_table, markdown_text

PAPER = {  # accuracy and rating, each with its standard error
    "ActiveGP": (0.74, 0.04, 6.9, 0.6),
    "ActiveLinear": (0.62, 0.07, 3.4, 0.7),
    "RandomGP": (0.62, 0.06, 5.1, 0.7),
}
HEAD = ("", "accuracy here", "in the paper", "p", "rating here", "in the paper", "p")
FEWEST_TESTED = 6  # participants: the p-value of n pairs is at least 2 / 2**n, and 2 / 2**5 is above 0.05


@dataclass(frozen=True)
class StudyOutcome:
    """What one method learned from one participant."""

    participant: str
    method: str
    accuracy: float
    rating: float


@dataclass(frozen=True)
class StudyTable:
    """Means with standard errors by method, paired tests between methods, and a note on both."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str

    @property
    def markdown(self) -> str:
        """The table and its note for a report."""
        rows = [[markdown_text(method), *cells] for method, *cells in self.rows]
        return f"{markdown_table(self.head, rows)}\n{markdown_text(self.note)}\n"


def study_table(outcomes: Sequence[StudyOutcome], paper: bool = True) -> StudyTable:
    """Means with standard errors, beside the paper's if the study is about golf, and paired tests.

    The tests are against ActiveGP, or the first method where ActiveGP is not compared.
    """
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    reference = "ActiveGP" if "ActiveGP" in methods else methods[0]
    rows = [_row(outcomes, method, reference) for method in methods]
    kept = [0, *_columns_to_show(rows, 1, paper), *_columns_to_show(rows, 4, paper)]
    return StudyTable(
        tuple(HEAD[column] if paper else HEAD[column].removesuffix(" here") for column in kept),
        tuple(tuple(row[column] for column in kept) for row in rows),
        _note(outcomes, reference, len(methods)),
    )


def _columns_to_show(rows: Sequence[Sequence[str]], first: int, paper: bool) -> list[int]:
    """Of one measure's three columns: none where it was not measured, and p where something was tested."""
    if not any(row[first] for row in rows):
        return []
    return [first, *[first + 1] * paper, *[first + 2] * any(row[first + 2] for row in rows)]


def _note(outcomes: Sequence[StudyOutcome], reference: str, methods: int) -> str:
    participants = len({outcome.participant for outcome in outcomes})
    finished = f"Mean{' and standard error' * (participants > 1)} of {participants} participant"
    finished += f"{'s' * (participants != 1)} who finished"
    if methods == 1:
        return f"{finished}."
    if participants < FEWEST_TESTED:
        return (
            f"{finished}. A test between methods needs {FEWEST_TESTED} or more: with fewer, its p-value "
            "cannot be below 0.05."
        )
    return f"{finished}; p: Wilcoxon's signed-rank test against {reference}."


def _row(outcomes: Sequence[StudyOutcome], method: str, reference: str) -> list[str]:
    accuracy, rating = _measured(outcomes, method)
    p_accuracy, p_rating = _p_values(outcomes, method, reference)
    printed = PAPER.get(method)
    return [
        method,
        _mean(accuracy, 2),
        f"{printed[0]:.2f} ± {printed[1]:.2f}" if printed else "",
        p_accuracy,
        _mean(rating, 1),
        f"{printed[2]:.1f} ± {printed[3]:.1f}" if printed else "",
        p_rating,
    ]


def _p_values(outcomes: Sequence[StudyOutcome], method: str, reference: str) -> tuple[str, str]:
    """Of accuracy and rating against the reference, over the participants who taught both."""
    if method == reference:
        return "", ""
    own, theirs = _measured(outcomes, method, also=reference), _measured(outcomes, reference, also=method)
    return _tested(own[0], theirs[0]), _tested(own[1], theirs[1])


def _mean(values: Array, digits: int) -> str:
    """With its standard error; nothing where nothing was measured, no error where one participant was."""
    known = values[np.isfinite(values)]
    if len(known) == 0:
        return ""
    error = f" ± {standard_error(known):.{digits}f}" if len(known) > 1 else ""
    return f"{known.mean():.{digits}f}{error}"


def _tested(first: Array, second: Array) -> str:
    both = np.isfinite(first) & np.isfinite(second)
    return f"{paired_test(first[both], second[both]):.3f}" if both.sum() >= FEWEST_TESTED else ""


def _measured(outcomes: Sequence[StudyOutcome], method: str, also: str | None = None) -> tuple[Array, Array]:
    """Accuracies and ratings of a method, sorted by participant; only of those who taught `also` too."""
    taught = {o.participant for o in outcomes if also is None or o.method == also}
    kept = [o for o in outcomes if o.method == method and o.participant in taught]
    kept.sort(key=lambda o: o.participant)
    return np.array([o.accuracy for o in kept]), np.array([o.rating for o in kept])


def draw_study(outcomes: Sequence[StudyOutcome], path: Path, paper: bool = True) -> None:
    """Accuracy and rating of each method, mean and standard error, beside the paper's in golf."""
    methods = list(dict.fromkeys(outcome.method for outcome in outcomes))
    figure, axes = new_figure(2, width=4.6, height=3.4)
    for measure, axis in enumerate(axes):
        for place, method in enumerate(methods):
            values = _measured(outcomes, method)[measure]
            known = values[np.isfinite(values)]
            error = standard_error(known) if len(known) > 1 else None
            if len(known):
                axis.bar(place, known.mean(), yerr=error, color=color_of(method), capsize=4)
            if paper and method in PAPER:
                mean, error = PAPER[method][2 * measure : 2 * measure + 2]
                axis.errorbar(place + 0.25, mean, yerr=error, fmt="D", color="black", markersize=4, capsize=3)
        name_bars(axis, methods)
        style_axis(axis, ylabel=("accuracy on test questions", "rating, 1 to 9")[measure])
    if paper:
        figure.suptitle("bars: here; diamonds: the paper's participants", fontsize=9)
    save_figure(figure, path)
