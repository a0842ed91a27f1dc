"""Markdown tables."""

import pytest

from plots.read_reports import Table, tables_in
from prefero.plots.tables import markdown_table


@pytest.mark.parametrize(
    "rows",
    [
        [["Prefero", 0.5], ["Oracle", 1]],
        [["", ""], ["", "12 (9 to more)"]],
        [["a|b", "c"], ["*x*", "`y`"]],
    ],
)
def test_a_table_is_valid_markdown(rows: Table) -> None:
    (found,) = tables_in("before\n\n" + markdown_table(["method", "after"], rows) + "\nafter\n")
    assert found[0] == ["method", "after"]
    assert [len(row) for row in found] == [2] * (len(rows) + 1)
    assert [row[0].strip("*") for row in found[1:]] == [str(row[0]).strip("*") for row in rows]
