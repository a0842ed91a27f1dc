"""The figure of an arena: strengths, who is better than whom, and how the goal became known."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from prefero._support.names import shortened_apart
from prefero.arena.standings import Standings
from prefero.plots.style import new_figure, save_figure, style_axis

BLUE, GREY = "#0b6e99", "#8a8a8a"
MOST_CELLS = 12  # policies up to which the probabilities are written into the matrix


def draw_arena(standings: Standings, history: Sequence[tuple[int, float]], path: Path) -> None:
    """Save the figure; `history` are numbers of answers, with the probability of the goal after each."""
    figure, axes = new_figure(3, width=4.4, height=max(3.4, 1.4 + 0.36 * len(standings.rows)))
    _draw_strengths(axes[0], standings)
    _draw_matrix(axes[1], standings)
    _draw_history(axes[2], standings, history)
    save_figure(figure, path)


def _names(standings: Standings) -> list[str]:
    return shortened_apart(standings.order)


def _draw_strengths(axis: Any, standings: Standings) -> None:
    places = range(len(standings.rows))
    axis.hlines(places, [r.low for r in standings.rows], [r.high for r in standings.rows], color=BLUE, lw=3)
    axis.plot([row.strength for row in standings.rows], places, "o", color="white", mec=BLUE, mew=2, ms=8)
    axis.set_yticks(places, _names(standings))
    axis.set_ylim(len(places) - 0.5, -0.5)
    axis.set_title("strength and 90% interval", fontsize=10)
    style_axis(axis, xlabel="strength (1 more wins 84% of comparisons)")


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
    axis.set_title(f"probability of {goal}", fontsize=10)
    style_axis(axis, xlabel="comparisons", ylim=(0, 1.02))
    axis.set_xlim(left=0)
    axis.xaxis.get_major_locator().set_params(integer=True)
