"""Run `prefero` commands as processes, as a user does: what they print, and how they end.

To start Python and to import what commands import takes two seconds of computing. On Linux, commands are
forked from one process that has done this: this file, run as a script. It reads a request a line, which is a
command to start or the id of a process whose return code is wanted, and responds with a number a line.
Only packages that read no variable of the environment when they are imported are imported there, or those of
the terminal, which are the same for all commands. Commands before which other code runs, such as code that
hides a package, come from a second such process, which has imported no more than the core of Prefero.
"""

import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from systems import ON_LINUX, RunningProcess, stoppable
from waiting import TIMEOUT

PLAIN_TERMINAL = {"COLUMNS": "220", "TERM": "dumb", "NO_COLOR": "1"}
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
PACKAGES = (
    *("prefero", "typer", "rich.table", "rich.progress", "matplotlib.figure", "pyarrow.parquet", "gymnasium"),
    *("fastapi", "uvicorn.protocols.http.h11_impl", "sqlalchemy.orm", "alembic.command"),
)
COMMANDS = ("prefero.cli", "prefero.server.app", "prefero.studies.start", "prefero.worlds.driver")
RUN = "import runpy; runpy.run_module('prefero', run_name='__main__', alter_sys=True)"  # python -m prefero
FORKS = (
    ON_LINUX and "COVERAGE_PROCESS_CONFIG" not in os.environ
)  # coverage measures processes that are started


def without(package: str) -> str:
    """Code after which a package cannot be imported."""
    return (
        f"import sys; sys.modules[{package!r}] = None; "
        f"sys.modules.update(dict.fromkeys([m for m in sys.modules if m.startswith({package!r} + '.')]))"
    )


def run_prefero(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command until it ends, with the options of `start_prefero`."""
    with tempfile.TemporaryDirectory() as outputs:
        out, err = Path(outputs, "out"), Path(outputs, "err")
        process = start_prefero(*words, out=out, err=err, **options)
        try:
            code = process.wait(TIMEOUT)
        except BaseException:
            process.kill()
            raise
        texts = [path.read_text(encoding="utf-8") for path in (out, err)]
        return subprocess.CompletedProcess(["prefero", *words], code, *texts)


def start_prefero(
    *words: str,
    out: Path,
    err: Path,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
    first: str = "",
) -> RunningProcess:
    """Start a command, whose output is added to files.

    `environment` is added to that of the tests, and `first` is code that runs before the command.
    """
    variables = os.environ | PLAIN_TERMINAL | ONE_THREAD | dict(environment or {})
    cwd = str(folder or Path.cwd())
    if FORKS:
        streams = {"out": str(out), "err": str(err)}
        return ForkedCommand(
            {"words": words, "cwd": cwd, "environment": variables, "first": first, **streams}
        )
    with out.open("ab") as stdout, err.open("ab") as stderr:
        return subprocess.Popen(
            [sys.executable, "-c", f"{first}\n{RUN}", *words],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=variables,
            cwd=cwd,
            **stoppable(),
        )


class ForkedCommand:
    """A command that was forked. The process that forked it knows its return code."""

    def __init__(self, command: Mapping[str, object]) -> None:
        self.parent = _forking_process(PACKAGES if command["first"] else (*PACKAGES, *COMMANDS))
        self.pid: int = _request(self.parent, command)
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = _request(self.parent, {"pid": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        late = time.monotonic() + (TIMEOUT if timeout is None else timeout)
        while (code := self.poll()) is None:
            if time.monotonic() > late:
                raise subprocess.TimeoutExpired("prefero", timeout or TIMEOUT)
            time.sleep(0.01)
        return code

    def send_signal(self, sig: int, /) -> None:
        if self.poll() is None:
            os.kill(self.pid, sig)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@cache
def _forking_process(imported: Iterable[str]) -> "subprocess.Popen[str]":
    """One for all tests of this process; it ends when its input does."""
    return subprocess.Popen(
        [sys.executable, __file__, *imported],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        env=os.environ | PLAIN_TERMINAL | ONE_THREAD,
    )


def _request(process: "subprocess.Popen[str]", values: Mapping[str, object]) -> Any:
    assert process.stdin is not None
    assert process.stdout is not None
    print(json.dumps(values), file=process.stdin, flush=True)
    return json.loads(process.stdout.readline())


# --- the process that forks -------------------------------------------------------------------------------


def fork_commands(imported: Iterable[str]) -> None:
    """Respond to requests until there are no more. A forked command returns from here by an exception."""
    for name in imported:
        with suppress(ImportError):
            import_module(name)
    gc.freeze()  # commands would copy the memory of all objects that their garbage collector looks at
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the tests, which end this process
    for line in sys.stdin:
        request = json.loads(line)
        response = _return_code(request["pid"]) if "pid" in request else os.fork()
        if response == 0 and "pid" not in request:
            _become(request)
        print(json.dumps(response), flush=True)


def _return_code(pid: int) -> int | None:
    ended, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if ended else None


def _become(command: Mapping[str, Any]) -> None:
    """Be `python -m prefero`, and end."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(command["environment"])
    os.chdir(command["cwd"])
    _open_standard_streams(command["out"], command["err"])
    sys.path[0] = os.getcwd()  # noqa: PTH109
    sys.argv = ["prefero", *command["words"]]
    exec(command["first"], {})
    exec(RUN, {})
    sys.exit(0)


def _open_standard_streams(out: str, err: str) -> None:
    adding = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    for number, (path, mode) in enumerate([(os.devnull, os.O_RDONLY), (out, adding), (err, adding)]):
        opened = os.open(path, mode, 0o666)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = io.TextIOWrapper(io.FileIO(0, closefd=False), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(io.FileIO(2, "w", closefd=False)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


if __name__ == "__main__":
    fork_commands(sys.argv[1:])
