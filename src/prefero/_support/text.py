"""Text from files, for a terminal, for code and for a spreadsheet, none of which may take it as commands."""

import re

FORMULA = re.compile(r"'*[=+\-@\t\r]")  # what a spreadsheet takes as the beginning of a formula


def printable(text: str) -> str:
    """The text with escapes in place of characters that a terminal obeys or hides; lines stay lines."""
    return "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)


def one_line(text: str) -> str:
    """The same in one line."""
    return printable(text).replace("\n", "\\n")


def _escaped(character: str) -> str:
    return " " if character == "\t" else character.encode("unicode_escape").decode()


def to_cell(value: object) -> object:
    """A value for a CSV file: a text that a spreadsheet would run gets an apostrophe; numbers stay."""
    return f"'{value}" if isinstance(value, str) and FORMULA.match(value) else value


def from_cell(text: str) -> str:
    """The text that `to_cell` was given."""
    return text[1:] if text.startswith("'") and FORMULA.match(text) else text
