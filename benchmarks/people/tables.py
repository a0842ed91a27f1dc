"""Tables and the figure of the benchmark of real people.

A row is a set, a person, a fold, a method and a number of answers. Folds are averaged for each person, people
for each set, and sets count the same. Differences have standard errors over people, or over sets.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.people.judgements import Judgements
from benchmarks.people.methods import BOTORCH, CHOSEN, DEFAULT, LOGISTIC, NETWORK
from benchmarks.people.sets import SETS
from benchmarks.people.splits import FOLDS, people_of
from benchmarks.rows import Row, mean_and_error, paired_difference
from prefero._support.arrays import Array
from prefero._support.optional import need
from prefero.plots.style import color_of, save_figure, style_axis
from prefero.plots.tables import markdown_table
from prefero.simulation.test_sets import LEAST_PROBABILITY

MEASURES = {"accuracy": "accuracy", "log_likelihood": "mean log-likelihood"}
COIN = {"accuracy": 0.5, "log_likelihood": float(-np.log(2.0))}
COLORS = {CHOSEN: "#3aa6a0", LOGISTIC: "#d1662c", BOTORCH: "#6b3fa0", NETWORK: "#8a8a8a"}
COLUMNS = 4  # of the figure


def score(probability: Array) -> Row:
    """Of predicted probabilities of what the person chose; exactly a half counts half."""
    right = np.where(probability == 0.5, 0.5, probability > 0.5)
    log = np.log(np.maximum(probability, LEAST_PROBABILITY))
    return {"accuracy": float(right.mean()), "log_likelihood": float(log.mean())}


def by_person(rows: Sequence[Row], name: str, method: str, answers: int, column: str) -> dict[int, float]:
    """The mean over the folds, for each person of a set who has so many answers in all of them."""
    found: dict[int, list[float]] = {}
    for row in rows:
        if (row["set"], row["method"], row["answers"]) == (name, method, answers):
            found.setdefault(row["person"], []).append(row[column])
    return {person: float(np.mean(folds)) for person, folds in found.items() if len(folds) == FOLDS}


def table_of_sets(judgements: Mapping[str, Judgements], most: int) -> str:
    """What there is to learn from."""
    lines = []
    for name, one in judgements.items():
        counts = np.unique(one.answers[:, 0], return_counts=True)[1]
        each = f"{int(np.median(counts))} ({counts.min()} to {counts.max()})"
        people = f"{len(people_of(one, most))} of {len(counts)}"
        items, features = one.features.shape
        about, licence = SETS[name].about, SETS[name].licence
        lines.append([name, about, people, each, str(items), str(features), licence])
    head = ["set", "what people judged", "people", "answers each", "items", "features", "licence"]
    return markdown_table(head, lines)


def table_at(rows: Sequence[Row], answers: int, column: str) -> str:
    """Every set after so many answers, and the difference of the default to the regression."""
    methods = [name for name in dict.fromkeys(row["method"] for row in rows) if name != CHOSEN]
    lines, means, gaps = [], [], []
    for name in dict.fromkeys(row["set"] for row in rows):
        found = {method: by_person(rows, name, method, answers, column) for method in methods}
        if all(found.values()):
            means.append([float(np.mean(list(found[method].values()))) for method in methods])
            gaps.append(paired_difference(found[DEFAULT], found[LOGISTIC]))
            lines.append([name, str(len(found[DEFAULT])), *_cells(means[-1]), _difference(*gaps[-1])])
    if lines:
        gap = _difference(*mean_and_error(gap for gap, _ in gaps))
        lines.append(["mean of the sets", "", *_cells(np.mean(means, axis=0)), gap])
    head = [f"{MEASURES[column]} after {answers}", "people", *methods, f"{DEFAULT} minus {LOGISTIC}"]
    return markdown_table(head, lines)


def _cells(means: Iterable[float]) -> list[str]:
    return [f"{mean:.3f}" for mean in means]


def _difference(gap: float, error: float) -> str:
    return "" if np.isnan(gap) else f"{gap:+.3f} ± {error:.3f}"


def table_of_replay(rows: Sequence[Row], column: str) -> str:
    """Answers in random order and chosen ones, paired by person."""
    counts = sorted({row["answers"] for row in rows if row["method"] == CHOSEN})
    lines = []
    for name in dict.fromkeys(row["set"] for row in rows if row["method"] == CHOSEN):
        cells = [_replayed(rows, name, answers, column) for answers in counts]
        lines.append([name, *cells])
    return markdown_table([f"{MEASURES[column]}, chosen minus random, after", *map(str, counts)], lines)


def _replayed(rows: Sequence[Row], name: str, answers: int, column: str) -> str:
    chosen, drawn = (by_person(rows, name, method, answers, column) for method in (CHOSEN, DEFAULT))
    return _difference(*paired_difference(chosen, drawn))


def all_tables(rows: Sequence[Row], answers: Sequence[int]) -> Iterator[str]:
    """Both measures after each number of answers, and replay."""
    for column in MEASURES:
        for number in answers:
            if {DEFAULT, LOGISTIC} <= {row["method"] for row in rows if row["answers"] == number}:
                yield table_at(rows, number, column)
        if any(row["method"] == CHOSEN for row in rows):
            yield table_of_replay(rows, column)


def save_curves(rows: Sequence[Row], path: Path, column: str = "log_likelihood") -> None:
    """Learning curves, one axis for each set."""
    names = list(dict.fromkeys(row["set"] for row in rows))
    lines = -(-len(names) // COLUMNS)
    figure = need("matplotlib.figure", extra="plots").Figure(
        figsize=(3.0 * COLUMNS, 2.6 * lines), layout="constrained"
    )
    axes = np.atleast_1d(figure.subplots(lines, COLUMNS)).ravel()
    for axis, name in zip(axes, names, strict=False):
        _draw_set(axis, [row for row in rows if row["set"] == name], name, column)
    for axis in axes[len(names) :]:
        axis.set_axis_off()
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)
    save_figure(figure, path)


def _draw_set(axis: Any, rows: Sequence[Row], name: str, column: str) -> None:
    counts = sorted({row["answers"] for row in rows})
    for method in dict.fromkeys(row["method"] for row in rows):
        found = {n: list(by_person(rows, name, method, n, column).values()) for n in counts}
        means = {n: np.mean(values) for n, values in found.items() if values}
        color, line = COLORS.get(method) or color_of(method), "--" if method == CHOSEN else "-"
        axis.plot(
            list(means), list(means.values()), line, color=color, marker=".", linewidth=1.4, label=method
        )
    axis.axhline(COIN[column], color="#999999", linestyle=":", linewidth=1.0)
    style_axis(axis, title=name, xlabel="answers", ylabel=MEASURES[column], xscale="log")
    axis.set_xticks(counts, [str(n) for n in counts])
    axis.minorticks_off()
