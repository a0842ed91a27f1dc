"""The report: one Markdown file and one HTML page with all figures, tables and answers to the claims."""

import base64
import html
import platform
import re
from collections.abc import Sequence
from pathlib import Path

import prefero
from prefero._support.files import write_whole
from prefero.experiments.claims import claims
from prefero.experiments.figures.base import CHOSEN, Figure, Scale
from prefero.experiments.results import Results
from prefero.worlds.mujoco.rollout import version

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }
table { border-collapse: collapse; font-size: 0.85rem; margin: 1rem 0 }
td, th { border-bottom: 1px solid #ddd; padding: 0.2rem 0.7rem; text-align: left }
img { max-width: 100% }
"""


def write_report(
    figures: Sequence[Figure], results: Results, scale: Scale, folder: Path, command: str, *, whole: bool
) -> None:
    """Beside the pictures; the claims need the runs of all figures."""
    parts = [f"# The paper's experiments with Prefero {prefero.__version__}\n", _what_was_run(scale, command)]
    if whole:
        parts.append("## What holds, and what does not\n")
        parts.append("\n".join(f"- {claim}" for claim in claims(results, scale)) + "\n")
    for figure in figures:
        parts.append(f"## {figure.title}\n\n![{figure.title}]({figure.name}.png)\n")
        parts.append(figure.tell(results, scale))
    text = "\n".join(parts)
    write_whole(folder / "report.md", text)
    write_whole(folder / "report.html", page(text, folder))


def _what_was_run(scale: Scale, command: str) -> str:
    machine = f"Python {platform.python_version()}, {version()}, {platform.system()}"
    return f"""`{command}`

{scale.runs} runs with seeds from {scale.first_seed} on, {scale.questions} questions, training pools of
{scale.trajectories} trajectories from uniformly random actions, exams of {scale.tests} diverse trajectories
from pools of their own and all pairs of them with noiseless answers. People: probit noise 0.1, rewards with
standard normal coefficients on standardised features, divided by their standard deviation over the training
pool. Every method sees the same pool, person and exam. "Chosen" is theta {CHOSEN[0]:g} and sigma
{CHOSEN[1]:g}, the best over all tasks on other seeds; "best in hindsight" is the best of the grid (theta
{_list(scale.thetas)}; sigma {_list(scale.sigmas)}) on the very runs that are shown. Bands are standard
deviations over the runs. {machine}.
"""


def _list(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def page(text: str, folder: Path) -> str:
    """The Markdown that reports are written in, as one HTML page with its pictures inside."""
    blocks = [_block(block.strip(), folder) for block in re.split(r"\n\s*\n", text) if block.strip()]
    body = "\n".join(blocks)
    head = f'<meta charset="utf-8"><title>Prefero: report</title><style>{STYLE}</style>'
    return f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}\n</body></html>\n'


def _block(block: str, folder: Path) -> str:
    picture = re.fullmatch(r"!\[(.*)\]\((.*)\)", block)
    if picture:
        data = base64.b64encode((folder / picture[2]).read_bytes()).decode()
        return f'<img alt="{html.escape(picture[1])}" src="data:image/png;base64,{data}">'
    if block.startswith("#"):
        level = len(block) - len(block.lstrip("#"))
        return f"<h{level}>{_inline(block.lstrip('# '))}</h{level}>"
    lines = block.splitlines()
    if block.startswith("|"):
        return _table([[_inline(cell) for cell in _cells(line)] for line in lines])
    if block.startswith("- "):
        return "<ul>" + "".join(f"<li>{_inline(line[2:])}</li>" for line in lines) + "</ul>"
    return f"<p>{_inline(block)}</p>"


def _cells(line: str) -> list[str]:
    """Of a row of a table; a bar inside a cell is escaped."""
    inner = re.split(r"(?<!\\)\|", line.strip())[1:-1]
    return [cell.strip().replace("\\|", "|") for cell in inner]


def _table(rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{cell}</th>" for cell in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows[2:])
    return f"<table><tr>{head}</tr>{body}</table>"


def _inline(text: str) -> str:
    escaped = html.escape(text, quote=False)
    return re.sub(r"`(.+?)`", r"<code>\1</code>", re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", escaped))
