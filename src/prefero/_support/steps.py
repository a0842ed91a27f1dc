"""Computations in steps: a generator yields where something more urgent may come in between, and returns."""

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")


def completed(steps: "Generator[object, None, Result]") -> Result:
    """The result, computed without a pause."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
