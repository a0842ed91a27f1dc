"""Run `prefero` commands as processes, as a user does: what they print, and how they end."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Self

from systems import interrupt, stoppable
from waiting import TIMEOUT, wait_until

PLAIN_TERMINAL = {
    "COLUMNS": "200",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}


def environment(data: Path) -> dict[str, str]:
    """An environment with a data folder of its own, in which no browser is opened."""
    return os.environ | PLAIN_TERMINAL | {"PREFERO_DATA": str(data), "PREFERO_NO_BROWSER": "1"}


class RunningCommand:
    """A command that runs until it is stopped; what it prints goes to files."""

    def __init__(self, folder: Path, *words: str, data: Path | None = None) -> None:
        self.out, self.err = folder / "stdout.txt", folder / "stderr.txt"
        with self.out.open("w", encoding="utf-8") as out, self.err.open("w", encoding="utf-8") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prefero", *words],
                stdout=out,
                stderr=err,
                stdin=subprocess.DEVNULL,
                env=environment(data or folder),
                cwd=folder,
                **stoppable(),
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
            assert not ended, f"it ended with {self.process.returncode}: {self.output}"
            return found

        found = wait_until(printed, f"printing {pattern!r}")
        assert found is not None
        return found

    def address(self) -> str:
        """The address that `teach` prints once it serves."""
        return self.wait_for(r"(?:browser: )(http://\S+)")[1]

    def stop(self) -> int:
        """Interrupt it as Ctrl+C does; the exit code."""
        interrupt(self.process)
        return self.process.wait(timeout=TIMEOUT)


def run(*words: str, data: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command until it ends."""
    command = [sys.executable, "-m", "prefero", *words]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env=environment(data),
        cwd=folder or data,
        check=False,
        timeout=TIMEOUT,
    )


def run_without(package: str, *words: str, data: Path) -> subprocess.CompletedProcess[str]:
    """Run a command where a package is not installed."""
    code = f"import sys; sys.modules[{package!r}] = None; from prefero.__main__ import main; main()"
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env=environment(data),
        cwd=data,
        check=False,
        timeout=TIMEOUT,
    )
