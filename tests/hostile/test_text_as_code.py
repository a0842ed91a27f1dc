"""Names from files are text: no terminal, spreadsheet, report or Python program takes them as commands."""

import ast
import io
import os
import re
from pathlib import Path

import numpy as np
import pytest

from prefero import Pool
from prefero.__main__ import _in_one_line
from prefero.cli.console import PlainConsole, say
from prefero.plots.html import markdown_to_html
from prefero.plots.tables import markdown_table, markdown_text
from prefero.studies.reports.study import write_study_report
from prefero.studies.storage.store import Store
from server.served_studies import FAST_TEACHING, Client, add_teaching, guest_app, ok, serving
from studies.fake_study import invited, study_of

CODE = "speed\nopen('harm', 'w')"
ESCAPES = "speed\x1b]0;title\x07\x1b[2J\x9b1m\u202e"
IMAGE = "x\n\n![x](/etc/passwd)\n\ny"
LINK = "![x](/etc/passwd) [y](javascript:alert) <script>"


def test_the_python_of_the_last_page_has_no_line_of_a_name(file_store: Store) -> None:
    pool = Pool(np.random.default_rng(0).normal(size=(6, 2)), [CODE, "distance"])
    app = guest_app(file_store, add_teaching(file_store, pool, FAST_TEACHING))
    with serving(app) as address, Client(address) as page:
        code = ok(page.get("/api/reward"))["python"]
    calls = {ast.unparse(node.func) for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)}
    assert "open" not in calls
    assert "speed\\nopen('harm', 'w')" in code


def test_the_console_prints_names_without_commands_for_the_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = io.StringIO()
    shown = PlainConsole(file=out, force_terminal=True, color_system="truecolor", width=200)
    monkeypatch.setitem(say.__globals__, "console", shown)
    say(f"The features are {ESCAPES}.")
    shown.print(f"[bold]{ESCAPES}[/]")
    text = re.sub(r"\x1b\[[0-9;]*m", "", out.getvalue())  # the console's own styles
    assert not any((ord(c) < 32 and c != "\n") or c in "\x9b\u202e" for c in text)
    assert text.count("\\x1b[2J") == 2


def test_warnings_have_none_either() -> None:
    line = _in_one_line(UserWarning(ESCAPES))
    assert "\x1b" not in line
    assert line.startswith("prefero: ")


@pytest.mark.parametrize("text", [IMAGE, LINK, "# head", "| a | b |", "`code`", "**bold**", "a\nb", "\\"])
def test_a_text_in_a_report_is_shown_as_it_is(text: str, tmp_path: Path) -> None:
    """On one line, without its meaning in Markdown."""
    import html

    written = f"# Title {markdown_text(text)} end\n\n" + markdown_table(["a"], [[markdown_text(text)]])
    page = markdown_to_html(written, tmp_path)
    shown = html.escape(" ".join(text.split()), quote=False)
    assert f"<h1>Title {shown} end</h1>" in page
    assert f"<td>{shown}</td>" in page
    assert "<img" not in page


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.png", "a/b.png", "link.png", "http://x/y.png"])
def test_a_report_embeds_only_its_own_figures(path: str, tmp_path: Path) -> None:
    folder = tmp_path / "report"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    os.symlink(tmp_path / "secret.png", folder / "link.png")  # noqa: PTH211
    assert "base64" not in markdown_to_html(f"![x]({path})", folder)


def test_a_study_report_embeds_no_file_that_a_title_or_label_names(file_store: Store, tmp_path: Path) -> None:
    study = study_of(file_store, title=IMAGE)
    invited(file_store, "P1 ![x](/etc/passwd) =1+1", study)
    write_study_report(file_store, study, tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    assert "root:" not in page
    assert "data:image" not in page
    assert "\n![x](/etc/passwd)" not in (tmp_path / "report" / "report.md").read_text(encoding="utf-8")


def test_an_exported_table_has_no_formulas(file_store: Store, tmp_path: Path) -> None:
    from prefero.studies.exports.export_import import export_study, import_study

    study = study_of(file_store)
    invited(file_store, "=1+1", study)
    export_study(file_store, study, tmp_path / "out")
    written = (tmp_path / "out" / "participants.csv").read_text(encoding="utf-8")
    assert written.splitlines()[1].startswith("'=1+1,")
    again = import_study(file_store, tmp_path / "out", "secret", name="again")
    assert [one.label for one in file_store.participants(again)] == ["=1+1"]
