"""Run `prefero` commands that serve, or that have a data folder of their own."""

import re
import subprocess
from pathlib import Path
from typing import Self

from run_prefero import run_prefero, start_prefero, without
from systems import interrupt
from waiting import TIMEOUT, wait_until


def environment(data: Path) -> dict[str, str]:
    """A data folder of its own, and no browser is opened."""
    return {"PREFERO_DATA": str(data), "PREFERO_NO_BROWSER": "1"}


class RunningCommand:
    """A command that runs until it is stopped; what it prints goes to files."""

    def __init__(self, folder: Path, *words: str, data: Path | None = None, first: str = "") -> None:
        self.out, self.err = folder / "stdout.txt", folder / "stderr.txt"
        for file in (self.out, self.err):
            file.write_text("", encoding="utf-8")
        self.process = start_prefero(
            *words,
            out=self.out,
            err=self.err,
            folder=folder,
            environment=environment(data or folder),
            first=first,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    @property
    def output(self) -> str:
        return self.out.read_text(encoding="utf-8") + self.err.read_text(encoding="utf-8")

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Wait until it prints this."""

        def printed() -> re.Match[str] | None:
            found = re.search(pattern, self.out.read_text(encoding="utf-8"))
            ended = found is None and self.process.poll() is not None
            assert not ended, f"it ended with {self.process.poll()}: {self.output}"
            return found

        found = wait_until(printed, f"printing {pattern!r}")
        assert found is not None
        return found

    def address(self) -> str:
        """The address that `teach` prints once it serves."""
        return self.wait_for(r"(?:browser|answers at): (http://\S+)")[1]

    def stop(self) -> int:
        """Interrupt it as Ctrl+C does; the exit code."""
        interrupt(self.process)
        return self.process.wait(timeout=TIMEOUT)


def run(*words: str, data: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command until it ends."""
    return run_prefero(*words, folder=folder or data, environment=environment(data))


def run_without(package: str, *words: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where a package is not installed."""
    return run_prefero(*words, folder=data, environment=environment(data), first=without(package))
