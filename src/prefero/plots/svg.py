"""Small charts as SVG inside an HTML page, whose colors they take; they need no matplotlib and no script.

points   (x, y, low, high) of a curve with a band
bars     (name, value, low, high), fractions from 0 to 1
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 420.0, 210.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 12.0, 10.0, 38.0
TICKS = 5  # about
LETTERS = 56  # of the label below an axis
CSS = """
.chart { width: 100%; height: auto; font: 12px system-ui, sans-serif; fill: currentColor }
.chart .grid { stroke: currentColor; opacity: 0.18 }
.chart .line { fill: none; stroke: var(--accent); stroke-width: 2.5 }
.chart .band { fill: var(--accent); opacity: 0.2; stroke: none }
.chart .dot { fill: var(--accent) }
.chart .bar { fill: var(--accent); opacity: 0.55 }
.chart .range { stroke: currentColor; stroke-width: 1.5; fill: none }
"""

Point = tuple[float, float, float, float]
Bar = tuple[str, float, float, float]


def nice_ticks(low: float, high: float, count: int = TICKS) -> list[float]:
    """Round numbers between two ends, about so many."""
    span = high - low
    if not span > 0:
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [n * step for n in range(first, last + 1)]


@dataclass(frozen=True)
class _Scale:
    """From values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        part = (value - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        return round(self.start + part * (self.end - self.start), 1)


def curve_chart(points: Sequence[Point], title: str, x_label: str, y_label: str) -> str:
    """A line with its band; `title` is what a screen reader says."""
    xs = [x for x, *_ in points]
    ys = [value for _, *rest in points for value in rest] + [0.0]
    x, y = _scales(min(xs), max(xs), min(ys), max(ys))
    upper = [f"{x(at)},{y(high)}" for at, _, _, high in points]
    lower = [f"{x(at)},{y(low)}" for at, _, low, _ in reversed(points)]
    line = " ".join(f"{x(at)},{y(mean)}" for at, mean, _, _ in points)
    marks = (
        f'<polygon class="band" points="{" ".join(upper + lower)}"/><polyline class="line" points="{line}"/>'
    )
    return _chart(title, x_label, y_label, x, y, marks)


def level_chart(
    points: Sequence[Point], levels: Sequence[str], title: str, x_label: str, y_label: str
) -> str:
    """A dot with its uncertainty for each level of a category."""
    ys = [value for _, *rest in points for value in rest] + [0.0]
    x, y = _scales(-0.5, len(levels) - 0.5, min(ys), max(ys))
    marks = "".join(_ranged_dot(x(at), y(mean), y(low), y(high)) for at, mean, low, high in points)
    return _chart(title, x_label, y_label, x, y, marks, levels)


def accuracy_chart(points: Sequence[tuple[int, float]], low: float, high: float, title: str) -> str:
    """The accuracy after each number of answers, and the interval of the last one."""
    ends = points[0][0], points[-1][0]
    x, y = _scales(float(ends[0]), float(ends[1]), min(0.5, low), 1.0)
    line = " ".join(f"{x(n)},{y(value)}" for n, value in points)
    last = x(points[-1][0])
    marks = f'<polyline class="line" points="{line}"/>{_ranged_dot(last, y(points[-1][1]), y(low), y(high))}'
    return _chart(title, "answers", "expected accuracy", x, y, marks, percent=True)


def bar_chart(bars: Sequence[Bar], title: str) -> str:
    """Fractions with their intervals, each under its name."""
    row, height = 40.0, 40.0 * len(bars) + 6
    most = max((high for *_, high in bars), default=1.0) or 1.0
    x = _Scale(0.0, most, 4.0, WIDTH - RIGHT)
    marks = "".join(_bar(x, row * place, *bar) for place, bar in enumerate(bars))
    return _svg(title, marks, height)


def _bar(x: _Scale, top: float, name: str, value: float, low: float, high: float) -> str:
    middle = top + 27
    return (
        f'<text x="4" y="{top + 14}">{escape(name)}: {value:.0%}</text>'
        f'<rect class="bar" x="4" y="{top + 20}" width="{max(x(value) - 4, 1):.1f}" height="14" rx="3"/>'
        f'<path class="range" d="M{x(low)} {middle}H{x(high)}"/>'
    )


def _ranged_dot(x: float, y: float, low: float, high: float) -> str:
    ends = f'<path class="range" d="M{x} {low}V{high}M{x - 4} {low}h8M{x - 4} {high}h8"/>'
    return f'{ends}<circle class="dot" cx="{x}" cy="{y}" r="4"/>'


def _scales(left: float, right: float, bottom: float, top: float) -> tuple[_Scale, _Scale]:
    return _Scale(left, right, LEFT, WIDTH - RIGHT), _Scale(bottom, top, HEIGHT - BOTTOM, TOP)


def _chart(
    title: str,
    x_label: str,
    y_label: str,
    x: _Scale,
    y: _Scale,
    marks: str,
    levels: Sequence[str] = (),
    *,
    percent: bool = False,
) -> str:
    """The axes with their labels, and what is drawn between them."""
    across = [(n, level) for n, level in enumerate(levels)] or _named(nice_ticks(x.low, x.high))
    up = (
        [(value, f"{value:.0%}") for value in nice_ticks(y.low, y.high)]
        if percent
        else _named(nice_ticks(y.low, y.high))
    )
    rows = "".join(
        f'<path class="grid" d="M{LEFT} {y(value)}H{WIDTH - RIGHT}"/>'
        f'<text x="{LEFT - 6}" y="{y(value) + 4}" text-anchor="end">{escape(text)}</text>'
        for value, text in up
    )
    columns = "".join(
        f'<text x="{x(value)}" y="{HEIGHT - BOTTOM + 15}" text-anchor="middle">'
        f"{escape(_cut(text, 14))}</text>"
        for value, text in across
    )
    labels = (
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 5}" text-anchor="middle">'
        f"{escape(_cut(x_label, LETTERS))}</text>"
        f'<text transform="translate(11 {(HEIGHT - BOTTOM + TOP) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(y_label)}</text>"
    )
    return _svg(title, rows + columns + labels + marks, HEIGHT)


def _named(values: Sequence[float]) -> list[tuple[float, str]]:
    return [(value, f"{value + 0.0:.4g}".replace("-", "\N{MINUS SIGN}")) for value in values]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _svg(title: str, content: str, height: float) -> str:
    box = f"0 0 {WIDTH:g} {height:g}"
    return f'<svg class="chart" viewBox="{box}" role="img" aria-label="{escape(title)}">{content}</svg>'
