"""Frames from MuJoCo's own renderer, which runs in a process of its own.

The renderer needs a GL library, and which one is decided by the variable MUJOCO_GL when MuJoCo is imported; a
wrong value makes the import itself fail. So the variable is set for the renderer's process alone, and each
library is tried in turn.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from prefero._support.systems import gl_libraries

Frame = npt.NDArray[np.uint8]

LIBRARIES = gl_libraries()


class NoRenderer(RuntimeError):
    """There is no GL library that MuJoCo could draw with."""


def frames_from(module: str, arguments: list[str], width: int, height: int) -> Iterator[Frame]:
    """The frames that `python -m module` writes, as it writes them."""
    reasons = []
    for library in dict.fromkeys(filter(None, (os.environ.get("MUJOCO_GL"), *LIBRARIES))) or [""]:
        with tempfile.TemporaryFile() as complaints:
            process = _start(module, arguments, library, complaints)
            try:
                frames = _read(process.stdout, width, height)
                first = next(frames, None)
                if first is not None:
                    yield first
                    yield from frames
                    if process.wait():
                        raise RuntimeError(f"the renderer stopped in the middle: {_last_line(complaints)}")
                    return
                process.wait()
                reasons.append(f"{library or 'default'}: {_last_line(complaints)}")
            finally:
                process.kill()
                process.communicate()
    raise NoRenderer(
        "MuJoCo found no GL library to draw with; on Debian, apt-get install libegl1 (or libosmesa6) brings "
        f"one ({'; '.join(reasons)})"
    )


def _start(module: str, arguments: list[str], library: str, complaints: Any) -> subprocess.Popen[bytes]:
    environment = {**os.environ, **({"MUJOCO_GL": library} if library else {})}
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=complaints,
    )


def _read(stream: Any, width: int, height: int) -> Iterator[Frame]:
    size = width * height * 3
    while len(content := stream.read(size)) == size:
        yield np.frombuffer(content, dtype=np.uint8).reshape(height, width, 3)


def _last_line(complaints: Any) -> str:
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it ended without a word"
