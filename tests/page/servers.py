"""Real servers in processes of their own, which can be killed and started again."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx


class Running:
    """A server in a process of its own, which can be killed and started again."""

    def __init__(self, arguments: list[str], folder: Path, port: int) -> None:
        self.arguments, self.folder, self.port = arguments, folder, port
        self.address = f"http://127.0.0.1:{port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> "Running":
        with (self.folder / "server.log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "prefero", *self.arguments, "--port", str(self.port)],
                stdout=log,
                stderr=log,
                env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
            )
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            assert self.process.poll() is None, (self.folder / "server.log").read_text(encoding="utf-8")
            try:
                httpx.get(f"{self.address}/api/me", timeout=2).raise_for_status()
            except httpx.HTTPError:
                time.sleep(0.1)
            else:
                return self
        raise AssertionError("the server did not start in 90 seconds")

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.address}{path}", timeout=30).raise_for_status().json()


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
