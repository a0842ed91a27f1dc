"""Runs real servers in their own processes, which can be killed and started again."""

import os
import random
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

import plain_http
from prefero.server.auth import SESSION_HEADER
from run_prefero import ONE_THREAD, PLAIN_TERMINAL, start_prefero
from systems import RunningProcess, stoppable
from waiting import TIMEOUT

PORTS = range(
    20_000, 32_000
)  # below the ports that systems give to outgoing connections, such as the browser's


class Server:
    """A server in its own process."""

    def __init__(self, arguments: list[str], folder: Path) -> None:
        self.arguments, self.folder, self.port = arguments, folder, free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: RunningProcess | None = None

    def start(self, source: Path | None = None) -> "Server":
        """Start it, perhaps with the code in another folder, and wait until it responds."""
        log = self.folder / "server.log"
        words = [*self.arguments, "--port", str(self.port)]
        self.process = start_prefero(*words, out=log, err=log) if source is None else _run(source, words, log)
        deadline = time.monotonic() + TIMEOUT
        while not self.responds():
            assert time.monotonic() < deadline, f"the server did not start in {TIMEOUT:.0f} seconds"
        return self

    def responds(self) -> bool:
        """Ask it; if it does not respond, wait a little, and fail if it has ended."""
        assert self.process is not None
        try:
            plain_http.get(f"{self.address}/api/me", timeout=5).raise_for_status()
        except httpx.HTTPError:
            try:
                self.process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                return False
            raise AssertionError((self.folder / "server.log").read_text(encoding="utf-8")) from None
        return True

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def get(self, path: str) -> Any:
        return plain_http.get(f"{self.address}{path}", timeout=TIMEOUT).raise_for_status().json()

    def choices(self) -> list[str]:
        """Those of the teacher's answers that were not deleted."""
        return [row["choice"] for row in self.get("/api/history")["answers"] if not row["deleted"]]

    def answer(self, *choices: str) -> None:
        """Answer the next questions of a teacher's session, without a browser."""
        named = {SESSION_HEADER: str(self.get("/api/me")["session"])}
        for choice in choices:
            question = self.get("/api/session")["question"]["id"]
            body = {"key": uuid.uuid4().hex, "question": question, "kind": choice, "seconds": 1.0}
            path = f"{self.address}/api/session/events"
            plain_http.post(path, json=body, headers=named, timeout=TIMEOUT).raise_for_status()


def _run(source: Path, words: list[str], log: Path) -> RunningProcess:
    variables = os.environ | PLAIN_TERMINAL | ONE_THREAD | {"PYTHONPATH": str(source)}
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, "-m", "prefero", *words], stdout=out, stderr=out, env=variables, **stoppable()
        )


Teach = Callable[..., Server]  # the fixture that starts a server for teaching


def free_port() -> int:
    """A port that nothing listens to, by chance, so that parallel tests take different ones."""
    for port in random.SystemRandom().sample(PORTS, k=100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no free port between {PORTS.start} and {PORTS.stop}")
