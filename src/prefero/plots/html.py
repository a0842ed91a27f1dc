"""Reports as one HTML page: the Markdown that reports are written in, with its images inside the page."""

import base64
import html
import re
from collections.abc import Sequence
from pathlib import Path

from prefero._support.files import write_atomically
from prefero.plots.tables import SPECIAL

PRIVATE = 0xE000  # characters of Unicode without a meaning, which stand for escaped ones meanwhile
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0 }
td, th { border-bottom: 1px solid #ddd; padding: 0.2rem 0.7rem; text-align: left }
img { max-width: 100% }
"""


def write_report(folder: Path, text: str) -> None:
    """A report in Markdown, as it is and as an HTML page, beside its images."""
    write_atomically(folder / "report.md", text)
    write_atomically(folder / "report.html", markdown_to_html(text, folder))


def markdown_to_html(text: str, folder: Path) -> str:
    """The Markdown that reports are written in, as one HTML page; images are read from `folder`."""
    paragraphs = [one.strip() for one in re.split(r"\n\s*\n", text)]
    body = "\n".join(_element(paragraph, folder) for paragraph in paragraphs if paragraph)
    head = f'<meta charset="utf-8"><title>Prefero: report</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _element(paragraph: str, folder: Path) -> str:
    """A paragraph, a heading, a table, a list or an image."""
    image = re.fullmatch(r"!\[(.*)\]\((.*)\)", paragraph)
    if image and (figure := _figure(folder, image[2])):
        data = base64.b64encode(figure.read_bytes()).decode()
        return f'<img alt="{html.escape(image[1])}" src="data:image/png;base64,{data}">'
    if paragraph.startswith("#"):
        depth = len(paragraph) - len(paragraph.lstrip("#"))
        return f"<h{depth}>{_inline(paragraph.lstrip('# '))}</h{depth}>"
    lines = paragraph.splitlines()
    if paragraph.startswith("|"):
        return _table([[_inline(cell) for cell in _cells(line)] for line in lines])
    if paragraph.startswith("- "):
        return "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{_inline(paragraph)}</p>"


def _figure(folder: Path, name: str) -> Path | None:
    """A figure in the report's own folder; a text that looks like an image embeds no other file."""
    path = folder / name
    own = Path(name).name == name and path.suffix == ".png" and path.resolve().parent == folder.resolve()
    return path if own and path.is_file() else None


def _cells(line: str) -> list[str]:
    """Of a row of a table; a bar inside a cell is escaped."""
    inner = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in inner]


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[2:])
    return f"<table><tr>{head}</tr>{body}</table>"


def _inline(text: str) -> str:
    kept = re.sub(rf"\\([{re.escape(SPECIAL)}])", lambda found: chr(PRIVATE + ord(found[1])), text)
    escaped = html.escape(kept, quote=False)
    marked = re.sub(r"`(.+?)`", r"<code>\1</code>", re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped))
    last = chr(PRIVATE + 127)
    back = rf"[{chr(PRIVATE)}-{last}]"
    return re.sub(back, lambda found: html.escape(chr(ord(found[0]) - PRIVATE), quote=False), marked)
