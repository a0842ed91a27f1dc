"""Markdown reports as HTML pages."""

from pathlib import Path

from plots.read_reports import HtmlReader, tables_in
from prefero.plots.html import markdown_to_html


def test_cells_with_bars_are_one_cell(tmp_path: Path) -> None:
    text = "| method | after |\n| --- | --- |\n| a\\|b | 1 |\n"
    assert tables_in(text) == [[["method", "after"], ["a|b", "1"]]]
    assert HtmlReader(markdown_to_html(text, tmp_path)).tables == tables_in(text)


def test_empty_cells_stay(tmp_path: Path) -> None:
    text = "|  | after |\n| --- | --- |\n| a |  |\n"
    assert HtmlReader(markdown_to_html(text, tmp_path)).tables == [[["", "after"], ["a", ""]]]


def test_a_page_says_its_language_and_its_encoding(tmp_path: Path) -> None:
    text = markdown_to_html("# Ž\n", tmp_path)
    assert text.startswith('<!doctype html>\n<html lang="en">')
    assert '<meta charset="utf-8">' in text
    assert HtmlReader(text).headings == ["Ž"]
