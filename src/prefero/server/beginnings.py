"""New teaching sessions that are being begun, each by a thread that waits for a process of its own."""

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from prefero.server.begin_session import BeginRequest
from prefero.studies.storage.store import Store

KEPT = 50  # beginnings that are remembered after they ended
BROKEN = (
    "these files broke the program that reads them: leave out the one that is damaged, and drop the others"
)


@dataclass(frozen=True)
class Beginning:
    """How far a new session is.

    text      what is being done
    done, total   how much of it; total is 0 while that is not known
    name      of the session, once it has begun
    problem   why it did not begin, in words for the person; "" if it did
    """

    id: str
    stage: Literal["working", "begun", "failed"]
    text: str
    done: int
    total: int
    name: str
    problem: str


class Beginnings:
    """The sessions that are being begun now, and those that were lately."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._known: dict[str, Beginning] = {}
        self._processes: dict[str, subprocess.Popen[str]] = {}
        self._lock = threading.Lock()

    def begin(self, request: BeginRequest, *, files: bool, failed: Callable[[], None]) -> Beginning:
        """Begin a session: of files in a process of its own, else in a thread. `failed` deletes the files."""
        beginning = Beginning(secrets.token_hex(8), "working", "Reading the files", 0, 0, "", "")
        self._keep(beginning)
        run = self._in_process if files else self._in_thread

        def work() -> None:
            run(beginning.id, request)
            if self._known[beginning.id].stage == "failed":
                failed()

        threading.Thread(target=work, name="prefero-beginning", daemon=True).start()
        return beginning

    def state(self, beginning: str) -> Beginning | None:
        """How far it is; None if there is no such one."""
        return self._known.get(beginning)

    def cancel(self, beginning: str) -> None:
        """Stop it; its files are deleted."""
        process = self._processes.get(beginning)
        if process is not None:
            process.kill()

    def close(self) -> None:
        """Stop all of them."""
        for process in list(self._processes.values()):
            process.kill()

    def _keep(self, beginning: Beginning) -> None:
        with self._lock:
            self._known[beginning.id] = beginning
            for old in list(self._known)[:-KEPT]:
                del self._known[old]

    def _end(self, beginning: str, name: str = "", problem: str = "") -> None:
        stage: Literal["begun", "failed"] = "begun" if name else "failed"
        self._keep(replace(self._known[beginning], stage=stage, name=name, problem=problem))

    def _in_thread(self, beginning: str, request: BeginRequest) -> None:
        try:
            self._end(beginning, name=request.begin(self.store))
        except Exception as error:  # a world may be of any package
            self._end(beginning, problem=str(error) or repr(error))

    def _in_process(self, beginning: str, request: BeginRequest) -> None:
        words = [sys.executable, "-m", "prefero.server.begin_session"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        with subprocess.Popen(words, encoding="utf-8", **pipes) as process:  # type: ignore[call-overload]
            self._processes[beginning] = process
            try:
                self._follow(beginning, request, process)
            finally:
                del self._processes[beginning]
                process.kill()
        if self._known[beginning].stage == "working":
            self._end(beginning, problem=BROKEN)

    def _follow(self, beginning: str, request: BeginRequest, process: "subprocess.Popen[str]") -> None:
        """Send the request, and take in what the process says until it ends."""
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asdict(request)) + "\n")
        process.stdin.flush()
        for line in process.stdout:
            told = json.loads(line)
            if "text" in told:
                self._keep(replace(self._known[beginning], **told))
            else:
                self._end(beginning, told.get("session", ""), told.get("error", ""))
                return
