"""Coroutines in tests: the thread of the tests may already run the event loop of Playwright."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_own_loop(function: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """What the coroutine returns, or raises, in an event loop in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lambda: asyncio.run(function())).result()  # noqa: TID251
