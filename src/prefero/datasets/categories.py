"""Which columns of a table hold categories: found in the table, or declared by the user.

A column of texts is found to be one if it has few different values and each of them occurs twice on average.
Identifiers and free text have many, and are not features. A column that pandas or Arrow call categorical is
one by declaration, with their order of the levels if they have one. Numbers are categories only if the user
says so.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.names import listed
from prefero.trajectories.categories import Categories, level_text

MOST_FOUND = 12  # levels of a column that is found to hold categories
MOST_DECLARED = 60  # levels of one that is declared
MOST_SHOWN = 4  # levels that a message names
MOSTLY = 0.5  # of the values of a column are numbers: the others are errors among numbers, and no levels

Declared = Mapping[str, tuple[tuple[str, ...], bool]]  # by column: levels, and whether they have an order


def find_categories(name: str, values: npt.NDArray[Any]) -> Categories | None:
    """The categories that a column of texts holds; None if it seems to hold something else."""
    if values.dtype.kind not in "OUST" or any(not _is_text(value) for value in values.tolist()):
        return None
    levels = levels_in(values)
    if not 2 <= len(levels) <= min(MOST_FOUND, len(values) // 2) or _are_numbers(levels):
        return None
    return Categories(name, levels)


def one_hot(name: str, values: npt.NDArray[Any]) -> Categories:
    """The categories of a column that is declared to hold some, or the reason why it cannot."""
    levels = levels_in(values)
    if len(levels) < 2:
        raise ValueError(
            f"column {name!r} has no two different values, so there are no categories: leave it out"
        )
    if len(levels) > MOST_DECLARED or len(levels) == len(values) > 2:
        raise ValueError(
            f"column {name!r} has {len(levels)} different values in {len(values)} rows, as names or free "
            f"text have: categories have at most {MOST_DECLARED}, and repeat. Merge its values, or leave it "
            "out"
        )
    return Categories(name, levels)


def declared_by_table(columns: Mapping[str, npt.NDArray[Any]], declared: Declared) -> tuple[Categories, ...]:
    """The columns that the table itself calls categorical, where they can be; of numbers only those too."""
    found = []
    for name, (levels, ordered) in declared.items():
        present = levels_in(columns[name])
        if ordered and len(levels) >= 2:
            found.append(Categories(name, levels, ordered=True))
        elif 2 <= len(present) <= MOST_DECLARED and len(present) < len(columns[name]):
            found.append(Categories(name, present))
    return tuple(found)


def check_declared(one: Categories, values: npt.NDArray[Any]) -> None:
    """An error if a column has a level that was not declared."""
    extra = [level for level in levels_in(values) if level not in one.levels]
    if extra:
        raise ValueError(
            f"column {one.column!r} also has {listed([repr(level) for level in extra])}: name every level at "
            f"its place, as in --ordered {_example(one, extra[0])!r}"
        )


def _example(one: Categories, extra: str) -> str:
    return str(Categories(one.column, (*one.levels, extra), ordered=True))


def expanded(names: Sequence[str], categories: Sequence[Categories]) -> list[str]:
    """These names, each once; in place of a category's column, the features that encode it."""
    by_column = {one.column: one.names for one in categories}
    return list(dict.fromkeys(feature for name in names for feature in by_column.get(name, (name,))))


def levels_in(values: npt.NDArray[Any]) -> tuple[str, ...]:
    """The different values of a column as texts: numbers by size, texts by the alphabet."""
    texts = {text for value in values.tolist() if (text := level_text(value)) is not None}
    return tuple(sorted(texts, key=_sort_key))


def _sort_key(text: str) -> tuple[bool, float, str]:
    number = _number(text)
    return (True, 0.0, text) if number is None else (False, number, text)


def _are_numbers(levels: Sequence[str]) -> bool:
    return sum(_number(level) is not None for level in levels) >= MOSTLY * len(levels)


def _number(text: str) -> float | None:
    try:
        return None if np.isnan(float(text)) else float(text)
    except ValueError:
        return None


def _is_text(value: Any) -> bool:
    return isinstance(value, str) or level_text(value) is None


def found_line(dataset: str, found: Sequence[Categories], python: bool = False) -> str:
    """The line that says which columns hold categories, and what can be done about it.

    `python` is for `Pool(table)`, which has no options of features.
    """
    shown = [f"{one.column} ({listed(one.levels, MOST_SHOWN)})" for one in found]
    example = max(found, key=lambda one: min(len(one.levels), 3))  # two levels hardly need an order
    column, levels = example.column, "<".join(example.levels)
    change = (
        f"names=[...] chooses the columns, and Pool.from_table with FeatureOptions(ordered="
        f'"{column}:{levels}")'
        if python
        else f"--drop {column!r} leaves one out, and --ordered '{column}:{levels}'"
    )
    return (
        f"{dataset}: categories were found, of which each value is a feature, such as {found[0].names[0]}: "
        f"{listed(shown)}; {change} is for values that have an order"
    )
