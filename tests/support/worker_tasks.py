"""What the workers of the tests compute."""

import os
import time
from collections.abc import Generator
from pathlib import Path


def new_state() -> list[str]:
    """A worker's state: what it was told."""
    return []


def state_in(file: str) -> list[str]:
    """A state that is read from a file."""
    return [Path(file).read_text(encoding="utf-8")]


def remember(state: list[str], word: str) -> list[str]:
    state.append(word)
    return list(state)


def fail(_: list[str], error: Exception) -> None:
    raise error


def threads_and_process(_: list[str]) -> tuple[str | None, int]:
    """The variable that limits BLAS, and the worker's process."""
    return os.environ.get("OPENBLAS_NUM_THREADS"), os.getpid()


def wait_for(state: list[str], file: str, word: str) -> list[str]:
    """Wait until a file is there; so that a test decides when the task ends."""
    Path(f"{file}.began").touch()
    while not Path(file).exists():
        time.sleep(0.002)
    return remember(state, word)


def in_steps(state: list[str], word: str, file: str) -> Generator[None, None, list[str]]:
    """Two steps; between them the task waits for a file."""
    remember(state, f"{word} 1")
    Path(f"{file}.began").touch()
    while not Path(file).exists():
        time.sleep(0.002)
    yield
    return remember(state, f"{word} 2")


def wait_in_steps(state: list[str], file: str, word: str) -> Generator[None, None, list[str]]:
    """Wait until a file is there; more urgent tasks are run meanwhile."""
    while not Path(file).exists():
        time.sleep(0.002)
        yield
    return remember(state, word)


def die(_: list[str]) -> None:
    os._exit(3)


def die_once(state: list[str], file: str) -> list[str]:
    """The first worker that is given this dies; the next one does not."""
    if not Path(file).exists():
        Path(file).touch()
        os._exit(3)
    return remember(state, "survived")
