"""The figure of an arena: strengths, success, who is better than whom, and how the goal became known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefero._support.names import shortened_apart
from prefero.arena.standings import Standings
from prefero.plots.style import new_figure, save_figure, style_axis

BLUE, GREY = "#0b6e99", "#8a8a8a"
MOST_CELLS = 12  # policies up to which the probabilities are written into the matrix


def draw_arena(standings: Standings, history: Sequence[tuple[int, float]], path: Path) -> None:
    """Save the figure; `history` are numbers of answers, with how sure the goal was after each."""
    successes = [(r.success, r.success_low, r.success_high) for r in standings.rows if r.success is not None]
    height = max(3.4, 1.4 + 0.36 * len(standings.rows))
    figure, axes = new_figure(3 + bool(successes), width=4.4, height=height)
    strengths = [(row.strength, row.low, row.high) for row in standings.rows]
    _draw_intervals(axes[0], standings, strengths, "strength", "strength (1 more wins 84% of comparisons)")
    _draw_matrix(axes[1], standings)
    _draw_history(axes[2], standings, history)
    if successes:
        _draw_intervals(axes[3], standings, successes, "success", "probability that a rollout passes")
        axes[3].set_xlim(0, 1)
    save_figure(figure, path)


def _names(standings: Standings) -> list[str]:
    return shortened_apart(standings.order)


def _draw_intervals(
    axis: Any, standings: Standings, rows: Sequence[tuple[Any, Any, Any]], title: str, xlabel: str
) -> None:
    """Expected values with their intervals, a row for each policy."""
    places, (values, low, high) = range(len(rows)), zip(*rows, strict=True)
    axis.hlines(places, low, high, color=BLUE, lw=3)
    axis.plot(values, places, "o", color="white", mec=BLUE, mew=2, ms=8)
    axis.set_yticks(places, _names(standings))
    axis.set_ylim(len(places) - 0.5, -0.5)
    axis.set_title(f"{title} and 90% interval", fontsize=10)
    style_axis(axis, xlabel=xlabel)


def _draw_matrix(axis: Any, standings: Standings) -> None:
    names, count = _names(standings), len(standings.rows)
    axis.imshow(standings.better, cmap="RdBu", vmin=-0.25, vmax=1.25)
    axis.set_xticks(range(count), names, rotation=45, ha="right", rotation_mode="anchor")
    axis.set_yticks(range(count), names)
    axis.set_title("P(row is better than column), %", fontsize=10)
    for row in range(count if count <= MOST_CELLS else 0):
        for column in range(count):
            if row != column:
                value = float(standings.better[row, column])
                look = {"color": "white" if abs(value - 0.5) > 0.4 else "black", "fontsize": 8}
                axis.text(column, row, _percents(value), ha="center", va="center", **look)


def _percents(value: float) -> str:
    return ">99" if value >= 0.995 else "<1" if value < 0.005 else f"{100 * value:.0f}"


def _draw_history(axis: Any, standings: Standings, history: Sequence[tuple[int, float]]) -> None:
    axis.plot([n for n, _ in history], [p for _, p in history], color=BLUE, lw=1.8)
    axis.axhline(standings.plan.confidence, color=GREY, lw=1, ls=":")
    goal = "the order" if standings.plan.goal == "order" else "the best policy"
    axis.set_title(f"how surely {goal} is known", fontsize=10)
    style_axis(axis, xlabel="answers", ylim=(0, 1.02))
    axis.set_xlim(left=0)
    axis.xaxis.get_major_locator().set_params(integer=True)
