"""`prefero` as a process of its own, as a user starts it: what it says, and how it ends."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from systems import interrupt, stoppable

WIDE = {
    "COLUMNS": "200",
    "TERM": "dumb",
    "NO_COLOR": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
}
PATIENCE = 60.0  # seconds for a process to say something, on a machine that has other things to do


def environment(data: Path) -> dict[str, str]:
    """Nothing is kept in the user's own folder, and no browser is opened."""
    return os.environ | WIDE | {"PREFERO_DATA": str(data), "PREFERO_NO_BROWSER": "1"}


class Running:
    """A command that goes on until it is stopped; what it says is kept in files."""

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
    def said(self) -> str:
        return self.out.read_text(encoding="utf-8") + self.err.read_text(encoding="utf-8")

    def wait_for(self, pattern: str) -> re.Match[str]:
        """Until it says this."""
        limit = time.monotonic() + PATIENCE
        while time.monotonic() < limit:
            found = re.search(pattern, self.out.read_text(encoding="utf-8"))
            if found is not None:
                return found
            assert self.process.poll() is None, f"it ended with {self.process.returncode}: {self.said}"
            time.sleep(0.02)
        raise AssertionError(f"it never said {pattern!r}: {self.said}")

    def address(self) -> str:
        """Where `teach` serves, once it does."""
        return self.wait_for(r"(?:browser: )(http://\S+)")[1]

    def stop(self) -> int:
        """As Ctrl+C does; the exit code."""
        interrupt(self.process)
        return self.process.wait(timeout=PATIENCE)


def run(*words: str, data: Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    command = [sys.executable, "-m", "prefero", *words]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env=environment(data),
        cwd=folder or data,
        check=False,
        timeout=PATIENCE,
    )


def run_without(package: str, *words: str, data: Path) -> subprocess.CompletedProcess[str]:
    """The same where a package is not installed."""
    code = f"import sys; sys.modules[{package!r}] = None; from prefero.__main__ import main; main()"
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(
        command,
        capture_output=True,
        encoding="utf-8",
        env=environment(data),
        cwd=data,
        check=False,
        timeout=PATIENCE,
    )
