"""Text that a terminal, a spreadsheet or Python would take as commands."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefero._support.files import csv_text, read_csv
from prefero._support.text import from_cell, one_line, printable, to_cell

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "'=1", "''+1"]


@pytest.mark.parametrize("text", FORMULAS)
def test_a_text_that_a_spreadsheet_would_run_is_escaped(text: str) -> None:
    cell = str(to_cell(text))
    assert cell.startswith("'")
    assert from_cell(cell) == text


@pytest.mark.parametrize("value", [-1, -1.5, 0, None, "speed", "'tis", "1-2", "a=b"])
def test_numbers_and_other_texts_stay(value: object) -> None:
    assert to_cell(value) is value


@given(st.text())
def test_every_text_comes_back(text: str) -> None:
    assert from_cell(str(to_cell(text))) == text


def test_a_table_is_escaped_and_read_back(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("csv") / "table.csv"
    rows = [{"=name": text, "value": -1.5} for text in FORMULAS]
    path.write_text(csv_text(["=name", "value"], rows), encoding="utf-8", newline="")
    head, *cells = csv.reader(io.StringIO(path.read_bytes().decode(), newline=""))
    assert head == ["'=name", "value"]
    assert all(name.startswith("'") and value == "-1.5" for name, value in cells)
    assert [row["value"] for row in read_csv(path, ["value"])] == ["-1.5"] * len(FORMULAS)


def test_a_terminal_is_sent_no_commands() -> None:
    assert printable("a\x1b[2Jb\x07\u202ec\x9b31m\nd\te") == "a\\x1b[2Jb\\x07\\u202ec\\x9b31m\nd e"
    assert one_line("speed\nimport os") == "speed\\nimport os"
    assert printable("Größe µ 速度 [m/s]") == "Größe µ 速度 [m/s]"
