"""Tables in Markdown, and texts that mean nothing in it."""

import re
from collections.abc import Iterable, Sequence

SPECIAL = r"\\`*_[]()<>#!~"  # a bar has a meaning in tables only, which escape it themselves


def markdown_text(text: str) -> str:
    """A text from elsewhere, such as a title, as Markdown shows it unchanged: on one line, and escaped."""
    return re.sub(f"([{re.escape(SPECIAL)}])", r"\\\1", " ".join(text.split()))


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; a bar inside a cell is escaped, and a cell is one line."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([" ".join(str(cell).split()).replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)
