"""Which tests run on which system, and what tests do differently there."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pytest

ON_LINUX, ON_WINDOWS = sys.platform.startswith("linux"), sys.platform == "win32"

posix_only = pytest.mark.skipif(
    ON_WINDOWS, reason="Windows has no fork, no permission bits, and links for administrators alone"
)


def skip_except_on_linux(what: str) -> None:
    """Skip what needs a program that only the Linux machines of continuous integration have."""
    if not ON_LINUX:
        pytest.skip(f"{what} is tested on Linux")


class RunningProcess(Protocol):
    """What tests use of `subprocess.Popen`."""

    pid: int

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int, /) -> None: ...
    def kill(self) -> None: ...


def stoppable() -> dict[str, Any]:
    """Options of `subprocess.Popen` for a process that `interrupt` stops; it must not stop us as well."""
    options: dict[str, Any] = {}
    if sys.platform == "win32":
        options["creationflags"] = subprocess.CREATE_NEW_PROCESS_GROUP
    return options


def interrupt(process: RunningProcess) -> None:
    """As Ctrl+C does, or on Windows Ctrl+Break, which can be sent to one process."""
    if sys.platform == "win32":
        process.send_signal(signal.CTRL_BREAK_EVENT)
    else:
        process.send_signal(signal.SIGINT)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """A disk that is full for files of this size: the kernel refuses to write more."""
    resource = pytest.importorskip("resource", reason="Windows has no limit on the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
