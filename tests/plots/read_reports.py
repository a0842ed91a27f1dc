"""Read reports with parsers that are not ours: tables and images of Markdown, and the parts of HTML pages."""

import base64
from html.parser import HTMLParser
from typing import Any

from markdown_it import MarkdownIt

Table = list[list[str]]


def tables_in(text: str) -> list[Table]:
    """The tables of a Markdown text, as cells without markup, by a parser that others wrote."""
    tables: list[Table] = []
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "table_open":
            tables.append([])
        elif token.type == "tr_open":
            tables[-1].append([])
        elif token.type == "inline" and tables and _in_table(token):
            tables[-1][-1].append(_plain(token))
    return tables


def rows_by_method(text: str) -> dict[str, list[str]]:
    """The one table of a study: the cells of each row by the method in its first."""
    (table,) = tables_in(text)
    assert {len(row) for row in table} == {7}
    return {row[0]: row[1:] for row in table[1:]}


def _in_table(token: Any) -> bool:
    """Paragraphs are one level deep, cells four."""
    return bool(token.level >= 4)


def _plain(token: Any) -> str:
    return "".join(child.content for child in token.children or ())


class HtmlReader(HTMLParser):
    """Pictures, tables, headings and words of a page, by a parser of the standard library."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.pictures: list[tuple[str, bytes]] = []
        self.tables: list[Table] = []
        self.headings: list[str] = []
        self.items: list[str] = []
        self.tags: list[str] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in ("img", "meta"):
            self.open.append(tag)
        if tag == "img":
            found = dict(attrs)
            kind, _, data = str(found["src"]).partition(",")
            assert kind == "data:image/png;base64"
            self.pictures.append((str(found["alt"]), base64.b64decode(data, validate=True)))
        elif tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag in ("h1", "h2"):
            self.headings.append("")
        elif tag == "li":
            self.items.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data
        if {"td", "th"} & set(self.open):
            self.tables[-1][-1][-1] += data
        elif {"h1", "h2"} & set(self.open):
            self.headings[-1] += data
        elif "li" in self.open:
            self.items[-1] += data


def images_in(text: str) -> dict[str, str]:
    """Titles and files of the pictures of a Markdown text."""
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    images = [c for token in tokens for c in token.children or () if c.type == "image"]
    return {image.content: str(image.attrs["src"]) for image in images}
