"""Reads figures: which texts of one are cut off at its edge, or written over each other."""

import re
from itertools import combinations
from typing import Any

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text


def shown_texts(figure: Any) -> list[Text]:
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    found = figure.findobj(lambda artist: isinstance(artist, Text) and artist.get_visible())
    return [text for text in found if re.search("[a-zA-Z]", text.get_text())]  # not the numbers of ticks


def cut_off(figure: Any) -> list[str]:
    """Texts that are not within the figure, by more than a pixel."""
    boxes = [(text.get_text(), text.get_window_extent()) for text in shown_texts(figure)]
    width, height = figure.bbox.size
    return [t for t, b in boxes if b.x0 < -1 or b.y0 < -1 or b.x1 > width + 1 or b.y1 > height + 1]


def overlapping(labels: list[Text]) -> list[tuple[str, str]]:
    """Labels of an axis that are written over each other, once the figure is drawn."""
    boxes = [(label.get_text(), label.get_window_extent()) for label in labels]
    return [(one, other) for (one, a), (other, b) in combinations(boxes, 2) if a.overlaps(b)]
